#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# kubectl stores compact JSON; clients in other languages do not. The API server then refuses every JSON patch of the
# claim's metadata. (Where a mutating policy looks at claims, the server re-encodes them at creation, so there it happens to
# claims that are older than the policy.)

load lib

setup() { scenario_setup; }

teardown() {
    look_at_claims null
    scenario_teardown
}

# look_at_claims MATCH: limits the mutating policies that look at claims. Their bindings must not be deleted for that: an API
# server that deletes the last binding of a parameter kind and gets a new one goes on with the parameters of before.
look_at_claims() {
    local policy
    (($(tg_minor) >= 36)) || return 0
    for policy in tangram-managed-label tangram-member-label; do
        k patch mutatingadmissionpolicybinding "$policy" --type=merge --patch "{\"spec\": {\"matchResources\": $1}}" >/dev/null
    done
}

request() { curl -fsS --cacert "$TG_DIR/pki/ca.crt" --cert "$TG_DIR/pki/admin.crt" --key "$TG_DIR/pki/admin.key" "$@"; }

# created_with_spaces: creates the claim, anew if it is there, and looks how the server has stored it. JSON answers are
# encoded afresh; the storage format shows the bytes.
created_with_spaces() {
    local url=https://$TG_API_ADDRESS/apis/resource.k8s.io/v1/namespaces/$NAMESPACE/resourceclaims
    kn delete resourceclaim spaced --ignore-not-found --wait
    request -H 'Content-Type: application/json' --data-binary @- "$url" <<'JSON'
{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
 "metadata": {"name": "spaced", "labels": {"tangram.dev/managed": "true"}},
 "spec": {"devices": {
   "requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.tangram.dev", "allocationMode": "ExactCount", "count": 1}}],
   "config": [{"opaque": {"driver": "tangram.dev", "parameters": { "kind" : "GangMember",
       "apiVersion": "tangram.dev/v1alpha1",  "size":   1 ,  "gang" : "spaced" }}}]}}}
JSON
    request -H 'Accept: application/vnd.kubernetes.protobuf' "$url/spaced" | grep -aqF '"size":   1 ,'
}

# bats test_tags=core
@test "(h) a claim made with spaces in its opaque JSON through the raw API is served like any other" {
    look_at_claims "{\"namespaceSelector\": {\"matchExpressions\": [
        {\"key\": \"kubernetes.io/metadata.name\", \"operator\": \"NotIn\", \"values\": [\"$NAMESPACE\"]}]}}"
    tg_wait_until 20 created_with_spaces
    # The trap is real.
    run kn annotate resourceclaim spaced example.com/a=b
    [[ $status -ne 0 && $output == *immutable* ]]

    pod solo unused | sed 's/resourceClaimTemplateName: unused/resourceClaimName: spaced/' | kn create -f -
    wait_ready 60 solo
    [[ $(printed solo) == "$(allocated spaced)" ]]
    kn delete pod solo --wait --timeout=30s
    watch_until 30 '.status.allocation == null' resourceclaim/spaced >/dev/null
}
