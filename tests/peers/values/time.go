// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func timeText(r *rand.Rand) string {
	var b strings.Builder
	year := pick(r, []int{1970, 1971, 1999, 2000, 2024, 2026, 2038, 2100, 1900, 1677, 1678, 2262, 2263, 0, 1, 9999, 1600})
	fmt.Fprintf(&b, "%04d-%02d-%02dT", year, r.IntN(14), r.IntN(33))
	if chance(r, 12) {
		fmt.Fprintf(&b, "%d:%02d:%02d", r.IntN(26), r.IntN(62), r.IntN(62))
	} else {
		fmt.Fprintf(&b, "%02d:%02d:%02d", r.IntN(25), r.IntN(61), r.IntN(61))
	}
	if chance(r, 2) {
		b.WriteString(pick(r, []string{".", ".", ".", ","}))
		b.WriteString(digits(r, 12))
	}
	switch r.IntN(3) {
	case 0:
		fmt.Fprintf(&b, "%s%02d:%02d", pick(r, []string{"+", "-"}), r.IntN(26), r.IntN(62))
	default:
		b.WriteByte('Z')
	}
	return damage(r, b.String(), "0123456789-:TtZz.,+ ")
}

// inRange: what a number of nanoseconds since 1970 can say.
func inRange(t time.Time) bool {
	ns := new(big.Int).Mul(big.NewInt(t.Unix()), big.NewInt(int64(time.Second)))
	return ns.Add(ns, big.NewInt(int64(t.Nanosecond()))).IsInt64()
}

// reading a time: metav1.Time cuts nothing off, but works in whole local seconds of its text; both kinds read what RFC 3339 of Go's
// time package reads, metav1.MicroTime only with six digits.
func readTime(text string) question {
	q := question{ask: []string{"time", text}, want: []string{"invalid"}}
	quoted, err := json.Marshal(text)
	if err != nil {
		return q
	}
	var t metav1.Time
	if t.UnmarshalJSON(quoted) != nil || t.IsZero() && text == "" {
		return q
	}
	if !inRange(t.Time) {
		q.want = []string{"out of range"}
		return q
	}
	q.want = []string{"ok", strconv.FormatInt(t.UnixNano(), 10)}
	return q
}

func writeTime(r *rand.Rand) question {
	ns := int64(r.Uint64())
	switch r.IntN(4) {
	case 0:
		ns = pick(r, []int64{0, -1, 1, math.MaxInt64, math.MinInt64, 999, 1000, -1000, -999, int64(time.Second), -int64(time.Second)})
	case 1:
		ns = ns / int64(time.Second) * int64(time.Second)
	}
	t := time.Unix(ns/int64(time.Second), ns%int64(time.Second))
	seconds, err := metav1.NewTime(t).MarshalJSON()
	if err != nil {
		panic(err)
	}
	micro, err := metav1.NewMicroTime(t).MarshalJSON()
	if err != nil {
		panic(err)
	}
	return question{
		ask:  []string{"write time", strconv.FormatInt(t.Unix(), 10), strconv.FormatInt(ns, 10)},
		want: []string{"ok", strings.Trim(string(seconds), `"`), strings.Trim(string(micro), `"`)},
	}
}

func nextTime(r *rand.Rand) question {
	if chance(r, 4) {
		return writeTime(r)
	}
	return readTime(timeText(r))
}
