// SPDX-License-Identifier: Apache-2.0

//go:build k8s134 || k8s135

package main

import (
	"errors"

	dracel "k8s.io/dynamic-resource-allocation/cel"
)

func setListTypeAttributes(*dracel.Features) error {
	return errors.New("ListTypeAttributes came with Kubernetes 1.36")
}
