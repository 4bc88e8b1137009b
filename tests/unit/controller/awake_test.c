/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/mem.h"
#include "api/runtime/base/str.h"
#include "api/runtime/json/decode.h"
#include "controller/gather/awake.h"

/* Stores of pods and claims, changed as a watch would. */
struct world {
    struct tg_arena *arena;
    struct tg_awake *awake;
    struct tg_view view;
    unsigned relaxed;
};

static void relax(void *data)
{
    ((struct world *)data)->relaxed++;
}

static const void *find(void *data, enum tg_view_kind kind, const char *namespace_,
                        const char *name)
{
    (void)data;
    (void)kind;
    (void)namespace_;
    (void)name;
    return NULL;
}

static const struct tg_view_source source = {.find = find, .relax = relax};
static struct tg_view_source own;

static int setup(void **state)
{
    struct world *w = tg_xcalloc(1, sizeof(*w));

    w->arena = tg_arena_new(TG_ARENA_UNLIMITED);
    w->awake = tg_awake_new();
    tg_view_init(&w->view);
    own = source;
    own.data = w;
    w->view.source = &own;
    w->view.awake = w->awake;
    *state = w;
    return 0;
}

static int teardown(void **state)
{
    struct world *w = *state;

    tg_view_done(&w->view);
    tg_awake_free(w->awake);
    tg_arena_free(w->arena);
    free(w);
    return 0;
}

/* format: JSON with ' for ". */
static void *decode(struct world *w, const struct tg_type *type, const char *text)
{
    char *json = tg_arena_strdup(w->arena, text);
    struct tg_error err = TG_ERROR_INIT;
    void *object;

    for (char *c = json; *c != '\0'; c++)
        if (*c == '\'')
            *c = '"';
    if (tg_json_decode_new(type, json, strlen(json), w->arena, &object, &err) < 0)
        fail_msg("%s: %s", err.message, json);
    return object;
}

static void set_pod(struct world *w, const char *name, const char *labels, const char *spec,
                    const char *phase)
{
    TG_AUTOFREE char *text = tg_xasprintf("{'metadata':{'namespace':'ns','name':'%s','uid':'%s',"
                                          "'labels':{%s}},'spec':{%s},'status':{'phase':'%s'}}",
                                          name, name, labels, spec, phase);
    const struct tg_pod *before = tg_view_pod(&w->view, "ns", name);
    const struct tg_pod *after = decode(w, &tg_pod_type, text);

    tg_view_add(&w->view, TG_VIEW_POD, after);
    tg_awake_pod_changed(w->awake, before, after);
}

/* users: entries of reservedFor by name, comma before each; marker: UID of a gang, or NULL. */
static void set_claim(struct world *w, const char *name, const char *config, const char *user,
                      const char *marker)
{
    TG_AUTOFREE char *allocation =
        marker == NULL
            ? tg_xstrdup("")
            : tg_xasprintf("'allocation':{'devices':{'results':[],'config':[{'source':'FromClass',"
                           "'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':"
                           "'tangram.dev/v1alpha1','epoch':1,'gangUID':'%s','kind':'Plan'}}}]}},",
                           marker);
    TG_AUTOFREE char *users =
        user == NULL ? tg_xstrdup("")
                     : tg_xasprintf("{'resource':'pods','name':'%s','uid':'%s'}", user, user);
    TG_AUTOFREE char *text = tg_xasprintf(
        "{'metadata':{'namespace':'ns','name':'%s','uid':'%s'},'spec':{'devices':{'config':[%s]}},"
        "'status':{%s'reservedFor':[%s]}}",
        name, name, config, allocation, users);
    const struct tg_resource_claim *before = tg_view_claim(&w->view, "ns", name);
    const struct tg_resource_claim *after = decode(w, &tg_resource_claim_type, text);

    tg_view_add(&w->view, TG_VIEW_CLAIM, after);
    tg_awake_claim_changed(w->awake, before, after);
}

