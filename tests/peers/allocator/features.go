// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"

	"k8s.io/dynamic-resource-allocation/structured"
)

// featuresOf switches on what a case names, and nothing else.
func featuresOf(names []string) (structured.Features, error) {
	var features structured.Features
	for _, name := range names {
		known := true
		switch name {
		case "AdminAccess":
			features.AdminAccess = true
		case "ConsumableCapacity":
			features.ConsumableCapacity = true
		case "DeviceTaints":
			features.DeviceTaints = true
		case "PartitionableDevices":
			features.PartitionableDevices = true
		case "PrioritizedList":
			features.PrioritizedList = true
		default:
			known = setReleaseFeature(&features, name)
		}
		if !known {
			return features, fmt.Errorf("this release has no feature %s", name)
		}
	}
	return features, nil
}

func has(names []string, name string) bool { return slices.Contains(names, name) }
