// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type answer struct {
	Name        string        `json:"name"`
	Outcome     string        `json:"outcome"` // allocated, unallocatable, error, panic or timeout
	Error       string        `json:"error,omitempty"`
	Claims      []claimAnswer `json:"claims,omitempty"`
	Nanoseconds int64         `json:"ns"`
}

type claimAnswer struct {
	NodeSelector *corev1.NodeSelector                        `json:"nodeSelector"`
	Results      []resourceapi.DeviceRequestAllocationResult `json:"results"`
	Config       []resourceapi.DeviceAllocationConfiguration `json:"config"`
}

// compiled keeps expressions from case to case, as the scheduler does from pod to pod; what features mean to them differs.
var compiled = map[dracel.Features]*dracel.Cache{}

func cacheFor(names []string) *dracel.Cache {
	features := celFeatures(names)
	if compiled[features] == nil {
		compiled[features] = dracel.NewCache(256, features)
	}
	return compiled[features]
}

func newAllocator(ctx context.Context, c *allocCase) (structured.Allocator, error) {
	features, err := featuresOf(c.Features)
	if err != nil {
		return nil, err
	}
	state, err := c.Allocated.state()
	if err != nil {
		return nil, err
	}
	lister := classes{}
	for _, class := range c.DeviceClasses {
		lister[class.Name] = class
	}
	return structured.NewAllocator(ctx, features, state, lister, c.ResourceSlices, cacheFor(c.Features))
}

// allocate: a panic (1.34 has some) ends a scheduler, but is one answer here.
func allocate(ctx context.Context, allocator structured.Allocator, c *allocCase) (results []resourceapi.AllocationResult, panicked bool, err error) {
	defer func() {
		if reason := recover(); reason != nil {
			results, panicked, err = nil, true, fmt.Errorf("%v", reason)
		}
	}()
	results, err = allocator.Allocate(ctx, &c.Node, c.Claims)
	return results, false, err
}

func answerTo(c *allocCase, limit time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	allocator, err := newAllocator(ctx, c)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	results, panicked, err := allocate(ctx, allocator, c)
	a := answer{Name: c.Name, Nanoseconds: time.Since(began).Nanoseconds()}
	switch {
	case panicked:
		a.Outcome, a.Error = "panic", err.Error()
	case errors.Is(err, context.DeadlineExceeded):
		a.Outcome = "timeout"
	case err != nil:
		a.Outcome, a.Error = "error", err.Error()
	case results == nil:
		a.Outcome = "unallocatable"
	default:
		a.Outcome = "allocated"
	}
	for _, result := range results {
		a.Claims = append(a.Claims, claimAnswer{result.NodeSelector, result.Devices.Results, result.Devices.Config})
	}
	return a, nil
}
