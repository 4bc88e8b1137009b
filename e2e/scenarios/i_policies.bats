#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# What the policies of deploy/manifests forbid, tried by identities that hold RBAC for the write: the refusal must be
# the policy's, name it and explain itself, and the same write beside managed classes and our slices must succeed.

# shellcheck disable=SC2034,SC2178 # identities are read by name
# shellcheck disable=SC2030,SC2031,SC2153 # every test is a subshell; GATE is from lib
load lib

# A node's account, a user of the namespace, the scheduler, the claim controller and our own accounts.
NODE_ACCOUNT=(--as=system:node:policy-a --as-group=system:nodes)
USER=(--as=alice)
SCHEDULER=(--as=system:kube-scheduler)
CLAIM_CONTROLLER=(--as=system:serviceaccount:kube-system:resource-claim-controller)
CONTROLLER=(--as=system:serviceaccount:tangram-system:tangram-controller)
# A controller manager without an account per controller, and the garbage collector of one that has them.
MANAGER=(--as=system:kube-controller-manager)
COLLECTOR=(--as=system:serviceaccount:kube-system:generic-garbage-collector)
PLUGIN=(--as=system:serviceaccount:tangram-system:tangram-kubelet-plugin)
ADMIN=()

setup() {
    INVENTS='allocations and slices'
    scenario_setup
    CLUSTER_SCOPED=()
    cluster_scoped <<YAML
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: $NAMESPACE-open}
spec: {selectors: [{cel: {expression: 'device.driver == "open.example.com"'}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NAMESPACE-writer}
rules:
- {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaimtemplates, resourceslices], verbs: ["*"]}
- {apiGroups: [resource.k8s.io], resources: [resourceclaims/status, resourceclaims/binding], verbs: [get, update, patch]}
- {apiGroups: [""], resources: [pods], verbs: ["*"]}
- {apiGroups: [""], resources: [pods/status], verbs: [get, update, patch]}
- {apiGroups: [""], resources: [pods/binding], verbs: [create]}
- {apiGroups: [tangram.dev], resources: [gangs, gangs/status], verbs: [get, update, patch]}
---
# kubectl reads what it changes, before or after; our accounts and the claim controller do not.
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NAMESPACE-reader}
rules: [{apiGroups: [resource.k8s.io], resources: [resourceclaims/status, resourceslices], verbs: [get, delete]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NAMESPACE-reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NAMESPACE-reader}
subjects:
- {kind: ServiceAccount, namespace: tangram-system, name: tangram-controller}
- {kind: ServiceAccount, namespace: tangram-system, name: tangram-kubelet-plugin}
- {kind: ServiceAccount, namespace: kube-system, name: resource-claim-controller}
- {kind: ServiceAccount, namespace: kube-system, name: generic-garbage-collector}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NAMESPACE-writer}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NAMESPACE-writer}
subjects:
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:node:policy-a"}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:kube-scheduler"}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: "system:kube-controller-manager"}
YAML
}

teardown() {
    local object
    for object in "${CLUSTER_SCOPED[@]}"; do
        k delete --ignore-not-found "$object" >/dev/null || true
    done
    scenario_teardown
}

# cluster_scoped: creates the objects on standard input and has them deleted at the end.
cluster_scoped() {
    local created
    created=$(k create -o name -f -)
    mapfile -t -O "${#CLUSTER_SCOPED[@]}" CLUSTER_SCOPED <<<"$created"
}

# refused POLICY TEXT COMMAND...: the command is refused by that policy with a message that holds TEXT.
refused() {
    local policy=$1 text=$2
    shift 2
    run "$@"
    [[ $status -ne 0 && $output == *"ValidatingAdmissionPolicy '$policy'"*" denied request: tangram: "*"$text"* ]] || {
        echo "expected a refusal by $policy with \"$text\", status $status: $*"
        echo "$output"
        return 1
    }
}

# may IDENTITY... -- VERB RESOURCE [SUBRESOURCE]: RBAC allows it, so a refusal is nobody's but the policy's. The API server hears of
# roles that were just made a moment later.
may() { tg_wait_until 30 allowed "$@"; }
allowed() {
    local identity=()
    while [[ $1 != -- ]]; do
        identity+=("$1")
        shift
    done
    [[ $(kn auth can-i "${identity[@]}" "$2" "$3" ${4:+--subresource="$4"}) == yes ]]
}

