/* SPDX-License-Identifier: Apache-2.0 */
/* The cluster is played: what a plan says is carried out on a list, write by write, and after each
 * of them the pool is looked at as a consumer does (highest generation only; complete when as many
 * slices as it says are there). */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "api/runtime/base/cleanup.h"
#include "api/runtime/base/str.h"
#include "driver/inventory/inventory.h"

#define SLICES_MAX 32

static const struct tg_inventory_owner owner = {
    .driver = "gpu.tangram.dev", .node_name = "node-1", .node_uid = "node-uid"};

struct cluster {
    struct tg_resource_slice *slices[SLICES_MAX];
    size_t n;
    int next_uid;
    int64_t last_generation;
    struct tg_inventory_plan plan; /* the last one */
};

static struct tg_arena *arena;
static struct cluster cluster;

static int set_up(void **state)
{
    (void)state;
    arena = tg_arena_new(TG_ARENA_UNLIMITED);
    cluster = (struct cluster){0};
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tg_arena_free(arena);
    return 0;
}

/* n devices; `flavour` changes one attribute of all of them. */
static struct tg_slice_list desired(size_t n, const char *flavour)
{
    struct tg_device_set set = {0};
    struct tg_slice_list list = {0};
    set.devices.items = tg_arena_alloc_array(arena, n, sizeof(*set.devices.items));
    set.devices.n = n;
    for (size_t i = 0; i < n; i++) {
        struct tg_device *device = &set.devices.items[i].device;
        struct tg_keyed_attribute *attributes = tg_arena_alloc_array(arena, 2, sizeof(*attributes));
        struct tg_keyed_capacity *capacity = tg_arena_alloc_array(arena, 1, sizeof(*capacity));
        attributes[0] = (struct tg_keyed_attribute){"flavour", {.string = flavour}};
        attributes[1] = (struct tg_keyed_attribute){"index", {.int_ = {true, (int64_t)i}}};
        capacity[0] = (struct tg_keyed_capacity){"memory", {.value = "1024Mi"}};
        device->name = tg_arena_printf(arena, "gpu-%zu", i);
        device->attributes.items = attributes;
        device->attributes.n = 2;
        device->capacity.items = capacity;
        device->capacity.n = 1;
    }
    assert_int_equal(tg_inventory_build(&owner, &set, arena, &list, NULL), 0);
    return list;
}

/* A deep enough copy: what tests change is its own. */
static struct tg_resource_slice *copy(const struct tg_resource_slice *from)
{
    struct tg_resource_slice *slice = tg_arena_alloc(arena, sizeof(*slice));
    slice->metadata = tg_arena_alloc(arena, sizeof(*slice->metadata));
    slice->spec = tg_arena_alloc(arena, sizeof(*slice->spec));
    *slice->metadata = *from->metadata;
    *slice->spec = *from->spec;
    slice->spec->pool = tg_arena_alloc(arena, sizeof(*slice->spec->pool));
    *slice->spec->pool = *from->spec->pool;
    slice->spec->devices.items =
        tg_arena_alloc_array(arena, from->spec->devices.n, sizeof(struct tg_device));
    for (size_t i = 0; i < from->spec->devices.n; i++)
        slice->spec->devices.items[i] = from->spec->devices.items[i];
    return slice;
}

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < cluster.n && strcmp(cluster.slices[i]->metadata->name, name) != 0)
        i++;
    return i;
}

static void stamp(struct tg_resource_slice *slice)
{
    slice->metadata->resource_version = tg_arena_printf(arena, "%d", ++cluster.next_uid);
}

static void execute(const struct tg_inventory_operation *operation)
{
    size_t at = find(operation->slice->metadata->name);
    if (operation->action == TG_INVENTORY_CREATE) {
        assert_int_equal(at, cluster.n); /* or the server says AlreadyExists */
        assert_null(operation->slice->metadata->uid);
        assert_null(operation->slice->metadata->resource_version);
        cluster.slices[cluster.n] = copy(operation->slice);
        cluster.slices[cluster.n]->metadata->uid =
            tg_arena_printf(arena, "uid-%d", ++cluster.next_uid);
        stamp(cluster.slices[cluster.n++]);
        return;
    }
    assert_true(at < cluster.n);
    assert_string_equal(operation->slice->metadata->uid, cluster.slices[at]->metadata->uid);
    assert_string_equal(operation->slice->metadata->resource_version,
                        cluster.slices[at]->metadata->resource_version);
    if (operation->action == TG_INVENTORY_UPDATE) {
        assert_string_equal(operation->slice->spec->pool->name,
                            cluster.slices[at]->spec->pool->name); /* immutable */
        cluster.slices[at] = copy(operation->slice);
        stamp(cluster.slices[at]);
        return;
    }
    memmove(&cluster.slices[at], &cluster.slices[at + 1],
            (cluster.n - at - 1) * sizeof(cluster.slices[0]));
    cluster.n--;
}

