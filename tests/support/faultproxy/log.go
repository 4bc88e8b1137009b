// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// Record is one line of the log. A request has one when it has ended, a fault one at the moment it happens.
type Record struct {
	What      string `json:"what"`        // request, fault or mark
	N         int    `json:"n,omitempty"` // of the request, in the order of arrival
	At        int64  `json:"at"`          // milliseconds since the start of the proxy
	Took      int64  `json:"took"`        // milliseconds
	Verb      string `json:"verb,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name,omitempty"`
	Target    string `json:"target,omitempty"`
	Client    string `json:"client,omitempty"` // address, the same for all requests of a connection
	Protocol  string `json:"protocol,omitempty"`
	Server    int    `json:"server,omitempty"` // what the server answered; nothing if it was not asked
	Status    int    `json:"status,omitempty"` // what the client got; nothing if it got no answer
	Events    int    `json:"events,omitempty"` // lines of a watch
	Rule      string `json:"rule,omitempty"`   // the name of the rule
	Did       string `json:"did,omitempty"`    // what was done to it
	Text      string `json:"text,omitempty"`   // of a mark; an error
}

// Log writes records, one JSON object a line.
type Log struct {
	mutex  sync.Mutex
	out    io.Writer
	began  time.Time
	faults []Record // since the rules were set
}

func NewLog(out io.Writer) *Log { return &Log{out: out, began: time.Now()} }

func (l *Log) now() int64 { return time.Since(l.began).Milliseconds() }

// Write adds a line.
func (l *Log) Write(record Record) {
	line, err := json.Marshal(record)
	if err != nil {
		panic(err) // a struct of strings and numbers
	}
	l.mutex.Lock()
	defer l.mutex.Unlock()
	if record.What == "fault" {
		l.faults = append(l.faults, record)
	}
	// A log that cannot be written must not change what is tested; who reads it notices.
	_, _ = l.out.Write(append(line, '\n'))
}

// Faults returns what has happened since the rules were set.
func (l *Log) Faults() []Record {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	return append([]Record{}, l.faults...)
}

func (l *Log) forgetFaults() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.faults = nil
}
