// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"

	"github.com/google/cel-go/cel"
	resourceapi "k8s.io/api/resource/v1"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

// request: one expression. With a device it is a selector; without one it is evaluated with the bindings alone, as the
// language cases want it.
type request struct {
	ID         json.RawMessage `json:"id"`
	Expression string          `json:"expression"`
	// In place of the expression where that has a NUL.
	ExpressionHex string  `json:"expression_hex"`
	Device        *device `json:"device"`
	// Feature gates that are on: ConsumableCapacity, ListTypeAttributes.
	Features []string `json:"features"`

	// The rest is for language cases. The environment is "new" or "stored" (the default).
	Env          string           `json:"env"`
	Variables    []variable       `json:"type_env"`
	Bindings     map[string]typed `json:"bindings"`
	Container    string           `json:"container"`
	DisableCheck bool             `json:"disable_check"`
}

// device: as in a ResourceSlice, with the driver beside it.
type device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

func (d *device) input() dracel.Device {
	return dracel.Device{
		Driver:                   d.Driver,
		AllowMultipleAllocations: d.AllowMultipleAllocations,
		Attributes:               d.Attributes,
		Capacity:                 d.Capacity,
	}
}

type variable struct {
	Name string   `json:"name"`
	Type typeName `json:"type"`
}

// typeName: "string", {"list": T} or {"map": [K, V]}.
type typeName struct{ *cel.Type }

var scalarTypes = map[string]*cel.Type{
	"bool": cel.BoolType, "bytes": cel.BytesType, "double": cel.DoubleType, "dyn": cel.DynType,
	"int64": cel.IntType, "null": cel.NullType, "string": cel.StringType, "uint64": cel.UintType,
}

func (t *typeName) UnmarshalJSON(text []byte) error {
	var name string
	if json.Unmarshal(text, &name) == nil {
		scalar, known := scalarTypes[name]
		if !known {
			return fmt.Errorf("unknown type %q", name)
		}
		t.Type = scalar
		return nil
	}
	var compound struct {
		List *typeName   `json:"list"`
		Map  [2]typeName `json:"map"`
	}
	if err := json.Unmarshal(text, &compound); err != nil {
		return err
	}
	switch {
	case compound.List != nil:
		t.Type = cel.ListType(compound.List.Type)
	case compound.Map[0].Type != nil && compound.Map[1].Type != nil:
		t.Type = cel.MapType(compound.Map[0].Type, compound.Map[1].Type)
	default:
		return fmt.Errorf("unknown type %s", text)
	}
	return nil
}
