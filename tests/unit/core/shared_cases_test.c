/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator cases of the built-in allocator against placement: where this version does not
 * refuse a case by name, it gives the same verdict. Classes of the cases get label and guard, their
 * node becomes ready; nothing else is changed.
 */
#include <stdlib.h>

#include "api/runtime/json/value.h"
#include "tests/unit/core/world.h"

enum verdict { ALLOCATED, UNALLOCATABLE, FAILED, REFUSED };

static void *decode_value(struct world *w, const struct tg_type *type, const struct tg_json *value)
{
    struct tg_buf text = TG_BUF_INIT(1 << 22);
    void *object;

    assert_int_equal(tg_json_write(value, &text), 0);
    object = decode(w->arena, type, tg_buf_str(&text));
    tg_buf_done(&text);
    return object;
}

static void add_case_node(struct world *w, const struct tg_json *value)
{
    struct tg_node *node = decode_value(w, &tg_node_type, value);

    node->status = ((struct tg_node *)decode(
                        w->arena, &tg_node_type,
                        "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}],"
                        "\"allocatable\":{\"pods\":\"110\"}}}"))
                       ->status;
    w->nodes[w->n_nodes++] = node;
}

/* The class as one of ours: label and guard. */
static void add_case_class(struct world *w, const struct tg_json *value)
{
    struct tg_device_class *klass = decode_value(w, &tg_device_class_type, value);
    struct tg_device_class *ours =
        decode(w->arena, &tg_device_class_type,
               "{\"metadata\":{\"labels\":{\"tangram.dev/"
               "controller\":\"default\"}},\"spec\":{\"selectors\":[" GUARD_JSON "]}}");
    size_t n = klass->spec == NULL ? 0 : klass->spec->selectors.n;
    struct tg_device_selector *selectors =
        tg_arena_alloc_array(w->arena, n + 1, sizeof(*selectors));

    assert_non_null(selectors);
    selectors[0] = ours->spec->selectors.items[0];
    for (size_t i = 0; i < n; i++)
        selectors[i + 1] = klass->spec->selectors.items[i];
    ours->metadata->name = klass->metadata->name;
    ours->spec->selectors.items = selectors;
    ours->spec->selectors.n = n + 1;
    assert_true(w->n_classes < WORLD_MAX);
    w->classes[w->n_classes++] = ours;
}

static void add_amounts(struct world *w, const struct tg_json *capacity, struct tg_fleet_busy *busy)
{
    struct tg_string_pair *pairs = tg_arena_alloc_array(w->arena, capacity->n + 1, sizeof(*pairs));

    assert_non_null(pairs);
    for (size_t i = 0; i < capacity->n; i++)
        pairs[i] = (struct tg_string_pair){capacity->keys[i], capacity->items[i]->text};
    busy->consumed = pairs;
    busy->n_consumed = capacity->n;
}

/* capacity: of the device, an object of quantities; NULL: it is had wholly. */
static void add_case_busy(struct world *w, const char *id, const char *share,
                          const struct tg_json *capacity)
{
    char *copy = tg_arena_strdup(w->arena, id), *pool, *device;

    assert_non_null(copy);
    pool = strchr(copy, '/');
    assert_non_null(pool);
    *pool++ = '\0';
    device = strchr(pool, '/');
    assert_non_null(device);
    *device++ = '\0';
    assert_true(w->n_busy < WORLD_MAX);
    w->busy[w->n_busy++] = (struct tg_fleet_busy){
        .driver = copy, .pool = pool, .device = device, .holder = "case", .share = share};
    if (capacity != NULL)
        add_amounts(w, capacity, &w->busy[w->n_busy - 1]);
}

static size_t each(const struct tg_json *list, size_t i, const struct tg_json **ret)
{
    size_t n = list == NULL || list->kind != TG_JSON_ARRAY ? 0 : list->n;

    *ret = i < n ? list->items[i] : NULL;
    return n;
}

/* Shares, and what they consume; what is consumed without a share known has one of its own. */
static void add_shares(struct world *w, const struct tg_json *allocated)
{
    const struct tg_json *capacity = tg_json_get(allocated, "capacity"), *item;

    for (size_t i = 0; i < each(tg_json_get(allocated, "sharedDevices"), i, &item); i++)
        add_case_busy(w, tg_json_string(tg_json_get(item, "device")),
                      tg_json_string(tg_json_get(item, "shareID")), NULL);
    for (size_t i = 0; capacity != NULL && i < capacity->n; i++)
        add_case_busy(w, capacity->keys[i], "their sum", capacity->items[i]);
}

static void load(struct world *w, const struct tg_json *c, struct tg_piece *piece)
{
    const struct tg_json *item;
    const struct tg_resource_claim **claims;

    add_case_node(w, tg_json_get(c, "node"));
    for (size_t i = 0; i < each(tg_json_get(c, "deviceClasses"), i, &item); i++)
        add_case_class(w, item);
    for (size_t i = 0; i < each(tg_json_get(c, "resourceSlices"), i, &item); i++) {
        assert_true(w->n_slices < WORLD_MAX);
        w->slices[w->n_slices++] = decode_value(w, &tg_resource_slice_type, item);
    }
    for (size_t i = 0; i < each(tg_json_get(tg_json_get(c, "allocated"), "devices"), i, &item); i++)
        add_case_busy(w, tg_json_string(item), NULL, NULL);
    add_shares(w, tg_json_get(c, "allocated"));
    piece->n_claims = each(tg_json_get(c, "claims"), 0, &item);
    claims = tg_arena_alloc_array(w->arena, piece->n_claims, sizeof(*claims));
    assert_non_null(claims);
    for (size_t i = 0; i < each(tg_json_get(c, "claims"), i, &item); i++)
        claims[i] = decode_value(w, &tg_resource_claim_type, item);
    piece->claims = claims;
}

