/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Our side of the proofs against an integer program (tests/differential/ilp). One question a line
 * on stdin, one answer a line on stdout:
 *
 *   mig CARD COUNT...                    how many empty cards hold so many instances of each plain
 *                                        profile, the smallest profile first
 *   gang REQUIRED PREFERRED N NODE... ROLE...
 *                                        where a gang goes: levels zone, rack or -; N nodes as
 *                                        ZONE:RACK:CARDS (- for a zone: without that label), roles
 *                                        as MEMBERSxCARDS; the number of each member's node, or
 *                                        why there is no place
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "controller/core/pack/partition.h"
#include "tests/bench/core_scene.h"

enum { LINE_MAX_BYTES = 1 << 16, MEMBERS_MAX = 64 };
#define SCRATCH ((size_t)256 << 20)

_Noreturn static void die(const char *why)
{
    (void)fprintf(stderr, "judge_packing: %s\n", why);
    exit(2);
}

static long next_number(char **at, const char *separators)
{
    const char *word = strtok_r(NULL, separators, at);

    if (word == NULL)
        die("a line is too short");
    return strtol(word, NULL, 10);
}

/* --- partitioned cards ------------------------------------------------------------------------ */

static void answer_mig(char **at)
{
    const char *name = strtok_r(NULL, "\t", at);
    const struct tg_card *card = name != NULL ? tg_card_find(name) : NULL;
    struct tg_partition partition;
    int64_t counts[TG_PARTITION_PROFILES_MAX] = {0}, all = 0, cards = 0;
    bool holds = false;

    if (card == NULL || tg_partition_init(&partition, card) < 0)
        die("a card is not known");
    for (unsigned i = 0; i < partition.n; i++) {
        counts[i] = next_number(at, " \t");
        all += counts[i];
    }
    for (; cards <= all && !holds; cards++) {
        if (tg_partition_holds(&partition, counts, cards, &holds) < 0)
            die("a card has no closed form");
    }
    printf("%lld\n", holds ? (long long)cards - 1 : -1LL);
}

/* --- domains ---------------------------------------------------------------------------------- */

static const struct tg_level zone = {.name = "zone", .node_label = "example.com/zone"};
static const struct tg_level rack = {.name = "rack", .node_label = "example.com/rack"};

static const struct tg_level *level_of(const char *name)
{
    if (name == NULL)
        die("a line is too short");
    return strcmp(name, "zone") == 0 ? &zone : strcmp(name, "rack") == 0 ? &rack : NULL;
}

static void put_node(struct tg_fleet *fleet, size_t number, char *text)
{
    static struct scene scene;
    char *at = NULL;
    const char *zone_name = strtok_r(text, ":", &at), *rack_name = strtok_r(NULL, ":", &at);

    scene.cards = (size_t)next_number(&at, ":");
    if (zone_name == NULL || rack_name == NULL || scene.cards > SCENE_CARDS_MAX)
        die("a node is not as it should be");
    scene_node(&scene, number);
    scene.labels[1] = (struct tg_string_pair){
        tg_streq(zone_name, "-") ? "example.com/none" : zone.node_label, zone_name};
    scene.labels[3] = (struct tg_string_pair){rack.node_label, rack_name};
    tg_fleet_put(fleet, TG_FLEET_NODE, &scene.node);
    if (scene.cards > 0)
        tg_fleet_put(fleet, TG_FLEET_SLICE, &scene.slice);
}

struct gang {
    struct scene_pod pods[MEMBERS_MAX];
    char names[MEMBERS_MAX][16];
    struct tg_piece pieces[MEMBERS_MAX];
    size_t n;
};

static void add_role(struct gang *gang, char *text)
{
    char *at = NULL;
    long members = strtol(text, &at, 10), cards = *at == 'x' ? strtol(at + 1, NULL, 10) : 0;

    if (members < 1 || cards < 1 || gang->n + (size_t)members > MEMBERS_MAX)
        die("a role is not as it should be");
    for (long i = 0; i < members; i++) {
        struct scene_pod *pod = &gang->pods[gang->n];

        scene_pod_write(pod);
        (void)snprintf(gang->names[gang->n], sizeof(gang->names[0]), "m-%02zu", gang->n);
        pod->meta.name = pod->meta.uid = gang->names[gang->n];
        pod->exactly.count.set = true;
        pod->exactly.count.value = cards;
        gang->pieces[gang->n++] = pod->piece;
    }
}

static void answer_gang(char **at)
{
    static struct gang gang;
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(SCRATCH);
    struct tg_fleet *fleet = tg_fleet_open("default");
    struct tg_place_request request = {.name = "gang ns/g", .pieces = gang.pieces};
    struct tg_placement placement;
    struct tg_no_place why = {0};
    struct tg_error err = TG_ERROR_INIT;
    size_t nodes;
    int rc;

    gang.n = 0;
    request.pack_required = level_of(strtok_r(NULL, " \t", at));
    request.pack_preferred = level_of(strtok_r(NULL, " \t", at));
    nodes = (size_t)next_number(at, " \t");
    for (size_t i = 0; i < nodes; i++) {
        char *node = strtok_r(NULL, " \t", at);

        if (node == NULL)
            die("a line is too short");
        put_node(fleet, i, node);
    }
    for (char *role; (role = strtok_r(NULL, " \t", at)) != NULL;)
        add_role(&gang, role);
    request.n_pieces = gang.n;
    tg_fleet_put(fleet, TG_FLEET_CLASS, scene_class());
    tg_fleet_settle(fleet);
    rc = tg_place(fleet, &request, arena, &placement, &why, &err);
    if (rc < 0 && rc != -TG_UNAVAILABLE)
        die(err.message);
    for (size_t i = 0; rc == 0 && i < placement.n_pieces; i++)
        printf("%s%ld", i == 0 ? "" : " ",
               strtol(placement.pieces[i].node + strlen("node-"), NULL, 10));
    printf("%s\n", rc < 0 ? why.reason : "");
    tg_fleet_close(fleet);
}

int main(void)
{
    static char line[LINE_MAX_BYTES];

    while (fgets(line, sizeof(line), stdin) != NULL) {
        char *at = NULL;
        const char *what;

        line[strcspn(line, "\n")] = '\0';
        what = strtok_r(line, "\t", &at);
        if (what != NULL && strcmp(what, "mig") == 0)
            answer_mig(&at);
        else if (what != NULL && strcmp(what, "gang") == 0)
            answer_gang(&at);
        else
            die("a line is of no kind");
    }
    return 0;
}
