/* SPDX-License-Identifier: Apache-2.0 */
#include "driver/provider/provider.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void an_unknown_provider_is_refused_with_the_known_ones(void **state)
{
    (void)state;
    struct tg_provider_options options = {.node_name = "n", .inventory = "f"};
    struct tg_provider *provider = NULL;
    struct tg_error err = TG_ERROR_INIT;
    assert_int_equal(tg_provider_new("nvlm", &options, &provider, &err), -TG_INVALID_ARGUMENT);
    assert_non_null(strstr(err.message, "nvlm"));
    assert_non_null(strstr(err.message, "sim"));
    assert_int_equal(tg_provider_new(NULL, &options, &provider, NULL), -TG_INVALID_ARGUMENT);
}

static void no_provider_can_be_freed(void **state)
{
    (void)state;
    tg_provider_free(NULL);
}

int main(void)
{
    const struct CMUnitTest provider[] = {
        cmocka_unit_test(an_unknown_provider_is_refused_with_the_known_ones),
        cmocka_unit_test(no_provider_can_be_freed),
    };
    return cmocka_run_group_tests(provider, NULL, NULL);
}