claim() {
    cat <<YAML
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: $1, labels: {tangram.dev/managed: "$([[ $2 == gpu.tangram.dev ]] && echo true || echo false)"}}
spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: $2}}]}}
YAML
}

ALLOCATION='{"status": {"allocation": {"allocationTimestamp": "2026-01-01T00:00:00Z", "devices": {"results":
    [{"request": "gpus", "driver": "open.example.com", "pool": "nowhere", "device": "none"}]}}}}'
CLEARED='{"status": {"allocation": null, "reservedFor": null, "devices": null}}'
status() { kn "${@:3}" patch resourceclaim "$1" --subresource=status --type=merge -p "$2"; }

# bats test_tags=core
@test "(i) only the controller allocates from managed classes, and only it and the claim controller clear" {
    { claim managed gpu.tangram.dev; claim open "$NAMESPACE-open"; } | kn create -f -
    local name
    for name in NODE_ACCOUNT USER SCHEDULER MANAGER; do
        local -n identity=$name
        may "${identity[@]}" -- patch resourceclaims status
        refused tangram-claim-status 'may not allocate this claim: DeviceClass gpu.tangram.dev is managed' \
            status managed "$ALLOCATION" "${identity[@]}"
        status open "$ALLOCATION" "${identity[@]}"
        status open "$CLEARED" "${identity[@]}"
    done
    # An administrator is no exception.
    refused tangram-claim-status 'may not allocate this claim' status managed "$ALLOCATION"

    status managed "$ALLOCATION" "${CONTROLLER[@]}"
    for name in NODE_ACCOUNT USER SCHEDULER; do
        local -n identity=$name
        refused tangram-claim-status 'may not clear the allocation' status managed "$CLEARED" "${identity[@]}"
        # Reservations are not ours to forbid.
        status managed '{"status": {"reservedFor": [{"resource": "pods", "name": "p", "uid": "u"}]}}' "${identity[@]}"
        status managed '{"status": {"reservedFor": null}}' "${identity[@]}"
    done
    for name in CLAIM_CONTROLLER MANAGER CONTROLLER; do
        local -n identity=$name
        status managed "$CLEARED" "${identity[@]}"
        status managed "$ALLOCATION" "${CONTROLLER[@]}"
    done
    status managed "$CLEARED" "${CONTROLLER[@]}"
}

@test "(i) an allocation is written by who has resourceclaims/binding as well, where the server asks for it: so the controller has it" {
    (($(tg_minor) >= 36)) || skip "Kubernetes 1.$(tg_minor) does not ask for it"
    cluster_scoped <<YAML
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: $NAMESPACE-status}
rules:
- {apiGroups: [resource.k8s.io], resources: [resourceclaims, resourceclaims/status], verbs: [get, patch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: $NAMESPACE-status}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: $NAMESPACE-status}
subjects: [{kind: User, name: bob}]
YAML
    claim open "$NAMESPACE-open" | kn create -f -
    may --as=bob -- patch resourceclaims status
    local said
    if said=$(status open "$ALLOCATION" --as=bob 2>&1); then false; fi
    [[ $said == *"resourceclaims/binding"* ]]
    may "${CONTROLLER[@]}" -- patch resourceclaims binding
}

# bats test_tags=core
@test "(i) a class is protected from the moment it is labelled, in alternatives of a request too" {
    { claim later "$NAMESPACE-open"; } | kn create -f -
    kn create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: alternatives, labels: {tangram.dev/managed: "true"}}
spec: {devices: {requests: [{name: gpus, firstAvailable: [
    {name: a, deviceClassName: $NAMESPACE-open}, {name: b, deviceClassName: gpu.tangram.dev}]}]}}
