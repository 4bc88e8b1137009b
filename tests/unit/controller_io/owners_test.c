/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/controller_io/fixture.h"

#include "api/kubernetes/objects/core.h"
#include "api/runtime/json/decode.h"

#define JOB_PATH "/apis/batch/v1/namespaces/ns/jobs/train"
#define SET_PATH "/apis/jobset.x-k8s.io/v1alpha2/namespaces/ns/jobsets/all"
#define OWNED_BY(version, kind, name, uid)                                                         \
    "\"ownerReferences\":[{\"apiVersion\":\"" version "\",\"kind\":\"" kind "\",\"name\":\"" name  \
    "\",\"uid\":\"" uid "\",\"controller\":true}]"
#define JOB_OF(more)                                                                               \
    "{\"metadata\":{\"name\":\"train\",\"uid\":\"job-uid\"" more "},\"spec\":{\"parallelism\":2}}"

/* A gang of four, of which one pod is there, owned by this. */
struct incomplete {
    struct tg_arena *arena;
    struct tg_gang gang;
    struct tg_gang_spec spec;
    struct tg_unit_member member;
    struct tg_unit unit;
    struct tg_decision decision;
};

static void incomplete_init(struct incomplete *i, const char *owner)
{
    struct tg_error err = TG_ERROR_INIT;
    void *pod = NULL;
    char *json;

    *i = (struct incomplete){.arena = tg_arena_new((size_t)1 << 20)};
    json = tg_arena_printf(i->arena, "{\"metadata\":{\"name\":\"p\",%s}}", owner);
    assert_int_equal(tg_json_decode_new(&tg_pod_type, json, strlen(json), i->arena, &pod, &err), 0);
    i->spec.size = (struct tg_opt_int){.set = true, .value = 4};
    i->gang.spec = &i->spec;
    i->member.pod = pod;
    i->unit = (struct tg_unit){
        .namespace_ = "ns", .gang = &i->gang, .members = &i->member, .n_members = 1};
}

static const char *ask(struct fixture *f, struct incomplete *i)
{
    i->decision = (struct tg_decision){.reason = "Gathering", .text = "1 of 4 members exist."};
    tg_owners_explain(f->controller->owners, &i->unit, i->arena, &i->decision);
    return i->decision.text;
}

static void on_news(void *data)
{
    ((struct fixture *)data)->passes++;
}

static void run_passes(struct fixture *f, unsigned passes)
{
    while (f->passes == passes)
        tg_loop_run_once(f->loop, true);
}

static void an_owner_is_read_once_and_its_news_brings_a_pass(void **state)
{
    struct fixture *f = *state;
    struct incomplete i;
    unsigned passes;

    fixture_start(f, "");
    incomplete_init(&i, OWNED_BY("batch/v1", "Job", "train", "job-uid"));
    assert_string_equal(ask(f, &i), "1 of 4 members exist.");
    ask(f, &i);
    passes = f->passes;
    test_reply(fixture_expect(f, "GET", JOB_PATH), 200, "", JOB_OF(""));
    run_passes(f, passes);
    assert_string_equal(ask(f, &i),
                        "1 of 4 members exist. Job train creates at most 2 pods at a time "
                        "(spec.parallelism), fewer than the 4 members of the gang: raise it, or "
                        "make the gang smaller.");
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    tg_arena_free(i.arena);
}

static void the_owner_of_an_owner_is_read_too(void **state)
{
    struct fixture *f = *state;
    struct incomplete i;
    unsigned passes;

    fixture_start(f, "");
    incomplete_init(&i, OWNED_BY("batch/v1", "Job", "train", "job-uid"));
    ask(f, &i);
    passes = f->passes;
    test_reply(fixture_expect(f, "GET", JOB_PATH), 200, "",
               JOB_OF("," OWNED_BY("jobset.x-k8s.io/v1alpha2", "JobSet", "all", "set-uid")));
    run_passes(f, passes);
    assert_string_equal(ask(f, &i), "1 of 4 members exist.");
    passes = f->passes;
    test_reply(fixture_expect(f, "GET", SET_PATH), 200, "",
               "{\"metadata\":{\"name\":\"all\",\"uid\":\"set-uid\"},\"spec\":{\"startupPolicy\":"
               "{\"startupPolicyOrder\":\"InOrder\"}}}");
    run_passes(f, passes);
    assert_non_null(strstr(ask(f, &i), "JobSet all"));
    tg_arena_free(i.arena);
}

