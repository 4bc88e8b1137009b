// SPDX-License-Identifier: Apache-2.0

//go:build tools

// Package tools names the programs that the module provides, so that go.sum covers them.
package tools

import _ "helm.sh/helm/v4/cmd/helm"
