// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/blang/semver/v4"
)

// The package with which the API server validates version attributes, and the scheduler compares them.

var versionWords = []string{"0", "1", "01", "10", "9", "alpha", "beta", "rc", "rc1", "x-y", "-", "--", "0a", "18446744073709551615", "18446744073709551616", "A", "a", ""}

func versionNumber(r *rand.Rand) string {
	switch r.IntN(12) {
	case 0:
		return pick(r, []string{"18446744073709551615", "18446744073709551616", "00", "01", "", "9223372036854775808"})
	case 1:
		return digits(r, 20)
	default:
		return strconv.Itoa(r.IntN(4) * r.IntN(200))
	}
}

func identifiers(r *rand.Rand) string {
	parts := []string{}
	for range 1 + r.IntN(3) {
		parts = append(parts, pick(r, versionWords))
	}
	return strings.Join(parts, ".")
}

func version(r *rand.Rand) string {
	text := versionNumber(r) + "." + versionNumber(r) + "." + versionNumber(r)
	if chance(r, 2) {
		text += "-" + identifiers(r)
	}
	if chance(r, 4) {
		text += "+" + identifiers(r)
	}
	return damage(r, text, "0123456789.-+v abA_~")
}

func nextSemver(r *rand.Rand) question {
	a := version(r)
	x, errX := semver.Parse(a)
	if chance(r, 2) {
		q := question{ask: []string{"version", a}, want: []string{"invalid"}}
		if errX == nil {
			core, build, _ := strings.Cut(x.String(), "+")
			_, pre, _ := strings.Cut(core, "-")
			q.want = []string{"ok", strconv.FormatUint(x.Major, 10), strconv.FormatUint(x.Minor, 10), strconv.FormatUint(x.Patch, 10), pre, build}
		}
		return q
	}
	b := version(r)
	if chance(r, 4) {
		b = damage(r, a, "0123456789.-+abA")
	}
	y, errY := semver.Parse(b)
	q := question{ask: []string{"versions", a, b}, want: []string{"invalid"}}
	if errX == nil && errY == nil {
		q.want = []string{"ok", strconv.Itoa(x.Compare(y))}
	}
	return q
}