static void
a_kind_that_is_absent_or_may_not_be_read_or_another_object_of_the_name_says_nothing(void **state)
{
    static const struct {
        int status;
        const char *body;
    } answers[] = {
        {404, STATUS(404, "NotFound")},
        {403, STATUS(403, "Forbidden")},
        {200, "{\"metadata\":{\"name\":\"train\",\"uid\":\"another\"},\"spec\":{\"parallelism\":"
              "1}}"},
        {200, "[]"},
    };
    struct fixture *f = *state;

    fixture_start(f, "");
    for (size_t n = 0; n < TG_ARRAY_SIZE(answers); n++) {
        struct incomplete i;

        tg_owners_free(f->controller->owners);
        f->controller->owners = tg_owners_new(f->controller->client, tg_clock_system(), on_news, f);
        incomplete_init(&i, OWNED_BY("batch/v1", "Job", "train", "job-uid"));
        ask(f, &i);
        test_reply(fixture_expect(f, "GET", JOB_PATH), answers[n].status, "", answers[n].body);
        fixture_run_for(f, 20 * TG_MILLISECOND);
        assert_string_equal(ask(f, &i), "1 of 4 members exist.");
        fixture_settle(f);
        assert_int_equal(f->n, 0); /* nor is it asked for again and again */
        tg_arena_free(i.arena);
    }
}

static void what_others_own_and_other_decisions_are_not_asked_about(void **state)
{
    struct fixture *f = *state;
    struct incomplete i;

    fixture_start(f, "");
    incomplete_init(&i, OWNED_BY("example.com/v1", "Thing", "t", "t-uid"));
    ask(f, &i);
    tg_arena_free(i.arena);
    incomplete_init(&i, OWNED_BY("batch/v1", "Job", "train", "job-uid"));
    i.decision = (struct tg_decision){.reason = "InsufficientDevices", .text = "no"};
    tg_owners_explain(f->controller->owners, &i.unit, i.arena, &i.decision);
    assert_string_equal(i.decision.text, "no");
    fixture_settle(f);
    assert_int_equal(f->n, 0);
    tg_arena_free(i.arena);
}

static void news_older_than_half_a_minute_is_fetched_again_and_shown_meanwhile(void **state)
{
    struct fixture *f = *state;
    struct incomplete i;
    unsigned passes;

    fixture_start(f, "");
    tg_fake_clock_init(&f->clock, INT64_C(1764488100) * TG_SECOND);
    tg_owners_free(f->controller->owners);
    f->controller->owners = tg_owners_new(f->controller->client, &f->clock.clock, on_news, f);
    incomplete_init(&i, OWNED_BY("batch/v1", "Job", "train", "job-uid"));
    ask(f, &i);
    passes = f->passes;
    test_reply(fixture_expect(f, "GET", JOB_PATH), 200, "", JOB_OF(""));
    run_passes(f, passes);
    f->clock.monotonic_now += TG_OWNERS_FRESH;
    assert_non_null(strstr(ask(f, &i), "at most 2 pods"));
    passes = f->passes;
    test_reply(fixture_expect(f, "GET", JOB_PATH), 200, "",
               "{\"metadata\":{\"name\":\"train\",\"uid\":\"job-uid\"},\"spec\":{\"parallelism\":"
               "4}}");
    run_passes(f, passes);
    assert_string_equal(ask(f, &i), "1 of 4 members exist.");
    tg_arena_free(i.arena);
}

/* References are written by users: as many as they like. */
static void no_more_owners_are_kept_than_the_limit(void **state)
{
    struct fixture *f = *state;

    fixture_start(f, "");
    for (int n = 0; n < TG_OWNERS_MAX + 40; n++) {
        TG_AUTOFREE char *path = tg_xasprintf("/apis/batch/v1/namespaces/ns/jobs/j%d", n);
        TG_AUTOFREE char *owner = tg_xasprintf(OWNED_BY("batch/v1", "Job", "j%d", "uid-%d"), n, n);
        TG_AUTOFREE char *body = tg_xasprintf("{\"metadata\":{\"uid\":\"uid-%d\"}}", n);
        unsigned passes = f->passes;
        struct incomplete i;

        incomplete_init(&i, owner);
        ask(f, &i);
        test_reply(fixture_expect(f, "GET", path), 200, "", body);
        run_passes(f, passes);
        assert_true(tg_owners_count(f->controller->owners) <= TG_OWNERS_MAX);
        tg_arena_free(i.arena);
    }
    assert_int_equal(tg_owners_count(f->controller->owners), TG_OWNERS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(an_owner_is_read_once_and_its_news_brings_a_pass,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(the_owner_of_an_owner_is_read_too, fixture_setup,
                                        fixture_teardown),
        cmocka_unit_test_setup_teardown(
            a_kind_that_is_absent_or_may_not_be_read_or_another_object_of_the_name_says_nothing,
            fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(what_others_own_and_other_decisions_are_not_asked_about,
                                        fixture_setup, fixture_teardown),
        cmocka_unit_test_setup_teardown(
            news_older_than_half_a_minute_is_fetched_again_and_shown_meanwhile, fixture_setup,
            fixture_teardown),
        cmocka_unit_test_setup_teardown(no_more_owners_are_kept_than_the_limit, fixture_setup,
                                        fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
