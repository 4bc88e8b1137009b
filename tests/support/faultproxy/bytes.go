// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"
)

// ByteRule disturbs a connection between UNIX sockets, whatever is spoken on it.
type ByteRule struct {
	Name       string `json:"name"`
	Connection int    `json:"connection"` // which one, in the order of arrival; 0: every one
	From       string `json:"from"`       // whose bytes: client or server
	After      int64  `json:"after"`      // so many bytes pass before
	Do         string `json:"do"`         // refuse, delay, cut, slow, swallow
	Ms         int    `json:"ms"`
	Bytes      int    `json:"bytes"`
}

func (r *ByteRule) prepare() error {
	switch r.Do {
	case "refuse", "cut", "swallow":
	case "delay", "slow":
		if r.Ms <= 0 {
			return fmt.Errorf("ms: a number of milliseconds is needed")
		}
	default:
		return fmt.Errorf("do: %q is unknown; there are refuse, delay, cut, slow, swallow", r.Do)
	}
	if r.From == "" {
		r.From = "client"
	}
	if r.From != "client" && r.From != "server" {
		return fmt.Errorf("from: client or server, not %q", r.From)
	}
	if r.Connection < 0 || r.After < 0 || r.Bytes < 0 {
		return fmt.Errorf("connection, after and bytes are not negative")
	}
	if r.Name == "" {
		r.Name = r.Do
	}
	return nil
}

// ParseByteRules reads one rule a line.
func ParseByteRules(source io.Reader) ([]*ByteRule, error) {
	rules := []*ByteRule{}
	err := eachLine(source, func(line []byte) error {
		rule := &ByteRule{}
		if err := decode(line, rule); err != nil {
			return err
		}
		if err := rule.prepare(); err != nil {
			return err
		}
		rules = append(rules, rule)
		return nil
	})
	return rules, err
}

// BytePipe carries connections of one listener to another address.
type BytePipe struct {
	dial  func() (net.Conn, error)
	rules []*ByteRule
	log   *Log
}

// Serve accepts until the listener is closed.
func (b *BytePipe) Serve(listener net.Listener) error {
	for n := 1; ; n++ {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go b.carry(n, client)
	}
}

func (b *BytePipe) rule(n int, from string) *ByteRule {
	for _, rule := range b.rules {
		if (rule.Connection == 0 || rule.Connection == n) && rule.From == from {
			return rule
		}
	}
	return nil
}

func (b *BytePipe) note(n int, rule *ByteRule) {
	b.log.Write(Record{What: "fault", N: n, At: b.log.now(), Rule: rule.Name, Did: rule.Do + " " + rule.From})
}

func (b *BytePipe) carry(n int, client net.Conn) {
	record := Record{What: "request", N: n, At: b.log.now(), Protocol: "bytes"}
	defer func() {
		client.Close()
		record.Took = b.log.now() - record.At
		b.log.Write(record)
	}()
	if rule := b.rule(n, "client"); rule != nil && rule.Do == "refuse" {
		b.note(n, rule)
		record.Rule, record.Did = rule.Name, rule.Do
		return
	}
	server, err := b.dial()
	if err != nil {
		record.Text = err.Error()
		return
	}
	defer server.Close()
	var both sync.WaitGroup
	both.Add(2)
	go func() { defer both.Done(); b.pump(n, "client", client, server) }()
	go func() { defer both.Done(); b.pump(n, "server", server, client) }()
	both.Wait()
}

// pump carries one direction. Its end is passed on as a half-closed connection; a cut closes both sides.
func (b *BytePipe) pump(n int, from string, source, sink net.Conn) {
	rule := b.rule(n, from)
	defer func() {
		if half, is := sink.(*net.UnixConn); is {
			_ = half.CloseWrite()
		}
	}()
	if rule != nil {
		if _, err := io.CopyN(sink, source, rule.After); err != nil {
			return
		}
		if !b.disturb(n, rule, source, sink) {
			return
		}
	}
	_, _ = io.Copy(sink, source)
}

// disturb does what the rule says to the bytes that follow. It tells whether the rest passes.
func (b *BytePipe) disturb(n int, rule *ByteRule, source, sink net.Conn) bool {
	buffer := make([]byte, max(rule.Bytes, 1))
	switch rule.Do {
	case "cut":
		b.note(n, rule)
		source.Close()
		sink.Close()
		return false
	case "delay":
		// Not before there is something to delay.
		if read, err := source.Read(buffer); err == nil {
			b.note(n, rule)
			time.Sleep(time.Duration(rule.Ms) * time.Millisecond)
			_, err = sink.Write(buffer[:read])
			return err == nil
		}
		return false
	case "slow":
		b.note(n, rule)
		for {
			read, err := source.Read(buffer)
			if read > 0 {
				if _, err := sink.Write(buffer[:read]); err != nil {
					return false
				}
			}
			if err != nil {
				return false
			}
			time.Sleep(time.Duration(rule.Ms) * time.Millisecond)
		}
	case "swallow":
		b.note(n, rule)
		if rule.Ms > 0 {
			end := time.AfterFunc(time.Duration(rule.Ms)*time.Millisecond, func() { source.Close(); sink.Close() })
			defer end.Stop()
		}
		_, _ = io.Copy(io.Discard, source)
		return false
	}
	return true
}
