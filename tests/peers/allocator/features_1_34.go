// SPDX-License-Identifier: Apache-2.0

//go:build k8s134

package main

import (
	"errors"

	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

func setReleaseFeature(features *structured.Features, name string) bool {
	if name != "DeviceBindingAndStatus" {
		return false
	}
	features.DeviceBinding, features.DeviceStatus = true, true
	return true
}

func celFeatures(names []string) dracel.Features {
	return dracel.Features{EnableConsumableCapacity: has(names, "ConsumableCapacity")}
}

func enableVariant(name string) error {
	if name != "" {
		return errors.New("Kubernetes 1.34 lets nobody choose the implementation")
	}
	return nil
}
