# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# Where finished programs are kept between runs.

# Go and the cache folder want a home; a bare environment may have none.
if [[ -z ${HOME:-} ]]; then
    HOME=$(getent passwd "$(id -u)" | cut -d: -f6)
    export HOME=${HOME:-/root}
fi

# tg_cache_folder: the user's cache folder for this project.
tg_cache_folder() { echo "${XDG_CACHE_HOME:-$HOME/.cache}/tangram"; }
