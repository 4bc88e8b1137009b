// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// typed: a value as the shared cases write it: {"t": "int", "v": "1"}. Numbers are strings, bytes are in hex, a map is a
// list of pairs, an absent optional has no v.
type typed struct {
	T   string          `json:"t"`
	V   json.RawMessage `json:"v,omitempty"`
	Hex *string         `json:"hex,omitempty"`
}

func text(v any) json.RawMessage {
	out, err := json.Marshal(v)
	if err != nil {
		panic(err) // a string or a list of typed always can
	}
	return out
}

// write turns a result into its typed form.
func write(v ref.Val) typed {
	switch v := v.(type) {
	case types.Null:
		return typed{T: "null"}
	case types.Bool:
		return typed{T: "bool", V: text(bool(v))}
	case types.Int:
		return typed{T: "int", V: text(strconv.FormatInt(int64(v), 10))}
	case types.Uint:
		return typed{T: "uint", V: text(strconv.FormatUint(uint64(v), 10))}
	case types.Double:
		return typed{T: "double", V: text(strconv.FormatFloat(float64(v), 'g', -1, 64))}
	case types.String:
		return typed{T: "string", V: text(string(v))}
	case types.Bytes:
		digits := hex.EncodeToString(v)
		return typed{T: "bytes", Hex: &digits}
	case types.Timestamp:
		return typed{T: "timestamp", V: text(v.UTC().Format(time.RFC3339Nano))}
	case types.Duration:
		return typed{T: "duration", V: text(strconv.FormatInt(v.Nanoseconds(), 10))}
	case *types.Type:
		return typed{T: "type", V: text(v.TypeName())}
	case *types.Optional:
		if !v.HasValue() {
			return typed{T: "optional"}
		}
		return typed{T: "optional", V: text(write(v.GetValue()))}
	case traits.Mapper:
		return writeMap(v)
	case traits.Lister:
		return writeList(v)
	}
	return typed{T: v.Type().TypeName(), V: text(fmt.Sprint(v.Value()))}
}

func writeList(v traits.Lister) typed {
	items := []typed{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		items = append(items, write(it.Next()))
	}
	return typed{T: "list", V: text(items)}
}

func writeMap(v traits.Mapper) typed {
	pairs := [][2]typed{}
	for it := v.Iterator(); it.HasNext() == types.True; {
		key := it.Next()
		pairs = append(pairs, [2]typed{write(key), write(v.Get(key))})
	}
	slices.SortFunc(pairs, func(a, b [2]typed) int {
		return slices.Compare(text(a[0]), text(b[0]))
	})
	return typed{T: "map", V: text(pairs)}
}

// read turns a typed binding into a value.
func (t typed) read() (ref.Val, error) {
	var word string
	switch t.T {
	case "int", "uint", "double", "string":
		if err := json.Unmarshal(t.V, &word); err != nil {
			return nil, err
		}
	}
	switch t.T {
	case "null":
		return types.NullValue, nil
	case "bool":
		var b bool
		err := json.Unmarshal(t.V, &b)
		return types.Bool(b), err
	case "int":
		n, err := strconv.ParseInt(word, 10, 64)
		return types.Int(n), err
	case "uint":
		n, err := strconv.ParseUint(word, 10, 64)
		return types.Uint(n), err
	case "double":
		n, err := strconv.ParseFloat(word, 64)
		return types.Double(n), err
	case "string":
		return types.String(word), nil
	case "list":
		return t.readList()
	case "map":
		return t.readMap()
	}
	return nil, fmt.Errorf("a binding of type %q is not known here", t.T)
}

func (t typed) readList() (ref.Val, error) {
	var items []typed
	if err := json.Unmarshal(t.V, &items); err != nil {
		return nil, err
	}
	values := make([]ref.Val, 0, len(items))
	for _, item := range items {
		value, err := item.read()
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return types.NewRefValList(types.DefaultTypeAdapter, values), nil
}

func (t typed) readMap() (ref.Val, error) {
	var pairs [][2]typed
	if err := json.Unmarshal(t.V, &pairs); err != nil {
		return nil, err
	}
	values := make(map[ref.Val]ref.Val, len(pairs))
	for _, pair := range pairs {
		key, err := pair[0].read()
		if err != nil {
			return nil, err
		}
		if values[key], err = pair[1].read(); err != nil {
			return nil, err
		}
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, values), nil
}