/* Names of the pods that a pass sees, in order. */
static void assert_awake(struct world *w, const char *expected)
{
    TG_AUTOBUF struct tg_buf names = TG_BUF_INIT(4096);

    TG_VEC_CLEAR(&w->view.lists[TG_VIEW_POD]);
    tg_awake_fill(w->awake, &w->view);
    for (size_t i = 0; i < w->view.lists[TG_VIEW_POD].n; i++) {
        const struct tg_pod *pod = w->view.lists[TG_VIEW_POD].items[i];

        tg_buf_printf(&names, "%s%s", i == 0 ? "" : " ", pod->metadata->name);
    }
    assert_string_equal(tg_buf_str(&names), expected);
    assert_int_equal(tg_awake_count(w->awake), w->view.lists[TG_VIEW_POD].n);
}

#define CLAIM(name) "'resourceClaims':[{'name':'c','resourceClaimName':'" name "'}]"
#define BOUND "'nodeName':'n1',"
#define MEMBER                                                                                     \
    "{'opaque':{'driver':'tangram.dev','parameters':{'apiVersion':'tangram.dev/v1alpha1',"         \
    "'kind':'GangMember','gang':'g','size':2}}}"

static void pods_of_which_nothing_is_made_are_never_looked_at(void **state)
{
    struct world *w = *state;

    set_pod(w, "plain", "", "", "Pending");
    set_pod(w, "ended", "", CLAIM("c"), "Succeeded");
    set_pod(w, "waiting", "", CLAIM("c"), "Pending");
    set_pod(w, "leader", "'tangram.dev/gang':'g'", "", "Pending");
    assert_int_equal(tg_awake_count(w->awake), 2); /* nobody had to look at the others */
    assert_awake(w, "waiting leader");
    set_pod(w, "waiting", "", CLAIM("c"), "Failed");
    assert_awake(w, "leader");
    tg_awake_pod_changed(w->awake, tg_view_pod(&w->view, "ns", "leader"), NULL);
    assert_awake(w, "");
}

static void a_pod_on_its_node_with_its_claims_rests_until_it_changes(void **state)
{
    struct world *w = *state;

    set_pod(w, "p", "", CLAIM("c"), "Pending");
    set_claim(w, "c", "", "p", "");
    assert_awake(w, "p");
    set_pod(w, "p", "", BOUND CLAIM("c"), "Running");
    assert_int_equal(tg_awake_count(w->awake), 1);
    assert_awake(w, "");
    set_pod(w, "p", "'tangram.dev/gang':'g'", BOUND CLAIM("c"), "Running");
    assert_awake(w, "p");
}

static void a_claim_that_is_not_there_or_not_for_the_pod_keeps_it_awake(void **state)
{
    struct world *w = *state;

    set_pod(w, "p", "", BOUND CLAIM("c"), "Running");
    assert_awake(w, "p");
    set_claim(w, "c", "", "other", "");
    assert_awake(w, "p");
    set_claim(w, "c", "", "p", "");
    assert_awake(w, "");
}

static void members_of_gangs_stay_awake(void **state)
{
    struct world *w = *state;

    set_claim(w, "m", MEMBER, "by-claim", "");
    set_claim(w, "broken", "{'opaque':{'driver':'tangram.dev','parameters':{'kind':'?'}}}",
              "broken", "");
    set_pod(w, "by-claim", "", BOUND CLAIM("m"), "Running");
    set_pod(w, "by-label", "'tangram.dev/gang':'g'", "'nodeName':'n1'", "Running");
    set_pod(w, "broken", "", BOUND CLAIM("broken"), "Running");
    assert_awake(w, "by-claim by-label broken");
}