YAML
    refused tangram-claim-status 'DeviceClass gpu.tangram.dev is managed' \
        status alternatives "${ALLOCATION/\"gpus\"/\"gpus/a\"}" "${USER[@]}"
    status later "$ALLOCATION" "${USER[@]}"
    status later "$CLEARED" "${USER[@]}"
    # Served by nobody: the e2e controller's instance is "default".
    k label deviceclass "$NAMESPACE-open" tangram.dev/controller=other
    # The policy follows the class by a watch of its own; the last write before it sees the label may still pass.
    cleared_and_refused() {
        status later "$CLEARED" "${CLAIM_CONTROLLER[@]}"
        refused tangram-claim-status "DeviceClass $NAMESPACE-open is managed" status later "$ALLOCATION" "${USER[@]}"
    }
    tg_wait_until 10 cleared_and_refused
}

# slice NAME DRIVER NODE [ATTRIBUTE]
slice() {
    cat <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: $1}
spec:
  driver: $2
  nodeName: $3
  pool: {name: $3, generation: 1, resourceSliceCount: 1}
  devices: [{name: d, attributes: {${4:-example.com/a}: {bool: true}}}]
YAML
}
# write VERB IDENTITY... : a slice on standard input.
write() { k "${@:2}" "$1" -f -; }
# slice_as VERB NAME DRIVER NODE ATTRIBUTE IDENTITY...
slice_as() { slice "$2" "$3" "$4" "$5" | write "$1" "${@:6}"; }

# bats test_tags=core
@test "(i) slices of our driver are written by the plugin of their node alone" {
    cluster_scoped <<<'{apiVersion: v1, kind: Node, metadata: {name: policy-a}}'
    cluster_scoped <<<'{apiVersion: v1, kind: Node, metadata: {name: policy-b}}'
    CLUSTER_SCOPED+=(resourceslice/"$NAMESPACE"-{ours,foreign,granted,shared})
    local ours=$NAMESPACE-ours foreign=$NAMESPACE-foreign name
    local bound=("--kubeconfig=$BATS_TEST_TMPDIR/plugin-a")
    "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" tangram-system tangram-kubelet-plugin --node policy-a >"$BATS_TEST_TMPDIR/plugin-a"
    "$TG_CLUSTER_SCRIPTS/token" "$TG_DIR" tangram-system tangram-kubelet-plugin --node policy-b >"$BATS_TEST_TMPDIR/plugin-b"

    for name in NODE_ACCOUNT USER SCHEDULER ADMIN; do
        local -n identity=$name
        may "${identity[@]}" -- create resourceslices
        refused tangram-slices 'slices of driver gpu.tangram.dev are written by the Tangram plugin' \
            slice_as create "$ours" gpu.tangram.dev policy-a '' "${identity[@]}"
        slice_as create "$foreign" open.example.com policy-a '' "${identity[@]}"
        k "${identity[@]}" delete resourceslice "$foreign"
    done

    # Without a node in the token, and with another's.
    refused tangram-slices 'its token is bound to no node, the slice is for node policy-a' \
        slice_as create "$ours" gpu.tangram.dev policy-a '' "${PLUGIN[@]}"
    refused tangram-slices 'its token is bound to node policy-b, the slice is for node policy-a' \
        slice_as create "$ours" gpu.tangram.dev policy-a '' "--kubeconfig=$BATS_TEST_TMPDIR/plugin-b"
    refused tangram-slices 'the slice is for no single node' \
        shared_slice "${bound[@]}"
    slice_as create "$ours" gpu.tangram.dev policy-a '' "${bound[@]}"

    # Changing and deleting it: another plugin and a user may not, its own may, the kubelet of its node may delete.
    refused tangram-slices 'bound to node policy-b' \
        slice_as replace "$ours" gpu.tangram.dev policy-a '' "--kubeconfig=$BATS_TEST_TMPDIR/plugin-b"
    refused tangram-slices 'may not write this ResourceSlice' k "${USER[@]}" label resourceslice "$ours" a=b
    refused tangram-slices 'may not write this ResourceSlice' k "${USER[@]}" delete resourceslice "$ours"
    refused tangram-slices 'bound to node policy-b' \
        k "--kubeconfig=$BATS_TEST_TMPDIR/plugin-b" delete resourceslice "$ours"
    slice_as replace "$ours" gpu.tangram.dev policy-a example.com/b "${bound[@]}"
    # So the kubelet does at every start.
    wipe() { k "${@:2}" delete --raw "/apis/resource.k8s.io/v1/resourceslices?fieldSelector=spec.nodeName=$1"; }
    refused tangram-slices 'may not write this ResourceSlice' wipe policy-a "${USER[@]}"
    wipe policy-a "${NODE_ACCOUNT[@]}"
    run k get resourceslice "$ours"
    [[ $status -ne 0 && $output == *NotFound* ]]
    # So the garbage collector does when the node is gone, whatever account its controller manager uses.
    for name in MANAGER COLLECTOR; do
        local -n identity=$name
        slice_as create "$ours" gpu.tangram.dev policy-a '' "${bound[@]}"
        k "${identity[@]}" delete resourceslice "$ours"
    done
    slice_as create "$ours" gpu.tangram.dev policy-a '' "${bound[@]}"
    k "${bound[@]}" delete resourceslice "$ours"
}
shared_slice() {
    slice "$NAMESPACE-shared" gpu.tangram.dev policy-a | sed 's/nodeName: .*/allNodes: true/' | write create "$@"
}

