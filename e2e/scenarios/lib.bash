# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034 # the scenarios use the names
#
# What the scenarios share. Waiting is for events, with a deadline; nothing sleeps. A scenario has a namespace of its own.

# shellcheck source=e2e/cluster/lib/all.bash
source "$BATS_TEST_DIRNAME/../cluster/lib/all.bash"
# shellcheck source=e2e/system/lib.bash
source "$BATS_TEST_DIRNAME/../system/lib.bash"

IMAGE=tangram.dev/e2e/busybox:1
GATE=tangram.dev/gang
H100='NVIDIA H100 80GB HBM3'
RTX='NVIDIA RTX 4000 SFF Ada Generation'

# k: kubectl as administrator; kn: in the scenario's namespace.
k() { tg_admin "$@"; }
kn() { tg_admin --namespace "$NAMESPACE" "$@"; }

# -- set-up and tear-down --------------------------------------------------------------------------

scenario_setup() {
    tg_load "$TG_E2E_DIR"
    NAMESPACE=t-${BATS_SUITE_TEST_NUMBER}-$(basename "$BATS_TEST_FILENAME" .bats | tr _ -)
    WATCHES=()
    k create namespace "$NAMESPACE" >/dev/null
    # Pods are refused until their namespace has its service account.
    kn wait --for=create serviceaccount/default --timeout=30s >/dev/null
}

scenario_teardown() {
    local watch kept=0
    diagnose_failure
    invariants_hold || kept=1
    for watch in "${WATCHES[@]}"; do
        kill "$watch" 2>/dev/null || true
    done
    # The next scenario needs the devices, not the name.
    kn delete jobs,pods,resourceclaims --all --wait --timeout=60s >/dev/null
    k delete namespace "$NAMESPACE" --wait=false >/dev/null
    return "$kept"
}

# invariants_hold: what a program in another language reads off the whole cluster. Scenarios that break them themselves, by
# writing what only the controller should, say so (INVENTS).
invariants_hold() {
    [[ -n ${INVENTS:-} ]] || "$TG_SYSTEM/../checker/check" --kubectl "kubectl --kubeconfig $TG_DIR/kubeconfig/admin"
}

# diagnose_failure: if the scenario failed, what one would look at; once, so a scenario that clears things away on its
# own calls it first.
diagnose_failure() {
    local name
    [[ -z ${BATS_TEST_COMPLETED:-} && -z ${DIAGNOSED:-} ]] || return 0
    DIAGNOSED=yes
    echo "--- $NAMESPACE: objects"
    kn get pods,resourceclaims,gangs -o wide || true
    kn get pods,resourceclaims,gangs -o json | jq -c '.items[] | {kind, name: .metadata.name, gates: .spec.schedulingGates,
        status: (.status | {phase, allocation, reservedFor, explanation, conditions, shortage} | del(..|nulls))}' || true
    echo "--- $NAMESPACE: events"
    kn get events --sort-by=.metadata.creationTimestamp || true
    echo "--- slices"
    k get resourceslices || true
    for name in tangram-controller $(tg_node_names | sed 's/$/.tangram/'); do
        echo "--- the end of log/$name.log"
        tail -n 25 "$TG_DIR/log/$name.log" || true
    done
}

# -- waiting -----------------------------------------------------------------------------------------

# watch_until SECONDS FILTER ARGUMENTS...: tg_watch_first in the scenario's namespace.
watch_until() { tg_watch_first "$1" "$2" --namespace "$NAMESPACE" "${@:3}"; }

