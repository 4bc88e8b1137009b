// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

var nameKinds = []struct {
	name  string
	check func(string) []string
}{
	{"label", validation.IsDNS1123Label},
	{"subdomain", validation.IsDNS1123Subdomain},
	{"qualified", validation.IsQualifiedName},
	{"label value", validation.IsValidLabelValue},
	{"driver", isDriver},
	{"pool", isPool},
}

// As the DRA API validates driver and pool names.
func isDriver(s string) []string {
	if len(s) > 63 {
		return []string{"too long"}
	}
	return validation.IsDNS1123Subdomain(strings.ToLower(s))
}

func isPool(s string) []string {
	if len(s) > 253 {
		return []string{"too long"}
	}
	for _, part := range strings.Split(s, "/") {
		if problems := validation.IsDNS1123Subdomain(part); len(problems) > 0 {
			return problems
		}
	}
	return nil
}

func nameText(r *rand.Rand) string {
	var parts []string
	for range 1 + r.IntN(3) {
		switch r.IntN(8) {
		case 0:
			parts = append(parts, strings.Repeat(pick(r, []string{"a", "0", "A", "a-"}), pick(r, []int{31, 32, 33, 62, 63, 64, 126, 127, 252, 253, 254})))
		case 1:
			parts = append(parts, pick(r, []string{"", "-", "_", ".", "a-", "-a", "a_b", "A", "ä", "a b", "a\n"}))
		default:
			parts = append(parts, pick(r, []string{"a", "gpu", "x9", "0", "example.com", "a-b", "k8s.io", "Name", "under_score"}))
		}
	}
	return damage(r, strings.Join(parts, pick(r, []string{".", "/", "-"})), "abAZ09-_./ \xff")
}

func nextName(r *rand.Rand) question {
	kind := pick(r, nameKinds)
	text := nameText(r)
	q := question{ask: []string{"name", kind.name, text}, want: []string{"ok"}}
	if len(kind.check(text)) > 0 {
		q.want = []string{"invalid"}
	}
	return q
}