# bats test_tags=core
@test "(i) nobody publishes an attribute of domain tangram.dev" {
    local granted=$NAMESPACE-granted
    CLUSTER_SCOPED+=("resourceslice/$granted")
    refused tangram-slices 'may not publish attributes of domain tangram.dev' \
        slice_as create "$granted" open.example.com policy-a tangram.dev/granted
    refused tangram-slices 'may not publish attributes of domain tangram.dev' \
        slice_as create "$granted" open.example.com policy-a tangram.dev/granted "${USER[@]}"
    # Unqualified attributes are of the driver's own domain.
    refused tangram-slices 'may not publish attributes of domain tangram.dev' \
        slice_as create "$granted" tangram.dev policy-a granted
    slice_as create "$granted" open.example.com policy-a example.com/granted
    refused tangram-slices 'may not publish attributes of domain tangram.dev' \
        slice_as replace "$granted" open.example.com policy-a tangram.dev/granted "${USER[@]}"
}

HEAD='apiVersion: tangram.dev/v1alpha1, kind: GangMember'

# with_entry KIND PARAMETERS: a template or claim with that opaque entry, created and thrown away.
with_entry() {
    local kind=$1 spec
    spec="{devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.tangram.dev}}],
        config: [{opaque: {driver: tangram.dev, parameters: $2}}${3:-}]}}"
    [[ $kind == ResourceClaim ]] || spec="{spec: $spec}"
    kn create --dry-run=server "${USER[@]}" -f - <<YAML
{apiVersion: resource.k8s.io/v1, kind: $kind, metadata: {name: entry, labels: {tangram.dev/managed: "true"}}, spec: $spec}
YAML
}

