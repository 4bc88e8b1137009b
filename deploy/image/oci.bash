# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# OCI images with one layer, as tar files, without a container engine. The same input gives the same bytes.

# oci_machine: the machine's name in OCI documents.
oci_machine() {
    case $(uname -m) in
    x86_64) echo amd64 ;;
    aarch64) echo arm64 ;;
    *) printf 'oci: unknown machine %s\n' "$(uname -m)" >&2 && return 1 ;;
    esac
}

oci_pack() { tar --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 --format=gnu -C "$1" -cf "$2" .; }

# oci_add_blob LAYOUT FILE: moves FILE to its place in the layout and prints its digest.
oci_add_blob() {
    local digest
    digest=$(sha256sum "$2" | cut -d' ' -f1)
    mv "$2" "$1/blobs/sha256/$digest"
    echo "sha256:$digest"
}

oci_size() { stat -c %s "$1/blobs/sha256/${2#sha256:}"; }

# oci_write WORK ROOT CONFIG ARCHIVE NAME...: an image of the files under ROOT. CONFIG is the JSON object "config" of the image
# (Entrypoint, Env, User ...). WORK is a folder for what comes in between.
oci_write() {
    local work=$1 root=$2 settings=$3 archive=$4 layout=$1/layout machine layer config manifest
    shift 4
    machine=$(oci_machine)
    rm -rf "$layout"
    mkdir -p "$layout/blobs/sha256"
    oci_pack "$root" "$work/layer"
    layer=$(oci_add_blob "$layout" "$work/layer")
    jq -cn --arg layer "$layer" --argjson config "$settings" --arg machine "$machine" '{
        architecture: $machine, os: "linux", config: $config, rootfs: {type: "layers", diff_ids: [$layer]}}' >"$work/config"
    config=$(oci_add_blob "$layout" "$work/config")
    jq -cn --arg layer "$layer" --arg config "$config" --argjson layer_size "$(oci_size "$layout" "$layer")" \
        --argjson config_size "$(oci_size "$layout" "$config")" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json",
        config: {mediaType: "application/vnd.oci.image.config.v1+json", digest: $config, size: $config_size},
        layers: [{mediaType: "application/vnd.oci.image.layer.v1.tar", digest: $layer, size: $layer_size}]
        }' >"$work/manifest"
    manifest=$(oci_add_blob "$layout" "$work/manifest")
    jq -cn --arg manifest "$manifest" --argjson size "$(oci_size "$layout" "$manifest")" '{
        schemaVersion: 2, mediaType: "application/vnd.oci.image.index.v1+json",
        manifests: [$ARGS.positional[] as $name | {
            mediaType: "application/vnd.oci.image.manifest.v1+json", digest: $manifest, size: $size,
            annotations: {"io.containerd.image.name": $name}}]}' --args "$@" >"$layout/index.json"
    echo '{"imageLayoutVersion":"1.0.0"}' >"$layout/oci-layout"
    oci_pack "$layout" "$work/archive"
    mv "$work/archive" "$archive"
}