# wait_event SECONDS KIND NAME REGEX: an event about the object whose reason or message matches.
wait_event() {
    local name=${3//\"/}
    watch_until "$1" ".involvedObject.kind == \"$2\" and .involvedObject.name == \"$name\" and
        ((.reason + \": \" + .message) | test(\"$4\"))" events >/dev/null
}

# wait_ready SECONDS POD...
wait_ready() {
    local seconds=$1 name
    shift
    # One by one: kubectl waits for one object that is not there, of several it says at once that they are not found.
    for name; do
        kn wait --for=create "pod/$name" --timeout="${seconds}s" >/dev/null
    done
    kn wait --for=condition=Ready "${@/#/pod/}" --timeout="${seconds}s" >/dev/null
}

# record FILE ARGUMENTS...: from now on writes every state of the watched objects to FILE, one JSON object a line;
# returns when the watch is established.
record() {
    local file=$1
    shift
    kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" --namespace "$NAMESPACE" get "$@" --watch --output-watch-events -o json \
        2>/dev/null 3>&- 4>&- > >(exec jq -c --unbuffered . >"$file" 3>&- 4>&-) &
    WATCHES+=("$!")
}

# unchanged SECONDS ARGUMENTS...: no watch event arrives for these objects during that time.
unchanged() {
    local seconds=$1 seen
    shift
    seen=$(timeout "$seconds" kubectl --kubeconfig "$TG_DIR/kubeconfig/admin" --namespace "$NAMESPACE" get "$@" \
        --watch-only --output-watch-events -o json 3>&- 4>&- | jq -c '{type, name: .object.metadata.name}') || true
    [[ -z $seen ]] || {
        echo "changed within $seconds s: $seen"
        return 1
    }
}

# -- objects -----------------------------------------------------------------------------------------

# template NAME COUNT PRODUCT [MEMBER] [CLASS]: a ResourceClaimTemplate; MEMBER is the inside of a GangMember. The label
# is set by a policy where the server has mutating ones, and demanded by one where it has not.
template() {
    local name=$1 count=$2 product=$3 member=${4:-} class=${5:-gpu.tangram.dev}
    cat <<YAML
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata:
  name: $name
$(managed_label "  ")
spec:
  spec:
    devices:
      requests:
      - name: gpus
        exactly:
          deviceClassName: $class
          allocationMode: ExactCount
          count: $count
          selectors:
          - cel:
              expression: device.attributes["gpu.tangram.dev"].productName == "$product"
YAML
    [[ -z $member ]] || cat <<YAML
      config:
      - opaque:
          driver: tangram.dev
          parameters: {apiVersion: tangram.dev/v1alpha1, kind: GangMember, $member}
YAML
}

# managed_label [INDENT]: only where no policy sets it.
managed_label() {
    (($(tg_minor) >= 36)) || printf '%slabels: {tangram.dev/managed: "true"}' "${1:-}"
}

# gate: the scheduling gate, only where no policy sets it.
gate() {
    (($(tg_minor) >= 36)) || printf 'schedulingGates: [{name: %s}]' "$GATE"
}

# What a container does to show its devices.
# shellcheck disable=SC2016 # its shell expands it
SHOW='echo "devices=$TANGRAM_DEVICES"'

# pod_spec TEMPLATE COMMAND [INDENT]
pod_spec() {
    sed "s/^/${3:-}/" <<YAML
terminationGracePeriodSeconds: 1
$(gate)
containers:
- name: main
  image: $IMAGE
  imagePullPolicy: Never
  command: [sh, -c, '$2']
  resources: {requests: {cpu: 10m, memory: 16Mi}, claims: [{name: gpus}]}
resourceClaims:
- {name: gpus, resourceClaimTemplateName: $1}
YAML
}

# pod NAME TEMPLATE [EXTRA]: EXTRA is further YAML of the pod's spec.
pod() {
    cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  restartPolicy: Never
$(pod_spec "$2" "$SHOW; exec tail -f /dev/null" "  ")
${3:-}
YAML
}

# crds_apply, crds_delete: LeaderWorkerSet and JobSet, as they are in the world; nobody acts on them here. What has been deleted is
# gone when the next test wants it.
crds_apply() {
    local file
    for file in $("$BATS_TEST_DIRNAME/../components/crds"); do
        k apply --server-side -f "$file" >/dev/null
        # The files say that there are no conditions (null), at which kubectl stumbles until the server has written some.
        tg_wait_until 30 k wait --for=condition=Established -f "$file" --timeout=30s
    done
}
crds_delete() { k delete customresourcedefinition leaderworkersets.leaderworkerset.x-k8s.io jobsets.jobset.x-k8s.io --ignore-not-found --wait >/dev/null; }

# intruder NODE EXTRA...: a pod without claims that takes all cores of the node but what no other pod can be content with;
# EXTRA are lines of its spec.
intruder() {
    local cores
    cores=$(k get node "$1" -o jsonpath='{.status.allocatable.cpu}')
    shift
    cat <<YAML
---
apiVersion: v1
kind: Pod
metadata: {name: intruder}
spec:
$(printf '%s\n' "$@")
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: $IMAGE
    imagePullPolicy: Never
    command: [tail, -f, /dev/null]
    resources: {requests: {cpu: $((cores * 1000 - 5))m}}
YAML
}

# job NAME TEMPLATE PODS: its pods run until one writes into their pipe.
job() {
    cat <<YAML
---
apiVersion: batch/v1
kind: Job
metadata: {name: $1}
spec:
  parallelism: $3
  completions: $3
  backoffLimit: 0
  template:
    metadata: {labels: {job: $1}}
    spec:
      restartPolicy: Never
$(pod_spec "$2" "mkfifo /tmp/end && $SHOW && read -r word </tmp/end" "      ")
YAML
}

# finish POD: of a job. Its container may end before the shell in it that ended it: 137.
finish() { kn exec "$1" -- sh -c 'echo finish >/tmp/end' || (($? == 137)); }

# -- reading -----------------------------------------------------------------------------------------

# printed POD: the devices that the pod's container printed, one a line.
printed() {
    local devices
    devices=$(tg_log_line 30 devices= "$NAMESPACE" "$1")
    tr ',' '\n' <<<"$devices" | sort
}

# claim_of POD: the name of its (only) generated claim.
claim_of() { kn get pod "$1" -o jsonpath='{.status.resourceClaimStatuses[0].resourceClaimName}'; }

# allocated CLAIM: the devices of its allocation, one a line.
allocated() { kn get resourceclaim "$1" -o json | jq -r '.status.allocation.devices.results[].device' | sort; }

# ALLOCATED_NODE: a jq expression for the node of a claim that is allocated.
ALLOCATED_NODE='.status.allocation.nodeSelector.nodeSelectorTerms[0].matchFields[0].values[0]'

# writes: what our programs have written in the scenario's namespace: a count and JSON for each kind of write.
writes() {
    jq -c --arg namespace "$NAMESPACE" 'select(.objectRef.namespace == $namespace and
            (.user.username | startswith("system:serviceaccount:tangram-system:")) and
            (.verb | IN("create", "update", "patch", "delete"))) |
        {resource: ([.objectRef.resource, .objectRef.subresource // empty] | join("/")), verb, code: .responseStatus.code}' \
        "$TG_DIR/log/audit.log" | sort | uniq -c
}

node_of() { kn get pod "$1" -o jsonpath='{.spec.nodeName}'; }

# expect_pinned POD: pod and claim name the node on which the pod is, and nothing else.
expect_pinned() {
    local node
    node=$(node_of "$1")
    [[ -n $node ]]
    kn get pod "$1" -o json | jq -e --arg node "$node" '
        .spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms |
        all(any(.matchFields[]?; .key == "metadata.name" and .operator == "In" and .values == [$node]))' >/dev/null
    kn get resourceclaim "$(claim_of "$1")" -o json | jq -e --arg node "$node" '
        .status.allocation.nodeSelector.nodeSelectorTerms ==
            [{matchFields: [{key: "metadata.name", operator: "In", values: [$node]}]}]' >/dev/null
}

# expect_distinct COUNT TEXT: TEXT has that many lines, all different.
expect_distinct() {
    local count
    count=$(sort -u <<<"$2" | grep -c .)
    [[ $count == "$1" && $(grep -c . <<<"$2") == "$1" ]] || {
        echo "expected $1 different devices, got: $(xargs <<<"$2")"
        return 1
    }
}