# bats test_tags=core
@test "(i) a GangMember that the controller could not read is refused when it is applied" {
    local kind good bad
    for kind in ResourceClaimTemplate ResourceClaim; do
        for good in "gang: a, size: 4" "gang: a.b, size: 2048, topology: {pack: {required: rack}}" \
            "gang: a, role: leader" "gang: a" "gangFrom: {podLabel: batch.kubernetes.io/controller-uid}, size: 1" \
            "gang: a, size: 4, topology: {pack: {required: example.com/rack, preferred: host}}"; do
            with_entry "$kind" "{$HEAD, $good}"
        done
        while IFS='|' read -r bad text; do
            refused tangram-members "the GangMember entry of this $kind is not valid: $text" \
                with_entry "$kind" "{$HEAD, $bad}"
        done <<'BAD'
gang: a, size: 0|size must be a whole number
gang: a, size: -4|size must be a whole number
gang: a, size: 2049|size must be a whole number
gang: a, size: "4"|size must be a whole number
gang: a, size: 4.5|size must be a whole number
gang: a, size: [4]|size must be a whole number
size: 4|exactly one of gang and gangFrom
gang: a, gangFrom: {podLabel: x}, size: 4|exactly one of gang and gangFrom
gang: A, size: 4|gang must be a name
gang: a..b, size: 4|gang must be a name
gang: "", size: 4|gang must be a name
gang: 7, size: 4|gang must be a name
gangFrom: {podLabel: x}|gangFrom without size
gangFrom: {}, size: 4|gangFrom must be
gangFrom: x, size: 4|gangFrom must be
gangFrom: {podLabel: "a b"}, size: 4|gangFrom must be
gangFrom: {podLabel: x, other: y}, size: 4|gangFrom must be
gang: a, size: 4, role: r|size and role are both set
gang: a, role: ""|role must be a name
gang: a, role: [r]|role must be a name
gang: a, topology: {pack: {required: rack}}|topology without size
gang: a, size: 4, topology: {}|topology must be
gang: a, size: 4, topology: {pack: {}}|topology must be
gang: a, size: 4, topology: {pack: rack}|topology must be
gang: a, size: 4, topology: {pack: {required: 7}}|topology must be
gang: a, size: 4, topology: {pack: {required: ""}}|topology must be
gang: a, size: 4, topology: {spread: []}|topology must be
gang: a, size: 4, queue: q|unknown field queue
gang: a, sizes: 4|unknown field sizes
BAD
        refused tangram-members 'must say apiVersion' with_entry "$kind" \
            '{apiVersion: tangram.dev/v1, kind: GangMember, gang: a, size: 4}'
        refused tangram-members 'must say apiVersion' with_entry "$kind" '{apiVersion: tangram.dev/v1alpha1, kind: Plan}'
        refused tangram-members 'must say apiVersion' with_entry "$kind" '{}'
        refused tangram-members 'there are 2 of them' with_entry "$kind" "{$HEAD, gang: a, size: 4}" \
            ", {opaque: {driver: tangram.dev, parameters: {$HEAD, gang: b, size: 4}}}"
        # Entries of other drivers are not ours to judge.
        with_entry "$kind" "{$HEAD, gang: a, size: 4}" ', {opaque: {driver: open.example.com, parameters: {size: 0}}}'
    done
}

# A pod with one claim, and nothing that a policy did not put there; FIELD is resourceClaimTemplateName or
# resourceClaimName. It never runs: its gang has two members.
claiming_pod() {
    cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1}
spec:
  containers: [{name: main, image: $IMAGE, imagePullPolicy: Never, resources: {claims: [{name: gpus}]}}]
  resourceClaims: [{name: gpus, $2: $3}]
${4:-}
YAML
}
gates() { kn get pod "$1" -o json | jq -r '[.spec.schedulingGates[]?.name] | join(",")'; }
gang_claims() {
    local spec="{devices: {requests: [{name: gpus, exactly: {deviceClassName: $NAMESPACE-open}}],
        config: [{opaque: {driver: tangram.dev, parameters: {$HEAD, gang: half, size: 2}}}]}}"
    kn create -f - <<YAML
{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: gang, $(managed_label)}, spec: {spec: $spec}}
---
{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: gang, $(managed_label)}, spec: $spec}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: managed, labels: {tangram.dev/managed: "true"}}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: gpu.tangram.dev, count: 32}}]}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: open}
spec: {spec: {devices: {requests: [{name: gpus, exactly: {deviceClassName: $NAMESPACE-open}}]}}}
YAML
}

