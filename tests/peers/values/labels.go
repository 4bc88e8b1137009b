// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

var (
	labelKeys   = []string{"a", "b", "in", "notin", "zone", "example.com/rack", "x.y/z", "exists"}
	labelValues = []string{"", "a", "b", "in", "notin", "1", "2", "-3", "+4", "010", "9223372036854775807", "9223372036854775808", "x.y", "A_b-c"}
	badKeys     = []string{"", "-a", "a/b/c", "/a", "a/", "ä", "a b", strings.Repeat("k", 64), "UPPER.com/a"}
	badValues   = []string{"-a", "a-", "a b", "a/b", strings.Repeat("v", 64), "ä", "()", "!"}
)

func key(r *rand.Rand) string {
	if chance(r, 40) {
		return pick(r, badKeys)
	}
	return pick(r, labelKeys)
}

func value(r *rand.Rand) string {
	if chance(r, 60) {
		return pick(r, badValues)
	}
	return pick(r, labelValues)
}

func values(r *rand.Rand) []string {
	out := []string{}
	for range r.IntN(4) {
		out = append(out, value(r))
	}
	return out
}

func labelSet(r *rand.Rand) labels.Set {
	set := labels.Set{}
	for range r.IntN(5) {
		set[pick(r, labelKeys)] = pick(r, labelValues)
	}
	return set
}

func space(r *rand.Rand) string { return pick(r, []string{"", "", "", "", " ", "  ", "\t"}) }

func requirementText(r *rand.Rand) string {
	k := space(r) + key(r) + space(r)
	switch r.IntN(8) {
	case 0:
		return k
	case 1:
		return space(r) + "!" + k
	case 2, 3:
		return k + pick(r, []string{"=", "==", "!=", ">", "<"}) + space(r) + value(r) + space(r)
	case 4:
		return k + pick(r, []string{">", "<"}) + space(r) + value(r)
	default:
		list := []string{}
		for _, v := range values(r) {
			list = append(list, space(r)+v+space(r))
		}
		return k + " " + pick(r, []string{"in", "notin"}) + space(r) + "(" + strings.Join(list, ",") + ")" + space(r)
	}
}

func selectorText(r *rand.Rand) string {
	parts := []string{}
	for range r.IntN(4) {
		parts = append(parts, requirementText(r))
	}
	return damage(r, strings.Join(parts, ","), "ab=!<>(), in")
}

// meaning: the requirements, sorted, each in one form.
func meaning(selector labels.Selector) []string {
	short := map[selection.Operator]selection.Operator{
		selection.Equals: selection.In, selection.DoubleEquals: selection.In, selection.NotEquals: selection.NotIn,
	}
	out := []string{}
	requirements, _ := selector.Requirements()
	for _, r := range requirements {
		operator := r.Operator()
		if in, ok := short[operator]; ok {
			operator = in
		}
		out = append(out, fmt.Sprintf("%s %s %q", r.Key(), operator, r.Values().List()))
	}
	slices.Sort(out)
	return out
}

func flat(set labels.Set) []string {
	out := []string{}
	for k, v := range set {
		out = append(out, k, v)
	}
	return out
}

// nextLabelSelector: half the time a selector as text, half a requirement as matchExpressions have it.
func nextLabelSelector(r *rand.Rand) question {
	if chance(r, 2) {
		return oneRequirement(r)
	}
	text, set := selectorText(r), labelSet(r)
	q := question{ask: append([]string{"selector", text}, flat(set)...)}
	selector, err := labels.Parse(text)
	if err != nil {
		q.want = []string{"invalid"}
		return q
	}
	q.judge = func(got []string) string {
		if len(got) != 3 || got[0] != "ok" {
			return fmt.Sprintf("expected %q of %q", "ok", selector)
		}
		// Go sorts the requirements, and keeps whether a value stood in parentheses.
		if again, err := labels.Parse(got[2]); err != nil || !slices.Equal(meaning(again), meaning(selector)) {
			return fmt.Sprintf("expected a text that means %q", selector)
		}
		if want := fmt.Sprint(selector.Matches(set)); got[1] != want {
			return "expected match " + want
		}
		return ""
	}
	return q
}

var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
	"Gt": selection.GreaterThan, "Lt": selection.LessThan,
}
var operatorNames = []string{"In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt"}

func oneRequirement(r *rand.Rand) question {
	name, k, set := pick(r, operatorNames), key(r), labelSet(r)
	list := values(r)
	if (name == "Exists" || name == "DoesNotExist") && !chance(r, 5) {
		list = nil
	}
	if (name == "Gt" || name == "Lt") && !chance(r, 5) {
		list = []string{value(r)}
	}
	q := question{ask: append([]string{"requirement", name, k, fmt.Sprint(len(list))}, append(list, flat(set)...)...)}
	requirement, err := labels.NewRequirement(k, operators[name], list)
	if err != nil {
		q.want = []string{"invalid"}
		return q
	}
	q.want = []string{"ok", fmt.Sprint(requirement.Matches(set))}
	return q
}
