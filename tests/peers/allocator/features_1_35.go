// SPDX-License-Identifier: Apache-2.0

//go:build k8s135

package main

import (
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

func setReleaseFeature(features *structured.Features, name string) bool {
	if name != "DeviceBindingAndStatus" {
		return false
	}
	features.DeviceBindingAndStatus = true
	return true
}

func celFeatures(names []string) dracel.Features {
	return dracel.Features{EnableConsumableCapacity: has(names, "ConsumableCapacity")}
}
