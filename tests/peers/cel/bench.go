// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"syscall"
	"time"

	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// measurement: the best of a few rounds, as everything else that runs on the machine only ever makes it slower.
type measurement struct {
	ID                   json.RawMessage `json:"id"`
	CompileNanoseconds   float64         `json:"compile_ns"`
	EvaluateNanoseconds  float64         `json:"evaluate_ns"`
	AllocationsPerResult float64         `json:"allocations"`
}

const (
	rounds    = 5
	roundTime = 100 * time.Millisecond
)

// spent is the processor time of this process, its garbage collector included.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it cannot fail for oneself
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// best returns nanoseconds per call.
func best(call func()) float64 {
	lowest := 0.0
	for round := range rounds {
		count := 0
		begin := spent()
		for spent()-begin < roundTime {
			for range 64 {
				call()
			}
			count += 64
		}
		each := float64((spent() - begin).Nanoseconds()) / float64(count)
		if round == 0 || each < lowest {
			lowest = each
		}
	}
	return lowest
}

func allocations(call func()) float64 {
	const count = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range count {
		call()
	}
	runtime.ReadMemStats(&after)
	return float64(after.Mallocs-before.Mallocs) / count
}

// measure: compiling with the cost estimate, as the API server does; evaluating with the conversion of the device, as the
// scheduler does.
func measure(r request) (any, error) {
	c, err := compilerFor(r.Features)
	if err != nil {
		return nil, err
	}
	result := c.CompileCELExpression(r.Expression, dracel.Options{})
	if result.Error != nil {
		return nil, result.Error
	}
	input := r.Device.input()
	if _, _, err := result.DeviceMatches(context.Background(), input); err != nil {
		return nil, fmt.Errorf("%s: %w", r.Expression, err)
	}
	evaluateOnce := func() { _, _, _ = result.DeviceMatches(context.Background(), input) }
	return measurement{
		ID:                   r.ID,
		CompileNanoseconds:   best(func() { c.CompileCELExpression(r.Expression, dracel.Options{}) }),
		EvaluateNanoseconds:  best(evaluateOnce),
		AllocationsPerResult: allocations(evaluateOnce),
	}, nil
}
