/* SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>
#include <stdlib.h>

#include "api/tangram/configuration.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct tg_configuration *configuration = NULL;
    size_t levels = 0;

    if (tg_configuration_parse("input", (const char *)data, n, &configuration, NULL) < 0)
        return 0;
    /* Accepted: the innermost level is there, and delays are usable. */
    if (tg_configuration_levels(configuration, &levels) == NULL || levels == 0 ||
        tg_configuration_delays(configuration)->lease <= 0)
        abort();
    tg_configuration_free(configuration);
    return 0;
}
