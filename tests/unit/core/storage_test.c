/* SPDX-License-Identifier: Apache-2.0 */
/* controller/core/fit/storage, the rule on it, and placement by it: answers are those of the
 * scheduler's VolumeBinding and VolumeZone. */
#include "api/runtime/base/str.h"
#include "controller/core/fit/rule.h"
#include "controller/core/gang/offer.h"
#include "tests/unit/core/world.h"

#define IN(key, value)                                                                             \
    "{\"matchExpressions\":[{\"key\":\"" key "\",\"operator\":\"In\",\"values\":[\"" value "\"]}]" \
    "}"
#define ALLOWED(key, value)                                                                        \
    "{\"matchLabelExpressions\":[{\"key\":\"" key "\",\"values\":[\"" value "\"]}]}"
#define LATE ",\"volumeBindingMode\":\"WaitForFirstConsumer\""
#define MADE ",\"provisioner\":\"disk.example.com\""
#define ZONE "topology.kubernetes.io/zone"
#define OLD_ZONE "failure-domain.beta.kubernetes.io/zone"

/* One pod that uses a claim "c" (or whatever `volumes` says), and which of the nodes a and b it
 * may go to: "ab", "a", ... or the error. */
static const struct {
    const char *what;
    const char *a, *b;          /* labels of the nodes */
    const char *labels, *terms; /* of the volume "v" */
    const char *meta, *spec;    /* of the claim; NULL: there is none */
    const char *klass;          /* members of the class "k", NULL: there is none */
    const char *nodes;          /* NULL: an error */
    const char *error;          /* part of its text */
    enum tg_code code;
    const char *volumes; /* of the pod, NULL: the claim by name */
} cases[] = {
    {.what = "a volume that says nothing is everywhere",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "ab"},
    {.what = "node affinity of the volume",
     .a = "\"host\":\"a\"",
     .b = "\"host\":\"b\"",
     .terms = IN("host", "b"),
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "b"},
    {.what = "its terms are alternatives",
     .a = "\"host\":\"a\"",
     .b = "\"host\":\"b\"",
     .terms = IN("host", "b") "," IN("host", "a"),
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "ab"},
    {.what = "an affinity without terms is nowhere",
     .terms = "{}",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = ""},
    {.what = "fields of nodes are not looked at",
     .terms = "{\"matchFields\":[{\"key\":\"metadata.name\",\"operator\":\"In\",\"values\":[\"a\"]}"
              "]}",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = ""},
    {.what = "zone of the volume",
     .a = "\"" ZONE "\":\"x\"",
     .b = "\"" ZONE "\":\"y\"",
     .labels = "\"" ZONE "\":\"x\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "a"},
    {.what = "several zones in one label",
     .a = "\"" ZONE "\":\"x\"",
     .b = "\"" ZONE "\":\"z\"",
     .labels = "\"" ZONE "\":\"x__y\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "a"},
    {.what = "the last of several zones",
     .a = "\"" ZONE "\":\"_y\"",
     .b = "\"" ZONE "\":\"y\"",
     .labels = "\"" ZONE "\":\"x__y\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "b"},
    {.what = "a node that does not say where it is has every zone",
     .a = "\"" ZONE "\":\"y\"",
     .labels = "\"" ZONE "\":\"x\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "b"},
    {.what = "a node with a region and no zone says where it is",
     .a = "\"topology.kubernetes.io/region\":\"r\"",
     .labels = "\"" ZONE "\":\"x\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "b"},
    {.what = "an old label of the volume means the new one of the node, if it has no old one",
     .a = "\"" ZONE "\":\"x\"",
     .b = "\"" ZONE "\":\"x\",\"" OLD_ZONE "\":\"y\"",
     .labels = "\"" OLD_ZONE "\":\"x\"",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "a"},
    {.what = "affinity and zone, both",
     .a = "\"host\":\"a\",\"" ZONE "\":\"x\"",
     .b = "\"host\":\"b\",\"" ZONE "\":\"x\"",
     .labels = "\"" ZONE "\":\"x\"",
     .terms = IN("host", "a"),
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .nodes = "a"},
    {.what = "a volume that is gone",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"",
     .error = "PersistentVolumeClaim c is bound to a PersistentVolume that does not exist",
     .code = TG_FAILED_PRECONDITION},
    {.what = "no claim",
     .error = "PersistentVolumeClaim c does not exist yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "a claim without a class is bound at once",
     .meta = "",
     .spec = "",
     .error = "is not bound yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "so is one of a class that binds at once",
     .meta = "",
     .spec = "\"storageClassName\":\"k\"",
     .klass = MADE ",\"volumeBindingMode\":\"Immediate\"",
     .error = "is not bound yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "and one of a class that nobody knows",
     .meta = "",
     .spec = "\"storageClassName\":\"other\"",
     .klass = MADE LATE,
     .error = "is not bound yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "a binding that is not complete",
     .terms = "",
     .meta = "",
     .spec = "\"volumeName\":\"v\",\"storageClassName\":\"k\"",
     .klass = MADE LATE,
     .error = "is not bound yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "a claim that is going",
     .terms = "",
     .meta = VOLUME_BOUND ",\"deletionTimestamp\":\"2026-11-30T00:00:00Z\"",
     .spec = "\"volumeName\":\"v\"",
     .error = "is being deleted",
     .code = TG_FAILED_PRECONDITION},
    {.what = "a claim whose volume was lost",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\"},\"status\":{\"phase\":\"Lost\"",
     .error = "has lost its PersistentVolume",
     .code = TG_FAILED_PRECONDITION},
    {.what = "one for a single pod",
     .terms = "",
     .meta = VOLUME_BOUND,
     .spec = "\"volumeName\":\"v\",\"accessModes\":[\"ReadWriteOncePod\"]",
     .error = "ReadWriteOncePod",
     .code = TG_UNIMPLEMENTED},
    {.what = "made when the pod comes: anywhere",
     .meta = "",
     .spec = "\"storageClassName\":\"k\"",
     .klass = MADE LATE,
     .nodes = "ab"},
    {.what = "made when the pod comes: where the class allows it",
     .a = "\"" ZONE "\":\"x\"",
     .b = "\"" ZONE "\":\"y\"",
     .meta = "",
     .spec = "\"storageClassName\":\"k\"",
     .klass = MADE LATE ",\"allowedTopologies\":[" ALLOWED(ZONE, "y") "]",
     .nodes = "b"},
    {.what = "a node without the label is not allowed",
     .meta = "",
     .spec = "\"storageClassName\":\"k\"",
     .klass = MADE LATE ",\"allowedTopologies\":[" ALLOWED(ZONE, "y") "]",
     .nodes = ""},
    {.what = "made where the scheduler has chosen",
     .meta = ",\"annotations\":{\"" TG_VOLUME_NODE "\":\"b\"}",
     .spec = "\"storageClassName\":\"k\"",
     .klass = MADE LATE,
     .nodes = "b"},
    {.what = "the class that the annotation names",
     .meta = ",\"annotations\":{\"" TG_VOLUME_CLASS "\":\"k\"}",
     .spec = "\"storageClassName\":\"\"",
     .klass = MADE LATE,
     .nodes = "ab"},
    {.what = "found, not made, when the pod comes",
     .meta = "",
     .spec = "\"storageClassName\":\"k\"",
     .klass = ",\"provisioner\":\"kubernetes.io/no-provisioner\"" LATE,
     .error = "waits for its first consumer",
     .code = TG_UNIMPLEMENTED},
    {.what = "a volume of the pod's own that is not there yet",
     .volumes = "{\"name\":\"w\",\"ephemeral\":{}}",
     .error = "PersistentVolumeClaim p-w does not exist yet",
     .code = TG_FAILED_PRECONDITION},
    {.what = "volumes that are no claims",
     .volumes = "{\"name\":\"w\",\"emptyDir\":{}}",
     .nodes = "ab"},
};

static void build(struct world *w, size_t i)
{
    add_node(w, "a", tg_or(cases[i].a, ""), "");
    add_node(w, "b", tg_or(cases[i].b, ""), "");
    if (cases[i].terms != NULL)
        add_volume(w, "v", tg_or(cases[i].labels, ""), cases[i].terms);
    if (cases[i].spec != NULL)
        add_volume_claim(w, "c", cases[i].meta, cases[i].spec);
    if (cases[i].klass != NULL)
        add_storage_class(w, "k", cases[i].klass);
}

static struct tg_pod *pod_of(struct world *w, const char *volumes)
{
    return new_pod(w, "p", "1",
                   volumes == NULL ? USES_VOLUME("c")
                                   : tg_arena_printf(w->arena, "\"volumes\":[%s],", volumes));
}

static void volumes_are_where_the_scheduler_says(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct world w;
        struct tg_fleet *fleet;
        const struct tg_pod *pod;
        struct tg_fit_guest guest = {.pod = NULL};
        struct tg_error err = TG_ERROR_INIT;
        char nodes[3] = "";
        size_t n_nodes = 0;
        int rc;

        world_init(&w);
        build(&w, i);
        pod = guest.pod = pod_of(&w, cases[i].volumes);
        fleet = world_fleet(&w);
        rc = tg_fit_read_volumes(fleet, &pod, 1, w.arena, &guest.volumes, &err);
        if (rc != (cases[i].nodes == NULL ? -(int)cases[i].code : 0))
            fail_msg("%s: %d %s", cases[i].what, rc, err.message);
        if (rc < 0 &&
            (strstr(err.message, cases[i].error) == NULL ||
             strstr(err.message, "pod ns/p: ") != err.message ||
             strcmp(err.reason, rc == -TG_FAILED_PRECONDITION ? TG_VOLUME_NOT_READY : "") != 0))
            fail_msg("%s: %s %s", cases[i].what, err.reason, err.message);
        for (size_t n = 0; rc == 0 && n < 2; n++) {
            const char *name = n == 0 ? "a" : "b";
            const struct tg_fleet_node *row = &fleet->nodes[tg_fleet_find_node(fleet, name)];
            size_t failed = tg_fit_first_failed(row, &guest);

            if (failed == tg_fit_rules_count)
                nodes[n_nodes++] = name[0];
            else
                assert_string_equal(tg_fit_rules[failed].reason, "VolumeUnreachable");
        }
        if (rc == 0 && strcmp(nodes, cases[i].nodes) != 0)
            fail_msg("%s: \"%s\"", cases[i].what, nodes);
        world_done(&w);
    }
}

/* A claim that is made for a pod is its own only if the pod owns it. */
static void a_claim_made_for_another_pod_stands_in_the_way(void **state)
{
    static const struct {
        const char *uid;
        int rc;
    } owners[] = {{"u-p", 0}, {"u-q", -TG_FAILED_PRECONDITION}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct tg_fit_volumes *volumes = NULL;
        const struct tg_pod *pod;
        struct world w;
        struct tg_error err = TG_ERROR_INIT;

        world_init(&w);
        add_volume(&w, "v", "", "");
        add_volume_claim(&w, "p-w",
                         tg_arena_printf(w.arena,
                                         VOLUME_BOUND
                                         ",\"ownerReferences\":[{\"kind\":\"Pod\",\"name\":\"p\","
                                         "\"uid\":\"%s\",\"controller\":true}]",
                                         owners[i].uid),
                         "\"volumeName\":\"v\"");
        pod = pod_of(&w, "{\"name\":\"w\",\"ephemeral\":{}}");
        assert_int_equal(tg_fit_read_volumes(world_fleet(&w), &pod, 1, w.arena, &volumes, &err),
                         owners[i].rc);
        assert_true(owners[i].rc == 0 || strstr(err.message, "was not made for this pod") != NULL);
        world_done(&w);
    }
}

static const char *place_one(struct tg_fleet *fleet, struct world *w, struct tg_pod *pod,
                             struct tg_error *err)
{
    struct tg_piece piece = new_piece(w, pod, NULL);
    const struct tg_place_request request = {.name = "pod ns/p", .pieces = &piece, .n_pieces = 1};
    struct tg_placement placement;
    struct tg_no_place why;

    return tg_place(fleet, &request, w->arena, &placement, &why, err) < 0
               ? NULL
               : placement.pieces[0].node;
}

/* Pods that differ in where their volumes are do not share an offer; those that do not share it. */
static void pods_go_where_their_volumes_are(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "\"host\":\"a\"", "");
    add_node(&w, "b", "\"host\":\"b\"", "");
    add_volume(&w, "v", "", IN("host", "a"));
    add_volume(&w, "w", "", IN("host", "b"));
    add_volume(&w, "x", "", IN("host", "b"));
    add_volume_claim(&w, "c", VOLUME_BOUND, "\"volumeName\":\"v\"");
    add_volume_claim(&w, "d", VOLUME_BOUND, "\"volumeName\":\"w\"");
    add_volume_claim(&w, "e", VOLUME_BOUND, "\"volumeName\":\"x\"");
    fleet = world_fleet(&w);
    assert_string_equal(place_one(fleet, &w, new_pod(&w, "p", "1", USES_VOLUME("c")), &err), "a");
    assert_string_equal(place_one(fleet, &w, new_pod(&w, "q", "1", USES_VOLUME("d")), &err), "b");
    assert_int_equal(tg_offers_kept(fleet), 2);
    assert_string_equal(place_one(fleet, &w, new_pod(&w, "r", "1", USES_VOLUME("e")), &err), "b");
    assert_int_equal(tg_offers_kept(fleet), 2);
    /* Both at once are nowhere. */
    assert_null(place_one(fleet, &w,
                          new_pod(&w, "s", "1",
                                  "\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{"
                                  "\"claimName\":\"c\"}},{\"name\":\"w\","
                                  "\"persistentVolumeClaim\":{\"claimName\":\"d\"}}],"),
                          &err));
    assert_int_equal(err.code, TG_UNAVAILABLE);
    world_done(&w);
}

/* What is read is what the fleet was told last. */
static void what_happens_to_volumes_counts_at_once(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_pod *pod;
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "\"host\":\"a\"", "");
    add_node(&w, "b", "\"host\":\"b\"", "");
    add_volume_claim(&w, "c", VOLUME_BOUND, "\"volumeName\":\"v\"");
    pod = new_pod(&w, "p", "1", USES_VOLUME("c"));
    fleet = world_fleet(&w);
    assert_null(place_one(fleet, &w, pod, &err));
    assert_string_equal(err.reason, TG_VOLUME_NOT_READY);
    add_volume(&w, "v", "", IN("host", "b"));
    tg_fleet_put(fleet, TG_FLEET_VOLUME, w.volumes[0]);
    assert_string_equal(place_one(fleet, &w, pod, &err), "b");
    add_volume(&w, "v", "", IN("host", "a"));
    tg_fleet_put(fleet, TG_FLEET_VOLUME, w.volumes[1]);
    assert_string_equal(place_one(fleet, &w, pod, &err), "a");
    tg_fleet_drop(fleet, TG_FLEET_VOLUME_CLAIM, "ns", "c");
    assert_null(place_one(fleet, &w, pod, &err));
    assert_non_null(strstr(err.message, "does not exist yet"));
    world_done(&w);
}

/* Of the second member and of its second pod as of the first ones. */
static void volumes_of_every_pod_of_every_member_count(void **state)
{
    struct world w;
    struct tg_fleet *fleet;
    struct tg_piece pieces[2];
    const struct tg_pod *pods[2];
    struct tg_placement p;
    struct tg_no_place why = {.text = ""};
    struct tg_error err = TG_ERROR_INIT;

    (void)state;
    world_init(&w);
    add_node(&w, "a", "\"host\":\"a\"", "");
    add_node(&w, "b", "\"host\":\"b\"", "");
    add_volume(&w, "v", "", IN("host", "b"));
    add_volume_claim(&w, "c", VOLUME_BOUND, "\"volumeName\":\"v\"");
    fleet = world_fleet(&w);
    pieces[0] = new_piece(&w, new_pod(&w, "p", "1", ""), NULL);
    pods[0] = new_pod(&w, "q", "1", "");
    pods[1] = new_pod(&w, "r", "1", USES_VOLUME("c"));
    pieces[1] = (struct tg_piece){.pods = pods, .n_pods = 2};
    assert_int_equal(
        tg_place(fleet, &(struct tg_place_request){.name = "g", .pieces = pieces, .n_pieces = 2},
                 w.arena, &p, &why, &err),
        0);
    assert_string_equal(p.pieces[1].node, "b");
    world_done(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(volumes_are_where_the_scheduler_says),
        cmocka_unit_test(a_claim_made_for_another_pod_stands_in_the_way),
        cmocka_unit_test(pods_go_where_their_volumes_are),
        cmocka_unit_test(volumes_of_every_pod_of_every_member_count),
        cmocka_unit_test(what_happens_to_volumes_counts_at_once),
    };

    return cmocka_run_group_tests_name("storage", tests, NULL, NULL);
}
