/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/cli/cli.h"

int main(int argc, char **argv)
{
    return tg_cli_run(argc, argv);
}