# bats test_tags=core
@test "(i) pods of gangs and of managed classes are gated, other pods are left alone" {
    gang_claims
    claiming_pod open resourceClaimTemplateName open | kn create -f -
    kn create -f - <<<"{apiVersion: v1, kind: Pod, metadata: {name: plain}, spec: {containers: [{name: c, image: $IMAGE}]}}"
    [[ -z $(gates open) && -z $(gates plain) ]]

    local labelled="{apiVersion: v1, kind: Pod, metadata: {name: labelled, labels: {tangram.dev/gang: half}},
        spec: {containers: [{name: c, image: $IMAGE}]}}"
    if (($(tg_minor) >= 36)); then
        claiming_pod by-template resourceClaimTemplateName gang | kn create "${USER[@]}" -f -
        claiming_pod by-claim resourceClaimName gang | kn create "${USER[@]}" -f -
        claiming_pod by-label resourceClaimTemplateName managed | kn create "${USER[@]}" -f -
        kn create "${USER[@]}" -f - <<<"$labelled"
        [[ $(gates by-template) == "$GATE" && $(gates by-claim) == "$GATE" ]]
        [[ $(gates by-label) == "$GATE" && $(gates labelled) == "$GATE" ]]
        # Gates of others stay.
        claiming_pod two resourceClaimTemplateName gang '  schedulingGates: [{name: example.com/mine}]' | kn create -f -
        [[ $(gates two) == "example.com/mine,$GATE" || $(gates two) == "$GATE,example.com/mine" ]]
    else
        create_pod() { claiming_pod "$@" | kn create "${USER[@]}" -f -; }
        create_labelled() { kn create "${USER[@]}" -f - <<<"$labelled"; }
        refused tangram-gate-templates 'Add schedulingGates: [{name: tangram.dev/gang}]' \
            create_pod by-template resourceClaimTemplateName gang
        refused tangram-gate-templates 'its claim template managed belongs to a gang or to a managed class' \
            create_pod by-label resourceClaimTemplateName managed
        refused tangram-gate-claims 'its claim gang belongs to a gang' create_pod by-claim resourceClaimName gang
        refused tangram-gate-label 'its label tangram.dev/gang' create_labelled
        create_pod by-template resourceClaimTemplateName gang "  schedulingGates: [{name: $GATE}]"
        create_pod by-claim resourceClaimName gang "  schedulingGates: [{name: $GATE}]"
    fi
}

REMOVE='[{"op": "remove", "path": "/spec/schedulingGates"}]'

# bats test_tags=core
@test "(i) the gate is removed by the controller, by administrators and by who may release, and by nobody else" {
    gang_claims
    local name gate="  schedulingGates: [{name: $GATE}]"
    for name in a b c; do
        claiming_pod "$name" resourceClaimTemplateName gang "$gate" | kn create -f -
    done
    claiming_pod other resourceClaimTemplateName open '  schedulingGates: [{name: example.com/mine}]' | kn create -f -
    remove() { kn patch pod "$1" --type=json -p "$REMOVE" "${@:2}"; }
    # A node's account is kept from it by the API server itself.
    for name in USER SCHEDULER; do
        local -n identity=$name
        may "${identity[@]}" -- patch pods
        refused tangram-gate 'may not remove the scheduling gate tangram.dev/gang' remove a "${identity[@]}"
    done
    # Everything else about the pod is alice's business, and so are the gates of others.
    kn label pod a "${USER[@]}" touched=yes
    remove other "${USER[@]}"

    kn create role release --verb=release --resource=gangs.tangram.dev
    kn create rolebinding release --role=release --user=alice
    tg_wait_until 10 remove a "${USER[@]}"
    remove b "${CONTROLLER[@]}"
    remove c
    [[ -z $(gates a) && -z $(gates b) && -z $(gates c) ]]
}

