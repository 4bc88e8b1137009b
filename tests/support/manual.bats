#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# The manual pages say what the programs know, and nothing else.

man=$BATS_TEST_DIRNAME/../../deploy/man
root=$BATS_TEST_DIRNAME/../..

# plugin_options: NAME ENVIRONMENT of each option in the table.
plugin_options() {
    grep -oP '^    \{\.name = "\K[^"]+|^     \.env = "\K[^"]+' "$root/kubelet-plugin/options.c" | paste - -
}

@test "every option of the plugin is in its page, with its variable" {
    [[ $(plugin_options | wc -l) -ge 20 ]]
    local name variable missing=''
    while read -r name variable; do
        grep -qE "\*--$name\*" "$man/tangram-kubelet-plugin.8.scd" || missing+=" --$name"
        tr -d '\\' <"$man/tangram-kubelet-plugin.8.scd" | grep -qF "*$variable*" || missing+=" $variable"
    done < <(plugin_options)
    [[ -z $missing ]] || {
        echo "not in the page:$missing"
        return 1
    }
}

@test "every option in the plugin's page is one" {
    local name
    for name in $(sed -n '/^# OPTIONS/,/^# FILES/p' "$man/tangram-kubelet-plugin.8.scd" | grep -oP '^\*--?\K[a-z-]+(?=\*)'); do
        [[ $name == help || $name == version ]] || plugin_options | cut -f1 | grep -qx -- "$name" || {
            echo "--$name is no option"
            return 1
        }
    done
}

# fields FILE: what its tables decode.
fields() { grep -oP '^    \{"\K[a-zA-Z]+(?=", (true|false|offsetof))|\}?, *\{"\K[a-zA-Z]+(?=", (true|false))' "$1"; }

@test "every field of the documents is in their page" {
    local file name missing='' n=0
    for file in driver/provider/sim_inventory.c driver/provider/dropins.c api/tangram/configuration.c; do
        for name in $(fields "$root/$file"); do
            n=$((n + 1))
            [[ $name == apiVersion || $name == kind ]] || grep -qE "\*([a-z]+\.)?$name\*" "$man/tangram-config.5.scd" ||
                missing+=" $file:$name"
        done
    done
    [[ $n -ge 25 ]]
    for name in sharing timeSlicing.interval computeMode node device uuid pciBusID productName instance topology placement.policy; do
        grep -qF "*$name*" "$man/tangram-config.5.scd" || missing+=" $name"
    done
    [[ -z $missing ]] || {
        echo "not in the page:$missing"
        return 1
    }
}

# command_options: the options of all verbs of kubectl-tangram.
command_options() { grep -hoP '^ +\{?\.name = "\K[a-z-]+(?=",)' "$root"/controller/cli/*.[ch] | sort -u; }

@test "every option of kubectl-tangram is in its page, and every one there is an option" {
    local name
    [[ $(command_options | wc -l) -ge 14 ]]
    diff <(command_options) <(sed -n '/^# OPTIONS/,/^# EXIT/p' "$man/kubectl-tangram.1.scd" | grep -oP '(^|, )\*--?\K[a-z-]+(?=\*)' |
        grep -vxE 'help|version' | sort -u)
    for name in simulate fit validate explain dump release uninstall; do
        grep -q "^\*$name\*" "$man/kubectl-tangram.1.scd"
    done
}

@test "the pages can be made" {
    local page
    for page in "$man"/*.scd; do
        scdoc <"$page" >"$BATS_TEST_TMPDIR/page"
        grep -q '^\.SH NAME' "$BATS_TEST_TMPDIR/page"
    done
}
