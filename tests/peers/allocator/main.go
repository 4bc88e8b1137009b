// SPDX-License-Identifier: Apache-2.0

// Peer of controller/core/fit: answers what the built-in allocator of Kubernetes decides. Reads allocator cases from stdin
// (format dra-alloc-case/1, one case a line) and writes one answer a line, in order; case.go and answer.go say what is in
// them. --variant stable, incubating or experimental asks that implementation only. --bench measures instead, see bench.go.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

// The largest case of the benchmarks has a thousand devices.
const maxLine = 64 << 20

func main() {
	bench := flag.Bool("bench", false, "measure instead of answering")
	variant := flag.String("variant", "", "the implementation to ask: stable, incubating or experimental; empty: the scheduler's choice")
	limit := flag.Duration("limit", 10*time.Second, "how long one case may take")
	flag.Parse()

	if err := run(*variant, *limit, *bench); err != nil {
		fmt.Fprintln(os.Stderr, "allocator peer:", err)
		os.Exit(1)
	}
}

func run(variant string, limit time.Duration, bench bool) error {
	if err := enableVariant(variant); err != nil {
		return err
	}
	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, maxLine)
	output := json.NewEncoder(os.Stdout)
	output.SetEscapeHTML(false)
	handle := answerTo
	if bench {
		handle = measure
	}
	for line := 1; input.Scan(); line++ {
		var c allocCase
		if err := json.Unmarshal(input.Bytes(), &c); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		answer, err := handle(&c, limit)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := output.Encode(answer); err != nil {
			return err
		}
	}
	return input.Err()
}
