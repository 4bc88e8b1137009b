// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"
)

// An object as the API server sends it: four bytes, then runtime.Unknown around the object. Our program gets it with a list of
// changes of finalizers and annotations. Its answer must decode to the object with these changes made, and must have every other
// field of all three messages, known to Go or not, with the same bytes in the same order.

var magic = []byte("k8s\x00")

const (
	unknownRaw          = 2
	objectMetadata      = 1
	metadataAnnotations = 12
	metadataFinalizers  = 14
)

// object: what claims and pods have in common here.
type object interface {
	metav1.Object
	GetObjectMeta() metav1.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

type objectKind struct {
	apiVersion, kind string
	make             func() object
}

var objectKinds = []objectKind{
	{"resource.k8s.io/v1", "ResourceClaim", func() object { return &resourceapi.ResourceClaim{} }},
	{"v1", "Pod", func() object { return &v1.Pod{} }},
}

// randomness of randfill from ours
type draws struct{ r *rand.Rand }

func (d draws) Int63() int64 { return d.r.Int64() }
func (d draws) Seed(int64)   {}

var (
	finalizers  = []string{"resource.kubernetes.io/delete-protection", "foregroundDeletion", "example.com/a", "x", ""}
	annotations = []string{"tangram.dev/epoch", "tangram.dev/plan", "a", "kubectl.kubernetes.io/last-applied-configuration", ""}
)

// objects: one of each kind that is filled anew now and then; the metadata is new each time.
var objects = map[string]object{}

func filled(r *rand.Rand, kind objectKind) object {
	filler := randfill.New().RandSource(draws{r}).NilChance(0.6).NumElements(0, 3).MaxDepth(10).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(int64(c.Intn(1000)), resource.BinarySI)
		},
		func(raw *runtime.RawExtension, c randfill.Continue) {
			raw.Raw = []byte(fmt.Sprintf(`{ "kind": "GangMember", "size": %d, "text": "<&>" }`, c.Intn(9)))
		},
		func(v *intstr.IntOrString, c randfill.Continue) { *v = intstr.FromInt32(int32(c.Intn(9))) },
		func(v *metav1.FieldsV1, c randfill.Continue) { v.Raw = []byte(`{"f:a":{}}`) },
		func(v *metav1.ObjectMeta, c randfill.Continue) {
			c.FillNoCustom(v)
			v.Finalizers, v.Annotations = nil, nil
			for range c.Intn(4) {
				v.Finalizers = append(v.Finalizers, finalizers[c.Intn(len(finalizers))])
			}
			for range c.Intn(4) {
				metav1.SetMetaDataAnnotation(v, annotations[c.Intn(len(annotations))], c.String(60))
			}
		},
	)
	out, known := objects[kind.kind]
	if !known || chance(r, 50) {
		out = kind.make()
		filler.Fill(out)
		objects[kind.kind] = out
	}
	filler.Fill(out.GetObjectMeta())
	return out
}

// fields: a message in its parts, tags and lengths included.
func fields(message []byte) []field {
	var out []field
	for len(message) > 0 {
		number, wire, n := protowire.ConsumeField(message)
		if n < 0 {
			panic(protowire.ParseError(n))
		}
		out = append(out, field{number, wire, message[:n]})
		message = message[n:]
	}
	return out
}

type field struct {
	number protowire.Number
	wire   protowire.Type
	whole  []byte
}

func (f field) content() []byte {
	_, _, n := protowire.ConsumeTag(f.whole)
	content, _ := protowire.ConsumeBytes(f.whole[n:])
	return content
}

func fieldOf(number protowire.Number, content []byte) field {
	return field{number, protowire.BytesType, protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), content)}
}

func joined(parts []field) []byte {
	var out []byte
	for _, part := range parts {
		out = append(out, part.whole...)
	}
	return out
}

// stranger: a field that no message of today has.
func stranger(r *rand.Rand) field {
	number := protowire.Number(100 + r.IntN(1<<20))
	switch r.IntN(4) {
	case 0:
		return field{number, protowire.VarintType, protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), r.Uint64())}
	case 1:
		return field{number, protowire.Fixed32Type, protowire.AppendFixed32(protowire.AppendTag(nil, number, protowire.Fixed32Type), r.Uint32())}
	case 2:
		return field{number, protowire.Fixed64Type, protowire.AppendFixed64(protowire.AppendTag(nil, number, protowire.Fixed64Type), r.Uint64())}
	default:
		return fieldOf(number, bytes.Repeat([]byte{byte(r.IntN(256))}, r.IntN(300)))
	}
}

func withStrangers(r *rand.Rand, parts []field) []field {
	for chance(r, 3) {
		parts = slices.Insert(parts, r.IntN(len(parts)+1), stranger(r))
	}
	return parts
}

// entry: an annotation as other writers may put it: value first, or twice.
func entry(r *rand.Rand) field {
	parts := []field{fieldOf(1, []byte(pick(r, annotations))), fieldOf(2, bytes.Repeat([]byte("v"), r.IntN(200)))}
	switch r.IntN(4) {
	case 0:
		slices.Reverse(parts)
	case 1:
		parts = parts[:1]
	case 2:
		parts = append(parts, fieldOf(1, []byte(pick(r, annotations))))
	}
	return fieldOf(metadataAnnotations, joined(parts))
}

