// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

const (
	historyLength = 2000             // events that a watch can go back
	snapshotLife  = 10 * time.Second // of the pages of a list
)

type object struct {
	name, uid string
	version   uint64
	text      []byte
}

type event struct {
	version uint64
	kind    string
	object  []byte
}

type snapshot struct {
	version uint64
	objects [][]byte
	taken   time.Time
}

type world struct {
	lock      sync.Mutex
	random    *rand.Rand
	target    int
	version   uint64
	born      int
	objects   []*object // in no order
	history   []event
	changed   chan struct{} // closed by the next change
	snapshots map[int]*snapshot
	taken     int
	frozen    bool
}

func newWorld(objects int, seed uint64) *world {
	w := &world{random: rand.New(rand.NewPCG(seed, 0)), target: objects, version: 1000, changed: make(chan struct{}), snapshots: map[int]*snapshot{}}
	for range objects {
		w.add()
	}
	w.history = nil
	return w
}

// text: a claim of between half a kilobyte and five.
func (w *world) text(o *object) []byte {
	padding := strings.Repeat("x", w.random.IntN(4500))
	return fmt.Appendf(nil, `{"kind":"ResourceClaim","apiVersion":"resource.k8s.io/v1","metadata":{"name":%q,"namespace":"soak","uid":%q,"resourceVersion":"%d",`+
		`"labels":{"app":"soak"},"annotations":{"padding":%q}},"spec":{"devices":{"requests":[{"name":"gpus","exactly":{"deviceClassName":"gpu.example.com",`+
		`"allocationMode":"ExactCount","count":%d}}]}},"status":{}}`, o.name, o.uid, o.version, padding, 1+w.random.IntN(8))
}

func (w *world) tell(kind string, o *object) {
	w.history = append(w.history, event{o.version, kind, o.text})
	if len(w.history) > 2*historyLength {
		w.history = append([]event(nil), w.history[len(w.history)-historyLength:]...)
	}
	close(w.changed)
	w.changed = make(chan struct{})
}

func (w *world) renew(kind string, o *object) {
	w.version++
	o.version = w.version
	o.text = w.text(o)
	w.tell(kind, o)
}

func (w *world) add() {
	w.born++
	o := &object{name: fmt.Sprintf("claim-%d", w.born), uid: fmt.Sprintf("00000000-0000-4000-8000-%012d", w.born)}
	// A name comes again with another uid.
	if w.born%3 == 0 {
		o.name = fmt.Sprintf("again-%d", w.born%(3*w.target))
		for _, other := range w.objects {
			if other.name == o.name {
				o.name = fmt.Sprintf("claim-%d", w.born)
				break
			}
		}
	}
	w.objects = append(w.objects, o)
	w.renew("ADDED", o)
}

func (w *world) change() {
	w.lock.Lock()
	defer w.lock.Unlock()
	if w.frozen {
		return
	}
	i := w.random.IntN(len(w.objects))
	switch draw := w.random.IntN(10); {
	case draw < 6:
		w.renew("MODIFIED", w.objects[i])
	case draw < 8 && len(w.objects) > w.target*9/10 || len(w.objects) > w.target*11/10:
		o := w.objects[i]
		w.objects[i] = w.objects[len(w.objects)-1]
		w.objects = w.objects[:len(w.objects)-1]
		w.renew("DELETED", o)
	default:
		w.add()
	}
}

func (w *world) churn(rate int) {
	const steps = 50 // a second
	ticker := time.NewTicker(time.Second / steps)
	for tick := 0; ; tick++ {
		<-ticker.C
		for range rate*(tick+1)/steps - rate*tick/steps {
			w.change()
		}
	}
}

func (w *world) take() (int, *snapshot) {
	w.lock.Lock()
	defer w.lock.Unlock()
	for id, s := range w.snapshots {
		if time.Since(s.taken) > snapshotLife {
			delete(w.snapshots, id)
		}
	}
	s := &snapshot{version: w.version, taken: time.Now()}
	for _, o := range w.objects {
		s.objects = append(s.objects, o.text)
	}
	w.taken++
	w.snapshots[w.taken] = s
	return w.taken, s
}

func (w *world) snapshot(id int) (*snapshot, bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	s, known := w.snapshots[id]
	return s, known && time.Since(s.taken) <= snapshotLife
}

// since: the events after a version, the version that they lead to, and what is closed when there are more; false: too old.
func (w *world) since(from uint64) ([]event, uint64, <-chan struct{}, bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if from > w.version || w.version-from > uint64(len(w.history)) {
		return nil, 0, nil, false
	}
	return append([]event(nil), w.history[uint64(len(w.history))-(w.version-from):]...), w.version, w.changed, true
}

// stop: a sum over the objects does not depend on their order.
func (w *world) stop() (version uint64, objects int, digest uint64) {
	w.lock.Lock()
	defer w.lock.Unlock()
	w.frozen = true
	for _, o := range w.objects {
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %s %d", o.name, o.uid, o.version)
		digest += h.Sum64()
	}
	return w.version, len(w.objects), digest
}
