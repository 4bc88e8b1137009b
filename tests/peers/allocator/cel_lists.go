// SPDX-License-Identifier: Apache-2.0

//go:build !k8s134 && !k8s135

package main

import dracel "k8s.io/dynamic-resource-allocation/cel"

func celFeatures(names []string) dracel.Features {
	return dracel.Features{
		EnableConsumableCapacity: has(names, "ConsumableCapacity"),
		EnableListTypeAttributes: has(names, "ListTypeAttributes"),
	}
}
