#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# Cards through their driver, from the chart: the driver is below a folder of the node, as the driver container of the GPU operator
# has it, with links that are meant for that folder. Its library is that of tests/support/fake-nvml.

load ../scenarios/lib
load installation

NAMESPACE=team-n
VERSION=580.105.08
FAKE=/var/lib/kubelet/plugins/gpu.tangram.dev/fake
LIBRARIES=/usr/lib/$(uname -m)-linux-gnu

setup() {
    tg_load "$TG_E2E_DIR"
    DRIVER=$TG_DIR/driver
    # The slices of an uninstalled driver stay until the kubelet clears them away.
    k delete resourceslices --all >/dev/null
    k create namespace "$NAMESPACE" >/dev/null
    kn wait --for=create serviceaccount/default --timeout=30s >/dev/null
}
teardown() {
    if [[ -z ${BATS_TEST_COMPLETED:-} ]]; then
        kt get pods -o wide || true
        kt describe pods | tail -n 40 || true
        kt logs --tail=30 --prefix -l app.kubernetes.io/part-of=tangram || true
        kn describe pods || true
        k get resourceslices -o yaml || true
    fi
    kn delete pods --all --wait --timeout=60s >/dev/null
    uninstall || true
    # What the library plays with.
    tg_node_exec node-1 rm -rf "$FAKE" "$FAKE.cards"
    k delete namespace "$RELEASE_NAMESPACE" "$NAMESPACE" --wait=false >/dev/null
}

# install_driver: whoever looks from outside must not follow the link as it stands.
install_driver() {
    mkdir -p "$DRIVER/$LIBRARIES" "$DRIVER/etc/alternatives" "$DRIVER/usr/bin"
    cp "$TG_FAKE_NVML" "$DRIVER/$LIBRARIES/libnvidia-ml.so.$VERSION"
    ln -s "$LIBRARIES/libnvidia-ml.so.$VERSION" "$DRIVER/etc/alternatives/nvidia-ml"
    ln -s /etc/alternatives/nvidia-ml "$DRIVER/$LIBRARIES/libnvidia-ml.so.1"
    echo "$LIBRARIES" >"$DRIVER/etc/ld.so.conf"
    /sbin/ldconfig -r "$DRIVER"
    printf 'driver %s\ncard h100-80gb count=2 pci=0000:f1:00.0\n' "$VERSION" >"$DRIVER/scenario"
}

values() {
    cat <<YAML
mode: driver-only
image: {pullPolicy: Never, tag: one}
plugin:
  provider: nvml
  nvml: {driverRoot: $DRIVER}
  nodeSelector: {kubernetes.io/hostname: node-1}
  env:
  - {name: FAKE_NVML_SCENARIO, value: /driver-root/scenario}
  - {name: FAKE_NVML_STATE, value: $FAKE.cards}
  - {name: FAKE_NVML_ROOT, value: $FAKE}
  - {name: TANGRAM_SYSTEM_ROOT, value: $FAKE}
YAML
}

@test "nvml: the plugin finds a driver that comes late, and containers get its files from the host" {
    # Without a driver the plugin runs, and says why it offers nothing.
    mkdir -p "$DRIVER"
    values | helm install tangram "$CHART" --create-namespace --values -
    tg_watch_first 60 '[.status.containerStatuses[]?.state.running] != []' --namespace "$RELEASE_NAMESPACE" pods \
        --selector=app.kubernetes.io/name=tangram-kubelet-plugin >/dev/null
    install_driver
    tg_slices_wait 90 node-1
    kt rollout status daemonset/tangram-kubelet-plugin --timeout=90s
    kn create -f - <<YAML
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: card}
spec: {spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.tangram.dev}}]}}}
---
apiVersion: v1
kind: Pod
metadata: {name: one}
spec:
  terminationGracePeriodSeconds: 1
  nodeSelector: {kubernetes.io/hostname: node-1}
  resourceClaims: [{name: gpu, resourceClaimTemplateName: card}]
  containers:
  - name: main
    image: $IMAGE
    imagePullPolicy: Never
    command: [sh, -c, "ls /dev/nvidia*; sha256sum <$LIBRARIES/libnvidia-ml.so.1; exec tail -f /dev/null"]
    resources: {claims: [{name: gpu}]}
YAML
    wait_ready 90 one
    tg_wait_until 30 sh -c "kubectl --kubeconfig '$TG_DIR/kubeconfig/admin' -n '$NAMESPACE' logs one | grep -q -- ' -$'"
    kn logs one
    kn logs one | grep /dev/nvidiactl >/dev/null
    kn logs one | grep -x "$(sha256sum <"$TG_FAKE_NVML")" >/dev/null
}
