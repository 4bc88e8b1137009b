#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# install-packages against doubles of dpkg-query and apt-get, and the list itself.

setup() {
    script=$BATS_TEST_DIRNAME/install-packages
    list=$BATS_TEST_DIRNAME/../../deploy/packages
    bin=$BATS_TEST_TMPDIR/bin
    mkdir "$bin"
    for tool in sh env awk dirname id; do
        ln -s "$(command -v "$tool")" "$bin/$tool"
    done
    export PACKAGES_FILE=$BATS_TEST_TMPDIR/packages
    printf '# comment\ncmake\tbuild\nbats\ttest,e2e\nrunc\te2e\n' >"$PACKAGES_FILE"
    export CALLS=$BATS_TEST_TMPDIR/calls INSTALLED=
    : >"$CALLS"
    double dpkg-query 'for p; do :; done; case " $INSTALLED " in *" $p "*) printf installed;; *) exit 1;; esac'
    double apt-get 'echo "$*" >>"$CALLS"; case "$*" in *" update"*) exit ${UPDATE_STATUS:-0};; esac; exit ${INSTALL_STATUS:-0}'
    double id 'echo ${FAKE_UID:-0}'
}

double() {
    rm -f "$bin/$1"
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

install_packages() {
    run env PATH="$bin" "$script" "$@"
}

@test "missing packages of the tags are installed, and it says so" {
    INSTALLED=cmake install_packages build test
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "installing bats" ]
    grep -q ' update$' "$CALLS"
    grep -q ' install -y --no-install-recommends bats$' "$CALLS"
}

@test "nothing is done or said when nothing is missing" {
    INSTALLED="cmake bats" install_packages build test
    [ "$status" -eq 0 ]
    [ -z "$output" ]
    [ ! -s "$CALLS" ]
}

@test "a tag is a whole word" {
    install_packages --list e2e
    [ "$output" = $'bats\nrunc' ]
    install_packages --list build
    [ "$output" = cmake ]
}

@test "without root it goes through sudo" {
    double sudo 'echo "sudo $*" >>"$CALLS"; exec "$@"'
    FAKE_UID=1000 install_packages build
    [ "$status" -eq 0 ]
    grep -q '^sudo env DEBIAN_FRONTEND=noninteractive apt-get .* install ' "$CALLS"
}

@test "with neither root nor sudo it says what to run" {
    FAKE_UID=1000 install_packages build
    [ "$status" -eq 1 ]
    [[ "$output" == *"as root run: apt-get install cmake" ]]
    [ ! -s "$CALLS" ]
}

@test "lists that cannot be renewed do not stop it" {
    UPDATE_STATUS=1 install_packages build
    [ "$status" -eq 0 ]
}

@test "a failed installation is a failure" {
    INSTALL_STATUS=100 install_packages build
    [ "$status" -eq 100 ]
}

@test "where there is no apt-get it names the packages" {
    rm "$bin/apt-get"
    install_packages build test
    [ "$status" -eq 1 ]
    [[ "$output" == *"no Debian"*" cmake bats" ]]
}

@test "unknown and missing tags are refused" {
    install_packages biuld
    [ "$status" -eq 2 ]
    [[ "$output" == *'unknown tag "biuld"'* ]]
    install_packages
    [ "$status" -eq 2 ]
}

@test "deploy/packages is sorted, without repeats, and uses known tags only" {
    names=$(grep -v '^#' "$list" | cut -f 1)
    [ "$names" = "$(printf '%s\n' "$names" | LC_ALL=C sort -u)" ]
    bad=$(grep -v '^#' "$list" | grep -vP '^[a-z0-9][a-z0-9.+-]+\t(build|test|e2e|image|node|builder)(,(build|test|e2e|image|node|builder))*$' || true)
    [ -z "$bad" ]
}