static int64_t newest(void)
{
    int64_t generation = -1;
    for (size_t i = 0; i < cluster.n; i++) {
        if (cluster.slices[i]->spec->pool->generation.value > generation)
            generation = cluster.slices[i]->spec->pool->generation.value;
    }
    return generation;
}

/* The flavours of the devices that a consumer sees: NULL if the pool is incomplete, "mixed" if they
 * differ. */
static const char *visible_flavour(size_t *n_devices)
{
    const char *flavour = "";
    size_t slices = 0;
    int64_t count = -1;
    *n_devices = 0;
    for (size_t i = 0; i < cluster.n; i++) {
        const struct tg_resource_slice_spec *spec = cluster.slices[i]->spec;
        if (spec->pool->generation.value != newest())
            continue;
        slices++;
        count = count < 0 ? spec->pool->resource_slice_count.value : count;
        *n_devices += spec->devices.n;
        for (size_t d = 0; d < spec->devices.n; d++) {
            const char *one = spec->devices.items[d].attributes.items[0].value.string;
            flavour = flavour[0] == '\0' || tg_streq(flavour, one) ? one : "mixed";
        }
    }
    return count == (int64_t)slices ? flavour : NULL;
}

static void compare(const struct tg_slice_list *list)
{
    const struct tg_resource_slice *observed[SLICES_MAX];
    for (size_t i = 0; i < cluster.n; i++)
        observed[i] = cluster.slices[i];
    assert_int_equal(tg_inventory_compare(&owner, list, observed, cluster.n,
                                          cluster.last_generation, arena, &cluster.plan, NULL),
                     0);
}

/* Plans and writes; whatever a consumer sees on the way is the old content or the new one. Then
 * nothing is left to do. */
static void publish(size_t n, const char *flavour)
{
    struct tg_slice_list list = desired(n, flavour);
    size_t seen;
    compare(&list);
    struct tg_inventory_plan plan = cluster.plan;
    for (size_t i = 0; i < plan.n; i++) {
        execute(&plan.items[i]);
        const char *visible = visible_flavour(&seen);
        assert_true(visible == NULL || strcmp(visible, "mixed") != 0);
    }
    cluster.last_generation = plan.generation;
    assert_int_equal(newest(), plan.generation);
    assert_string_equal(visible_flavour(&seen), n == 0 ? "" : flavour);
    assert_int_equal(seen, n);
    assert_int_equal(cluster.n, list.n);
    compare(&list);
    assert_int_equal(cluster.plan.n, 0);
    cluster.plan = plan;
}

static void assert_writes(size_t updates, size_t creations, size_t deletions)
{
    size_t counts[3] = {0};
    for (size_t i = 0; i < cluster.plan.n; i++)
        counts[cluster.plan.items[i].action]++;
    assert_int_equal(counts[TG_INVENTORY_UPDATE], updates);
    assert_int_equal(counts[TG_INVENTORY_CREATE], creations);
    assert_int_equal(counts[TG_INVENTORY_DELETE], deletions);
}

static void the_first_generation_is_1(void **state)
{
    (void)state;
    publish(300, "a");
    assert_writes(0, 3, 0);
    assert_int_equal(newest(), 1);
}

static void what_is_right_is_not_written(void **state)
{
    (void)state;
    publish(300, "a");
    publish(300, "a");
    assert_writes(0, 0, 0);
}

static void one_changed_slice_keeps_the_generation(void **state)
{
    (void)state;
    publish(8, "a");
    publish(8, "b");
    assert_writes(1, 0, 0);
    assert_int_equal(newest(), 1);
}

static void several_changed_slices_get_a_new_generation_together(void **state)
{
    (void)state;
    publish(300, "a");
    publish(300, "b");
    assert_writes(3, 0, 0);
    assert_int_equal(newest(), 2);
}

