// SPDX-License-Identifier: Apache-2.0

//go:build !k8s134

package main

import (
	"fmt"

	"k8s.io/dynamic-resource-allocation/structured"
)

func enableVariant(name string) error {
	switch name {
	case "":
	case "stable", "incubating", "experimental":
		structured.EnableAllocators(name)
	default:
		return fmt.Errorf("there is no variant %s", name)
	}
	return nil
}
