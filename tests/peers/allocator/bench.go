// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// measurement: the best of a few rounds, as everything else that runs on the machine only ever makes it slower.
type measurement struct {
	Name         string  `json:"name"`
	Microseconds float64 `json:"us"`    // of processor time for one pod, its garbage collected
	Nodes        int     `json:"nodes"` // that were tried for it
	Fits         int     `json:"fits"`  // on how many it could go
}

const (
	rounds    = 5
	roundTime = 200 * time.Millisecond
)

// spent is the processor time of this process, its garbage collector included.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err) // it cannot fail for oneself
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// measure does what the scheduler does for one pod: an allocator over the current state, then one call for each node that is
// tried.
func measure(c *allocCase, limit time.Duration) (any, error) {
	nodes := c.Nodes
	if len(nodes) == 0 {
		nodes = []corev1.Node{c.Node}
	}
	m := measurement{Name: c.Name, Nodes: len(nodes)}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	pod := func() error {
		allocator, err := newAllocator(ctx, c)
		if err != nil {
			return err
		}
		m.Fits = 0
		for i := range nodes {
			results, err := allocator.Allocate(ctx, &nodes[i], c.Claims)
			if err != nil {
				return err
			}
			if results != nil {
				m.Fits++
			}
		}
		return nil
	}
	for round := range rounds {
		count, began := 0, spent()
		for spent()-began < roundTime {
			if err := pod(); err != nil {
				return nil, err
			}
			count++
		}
		each := float64((spent() - began).Nanoseconds()) / 1000 / float64(count)
		if round == 0 || each < m.Microseconds {
			m.Microseconds = each
		}
	}
	return m, nil
}