static void more_slices_get_a_new_generation(void **state)
{
    (void)state;
    publish(128, "a");
    publish(129, "a");
    assert_writes(1, 1, 0);
    assert_int_equal(newest(), 2);
}

static void fewer_slices_get_a_new_generation_and_leave_last(void **state)
{
    (void)state;
    publish(129, "a");
    publish(100, "a");
    assert_writes(1, 0, 1);
    assert_int_equal(cluster.plan.items[0].action, TG_INVENTORY_UPDATE);
    assert_int_equal(newest(), 2);
}

static void all_devices_may_go(void **state)
{
    (void)state;
    publish(300, "a");
    publish(0, "a");
    assert_writes(1, 0, 2);
    publish(8, "a");
    assert_writes(1, 0, 0);
}

/* The kubelet does that whenever it starts. */
static void wiped_slices_come_back_as_they_were(void **state)
{
    (void)state;
    publish(300, "a");
    publish(300, "b");
    cluster.n = 0;
    publish(300, "b");
    assert_writes(0, 3, 0);
    assert_int_equal(newest(), 2);
}

static void wiped_slices_come_back_after_a_restart_as_well(void **state)
{
    (void)state;
    publish(300, "a");
    cluster.n = 0;
    cluster.last_generation = 0;
    publish(300, "a");
    assert_writes(0, 3, 0);
    assert_int_equal(newest(), 1);
}

static void one_deleted_slice_is_restored_without_touching_the_others(void **state)
{
    (void)state;
    publish(300, "a");
    execute(&(struct tg_inventory_operation){.action = TG_INVENTORY_DELETE,
                                             .slice = cluster.slices[1]});
    publish(300, "a");
    assert_writes(0, 1, 0);
    assert_int_equal(newest(), 1);
}

static void a_deleted_slice_and_a_changed_one_get_a_new_generation(void **state)
{
    (void)state;
    publish(200, "a");
    execute(&(struct tg_inventory_operation){.action = TG_INVENTORY_DELETE,
                                             .slice = cluster.slices[1]});
    publish(200, "b");
    assert_writes(1, 1, 0);
    assert_int_equal(newest(), 2);
}

/* Each change that somebody else may make to a slice of ours, and that the server lets pass. */
static void foreign_number(struct tg_resource_slice *slice)
{
    slice->spec->pool->resource_slice_count.value = 7;
}
static void foreign_device(struct tg_resource_slice *slice)
{
    slice->spec->devices.n--;
}
static void foreign_name(struct tg_resource_slice *slice)
{
    slice->spec->devices.items[0].name = "gpu-x";
}
static void foreign_attribute(struct tg_resource_slice *slice)
{
    static struct tg_keyed_attribute changed[] = {{"flavour", {.string = "a"}},
                                                  {"index", {.int_ = {true, 77}}}};
    slice->spec->devices.items[0].attributes.items = changed;
}
static void foreign_attribute_type(struct tg_resource_slice *slice)
{
    static struct tg_keyed_attribute changed[] = {{"flavour", {.version = "a"}},
                                                  {"index", {.int_ = {true, 0}}}};
    slice->spec->devices.items[0].attributes.items = changed;
}
static void foreign_capacity(struct tg_resource_slice *slice)
{
    static struct tg_keyed_capacity changed[] = {{"memory", {.value = "2Gi"}}};
    slice->spec->devices.items[0].capacity.items = changed;
}
static void foreign_taint(struct tg_resource_slice *slice)
{
    static struct tg_taint taint = {.key = "k", .effect = "NoSchedule"};
    slice->spec->devices.items[0].taints.items = &taint;
    slice->spec->devices.items[0].taints.n = 1;
}
static void foreign_sharing(struct tg_resource_slice *slice)
{
    slice->spec->devices.items[0].allow_multiple_allocations = (struct tg_opt_bool){true, true};
}
static void foreign_owner(struct tg_resource_slice *slice)
{
    slice->metadata->owner_references.n = 0;
}
static void foreign_lower_generation(struct tg_resource_slice *slice)
{
    slice->spec->pool->generation.value = 0;
}

