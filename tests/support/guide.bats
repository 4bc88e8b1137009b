#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

guide=$BATS_TEST_DIRNAME/../../deploy/docs/user-guide.md
units=$BATS_TEST_DIRNAME/../unit/controller

# named: the tests that the chapter "What happens when" names.
named() { sed -n '/^## What happens when/,$p' "$guide" | grep -o '`[a-z0-9_]*_[a-z0-9_]*_[a-z0-9_]*`' | tr -d '\140' | sort -u; }

@test "every test that the user guide names is there and is run" {
    [[ $(named | wc -l) -ge 20 ]]
    local name missing=''
    for name in $(named); do
        grep -qF "cmocka_unit_test($name)" "$units"/*_test.c || grep -Pzq "cmocka_unit_test\(\s*$name\)" "$units"/*_test.c ||
            missing+=" $name"
    done
    [[ -z $missing ]] || {
        echo "the guide names tests that are not run:$missing"
        return 1
    }
}

# played: the scenarios that it names, by the beginning of their titles.
played() { sed -n '/^## What happens when/,$p' "$guide" | grep -o '`([a-z]) [^`]*`' | tr -d '\140' | sort -u; }

@test "every scenario that the user guide names is there" {
    [[ $(played | wc -l) -ge 10 ]]
    local title missing=''
    while read -r title; do
        grep -qF "@test \"$title" "$BATS_TEST_DIRNAME"/../../e2e/scenarios/*.bats || missing+=$'\n'$title
    done < <(played)
    [[ -z $missing ]] || {
        echo "the guide names scenarios that are not there:$missing"
        return 1
    }
}
