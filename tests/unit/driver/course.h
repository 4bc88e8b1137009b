/* SPDX-License-Identifier: Apache-2.0 */
/* A course of prepares and releases that something interrupts, and what must hold then and at the
 * end. */
#ifndef TG_TESTS_UNIT_DRIVER_COURSE_H
#define TG_TESTS_UNIT_DRIVER_COURSE_H

#include "tests/unit/driver/fixture.h"

struct operation {
    bool release;
    const char *uid;
    const char *device;
};

/* Devices change hands, a claim comes back, and the journal is rewritten on the way (every 5
 * records). */
static const struct operation scenario[] = {
    {false, "uid-a", "gpu-0"}, {false, "uid-b", "gpu-1"}, {true, "uid-a", NULL},
    {false, "uid-c", "gpu-0"}, {false, "uid-c", "gpu-0"}, {true, "uid-b", NULL},
    {false, "uid-a", "gpu-1"}, {true, "uid-c", NULL},
};
#define OPERATIONS TG_ARRAY_SIZE(scenario)

static const char *const uids[] = {"uid-a", "uid-b", "uid-c"};

static inline int perform(struct fixture *f, const struct operation *operation,
                          struct tg_error *err)
{
    if (operation->release)
        return tg_prepare_release(f->prepare, operation->uid, err);
    return fixture_prepare(f, operation->uid, operation->device, err);
}

/* The device that `uid` has after the first n operations, NULL if none. */
static inline const char *device_after(size_t n, const char *uid)
{
    const char *device = NULL;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(scenario[i].uid, uid) == 0)
            device = scenario[i].release ? NULL : scenario[i].device;
    }
    return device;
}

/* Claims that nobody was working on are as they were acknowledged; the one of operation `n` is
 * whole or not there; no device has two owners; documents and claims agree. */
static inline void assert_invariants(struct fixture *f, size_t acknowledged)
{
    const char *in_flight = acknowledged < OPERATIONS ? scenario[acknowledged].uid : "";
    for (size_t i = 0; i < TG_ARRAY_SIZE(uids); i++) {
        const struct tg_prepared_claim *claim = tg_prepare_find(f->prepare, uids[i]);
        const char *wanted = device_after(acknowledged, uids[i]);
        assert_int_equal(claim != NULL, fixture_has_document(f, uids[i]));
        if (strcmp(uids[i], in_flight) == 0)
            continue;
        assert_int_equal(claim != NULL, wanted != NULL);
        if (claim != NULL)
            assert_held_by(f, uids[i], wanted);
    }
    for (size_t i = 0; i < tg_prepare_count(f->prepare); i++) {
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(tg_prepare_at(f->prepare, i)->devices[0].device,
                                    tg_prepare_at(f->prepare, j)->devices[0].device);
    }
    assert_int_equal(fixture_count_files(f), tg_prepare_count(f->prepare));
    assert_string_equal(f->report.damage, "");
}

/* The rest of the scenario succeeds, from the interrupted operation on, and its end is what it
 * should be. */
static inline void finish_scenario(struct fixture *f, size_t acknowledged)
{
    for (size_t i = acknowledged; i < OPERATIONS; i++)
        assert_int_equal(perform(f, &scenario[i], NULL), 0);
    fixture_open(f);
    assert_invariants(f, OPERATIONS);
}

#endif