static void foreign_edits_are_put_right(void **state)
{
    (void)state;
    static void (*const edits[])(struct tg_resource_slice *) = {
        foreign_number,         foreign_device,           foreign_name,  foreign_attribute,
        foreign_attribute_type, foreign_capacity,         foreign_taint, foreign_sharing,
        foreign_owner,          foreign_lower_generation,
    };
    for (size_t i = 0; i < TG_ARRAY_SIZE(edits); i++) {
        cluster = (struct cluster){0};
        publish(8, "a");
        edits[i](cluster.slices[0]);
        publish(8, "a");
        assert_writes(1, 0, 0);
    }
}

static void a_foreign_higher_generation_is_kept_up_with(void **state)
{
    (void)state;
    publish(200, "a");
    cluster.slices[0]->spec->pool->generation.value = 99;
    publish(200, "a");
    assert_writes(1, 0, 0); /* the other slice */
    assert_int_equal(newest(), 99);
}

static void a_generation_that_leaves_no_room_to_count_is_started_again(void **state)
{
    (void)state;
    publish(200, "a");
    cluster.slices[1]->spec->pool->generation.value = INT64_MAX;
    publish(200, "a");
    assert_true(newest() < 10);
    publish(200, "b");
}

static void slices_of_another_naming_are_replaced_without_a_gap(void **state)
{
    (void)state;
    publish(8, "a");
    cluster.slices[0]->metadata->name = "node-1-gpu.tangram.dev-x7k2p";
    publish(8, "a");
    assert_writes(0, 1, 1);
    assert_int_equal(cluster.plan.items[0].action, TG_INVENTORY_CREATE);
    assert_int_equal(newest(), 2);
}

static void stale_pools_of_ours_are_removed(void **state)
{
    (void)state;
    publish(8, "a");
    struct tg_resource_slice *stale = copy(cluster.slices[0]);
    stale->metadata->name = "stale";
    stale->metadata->uid = "uid-stale";
    stale->spec->pool->name = "node-1-old";
    stale->spec->pool->generation.value = 50;
    cluster.slices[cluster.n++] = stale;
    publish(8, "a");
    assert_writes(0, 0, 1);
    assert_int_equal(newest(), 1);
}

static void
a_slice_whose_immutable_fields_are_wrong_is_deleted_before_it_is_made_again(void **state)
{
    (void)state;
    publish(8, "a");
    cluster.slices[0]->spec->pool->name = "elsewhere";
    publish(8, "a");
    assert_writes(0, 1, 1);
    assert_int_equal(cluster.plan.items[0].action, TG_INVENTORY_DELETE);
}

static void slices_of_other_drivers_and_nodes_are_not_touched(void **state)
{
    (void)state;
    publish(8, "a");
    struct tg_resource_slice *other_driver = copy(cluster.slices[0]),
                             *other_node = copy(cluster.slices[0]);
    other_driver->metadata->name = "other-driver";
    other_driver->spec->driver = "gpu.example.com";
    other_node->metadata->name = "other-node";
    other_node->spec->node_name = "node-2";
    const struct tg_resource_slice *observed[] = {other_node, cluster.slices[0], other_driver};
    struct tg_slice_list list = desired(8, "a");
    struct tg_inventory_plan plan;
    assert_int_equal(tg_inventory_compare(&owner, &list, observed, 3, 1, arena, &plan, NULL), 0);
    assert_int_equal(plan.n, 0);
}

static void the_order_of_the_observed_slices_does_not_matter(void **state)
{
    (void)state;
    publish(300, "a");
    struct tg_slice_list list = desired(300, "b");
    const struct tg_resource_slice *forth[] = {cluster.slices[0], cluster.slices[1],
                                               cluster.slices[2]};
    const struct tg_resource_slice *back[] = {cluster.slices[2], cluster.slices[1],
                                              cluster.slices[0]};
    struct tg_inventory_plan a, b;
    assert_int_equal(tg_inventory_compare(&owner, &list, forth, 3, 1, arena, &a, NULL), 0);
    assert_int_equal(tg_inventory_compare(&owner, &list, back, 3, 1, arena, &b, NULL), 0);
    assert_int_equal(a.n, b.n);
    for (size_t i = 0; i < a.n; i++)
        assert_string_equal(a.items[i].slice->metadata->name, b.items[i].slice->metadata->name);
}