static size_t expected_results(const struct tg_json *c)
{
    const struct tg_json *claim, *ignored;
    size_t n = 0;

    for (size_t i = 0; i < each(tg_json_get(tg_json_get(c, "expect"), "claims"), i, &claim); i++)
        n += each(tg_json_get(claim, "results"), 0, &ignored);
    return n;
}

static enum verdict run(struct world *w, const struct tg_json *c, struct tg_error *err)
{
    struct tg_piece piece = {.pods = NULL};
    struct tg_placement placement;
    struct tg_no_place why;
    int rc = 0;

    load(w, c, &piece);
    rc = tg_place(world_fleet(w),
                  &(struct tg_place_request){.name = "case", .pieces = &piece, .n_pieces = 1},
                  w->arena, &placement, &why, err);
    if (rc == 0) {
        if (placement.pieces[0].n_devices != expected_results(c))
            fail_msg("%s: %zu devices", tg_json_string(tg_json_get(c, "name")),
                     placement.pieces[0].n_devices);
        return ALLOCATED;
    }
    if (rc == -TG_UNIMPLEMENTED)
        return REFUSED;
    return rc == -TG_UNAVAILABLE ? UNALLOCATABLE : FAILED;
}

/* Where we answer otherwise on purpose: what of one node is in the way of a claim (a pool that is
 * invalid, or incomplete before a request for all devices; all devices that contradict a
 * constraint) is named in the explanation instead of being an error of the claim; devices of an
 * older generation are never given away, wherever the newer one is; and All waits for a shared
 * device that is used up, as it does from 1.37 on. */
static bool may_differ(const struct tg_json *c, enum verdict verdict)
{
    static const char *const errors[] = {"invalid resource pools", "is currently being updated",
                                         "a claim constraint would not be satisfied"};
    const char *name = tg_json_string(tg_json_get(c, "name"));
    const char *error = tg_json_string(tg_json_get(tg_json_get(c, "expect"), "error"));
    static const char *const newest[] = {
        "multi-host-resource-pool-complete-update-from-node-1-to-node-2",
        "consumable-capacity-multi-allocatable-device-allocation-mode-all-in-use-insufficient"};

    if (verdict != UNALLOCATABLE)
        return false;
    for (size_t i = 0; error != NULL && i < sizeof(errors) / sizeof(errors[0]); i++) {
        if (strstr(error, errors[i]) != NULL)
            return true;
    }
    for (size_t i = 0; i < sizeof(newest) / sizeof(newest[0]); i++) {
        if (strcmp(name, newest[i]) == 0)
            return true;
    }
    return false;
}

/* Cases about gates that stand otherwise by default than in the case; `cases_allocator` plays them.
 */
static bool has_other_gates(const struct tg_json *c)
{
    const char *error = tg_json_string(tg_json_get(tg_json_get(c, "expect"), "error"));
    const struct tg_json *feature;

    for (size_t i = 0; i < each(tg_json_get(c, "features"), i, &feature); i++) {
        if (strcmp(tg_json_string(feature), "ListTypeAttributes") == 0)
            return true;
    }
    return (error != NULL && strstr(error, "feature is disabled") != NULL) ||
           each(tg_json_get(c, "featuresExplicitlyOff"), 0, &feature) > 0;
}

static void check(const struct tg_json *c, size_t *compared)
{
    static const char *const names[] = {"allocated", "unallocatable", "error"};
    const char *outcome = tg_json_string(tg_json_get(tg_json_get(c, "expect"), "outcome"));
    const char *name = tg_json_string(tg_json_get(c, "name"));
    struct tg_error err = TG_ERROR_INIT;
    struct world w;
    enum verdict verdict;

    if (has_other_gates(c))
        return;
    world_init(&w);
    verdict = run(&w, c, &err);
    if (verdict != REFUSED && !may_differ(c, verdict)) {
        (*compared)++;
        if (strcmp(names[verdict], outcome) != 0)
            fail_msg("%s: %s, upstream: %s (%s)", name, names[verdict], outcome, err.message);
    }
    world_done(&w);
}

static void verdicts_are_those_of_the_built_in_allocator_where_nothing_is_refused(void **state)
{
    static const char path[] =
        TEST_SOURCE_DIR "/../shared/cases/allocator/alloc-cases-v0.36.2.json";
    TG_AUTOARENA struct tg_arena *arena = tg_arena_new(TG_ARENA_UNLIMITED);
    struct tg_json *root = NULL;
    const struct tg_json *item;
    FILE *f = fopen(path, "r");
    size_t size = 1 << 24, n = 0, compared = 0;
    char *data = malloc(size);

    (void)state;
    assert_non_null(data);
    if (f == NULL) {
        free(data);
        print_message("not run: %s is not there\n", path);
        skip();
        return;
    }
    n = fread(data, 1, size, f);
    fclose(f);
    assert_int_equal(tg_json_parse(data, n, arena, &root, NULL), 0);
    free(data);
    for (size_t i = 0; i < each(tg_json_get(root, "cases"), i, &item); i++)
        check(item, &compared);
    /* A change that makes everything "refused" must not pass. */
    assert_true(compared >= 90);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_are_those_of_the_built_in_allocator_where_nothing_is_refused),
    };

    return cmocka_run_group_tests_name("shared_cases", tests, NULL, NULL);
}
