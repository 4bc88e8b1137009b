// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"time"
)

// send writes and flushes; a client that is gone ends the exchange.
func (x *exchange) send(data []byte) {
	if _, err := x.Write(data); err != nil {
		x.record.Text = "the client left"
		panic(http.ErrAbortHandler)
	}
	x.flush()
}

// lost: the server broke off in the middle of a body, and so do we.
func (x *exchange) lost(err error) {
	if err != nil && !errors.Is(err, io.EOF) {
		x.record.Text = err.Error()
		panic(http.ErrAbortHandler)
	}
}

func (x *exchange) copyBody(body io.Reader) {
	buffer := make([]byte, 32*1024)
	for {
		n, err := body.Read(buffer)
		if n > 0 {
			if x.means.Verb == "watch" {
				x.record.Events += bytes.Count(buffer[:n], []byte{'\n'})
			}
			x.send(buffer[:n])
		}
		if err != nil {
			x.lost(err)
			return
		}
	}
}

// copyHalf sends the first half, or the first rule.Bytes, and cuts.
func (x *exchange) copyHalf(body io.Reader) {
	whole, err := io.ReadAll(body)
	x.lost(err)
	n := len(whole) / 2
	if x.rule.Bytes > 0 {
		n = min(n, x.rule.Bytes)
	}
	x.note("half")
	x.send(whole[:n])
	x.cut()
}

// copySlowly sends rule.Bytes (1 by default) every rule.Ms.
func (x *exchange) copySlowly(body io.Reader) {
	x.note("slow")
	buffer := make([]byte, max(x.rule.Bytes, 1))
	for {
		n, err := io.ReadFull(body, buffer)
		if n > 0 {
			x.send(buffer[:n])
		}
		if err != nil {
			if !errors.Is(err, io.ErrUnexpectedEOF) {
				x.lost(err)
			}
			return
		}
		if !x.pause() {
			return
		}
	}
}

var bookmark = []byte(`{"type":"BOOKMARK"`)

// events calls at for the event that the rule names and sends all others; at tells whether the stream goes on.
func (x *exchange) events(body io.Reader, at func(line []byte, rest *bufio.Reader) bool) {
	reader := bufio.NewReader(body)
	for seen := 0; ; {
		line, err := reader.ReadBytes('\n')
		if err != nil {
			if len(line) > 0 {
				x.send(line)
			}
			x.lost(err)
			return
		}
		x.record.Events++
		if !bytes.HasPrefix(line, bookmark) {
			seen++
			if seen == x.rule.Event {
				if !at(line, reader) {
					return
				}
				continue
			}
		}
		x.send(line)
	}
}

// watchHalf sends half of the line, and cuts.
func (x *exchange) watchHalf(body io.Reader) {
	x.events(body, func(line []byte, _ *bufio.Reader) bool {
		x.note("watch-half")
		x.send(line[:len(line)/2])
		x.cut()
		return false
	})
}

// watchDuplicate sends the line twice.
func (x *exchange) watchDuplicate(body io.Reader) {
	x.events(body, func(line []byte, _ *bufio.Reader) bool {
		x.note("watch-duplicate")
		x.send(line)
		x.send(line)
		return true
	})
}

// watchWithhold keeps back the line and all that follow: for rule.Ms, then they come in order; without ms until the
// client gives up.
func (x *exchange) watchWithhold(body io.Reader) {
	x.events(body, func(line []byte, _ *bufio.Reader) bool {
		x.note("watch-withhold")
		if x.rule.Ms == 0 {
			<-x.request.Context().Done()
			return false
		}
		select {
		case <-time.After(time.Duration(x.rule.Ms) * time.Millisecond):
		case <-x.request.Context().Done():
			return false
		}
		x.send(line)
		return true
	})
}

// watchGone sends, in place of the line, the event that says that the version is too old, and ends the watch.
func (x *exchange) watchGone(body io.Reader) {
	x.events(body, func(_ []byte, _ *bufio.Reader) bool {
		x.note("watch-gone")
		x.send(append(append([]byte(`{"type":"ERROR","object":`), x.status(http.StatusGone)...), '}', '\n'))
		return false
	})
}
