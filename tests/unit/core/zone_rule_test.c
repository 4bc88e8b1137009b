/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/core/cel/zone_rule.h"

#include "tests/unit/core/world.h"

/* What Go's time package answers. */
static const struct {
    const char *rule;
    int64_t at, offset;
} cases[] = {
    {"EST5EDT,M3.2.0,M11.1.0", 2541024000, -14400}, /* 2050-07-10 */
    {"EST5EDT,M3.2.0,M11.1.0", 2525126400, -18000}, /* 2050-01-07 */
    {"EST5EDT", 2541024000, -14400},                /* the usual rule */
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", 2541024000, 36000},
    {"AEST-10AEDT,M10.1.0,M4.1.0/3", 2525126400, 39600},
    {"IST-1GMT0,M10.5.0,M3.5.0/1", 2541024000, 3600}, /* Dublin, upside down */
    {"IST-1GMT0,M10.5.0,M3.5.0/1", 2525126400, 0},
    {"<+0530>-5:30", 2541024000, 19800},
    {"<-02>2<-01>,M3.5.0/-1,M10.5.0/0", 2541024000, -3600},
    {"XXX3YYY,J60,J300", 2530051200, -7200}, /* 2050-03-05 */
    {"XXX3YYY,59,299", 2530051200, -7200},
    {"XXX3YYY,J60,J300", 2525126400, -10800},
};

static void the_offset_is_that_of_the_season(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        int64_t offset = -1;

        if (!tg_cel_zone_rule_offset(cases[i].rule, strlen(cases[i].rule), cases[i].at, &offset) ||
            offset != cases[i].offset)
            fail_msg("%s: %ld", cases[i].rule, (long)offset);
    }
}

static void what_is_no_rule_is_none(void **state)
{
    static const char *const rules[] = {
        "",
        "CE-1",
        "CET",
        "CET-1CEST,M3.5.0",
        "CET-1CEST,M13.5.0,M10.5.0",
        "<X-1",
        "CET-",
        "CET999",
        "CET-1CEST,M3.5.0,M10.5.0x",
        "CET-1CEST,M3.6.0,M10.5.0",
        "CET-1CEST,J0,J5",
        "CET-1CEST,M3.5.7,M10.5.0",
        "CET-1:60",
        "CET-1CEST,366,5",
    };
    int64_t offset;

    (void)state;
    for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
        if (tg_cel_zone_rule_offset(rules[i], strlen(rules[i]), 0, &offset))
            fail_msg("%s is taken for a rule", rules[i]);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_offset_is_that_of_the_season),
        cmocka_unit_test(what_is_no_rule_is_none),
    };

    return cmocka_run_group_tests_name("zone_rule", tests, NULL, NULL);
}
