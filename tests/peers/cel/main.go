// SPDX-License-Identifier: Apache-2.0

// Peer of controller/core/cel: answers what Kubernetes says of a device selector, with the package that the API server
// and the scheduler use. Reads requests from stdin, one JSON object a line, and writes one answer a line, in order;
// request.go and answer.go say what is in them. With --bench it measures instead, see bench.go.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"os"
)

// A line holds an expression (at most 10 KiB are of interest) and a device (32 entries with lists of 48 values).
const maxLine = 4 << 20

func main() {
	bench := flag.Bool("bench", false, "measure compiling and evaluating the requests")
	flag.Parse()

	input := bufio.NewScanner(os.Stdin)
	input.Buffer(nil, maxLine)
	output := bufio.NewWriter(os.Stdout)
	handle := answerTo
	if *bench {
		handle = measure
	}
	if err := serve(input, json.NewEncoder(output), handle); err != nil {
		fmt.Fprintln(os.Stderr, "cel peer:", err)
		os.Exit(1)
	}
	if err := output.Flush(); err != nil {
		fmt.Fprintln(os.Stderr, "cel peer:", err)
		os.Exit(1)
	}
}

func serve(input *bufio.Scanner, output *json.Encoder, handle func(request) (any, error)) error {
	output.SetEscapeHTML(false)
	for line := 1; input.Scan(); line++ {
		var r request
		if err := json.Unmarshal(input.Bytes(), &r); err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		answer, err := handle(r)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		if err := output.Encode(answer); err != nil {
			return err
		}
	}
	return input.Err()
}
