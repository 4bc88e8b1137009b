// SPDX-License-Identifier: Apache-2.0

// A gRPC client of our server (tests/interop/server.c), on grpc-go and with the kubelet's own API packages: plays every check and
// ends with `N passed, N failed`.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/status"
)

// raw carries messages as they are.
type raw struct{}

func (raw) Name() string                       { return "proto" }
func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = bytes.Clone(data); return nil }

var (
	folder = flag.String("folder", "", "where the server serves")
	only   = flag.String("only", "", "the one check to play")
	memory = flag.Bool("memory", true, "judge what memory the server takes (a sanitizer keeps what was freed)")
	hold   = flag.String("hold", "", "open a thousand connections and keep them: grpc or raw (used by the check of them)")
)

// How long a check may take, and the other process of a check of a thousand connections, which is a matter of CPU.
const (
	patience     = 20 * time.Second
	longPatience = 2 * time.Minute
)

func dial(socket string, options ...grpc.DialOption) (*grpc.ClientConn, error) {
	options = append(options, grpc.WithTransportCredentials(insecure.NewCredentials()))
	return grpc.NewClient("unix:"+filepath.Join(*folder, socket), options...)
}

type check struct {
	name     string
	run      func(ctx context.Context, c *grpc.ClientConn) error
	patience time.Duration // if it needs more than others
}

func call(ctx context.Context, c *grpc.ClientConn, method, request string, options ...grpc.CallOption) (string, error) {
	in, out := []byte(request), []byte(nil)
	options = append(options, grpc.ForceCodec(raw{}))
	err := c.Invoke(ctx, "/tangram.test.Wire/"+method, &in, &out, options...)
	return string(out), err
}

func wantCode(err error, code codes.Code) error {
	if status.Code(err) != code {
		return fmt.Errorf("expected %s, got %v", code, err)
	}
	return nil
}

func echo(ctx context.Context, c *grpc.ClientConn) error {
	for _, text := range []string{"", "x", strings.Repeat("y", 100000)} {
		got, err := call(ctx, c, "Echo", text)
		if err != nil {
			return err
		}
		if got != text {
			return fmt.Errorf("%d bytes came back as %d", len(text), len(got))
		}
	}
	return nil
}

