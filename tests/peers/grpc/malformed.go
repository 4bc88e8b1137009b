// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// frame: type, flags, stream and payload of an HTTP/2 frame; the length may be a lie.
func frame(length int, kind, flags byte, stream uint32, payload string) string {
	head := []byte{byte(length >> 16), byte(length >> 8), byte(length), kind, flags, 0, 0, 0, 0}
	binary.BigEndian.PutUint32(head[5:], stream)
	return string(head) + payload
}

func whole(kind, flags byte, stream uint32, payload string) string {
	return frame(len(payload), kind, flags, stream, payload)
}

var settings = whole(4, 0, 0, "")

// What no honest client sends. The server may answer or close; it must go on serving others, and keep nothing.
var hostile = []struct{ name, bytes string }{
	{"nothing", ""},
	{"another protocol", "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
	{"half a preface", preface[:10]},
	{"no settings", preface + whole(6, 0, 0, "12345678")},
	{"settings of a wrong size", preface + whole(4, 0, 0, "12345")},
	{"settings on a stream", preface + whole(4, 0, 1, "")},
	{"a frame longer than allowed", preface + settings + frame(1<<24-1, 0, 0, 1, strings.Repeat("x", 70000))},
	{"half a frame", preface + settings + frame(100, 1, 4, 1, "abc")},
	{"data on an idle stream", preface + settings + whole(0, 1, 1, "abc")},
	{"headers that do not decompress", preface + settings + whole(1, 5, 1, "\xff\xff\xff\xff\xff\xff\xff")},
	{"headers without end", preface + settings + strings.Repeat(whole(9, 0, 1, "\x00"), 100)},
	{"a continuation that never ends", preface + settings + whole(1, 0, 1, "\x82") + strings.Repeat(whole(9, 0, 1, "\x82"), 1000)},
	{"an even stream", preface + settings + whole(1, 5, 2, "\x82")},
	{"stream 0", preface + settings + whole(1, 5, 0, "\x82")},
	{"a push", preface + settings + whole(5, 4, 1, "\x00\x00\x00\x02\x82")},
	{"a window that overflows", preface + settings + whole(8, 0, 0, "\x7f\xff\xff\xff") + whole(8, 0, 0, "\x7f\xff\xff\xff")},
	{"an empty window update", preface + settings + whole(8, 0, 0, "\x00\x00\x00\x00")},
	{"padding longer than the frame", preface + settings + whole(0, 8, 1, "\xffab")},
	{"an unknown frame", preface + settings + whole(99, 0xff, 0, "whatever")},
	{"a flood of pings", preface + settings + strings.Repeat(whole(6, 0, 0, "12345678"), 5000)},
	{"a flood of settings", preface + strings.Repeat(settings, 5000)},
	{"a flood of resets", preface + settings + strings.Repeat(whole(1, 5, 1, "\x82")+whole(3, 0, 1, "\x00\x00\x00\x08"), 2000)},
	{"a flood of priorities", preface + settings + strings.Repeat(whole(2, 0, 3, "\x00\x00\x00\x00\x10"), 5000)},
	{"goaway", preface + settings + whole(7, 0, 0, "\x00\x00\x00\x01\x00\x00\x00\x00bye")},
}

// send: all bytes, then what the server says until it closes or is silent.
func send(bytes string) error {
	c, err := net.Dial("unix", filepath.Join(*folder, "test.sock"))
	if err != nil {
		return err
	}
	defer c.Close()
	go io.Copy(io.Discard, c)
	c.SetWriteDeadline(time.Now().Add(time.Second))
	io.WriteString(c, bytes) // it may have closed already
	time.Sleep(2 * time.Millisecond)
	return nil
}

func malformed(ctx context.Context, c *grpc.ClientConn) error {
	for _, h := range hostile {
		if err := send(h.bytes); err != nil {
			return fmt.Errorf("%s: %w", h.name, err)
		}
		if _, err := call(ctx, c, "Echo", "still there?"); err != nil {
			return fmt.Errorf("after %s: %w", h.name, err)
		}
	}
	// Damage at random places of an honest beginning.
	r := rand.New(rand.NewPCG(1, 1))
	honest := preface + settings + whole(1, 4, 1, "\x83\x86\x45\x05/abcd\x41\x01x") + whole(0, 1, 1, "\x00\x00\x00\x00\x03abc")
	for range 300 {
		bytes := []byte(honest)
		for range 1 + r.IntN(4) {
			bytes[r.IntN(len(bytes))] = byte(r.IntN(256))
		}
		if err := send(string(bytes)); err != nil {
			return err
		}
	}
	return echo(ctx, c)
}
