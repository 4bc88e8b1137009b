// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
	"k8s.io/dynamic-resource-allocation/structured"
)

type answer struct {
	Name        string        `json:"name"`
	Outcome     string        `json:"outcome"` // allocated, unallocatable, error or timeout
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

func answerTo(c *allocCase, limit time.Duration) (any, error) {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	allocator, err := newAllocator(ctx, c)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	results, err := allocator.Allocate(ctx, &c.Node, c.Claims)
	a := answer{Name: c.Name, Nanoseconds: time.Since(began).Nanoseconds()}
	switch {
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
