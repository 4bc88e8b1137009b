# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# etcd, API server, controller manager and scheduler, as processes of the host.

tg_etcd_start() {
    # Nothing here outlives the test, so nothing needs to survive a power cut.
    tg_process_start etcd etcd --name e2e --data-dir "$TG_DIR/etcd" --unsafe-no-fsync --log-level warn \
        --listen-client-urls "$TG_ETCD_URL" --advertise-client-urls "$TG_ETCD_URL" \
        --listen-peer-urls "$TG_ETCD_PEER_URL" --initial-advertise-peer-urls "$TG_ETCD_PEER_URL" \
        --initial-cluster "e2e=$TG_ETCD_PEER_URL"
    tg_process_wait etcd 30 curl -fsS "$TG_ETCD_URL/health"
}

# apiserver_write_audit_policy FILE: every request of our own programs is kept in log/audit.log, and what a controller manager
# without an account for each controller does to claims; nothing else.
apiserver_write_audit_policy() {
    cat >"$1" <<'YAML'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
  userGroups: ["system:serviceaccounts:tangram-system"]
- level: Metadata
  users: ["system:kube-controller-manager"]
  verbs: [create, update, patch, delete]
  resources: [{group: resource.k8s.io, resources: [resourceclaims, resourceclaims/status]}]
- level: None
YAML
}

tg_apiserver_start() {
    local pki=$TG_DIR/pki
    apiserver_write_audit_policy "$TG_DIR/config/audit.yaml"
    tg_process_start apiserver kube-apiserver \
        --etcd-servers="$TG_ETCD_URL" \
        --bind-address="$TG_API_ADDRESS" --secure-port=443 --advertise-address="$TG_API_ADDRESS" \
        --tls-cert-file="$pki/apiserver.crt" --tls-private-key-file="$pki/apiserver.key" \
        --client-ca-file="$pki/ca.crt" \
        --kubelet-client-certificate="$pki/apiserver-kubelet.crt" \
        --kubelet-client-key="$pki/apiserver-kubelet.key" --kubelet-preferred-address-types=InternalIP \
        --service-account-issuer=https://kubernetes.default.svc \
        --service-account-key-file="$pki/service-account.pub" \
        --service-account-signing-key-file="$pki/service-account.key" \
        --service-cluster-ip-range="$TG_SERVICE_RANGE" --endpoint-reconciler-type=none \
        --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
        --audit-policy-file="$TG_DIR/config/audit.yaml" --audit-log-path="$TG_DIR/log/audit.log" \
        --profiling=false "${TG_APISERVER_FLAGS[@]}"
    tg_process_wait apiserver 60 tg_admin get --raw=/readyz
}

tg_controller_manager_start() {
    # One identity a controller, as on every real cluster: the policies tell the claim controller from others.
    # The claim controller makes claims at the rate of its client; the default of 20/s is for small clusters.
    tg_process_start controller-manager kube-controller-manager \
        --kubeconfig="$TG_DIR/kubeconfig/controller-manager" --use-service-account-credentials \
        --bind-address="$TG_HOST_ADDRESS" --leader-elect=false \
        --service-account-private-key-file="$TG_DIR/pki/service-account.key" --root-ca-file="$TG_DIR/pki/ca.crt" \
        --flex-volume-plugin-dir="$TG_DIR/config/volume-plugins" \
        --kube-api-qps=100 --kube-api-burst=200 "${TG_CONTROLLER_MANAGER_FLAGS[@]}"
}

tg_scheduler_start() {
    tg_process_start scheduler kube-scheduler \
        --kubeconfig="$TG_DIR/kubeconfig/scheduler" --bind-address="$TG_HOST_ADDRESS" --leader-elect=false \
        "${TG_SCHEDULER_FLAGS[@]}"
}