func many(ctx context.Context, c *grpc.ClientConn) error {
	var wait sync.WaitGroup
	failures := make(chan error, 64)
	for range 32 {
		wait.Add(1)
		go func() {
			defer wait.Done()
			for range 100 {
				if err := echo(ctx, c); err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	wait.Wait()
	close(failures)
	return <-failures
}

func statusText(ctx context.Context, c *grpc.ClientConn) error {
	_, err := call(ctx, c, "Refuse", "")
	if err := wantCode(err, codes.FailedPrecondition); err != nil {
		return err
	}
	if want := "no: 100 % ü\n\"quoted\""; status.Convert(err).Message() != want {
		return fmt.Errorf("expected the text %q, got %q", want, status.Convert(err).Message())
	}
	return nil
}

func unknownMethod(ctx context.Context, c *grpc.ClientConn) error {
	_, err := call(ctx, c, "Nothing", "abc")
	return wantCode(err, codes.Unimplemented)
}

// streamed: the states of a stream, read with a pause after each.
func streamed(ctx context.Context, c *grpc.ClientConn, count string, pause time.Duration) (states []string, err error) {
	stream, err := c.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/tangram.test.Wire/Stream", grpc.ForceCodec(raw{}))
	if err != nil {
		return nil, err
	}
	in := []byte(count)
	if err := stream.SendMsg(&in); err != nil {
		return nil, err
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	time.Sleep(pause)
	for {
		var out []byte
		if err := stream.RecvMsg(&out); err != nil {
			if err.Error() == "EOF" {
				return states, nil
			}
			return states, err
		}
		states = append(states, string(out))
	}
}

// A stream carries full states: a client that keeps up sees many, each newer than the one before, and every client the last.
func checkStates(states []string) error {
	if len(states) == 0 || states[len(states)-1] != "end" {
		return fmt.Errorf("%d states, the last one is missing", len(states))
	}
	for i := 1; i < len(states)-1; i++ {
		if len(states[i]) != 1000 || states[i] <= states[i-1] {
			return fmt.Errorf("state %d is not newer than the one before", i)
		}
	}
	return nil
}

func streaming(ctx context.Context, c *grpc.ClientConn) error {
	for _, count := range []string{"0", "1", "10", "1000"} {
		states, err := streamed(ctx, c, count, 0)
		if err != nil {
			return err
		}
		if err := checkStates(states); err != nil {
			return err
		}
	}
	return nil
}

func slowReader(ctx context.Context, c *grpc.ClientConn) error {
	states, err := streamed(ctx, c, "100000", time.Second)
	if err != nil {
		return err
	}
	if len(states) > 1000 {
		return fmt.Errorf("%d states were kept for a client that does not read", len(states))
	}
	return checkStates(states)
}

// counters: calls of Wait so far, and how many of them were cancelled.
func counters(ctx context.Context, c *grpc.ClientConn) (waiting, cancelled int, err error) {
	text, err := call(ctx, c, "Counters", "")
	if err == nil {
		_, err = fmt.Sscan(text, &waiting, &cancelled)
	}
	return waiting, cancelled, err
}

// until polls the counters, since a cancellation arrives when it arrives.
func until(ctx context.Context, c *grpc.ClientConn, done func(waiting, cancelled int) bool) error {
	for {
		waiting, cancelled, err := counters(ctx, c)
		if err != nil || done(waiting, cancelled) {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func cancelling(ctx context.Context, c *grpc.ClientConn) error {
	waiting, cancelled, err := counters(ctx, c)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		_, err := call(inner, c, "Wait", "")
		ended <- err
	}()
	err = until(ctx, c, func(w, _ int) bool { return w > waiting })
	cancel()
	if err := errors.Join(err, wantCode(<-ended, codes.Canceled)); err != nil {
		return err
	}
	return until(ctx, c, func(_, n int) bool { return n > cancelled })
}

func deadline(ctx context.Context, c *grpc.ClientConn) error {
	_, cancelled, err := counters(ctx, c)
	if err != nil {
		return err
	}
	inner, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	_, err = call(inner, c, "Wait", "")
	if err := wantCode(err, codes.DeadlineExceeded); err != nil {
		return err
	}
	return until(ctx, c, func(_, n int) bool { return n > cancelled })
}

const fourMiB = 4 << 20

func largeMessages(ctx context.Context, c *grpc.ClientConn) error {
	wide := grpc.MaxCallRecvMsgSize(2 * fourMiB)
	text := strings.Repeat("z", fourMiB)
	got, err := call(ctx, c, "Echo", text, wide)
	if err != nil || got != text {
		return fmt.Errorf("4 MiB came back as %d bytes: %w", len(got), err)
	}
	_, err = call(ctx, c, "Echo", text+"z", wide)
	if err := wantCode(err, codes.ResourceExhausted); err != nil {
		return err
	}
	_, err = call(ctx, c, "Large", fmt.Sprint(fourMiB+1), wide)
	return wantCode(err, codes.ResourceExhausted)
}

// Pings of grpc-go come at most every ten seconds: a connection that is opened first and asked last.
func keptAlive() (*grpc.ClientConn, error) {
	c, err := dial("test.sock", grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, Timeout: 5 * time.Second, PermitWithoutStream: true}))
	if err == nil {
		c.Connect()
	}
	return c, err
}

func pings(since time.Time) func(context.Context, *grpc.ClientConn) error {
	return func(ctx context.Context, c *grpc.ClientConn) error {
		time.Sleep(time.Until(since.Add(11 * time.Second)))
		if state := c.GetState(); state != connectivity.Ready {
			return fmt.Errorf("the connection is %s", state)
		}
		return echo(ctx, c)
	}
}

func main() {
	flag.Parse()
	if *hold != "" {
		holdConnections()
		return
	}
	kept, err := keptAlive()
	if err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
	began := time.Now()
	passed, failed := 0, 0
	play := func(socket string, checks []check, c *grpc.ClientConn) {
		for _, k := range checks {
			if *only != "" && k.name != *only {
				continue
			}
			ctx, cancel := context.WithTimeout(context.Background(), max(patience, k.patience))
			err := k.run(ctx, c)
			cancel()
			if err != nil {
				failed++
				fmt.Printf("FAILED %s: %v\n", k.name, err)
				continue
			}
			passed++
		}
	}
	test, err := dial("test.sock")
	if err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
	play("test.sock", []check{
		{name: "unary", run: echo},
		{name: "32 callers at once", run: many},
		{name: "status and text of an error", run: statusText},
		{name: "unknown method", run: unknownMethod},
		{name: "server stream", run: streaming},
		{name: "slow reader", run: slowReader},
		{name: "cancel", run: cancelling},
		{name: "deadline", run: deadline},
		{name: "messages of 4 MiB", run: largeMessages},
		{name: "malformed frames", run: malformed},
		{name: "1,000 connections in turn", run: inTurn, patience: longPatience},
		{name: "1,000 connections at once", run: atOnce("grpc"), patience: longPatience},
		{name: "1,000 silent connections at once", run: atOnce("raw"), patience: longPatience},
	}, test)
	play("plugin", kubeletChecks, nil)
	play("plugin", budgetChecks, test)
	play("test.sock", []check{{name: "keepalive pings", run: pings(began)}}, kept)
	fmt.Printf("grpc-go %s: %d passed, %d failed\n", grpc.Version, passed, failed)
	if failed > 0 {
		os.Exit(1)
	}
}