/* It may come back as the claim of a member of a gang. */
static void a_claim_that_goes_or_lets_go_of_its_pod_wakes_it(void **state)
{
    struct world *w = *state;

    set_pod(w, "p", "", BOUND CLAIM("c"), "Running");
    set_claim(w, "c", "", "p", "");
    assert_awake(w, "");
    set_claim(w, "c", "", "p", ""); /* nothing that matters */
    assert_int_equal(tg_awake_count(w->awake), 0);
    set_claim(w, "c", "", NULL, NULL);
    assert_awake(w, "p");
    set_claim(w, "c", "", "p", "");
    assert_awake(w, "");
    tg_awake_claim_changed(w->awake, tg_view_claim(&w->view, "ns", "c"), NULL);
    assert_int_equal(tg_awake_count(w->awake), 1);
    set_claim(w, "c", MEMBER, "p", "");
    assert_awake(w, "p");
}

/* At the start everybody is awake: they are not looked at all at once. */
static void what_was_found_may_be_dropped_every_some_hundred_pods(void **state)
{
    struct world *w = *state;

    set_claim(w, "c", "", "p", "");
    for (size_t i = 0; i < 1200; i++) {
        char name[16];

        snprintf(name, sizeof(name), "p%zu", i);
        set_pod(w, name, "", BOUND CLAIM("c"), "Running");
    }
    TG_VEC_CLEAR(&w->view.lists[TG_VIEW_POD]);
    tg_awake_fill(w->awake, &w->view);
    assert_int_equal(w->relaxed, 3);
}

static void assert_marked(struct world *w, const char *uid, const char *expected)
{
    TG_AUTOBUF struct tg_buf names = TG_BUF_INIT(4096);
    struct tg_view_list found;

    assert_int_equal(tg_awake_marked(&w->view, uid, w->arena, &found), 0);
    for (size_t i = 0; i < found.n; i++)
        tg_buf_printf(&names, "%s%s", i == 0 ? "" : " ",
                      ((const struct tg_resource_claim *)found.items[i])->metadata->name);
    assert_string_equal(tg_buf_str(&names), expected);
}

static void claims_are_found_by_the_uid_in_their_marker(void **state)
{
    struct world *w = *state;

    set_claim(w, "b", "", NULL, "gang");
    set_claim(w, "a", "", NULL, "gang");
    set_claim(w, "c", "", NULL, "other");
    set_claim(w, "d", "", NULL, "");
    set_claim(w, "e", "", NULL, NULL);
    assert_marked(w, "gang", "a b");
    assert_marked(w, "other", "c");
    assert_marked(w, "nobody", "");
    set_claim(w, "b", "", NULL, "other");
    assert_marked(w, "gang", "a");
    assert_marked(w, "other", "b c");
    tg_awake_claim_changed(w->awake, tg_view_claim(&w->view, "ns", "a"), NULL);
    assert_marked(w, "gang", "");
    w->view.awake = NULL; /* nobody knows: all are handed out */
    assert_marked(w, "gang", "b a c d e b");
}

static void claims_of_one_gang_come_and_go(void **state)
{
    static const char *const names[] = {"first", "b", "the-third-of-them", "d"};
    struct world *w = *state;

    for (size_t i = 0; i < 4; i++)
        set_claim(w, names[i], "", NULL, "gang");
    assert_marked(w, "gang", "b d first the-third-of-them");
    set_claim(w, "b", "", NULL, "");
    assert_marked(w, "gang", "d first the-third-of-them");
    set_claim(w, "first", "", NULL, "");
    assert_marked(w, "gang", "d the-third-of-them");
    set_claim(w, "e", "", NULL, "gang");
    set_claim(w, "d", "", NULL, "");
    assert_marked(w, "gang", "e the-third-of-them");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(pods_of_which_nothing_is_made_are_never_looked_at),
        TEST(a_pod_on_its_node_with_its_claims_rests_until_it_changes),
        TEST(a_claim_that_is_not_there_or_not_for_the_pod_keeps_it_awake),
        TEST(members_of_gangs_stay_awake),
        TEST(a_claim_that_goes_or_lets_go_of_its_pod_wakes_it),
        TEST(what_was_found_may_be_dropped_every_some_hundred_pods),
        TEST(claims_are_found_by_the_uid_in_their_marker),
        TEST(claims_of_one_gang_come_and_go),
    };
    return cmocka_run_group_tests_name("awake", tests, NULL, NULL);
}