# bats test_tags=core
@test "(i) the records on a pod are set by the controller alone, and removed by who may act in its place" {
    local name annotation gate='schedulingGates: [{name: example.com/mine}]'
    # bare NAME [ANNOTATION]: a pod that nobody schedules.
    bare() {
        cat <<YAML
apiVersion: v1
kind: Pod
metadata: {name: $1, annotations: {${2:-example.com/other: none}}}
spec: {$gate, containers: [{name: main, image: $IMAGE}]}
YAML
    }
    create() { bare "${@:1:2}" | kn create -f - "${@:3}"; }
    annotate() { kn annotate --overwrite pod "$1" "$2" "${@:3}"; }
    # patch_status, bind POD ANNOTATION IDENTITY...
    patch_status() { kn patch pod "$1" --subresource=status --type=merge -p "{\"metadata\": {\"annotations\": {\"$2\": \"x\"}}}" "${@:3}"; }
    bind() {
        k create --raw "/api/v1/namespaces/$NAMESPACE/pods/$1/binding" -f - "${@:3}" <<YAML
{"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "$1", "annotations": {"$2": "x"}},
 "target": {"apiVersion": "v1", "kind": "Node", "name": "nowhere"}}
YAML
    }
    create kept
    for name in USER SCHEDULER ADMIN; do
        local -n identity=$name
        may "${identity[@]}" -- create pods
        may "${identity[@]}" -- patch pods
        may "${identity[@]}" -- patch pods status
        may "${identity[@]}" -- create pods binding
        for annotation in tangram.dev/plan tangram.dev/epoch; do
            refused tangram-records "may not set the annotation $annotation" annotate kept "$annotation=x" "${identity[@]}"
        done
        annotation=tangram.dev/plan
        refused tangram-records "may not set the annotation $annotation" create new "$annotation: x" "${identity[@]}"
        refused tangram-records "may not set the annotation $annotation" patch_status kept "$annotation" "${identity[@]}"
        refused tangram-records "may not set the annotation $annotation" bind kept "$annotation" "${identity[@]}"
    done
    for annotation in tangram.dev/plan tangram.dev/epoch; do
        annotate kept "$annotation=x" "${CONTROLLER[@]}"
        refused tangram-records "may not set the annotation $annotation" annotate kept "$annotation=y" "${USER[@]}"
        refused tangram-records "may not remove the annotation $annotation" annotate kept "$annotation-" "${USER[@]}"
        annotate kept "$annotation-"
        annotate kept "$annotation=x" "${CONTROLLER[@]}"
        annotate kept "$annotation-" "${CONTROLLER[@]}"
    done
    annotate kept tangram.dev/plan=x "${CONTROLLER[@]}"
    for name in USER SCHEDULER; do
        local -n identity=$name
        refused tangram-records 'may not remove the annotation' annotate kept tangram.dev/plan- "${identity[@]}"
        # Everything else about the pod is theirs, also while the record stands.
        create "other-${name,,}" '' "${identity[@]}"
        annotate kept example.com/other="$name" "${identity[@]}"
        patch_status kept example.com/mine "${identity[@]}"
    done
    kn create role release --verb=release --resource=gangs.tangram.dev
    kn create rolebinding release --role=release --user=alice
    tg_wait_until 10 annotate kept tangram.dev/plan- "${USER[@]}"
    refused tangram-records 'may not set the annotation' annotate kept tangram.dev/plan=x "${USER[@]}"
}

# bats test_tags=core
@test "(i) a Gang with a plan keeps its finalizer until the controller, or who may act in its place, removes it" {
    # Half a gang: the controller leaves its metadata alone.
    { template half 1 "$RTX" 'gang: half, size: 2'; pod one half; } | kn create -f -
    kn wait --for=create gang/half --timeout=30s
    # finalizers JSON IDENTITY...
    finalizers() { kn patch gang half --type=merge -p "{\"metadata\": {\"finalizers\": $1}}" "${@:2}"; }
    may "${USER[@]}" -- patch gangs.tangram.dev
    finalizers '["tangram.dev/plan", "example.com/mine"]'
    refused tangram-gang-finalizer 'may not remove the finalizer tangram.dev/plan' finalizers '[]' "${USER[@]}"
    refused tangram-gang-finalizer 'may not remove' finalizers '["example.com/mine"]' "${USER[@]}"
    finalizers '["tangram.dev/plan"]' "${USER[@]}"
    finalizers '["tangram.dev/plan", "example.com/mine"]' "${USER[@]}"
    kn label gang half a=b "${USER[@]}"
    finalizers '["example.com/mine"]' "${CONTROLLER[@]}"
    finalizers '["tangram.dev/plan"]'
    finalizers '[]'

    finalizers '["tangram.dev/plan"]'
    kn create role release --verb=release --resource=gangs.tangram.dev
    kn create rolebinding release --role=release --user=alice
    tg_wait_until 10 finalizers '[]' "${USER[@]}"
}

