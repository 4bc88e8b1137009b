# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# One certificate authority for the cluster, a certificate for each identity, a key pair for service account tokens.

# pki_issue NAME SUBJECT EXTENSIONS: pki/NAME.key and pki/NAME.crt, signed by the authority.
pki_issue() {
    local file=$TG_DIR/pki/$1
    openssl ecparam -name prime256v1 -genkey -noout -out "$file.key"
    openssl req -new -key "$file.key" -subj "$2" |
        openssl x509 -req -days 30 -CA "$TG_DIR/pki/ca.crt" -CAkey "$TG_DIR/pki/ca.key" -CAcreateserial \
            -extfile <(printf 'basicConstraints=CA:FALSE\n%s\n' "$3") -out "$file.crt" 2>/dev/null
}

pki_issue_client() { pki_issue "$1" "$2" "extendedKeyUsage=clientAuth"; }

# tg_kubeconfig_certificate NAME: a kubeconfig whose user is the certificate pki/NAME.
tg_kubeconfig_certificate() {
    cat <<YAML
apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster:
    server: https://$TG_API_ADDRESS
    certificate-authority: $TG_DIR/pki/ca.crt
users:
- name: $1
  user:
    client-certificate: $TG_DIR/pki/$1.crt
    client-key: $TG_DIR/pki/$1.key
contexts:
- name: e2e
  context: {cluster: e2e, user: $1}
current-context: e2e
YAML
}

# tg_kubeconfig_token USER TOKEN
tg_kubeconfig_token() {
    cat <<YAML
apiVersion: v1
kind: Config
clusters:
- name: e2e
  cluster:
    server: https://$TG_API_ADDRESS
    certificate-authority-data: $(base64 -w0 <"$TG_DIR/pki/ca.crt")
users:
- name: $1
  user:
    token: $2
contexts:
- name: e2e
  context: {cluster: e2e, user: $1}
current-context: e2e
YAML
}

# pki_client NAME SUBJECT: a certificate and its kubeconfig.
pki_client() {
    pki_issue_client "$1" "$2"
    tg_kubeconfig_certificate "$1" >"$TG_DIR/kubeconfig/$1"
}

tg_pki_create() {
    local pki=$TG_DIR/pki node
    openssl ecparam -name prime256v1 -genkey -noout -out "$pki/ca.key"
    openssl req -x509 -new -key "$pki/ca.key" -subj /CN=tangram-e2e -days 30 -out "$pki/ca.crt" \
        -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign
    openssl genrsa -out "$pki/service-account.key" 2048 2>/dev/null
    openssl rsa -in "$pki/service-account.key" -pubout -out "$pki/service-account.pub" 2>/dev/null
    pki_issue apiserver /CN=kube-apiserver "extendedKeyUsage=serverAuth
subjectAltName=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:$TG_HOST_ADDRESS,IP:$TG_API_ADDRESS"
    pki_issue_client apiserver-kubelet /O=system:masters/CN=kube-apiserver-kubelet-client
    pki_client admin /O=system:masters/CN=e2e-admin
    pki_client controller-manager /CN=system:kube-controller-manager
    pki_client scheduler /CN=system:kube-scheduler
    for node in $(tg_node_names); do
        pki_client "$node" "/O=system:nodes/CN=system:node:$node"
    done
}
