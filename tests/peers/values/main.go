// SPDX-License-Identifier: Apache-2.0

// Peer of api/kubernetes: asks our program (tests/differential/peer_values.c) and the Go packages of Kubernetes the same
// generated questions, a kind of value at a time, and prints every disagreement. The last line is `N passed, N failed`.
package main

import (
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"
)

// question: what our program is asked, and what it must answer.
type question struct {
	ask []string
	// want is the answer. Where there is more than one right answer, judge says what is wrong with ours ("" = nothing).
	want  []string
	judge func(got []string) string
}

// kind: one family of values. next makes the question of one draw.
type kind struct {
	name string
	next func(r *rand.Rand) question
}

var kinds = []kind{
	{"quantity", nextQuantity},
	{"semver", nextSemver},
	{"time", nextTime},
	{"names", nextName},
	{"label selectors", nextLabelSelector},
	{"node selectors", nextNodeSelector},
	{"taints", nextTaints},
	{"protobuf splice", nextSplice},
}

func main() {
	ours := flag.String("ours", "", "our program")
	count := flag.Int("count", 100000, "questions of each kind")
	seed := flag.String("seed", "1", "other questions for another seed")
	only := flag.String("only", "", "only this kind")
	show := flag.Int("show", 20, "how many disagreements to print")
	flag.Parse()

	passed, failed := 0, 0
	known := false
	for _, k := range kinds {
		if *only != "" && *only != k.name {
			continue
		}
		known = true
		began := time.Now()
		wrong, accepted, err := compare(*ours, k, *seed, *count, *show-failed)
		if err != nil {
			fmt.Fprintf(os.Stderr, "values: %s: %v\n", k.name, err)
			os.Exit(1)
		}
		passed += *count - wrong
		failed += wrong
		fmt.Printf("%s: %d compared, %d of them valid, %d differ (%.1f s)\n", k.name, *count, accepted, wrong, time.Since(began).Seconds())
	}
	if !known {
		fmt.Fprintf(os.Stderr, "values: there is no kind %q\n", *only)
		os.Exit(2)
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	if failed > 0 || passed == 0 {
		os.Exit(1)
	}
}

// source: the draws of a kind, the same for the same seed.
func source(seed, kind string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(seed + "\x00" + kind))
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}

// compare counts the disagreements, and the questions to which the answer was not a refusal.
func compare(ours string, k kind, seed string, count, show int) (wrong, accepted int, err error) {
	peer, err := start(ours)
	if err != nil {
		return 0, 0, err
	}
	questions := make(chan question, 1024)
	go func() {
		r := source(seed, k.name)
		for range count {
			q := k.next(r)
			peer.ask(q.ask)
			select {
			case questions <- q:
			default:
				// What is asked must arrive before anybody waits for the answers.
				peer.flush()
				questions <- q
			}
		}
		peer.end()
		close(questions)
	}()
	for q := range questions {
		got, err := peer.answer()
		if err != nil {
			return 0, 0, fmt.Errorf("no answer to %q: %w", q.ask, err)
		}
		if len(got) > 0 && got[0] != "invalid" {
			accepted++
		}
		complaint := ""
		if q.judge != nil {
			complaint = q.judge(got)
		} else if !slices.Equal(got, q.want) {
			complaint = fmt.Sprintf("expected %q", q.want)
		}
		if complaint == "" {
			continue
		}
		if wrong++; wrong <= show {
			fmt.Printf("%s: %s\n    %s\n    got %s\n", k.name, shown(q.ask), complaint, shown(got))
		}
	}
	return wrong, accepted, peer.wait()
}

func shown(parts []string) string {
	text := fmt.Sprintf("%q", parts)
	if len(text) > 2000 {
		text = text[:2000] + "..."
	}
	return text
}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// one in n
func chance(r *rand.Rand, n int) bool { return r.IntN(n) == 0 }

// digits: up to n of them, at least one.
func digits(r *rand.Rand, n int) string {
	var b strings.Builder
	for range 1 + r.IntN(n) {
		b.WriteByte(byte('0' + r.IntN(10)))
	}
	return b.String()
}

// damage: sometimes one character is dropped, doubled or replaced, so that what is nearly valid is asked as well.
func damage(r *rand.Rand, text string, replacements string) string {
	if text == "" || !chance(r, 6) {
		return text
	}
	i := r.IntN(len(text))
	switch r.IntN(3) {
	case 0:
		return text[:i] + text[i+1:]
	case 1:
		return text[:i] + text[i:i+1] + text[i:]
	default:
		return text[:i] + string(replacements[r.IntN(len(replacements))]) + text[i+1:]
	}
}
