// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// The disturbances that random draws from. None kills anything: what was begun can always be brought to an end.
var (
	anyFaults = []Rule{
		{Do: "status", Code: 429, RetryAfter: 1},
		{Do: "status", Code: 500},
		{Do: "status", Code: 503},
		{Do: "cut"},
		{Do: "cut", How: "stream"},
		{Do: "cut", When: "after"},
		{Do: "cut", When: "after", How: "stream"},
		{Do: "half"},
		{Do: "delay", Ms: 200},
		{Do: "delay", When: "after", Ms: 200},
		{Do: "goaway"},
	}
	writeFaults = []Rule{
		{Do: "status", Code: 409},
		{Do: "status", Code: 500, When: "after"},
		{Do: "status", Code: 504, When: "after"},
	}
	watchFaults = []Rule{
		{Do: "status", Code: 410},
		{Do: "status", Code: 500},
		{Do: "cut"},
		{Do: "cut", How: "stream", When: "after"},
		{Do: "watch-half", Event: 2},
		{Do: "watch-duplicate", Event: 1},
		{Do: "watch-withhold", Event: 2, Ms: 400},
		{Do: "watch-gone", Event: 1},
	}
)

// draw decides by the seed, the kind of the request and how many of that kind there were: what happens to the requests
// of one kind does not depend on how those of other kinds arrive between them.
func (r *Rule) draw(q Request) *Rule {
	kind := q.Verb + " " + q.Resource
	r.ordinals[kind]++
	hash := fnv.New64a()
	fmt.Fprintf(hash, "%s %d", kind, r.ordinals[kind])
	source := rand.New(rand.NewPCG(r.Seed, hash.Sum64()))
	if source.Float64()*100 >= r.Percent {
		return nil
	}
	faults := anyFaults
	switch {
	case q.Verb == "watch":
		faults = watchFaults
	case q.Writes() && source.IntN(3) == 0:
		faults = writeFaults
	}
	drawn := faults[source.IntN(len(faults))]
	// The tables are data of this file: a mistake in them is found by the test that prepares them all.
	if err := drawn.prepare(); err != nil {
		panic(err)
	}
	drawn.Name = r.Name
	return &drawn
}