/* The server sorts maps and writes quantities its own way: no reason to write for ever. */
static void the_servers_spelling_is_no_difference(void **state)
{
    (void)state;
    static struct tg_keyed_attribute turned[] = {{"index", {.int_ = {true, 0}}},
                                                 {"flavour", {.string = "a"}}};
    static struct tg_keyed_capacity canonical[] = {{"memory", {.value = "1Gi"}}};
    publish(1, "a");
    cluster.slices[0]->spec->devices.items[0].attributes.items = turned;
    cluster.slices[0]->spec->devices.items[0].capacity.items = canonical;
    struct tg_slice_list list = desired(1, "a");
    compare(&list);
    assert_int_equal(cluster.plan.n, 0);
}

static void labels_of_others_survive_an_update(void **state)
{
    (void)state;
    struct tg_string_pair label = {.key = "team", .value = "x"};
    publish(8, "a");
    cluster.slices[0]->metadata->labels.items = &label;
    cluster.slices[0]->metadata->labels.n = 1;
    publish(8, "b");
    assert_int_equal(cluster.slices[0]->metadata->labels.n, 1);
    assert_string_equal(cluster.slices[0]->metadata->labels.items[0].key, "team");
}

/* A writer that stopped after any number of writes: its successor gets there, with a consistent
 * view on the way. */
static void a_pass_that_stopped_anywhere_is_finished_by_the_next(void **state)
{
    (void)state;
    static const struct {
        size_t before, after;
    } rows[] = {{300, 300}, {128, 300}, {300, 100}, {0, 200}};
    for (size_t r = 0; r < TG_ARRAY_SIZE(rows); r++) {
        for (size_t stop = 0;; stop++) {
            cluster = (struct cluster){0};
            publish(rows[r].before, "a");
            struct tg_slice_list list = desired(rows[r].after, "b");
            compare(&list);
            size_t total = cluster.plan.n;
            for (size_t i = 0; i < stop && i < total; i++)
                execute(&cluster.plan.items[i]);
            cluster.last_generation = 0; /* a new process */
            publish(rows[r].after, "b");
            if (stop >= total)
                break;
        }
    }
}

static void memory_is_bounded(void **state)
{
    (void)state;
    publish(200, "a");
    struct tg_slice_list list = desired(300, "b");
    const struct tg_resource_slice *observed[] = {cluster.slices[0], cluster.slices[1]};
    int rc = -1;
    for (size_t nth = 1; rc != 0; nth++) {
        TG_AUTOARENA struct tg_arena *tight = tg_arena_new(1 << 20);
        struct tg_inventory_plan plan;
        tg_arena_fail_after(tight, nth);
        rc = tg_inventory_compare(&owner, &list, observed, 2, 1, tight, &plan, NULL);
        assert_true(rc == 0 || rc == -TG_RESOURCE_EXHAUSTED);
    }
}

#define WITH(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest compare_group[] = {
        WITH(the_first_generation_is_1),
        WITH(what_is_right_is_not_written),
        WITH(one_changed_slice_keeps_the_generation),
        WITH(several_changed_slices_get_a_new_generation_together),
        WITH(more_slices_get_a_new_generation),
        WITH(fewer_slices_get_a_new_generation_and_leave_last),
        WITH(all_devices_may_go),
        WITH(wiped_slices_come_back_as_they_were),
        WITH(wiped_slices_come_back_after_a_restart_as_well),
        WITH(one_deleted_slice_is_restored_without_touching_the_others),
        WITH(a_deleted_slice_and_a_changed_one_get_a_new_generation),
        WITH(foreign_edits_are_put_right),
        WITH(a_foreign_higher_generation_is_kept_up_with),
        WITH(a_generation_that_leaves_no_room_to_count_is_started_again),
        WITH(slices_of_another_naming_are_replaced_without_a_gap),
        WITH(stale_pools_of_ours_are_removed),
        WITH(a_slice_whose_immutable_fields_are_wrong_is_deleted_before_it_is_made_again),
        WITH(slices_of_other_drivers_and_nodes_are_not_touched),
        WITH(the_order_of_the_observed_slices_does_not_matter),
        WITH(the_servers_spelling_is_no_difference),
        WITH(labels_of_others_survive_an_update),
        WITH(a_pass_that_stopped_anywhere_is_finished_by_the_next),
        WITH(memory_is_bounded),
    };
    return cmocka_run_group_tests_name("compare", compare_group, NULL, NULL);
}
