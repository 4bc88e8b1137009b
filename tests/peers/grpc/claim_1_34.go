// SPDX-License-Identifier: Apache-2.0

//go:build k8s134

package main

import (
	dra "k8s.io/kubelet/pkg/apis/dra/v1"
	drabeta "k8s.io/kubelet/pkg/apis/dra/v1beta1"
)

// How the packages of Kubernetes 1.34 spell things.

func claimOf(name string) *dra.Claim {
	return &dra.Claim{Namespace: "ns", Name: name, UID: uidOf(name)}
}

func betaClaimOf(name string) *drabeta.Claim {
	return &drabeta.Claim{Namespace: "ns", Name: name, UID: uidOf(name)}
}

func cdiDevices(device *dra.Device) []string { return device.CDIDeviceIDs }
