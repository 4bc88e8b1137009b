// SPDX-License-Identifier: Apache-2.0

//go:build k8s137

package main

import "k8s.io/dynamic-resource-allocation/structured"

func setReleaseFeature(features *structured.Features, name string) bool {
	switch name {
	case "DeviceBindingAndStatus":
		features.DeviceBindingAndStatus = true
	case "ListTypeAttributes":
		features.ListTypeAttributes = true
	case "FractionalCapacityRange":
		features.FractionalCapacityRange = true
	default:
		return false
	}
	return true
}
