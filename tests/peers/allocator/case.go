// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourceapi "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/dynamic-resource-allocation/structured"
)

// allocCase is one case of the format dra-alloc-case/1, without what it expects.
type allocCase struct {
	Name           string                       `json:"name"`
	Features       []string                     `json:"features"`
	Node           corev1.Node                  `json:"node"`
	Nodes          []corev1.Node                `json:"nodes"` // benchmarks: all of them are tried
	DeviceClasses  []*resourceapi.DeviceClass   `json:"deviceClasses"`
	ResourceSlices []*resourceapi.ResourceSlice `json:"resourceSlices"`
	Allocated      allocated                    `json:"allocated"`
	Claims         []*resourceapi.ResourceClaim `json:"claims"`
}

type allocated struct {
	Devices       []string `json:"devices"`
	SharedDevices []struct {
		Device  string    `json:"device"`
		ShareID types.UID `json:"shareID"`
	} `json:"sharedDevices"`
	Capacity map[string]map[resourceapi.QualifiedName]resource.Quantity `json:"capacity"`
}

// deviceID reads "driver/pool/device". A pool may have slashes in its name.
func deviceID(text string) (structured.DeviceID, error) {
	first, last := strings.Index(text, "/"), strings.LastIndex(text, "/")
	if first < 0 || first == last {
		return structured.DeviceID{}, fmt.Errorf("%q is not driver/pool/device", text)
	}
	return structured.MakeDeviceID(text[:first], text[first+1:last], text[last+1:]), nil
}

func (a *allocated) state() (structured.AllocatedState, error) {
	state := structured.AllocatedState{
		AllocatedDevices:         sets.New[structured.DeviceID](),
		AllocatedSharedDeviceIDs: sets.New[structured.SharedDeviceID](),
		AggregatedCapacity:       structured.NewConsumedCapacityCollection(),
	}
	for _, text := range a.Devices {
		id, err := deviceID(text)
		if err != nil {
			return state, err
		}
		state.AllocatedDevices.Insert(id)
	}
	for _, share := range a.SharedDevices {
		id, err := deviceID(share.Device)
		if err != nil {
			return state, err
		}
		state.AllocatedSharedDeviceIDs.Insert(structured.MakeSharedDeviceID(id, &share.ShareID))
	}
	for text, capacity := range a.Capacity {
		id, err := deviceID(text)
		if err != nil {
			return state, err
		}
		state.AggregatedCapacity.Insert(structured.NewDeviceConsumedCapacity(id, capacity))
	}
	return state, nil
}

// classes is what the allocator looks device classes up in.
type classes map[string]*resourceapi.DeviceClass

func (c classes) List() ([]*resourceapi.DeviceClass, error) {
	all := make([]*resourceapi.DeviceClass, 0, len(c))
	for _, class := range c {
		all = append(all, class)
	}
	return all, nil
}

func (c classes) Get(name string) (*resourceapi.DeviceClass, error) {
	if class, found := c[name]; found {
		return class, nil
	}
	return nil, fmt.Errorf("device class %s not found", name)
}
