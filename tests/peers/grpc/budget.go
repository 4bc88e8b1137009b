// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Requests whose decoding would take far more memory than they have bytes, to the plugin's own service. They are refused with
// the status that says why, and the server stays small.

// usage of the server: resident memory now and at most so far (KiB), descriptors, and how many processes its clients
// are as far as it can see.
type usage struct{ rss, peak, descriptors, peers int }

func usageOf(ctx context.Context, c *grpc.ClientConn) (u usage, err error) {
	text, err := call(ctx, c, "Usage", "")
	if err == nil {
		_, err = fmt.Sscan(text, &u.rss, &u.peak, &u.descriptors, &u.peers)
	}
	return u, err
}

// field: one of wire type 2.
func field(number int, content string) string {
	tag := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return string(binary.AppendUvarint(tag, uint64(len(content)))) + content
}

// filled: so many whole parts that they are just below 4 MiB.
func filled(part string) string { return strings.Repeat(part, fourMiB/len(part)) }

func nested(depth int) (text string) {
	for range depth {
		text = field(1, text)
	}
	return text
}

// claimOfThree: the smallest claim that can be asked for.
var claimOfThree = field(1, field(1, "n")+field(2, "u")+field(3, "c"))

var tooMuch = []struct {
	name, request string
	codes         []codes.Code
}{
	{"empty claims", filled(field(1, "")), []codes.Code{codes.ResourceExhausted}},
	{"the smallest claims", filled(claimOfThree), []codes.Code{codes.ResourceExhausted}},
	{"one claim more than a call may have", strings.Repeat(claimOfThree, 1025), []codes.Code{codes.ResourceExhausted}},
	{"unknown numbers", filled("\xa0\x06\x01"), []codes.Code{codes.ResourceExhausted}},
	{"unknown fields of no bytes", filled(field(100, "")), []codes.Code{codes.ResourceExhausted}},
	{"a field of one claim a million times", field(1, strings.Repeat(field(1, "n"), 1<<20)), []codes.Code{codes.ResourceExhausted}},
	{"unknown fields within a claim", field(1, strings.Repeat(field(100, ""), 1<<20)), []codes.Code{codes.ResourceExhausted}},
	{"a name of 4 MB", field(1, field(1, strings.Repeat("n", 4_000_000))), []codes.Code{codes.ResourceExhausted}},
	{"a hundred thousand levels", nested(100000), []codes.Code{codes.InvalidArgument, codes.ResourceExhausted}},
	{"levels of an unknown field", field(100, nested(100000)), []codes.Code{codes.OK}},
	{"groups", filled("\x0b"), []codes.Code{codes.InvalidArgument}},
	{"a length without an end", "\x0a\xff\xff\xff\xff\x7f", []codes.Code{codes.InvalidArgument}},
	{"a number without an end", strings.Repeat("\xff", fourMiB), []codes.Code{codes.InvalidArgument}},
}

var budgetChecks = []check{
	{name: "requests that would grow", run: refuseGrowth},
	{name: "large requests of many at once", run: crowdOfLarge},
}

// KiB. The requests and answers under way may be 8 MiB; a buffer that grows takes twice as much as it holds. What stays afterwards is
// what malloc does not give back.
const (
	mostGrowth = 20 << 10
	mostStays  = 6 << 10
)

func withinMemory(ctx context.Context, c *grpc.ClientConn, what string, run func() error) error {
	before, err := usageOf(ctx, c)
	if err != nil {
		return err
	}
	err = run()
	after, usageErr := usageOf(ctx, c)
	if err = errors.Join(err, usageErr); err != nil {
		return err
	}
	fmt.Printf("%s: server %d KiB, at most %d, before %d\n", what, after.rss, after.peak, before.rss)
	if *memory && (after.peak > max(before.peak, before.rss+mostGrowth) || after.rss > before.rss+mostStays) {
		return errors.New("that is too much")
	}
	return nil
}

func refuseGrowth(ctx context.Context, test *grpc.ClientConn) error {
	methods := []string{"/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodePrepareResources", "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/NodeUnprepareResources",
		"/k8s.io.kubelet.pkg.apis.dra.v1beta1.DRAPlugin/NodePrepareResources"}
	return withinMemory(ctx, test, "requests that would grow", func() error {
		return withPlugin(func(c *grpc.ClientConn, _ []string) error {
			for _, t := range tooMuch {
				for _, method := range methods {
					in, out := []byte(t.request), []byte(nil)
					err := c.Invoke(ctx, method, &in, &out, grpc.ForceCodec(raw{}))
					if !slices.Contains(t.codes, status.Code(err)) {
						return fmt.Errorf("%s: expected %v, got %v", t.name, t.codes, err)
					}
				}
			}
			return prepare(ctx, nil)
		})
	})
}

// crowdOfLarge: more than the server holds for all together. Each request is served or refused for that reason, and a small one
// among them is served.
func crowdOfLarge(ctx context.Context, test *grpc.ClientConn) error {
	request := bytes.Repeat([]byte("x"), fourMiB)
	return withinMemory(ctx, test, "32 requests of 4 MiB at once", func() error {
		var wait sync.WaitGroup
		failures := make(chan error, 33)
		for range 32 {
			wait.Add(1)
			go func() {
				defer wait.Done()
				c, err := dial("test.sock", grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(2*fourMiB)))
				if err != nil {
					failures <- err
					return
				}
				defer c.Close()
				for range 4 {
					out := []byte(nil)
					err := c.Invoke(ctx, "/tangram.test.Wire/Echo", &request, &out, grpc.ForceCodec(raw{}))
					if err != nil && status.Code(err) != codes.ResourceExhausted {
						failures <- err
						return
					}
				}
			}()
		}
		failures <- echoSmall(ctx, test, 100)
		wait.Wait()
		close(failures)
		for err := range failures {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func echoSmall(ctx context.Context, c *grpc.ClientConn, times int) error {
	for range times {
		if got, err := call(ctx, c, "Echo", "small"); err != nil || got != "small" {
			return fmt.Errorf("a small call among large ones: %q, %w", got, err)
		}
	}
	return nil
}
