#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0

load lib

setup() { scenario_setup; }
teardown() { scenario_teardown; }

# kubectl stores compact JSON; clients in other languages do not. The API server then refuses every JSON patch of the
# claim's metadata ("spec: field is immutable").
# bats test_tags=core
@test "(h) a claim made with spaces in its opaque JSON through the raw API is served like any other" {
    local url=https://$TG_API_ADDRESS/apis/resource.k8s.io/v1/namespaces/$NAMESPACE/resourceclaims
    local identity=(--cacert "$TG_DIR/pki/ca.crt" --cert "$TG_DIR/pki/admin.crt" --key "$TG_DIR/pki/admin.key")
    local parameters='{ "kind" : "GangMember",  "apiVersion": "tangram.dev/v1alpha1",
        "size":   1 ,  "gang" : "spaced" }'
    curl -fsS "${identity[@]}" -H 'Content-Type: application/json' --data-binary @- "$url" <<JSON
{"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim",
 "metadata": {"name": "spaced", "labels": {"tangram.dev/managed": "true"}},
 "spec": {"devices": {
   "requests": [{"name": "gpus", "exactly": {"deviceClassName": "gpu.tangram.dev", "allocationMode": "ExactCount", "count": 1}}],
   "config": [{"opaque": {"driver": "tangram.dev", "parameters": $parameters}}]}}}
JSON
    # The server kept them, so a patch of the metadata is refused: the trap is real.
    curl -fsS "${identity[@]}" "$url/spaced" | grep -qF '"size":   1 ,'
    run kn annotate resourceclaim spaced example.com/a=b
    [[ $status -ne 0 && $output == *"field is immutable"* || $output == *"cannot be modified"* ]]

    pod solo unused | sed 's/resourceClaimTemplateName: unused/resourceClaimName: spaced/' | kn create -f -
    wait_ready 60 solo
    [[ $(printed solo) == "$(allocated spaced)" ]]
    kn delete pod solo --wait --timeout=30s
    watch_until 30 '.status.allocation == null' resourceclaim/spaced >/dev/null
}