# bats test_tags=core
@test "(i) the status of a Gang is written by the controller alone, and by who may act in its place" {
    { template half 1 "$RTX" 'gang: half, size: 2'; pod one half; } | kn create -f -
    kn wait --for=create gang/half --timeout=30s
    local plan='{"status": {"plan": {"epoch": 1, "allocationTimestamp": "2026-01-01T00:00:00Z", "members":
        [{"pod": "one", "uid": "u", "node": "node-1"}]}}}' name
    write_status() { kn patch gang half --subresource=status --type=merge -p "$1" "${@:2}"; }
    for name in USER NODE_ACCOUNT SCHEDULER; do
        local -n identity=$name
        may "${identity[@]}" -- patch gangs.tangram.dev status
        refused tangram-gang-status 'may not write the status' write_status "$plan" "${identity[@]}"
        refused tangram-gang-status 'may not write the status' write_status '{"status": {"phase": "Running"}}' "${identity[@]}"
        # Its labels are theirs.
        kn label --overwrite gang half a="${name,,}" "${identity[@]}"
    done
    kn create role release --verb=release --resource=gangs.tangram.dev
    kn create rolebinding release --role=release --user=alice
    tg_wait_until 10 write_status '{"status": {"explanation": "by hand"}}' "${USER[@]}"
}

# bats test_tags=core
@test "(i) templates and direct claims of managed classes and gangs carry the label by which their pods are known" {
    # create KIND CLASS LABELS [CONFIG [METADATA]]: as AS, or alice.
    create() {
        local spec="{devices: {requests: [{name: gpus, exactly: {deviceClassName: $2}}], config: [${4:-}]}}"
        [[ $1 == ResourceClaim ]] || spec="{spec: $spec}"
        kn create "${AS[@]}" --dry-run=server -o json -f - <<YAML
{apiVersion: resource.k8s.io/v1, kind: $1, metadata: {name: x, labels: {$3}${5:-}}, spec: $spec}
YAML
    }
    local AS=("${USER[@]}")
    label_of() { jq -r '.metadata.labels["tangram.dev/managed"] // ""' <<<"$1"; }
    local kind member="{opaque: {driver: tangram.dev, parameters: {$HEAD, gang: a, size: 4}}}"
    for kind in ResourceClaimTemplate ResourceClaim; do
        [[ -z $(label_of "$(create "$kind" "$NAMESPACE-open" '')") ]]
        if (($(tg_minor) >= 36)); then
            [[ $(label_of "$(create "$kind" gpu.tangram.dev 'a: b')") == true ]]
            [[ $(label_of "$(create "$kind" "$NAMESPACE-open" '' "$member")") == true ]]
        else
            refused tangram-managed-label 'Add the label to metadata.labels' create "$kind" gpu.tangram.dev ''
            refused tangram-managed-label 'Add the label' create "$kind" gpu.tangram.dev 'tangram.dev/managed: "false"'
            refused tangram-member-label 'Add the label' create "$kind" "$NAMESPACE-open" '' "$member"
            create "$kind" gpu.tangram.dev 'tangram.dev/managed: "true"'
        fi
    done

    # A claim that only says that it was made from a template is a direct claim; all of it is the claim controller's.
    local noted=', annotations: {resource.kubernetes.io/pod-claim-name: gpus}' class config policy says
    local owned="$noted, ownerReferences: [{apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}]"
    for class in gpu.tangram.dev "$NAMESPACE-open"; do
        config=$member policy=tangram-member-label
        [[ $class != gpu.tangram.dev ]] || config='' policy=tangram-managed-label
        for says in "$noted" "$owned"; do
            if (($(tg_minor) >= 36)); then
                [[ $(label_of "$(create ResourceClaim "$class" '' "$config" "$says")") == true ]]
            else
                refused "$policy" 'Add the label' create ResourceClaim "$class" '' "$config" "$says"
            fi
        done
        for kind in CLAIM_CONTROLLER MANAGER; do
            local -n identity=$kind
            AS=("${identity[@]}")
            [[ -z $(label_of "$(create ResourceClaim "$class" '' "$config" "$owned")") ]]
        done
        AS=("${USER[@]}")
    done

    # One a pod: with the label on them each new pod would be compared with each of them.
    gang_claims
    claiming_pod one resourceClaimTemplateName gang "  schedulingGates: [{name: $GATE}]" | kn create -f -
    watch_until 30 '.status.resourceClaimStatuses[0].resourceClaimName != null' pod/one >/dev/null
    [[ -z $(label_of "$(kn get resourceclaim "$(claim_of one)" -o json)") ]]
}
