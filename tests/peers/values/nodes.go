// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	corev1helpers "k8s.io/component-helpers/scheduling/corev1"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
	"k8s.io/klog/v2"
)

// selectable: label values of a right form.
var selectable = slices.DeleteFunc(slices.Clone(labelValues), func(v string) bool { return len(validation.IsValidLabelValue(v)) > 0 })

var nodeNames = []string{"n1", "n2", "n3"}

func text(object any) string {
	out, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// expression: of what the API server lets pass, and with wrong operators and numbers of values. Keys and values of a wrong form
// are refused there; whoever matches does not look at them again.
func expression(r *rand.Rand) v1.NodeSelectorRequirement {
	out := v1.NodeSelectorRequirement{Key: pick(r, labelKeys), Operator: v1.NodeSelectorOperator(pick(r, operatorNames))}
	for range r.IntN(4) {
		out.Values = append(out.Values, pick(r, selectable))
	}
	switch out.Operator {
	case v1.NodeSelectorOpExists, v1.NodeSelectorOpDoesNotExist:
		if !chance(r, 8) {
			out.Values = nil
		}
	case v1.NodeSelectorOpGt, v1.NodeSelectorOpLt:
		if !chance(r, 8) {
			out.Values = []string{pick(r, selectable)}
		}
	}
	if chance(r, 50) {
		out.Operator = "Unknown"
	}
	return out
}

func fieldExpression(r *rand.Rand) v1.NodeSelectorRequirement {
	out := v1.NodeSelectorRequirement{
		Key:      "metadata.name",
		Operator: pick(r, []v1.NodeSelectorOperator{v1.NodeSelectorOpIn, v1.NodeSelectorOpIn, v1.NodeSelectorOpNotIn}),
		Values:   []string{pick(r, nodeNames)},
	}
	switch r.IntN(20) {
	case 0:
		out.Key = "metadata.uid"
	case 1:
		out.Operator = v1.NodeSelectorOperator(pick(r, operatorNames))
	case 2:
		out.Values = append(out.Values, pick(r, nodeNames))
	case 3:
		out.Values = nil
	}
	return out
}

func term(r *rand.Rand) v1.NodeSelectorTerm {
	var out v1.NodeSelectorTerm
	for range r.IntN(3) {
		out.MatchExpressions = append(out.MatchExpressions, expression(r))
	}
	if chance(r, 3) {
		for range 1 + r.IntN(2) {
			out.MatchFields = append(out.MatchFields, fieldExpression(r))
		}
	}
	return out
}

func affinity(r *rand.Rand) *v1.Affinity {
	switch r.IntN(12) {
	case 0:
		return nil
	case 1:
		return &v1.Affinity{}
	case 2:
		return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}}
	}
	required := &v1.NodeSelector{NodeSelectorTerms: []v1.NodeSelectorTerm{}}
	for range r.IntN(4) {
		required.NodeSelectorTerms = append(required.NodeSelectorTerms, term(r))
	}
	return &v1.Affinity{NodeAffinity: &v1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: required}}
}

// nextNodeSelector: spec.nodeSelector and required node affinity, as the scheduler matches them.
func nextNodeSelector(r *rand.Rand) question {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: pick(r, nodeNames), Labels: labelSet(r)}}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}, Spec: v1.PodSpec{Affinity: affinity(r)}}
	if chance(r, 4) {
		pod.Spec.NodeSelector = map[string]string{pick(r, labelKeys): pick(r, labelValues)}
	}
	// A term that cannot be read matches nothing; the error that says so does not count.
	matches, _ := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
	return question{ask: []string{"node selector", text(pod), text(node)}, want: []string{"ok", fmt.Sprint(matches)}}
}

var (
	taintKeys   = []string{"a", "b", "nvidia.com/gpu", "node.kubernetes.io/not-ready"}
	taintValues = []string{"", "a", "b", "1", "2"}
	effects     = []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule, v1.TaintEffectNoExecute}
)

func nextTaints(r *rand.Rand) question {
	node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}}
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p"}}
	for range r.IntN(4) {
		node.Spec.Taints = append(node.Spec.Taints, v1.Taint{Key: pick(r, taintKeys), Value: pick(r, taintValues), Effect: pick(r, effects)})
	}
	for range r.IntN(5) {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
			Key:      pick(r, append([]string{""}, taintKeys...)),
			Operator: pick(r, []v1.TolerationOperator{"", "Equal", "Exists", "Exists", "Lt", "Gt", "Other"}),
			Value:    pick(r, taintValues),
			Effect:   pick(r, append([]v1.TaintEffect{"", ""}, effects...)),
		})
	}
	blocks := func(t *v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoSchedule || t.Effect == v1.TaintEffectNoExecute
	}
	// The operators Lt and Gt are an alpha feature.
	_, untolerated := corev1helpers.FindMatchingUntoleratedTaint(klog.Background(), node.Spec.Taints, pod.Spec.Tolerations, blocks, false)
	return question{ask: []string{"taints", text(pod), text(node)}, want: []string{"ok", fmt.Sprint(!untolerated)}}
}
