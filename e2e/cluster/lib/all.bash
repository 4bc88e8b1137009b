# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash

# A root that came by `su` may have a user's PATH.
export PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
TG_CLUSTER_SCRIPTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
for library in common process pki control-plane network cgroup node watch leftovers; do
    # shellcheck source=/dev/null
    source "$TG_CLUSTER_SCRIPTS/lib/$library.bash"
done
unset library