// envelope: the bytes of the object, with fields added on each level.
func envelope(r *rand.Rand, kind objectKind, o object) []byte {
	raw, err := o.Marshal()
	if err != nil {
		panic(err)
	}
	parts := fields(raw)
	for i := range parts {
		if parts[i].number != objectMetadata {
			continue
		}
		inner := withStrangers(r, fields(parts[i].content()))
		if chance(r, 6) {
			inner = slices.Insert(inner, r.IntN(len(inner)+1), entry(r))
		}
		parts[i] = fieldOf(objectMetadata, joined(inner))
	}
	unknown := runtime.Unknown{TypeMeta: runtime.TypeMeta{APIVersion: kind.apiVersion, Kind: kind.kind}, Raw: joined(withStrangers(r, parts))}
	if chance(r, 3) {
		unknown.ContentType = runtime.ContentTypeProtobuf
	}
	outer, err := unknown.Marshal()
	if err != nil {
		panic(err)
	}
	return append(slices.Clone(magic), joined(withStrangers(r, fields(outer)))...)
}

// change: one edit, as our program is told, and what it does to the metadata.
type change struct{ what, key, value string }

func nextChange(r *rand.Rand) change {
	c := change{what: pick(r, []string{"add finalizer", "remove finalizer", "set annotation", "remove annotation"})}
	if c.what == "add finalizer" || c.what == "remove finalizer" {
		c.key = pick(r, finalizers)
		return c
	}
	c.key = pick(r, annotations)
	if c.what == "set annotation" {
		c.value = string(bytes.Repeat([]byte("9"), pick(r, []int{0, 1, 2, 126, 127, 128, 129, 300})))
	}
	return c
}

func (c change) apply(o metav1.Object) {
	switch c.what {
	case "add finalizer":
		if !slices.Contains(o.GetFinalizers(), c.key) {
			o.SetFinalizers(append(o.GetFinalizers(), c.key))
		}
	case "remove finalizer":
		o.SetFinalizers(slices.DeleteFunc(o.GetFinalizers(), func(f string) bool { return f == c.key }))
	case "set annotation":
		all := o.GetAnnotations()
		if all == nil {
			all = map[string]string{}
		}
		all[c.key] = c.value
		o.SetAnnotations(all)
	case "remove annotation":
		delete(o.GetAnnotations(), c.key)
	}
	if len(o.GetFinalizers()) == 0 {
		o.SetFinalizers(nil)
	}
	if len(o.GetAnnotations()) == 0 {
		o.SetAnnotations(nil)
	}
}

func decode(kind objectKind, in []byte) (object, error) {
	var unknown runtime.Unknown
	if !bytes.HasPrefix(in, magic) {
		return nil, fmt.Errorf("no magic bytes")
	}
	if err := unknown.Unmarshal(in[len(magic):]); err != nil {
		return nil, err
	}
	out := kind.make()
	if err := out.Unmarshal(unknown.Raw); err != nil {
		return nil, err
	}
	if len(out.GetFinalizers()) == 0 {
		out.SetFinalizers(nil)
	}
	if len(out.GetAnnotations()) == 0 {
		out.SetAnnotations(nil)
	}
	return out, nil
}

// untouched: every field of the three messages that no edit may touch.
func untouched(in []byte) []field {
	var out []field
	for _, outer := range fields(in[len(magic):]) {
		if outer.number != unknownRaw {
			out = append(out, outer)
			continue
		}
		for _, middle := range fields(outer.content()) {
			if middle.number != objectMetadata {
				out = append(out, middle)
				continue
			}
			for _, inner := range fields(middle.content()) {
				if inner.number != metadataAnnotations && inner.number != metadataFinalizers {
					out = append(out, inner)
				}
			}
		}
	}
	return out
}

func nextSplice(r *rand.Rand) question {
	kind := pick(r, objectKinds)
	in := envelope(r, kind, filled(r, kind))
	wanted, err := decode(kind, in)
	if err != nil {
		panic(err)
	}
	q := question{ask: []string{"splice", string(in)}}
	for range 1 + r.IntN(3) {
		c := nextChange(r)
		c.apply(wanted)
		q.ask = append(q.ask, c.what, c.key, c.value)
	}
	q.judge = func(got []string) string {
		if len(got) != 2 || got[0] != "ok" {
			return "expected an object"
		}
		return spliceComplaint(kind, in, []byte(got[1]), wanted)
	}
	return q
}

func spliceComplaint(kind objectKind, in, out []byte, wanted object) string {
	result, err := decode(kind, out)
	if err != nil {
		return "it does not decode: " + err.Error()
	}
	if !reflect.DeepEqual(result, wanted) {
		return fmt.Sprintf("expected finalizers %q and annotations %q, got %q and %q, or other fields differ",
			wanted.GetFinalizers(), wanted.GetAnnotations(), result.GetFinalizers(), result.GetAnnotations())
	}
	before, after := untouched(in), untouched(out)
	if !slices.EqualFunc(before, after, func(a, b field) bool { return bytes.Equal(a.whole, b.whole) }) {
		return "fields that no edit names were changed"
	}
	return ""
}
