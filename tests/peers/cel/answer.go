// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"

	"k8s.io/apiserver/pkg/cel/environment"
)

type answer struct {
	ID json.RawMessage `json:"id"`
	// What the API server says to it: in a new object, and in one that already holds it. Only for selectors.
	New    *verdict `json:"new,omitempty"`
	Stored *verdict `json:"stored,omitempty"`
	// What the scheduler says to it and the device. Only for selectors.
	Outcome *outcome `json:"outcome,omitempty"`
	Value   value    `json:"value"`
}

// verdict: ok, invalid, expensive or long, with the estimated cost where it compiles.
type verdict struct {
	Verdict string  `json:"verdict"`
	Error   string  `json:"error,omitempty"`
	Cost    *uint64 `json:"cost,omitempty"`
}

type outcome struct {
	Match *bool  `json:"match,omitempty"`
	Error string `json:"error,omitempty"`
}

// value: what it evaluates to, whatever its type; or at which stage (compile, run) it failed.
type value struct {
	Value *typed  `json:"value,omitempty"`
	Type  string  `json:"type,omitempty"`
	Stage string  `json:"stage,omitempty"`
	Error string  `json:"error,omitempty"`
	Cost  *uint64 `json:"cost,omitempty"`
}

func answerTo(r request) (any, error) {
	c, err := compilerFor(r.Features)
	if err != nil {
		return nil, err
	}
	if r.ExpressionHex != "" {
		plain, err := hex.DecodeString(r.ExpressionHex)
		if err != nil {
			return nil, err
		}
		r.Expression = string(plain)
	}
	out := answer{ID: r.ID}
	if r.Device != nil {
		created := admit(c, r.Expression, environment.NewExpressions)
		stored := admit(c, r.Expression, environment.StoredExpressions)
		out.New, out.Stored = &created, &stored
		out.Outcome = match(c, r.Expression, r.Device.input())
	}
	out.Value, err = evaluate(c, r)
	return out, err
}
