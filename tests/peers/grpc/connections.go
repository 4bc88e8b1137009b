// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"
)

const thousand = 1000

// inTurn: a thousand connections, one after the other.
func inTurn(ctx context.Context, _ *grpc.ClientConn) error {
	for range thousand {
		one, err := dial("test.sock")
		if err != nil {
			return err
		}
		got, err := call(ctx, one, "Echo", "hello", grpc.WaitForReady(true))
		one.Close()
		if err != nil || got != "hello" {
			return fmt.Errorf("a connection of its own: %q, %w", got, err)
		}
	}
	return nil
}

// ends counts the connections that a client has lost.
type ends struct{ n atomic.Int64 }

func (*ends) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }
func (*ends) HandleRPC(context.Context, stats.RPCStats)                       {}
func (*ends) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context {
	return ctx
}
func (e *ends) HandleConn(_ context.Context, s stats.ConnStats) {
	if _, ok := s.(*stats.ConnEnd); ok {
		e.n.Add(1)
	}
}

// atOnce: another process opens a thousand connections and keeps them, as kind says: with a call on each and then a second one, or
// without a word. All that while a client like the kubelet gets its answers, on the connection that it had before. (If the server
// runs in a PID namespace of its own it cannot tell the two processes apart: then the connection may be another one.)
func atOnce(kind string) func(context.Context, *grpc.ClientConn) error {
	return func(ctx context.Context, c *grpc.ClientConn) error {
		lost := &ends{}
		kubelet, err := dial("test.sock", grpc.WithStatsHandler(lost))
		if err != nil {
			return err
		}
		defer kubelet.Close()
		if err := echo(ctx, kubelet); err != nil {
			return err
		}
		before, err := usageOf(ctx, c)
		if err != nil {
			return err
		}
		other := exec.CommandContext(ctx, os.Args[0], "-folder", *folder, "-hold", kind)
		other.Stderr = os.Stderr
		stop, err := other.StdinPipe()
		if err != nil {
			return err
		}
		said, err := other.StdoutPipe()
		if err != nil {
			return err
		}
		if err := other.Start(); err != nil {
			return err
		}
		calls, slowest, err := callUntil(ctx, kubelet, said)
		during, usageErr := usageOf(ctx, c)
		stop.Close()
		err = errors.Join(err, usageErr, other.Wait(), echo(ctx, kubelet))
		if err != nil {
			return err
		}
		fmt.Printf("1,000 connections at once (%s): server %d KiB and %d descriptors, before %d and %d; the kubelet's client made %d calls, the slowest took %s, and lost %d connections\n",
			kind, during.rss, during.descriptors, before.rss, before.descriptors, calls, slowest.Round(time.Microsecond), lost.n.Load())
		if during.peers > 1 && lost.n.Load() > 0 {
			return errors.New("the connection of the kubelet was ended in favour of another process")
		}
		if *memory && during.rss > before.rss+8<<10 || during.descriptors > 300 {
			return errors.New("that is too much")
		}
		return nil
	}
}

// callUntil: calls, one after the other, until the other process has said "done".
func callUntil(ctx context.Context, c *grpc.ClientConn, said io.Reader) (calls int, slowest time.Duration, err error) {
	done := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(said).ReadString('\n')
		if line != "done\n" {
			err = fmt.Errorf("the other process said %q: %w", line, err)
		}
		done <- err
	}()
	for {
		began := time.Now()
		if _, err := call(ctx, c, "Echo", "hello"); err != nil {
			return calls, slowest, err
		}
		calls++
		slowest = max(slowest, time.Since(began))
		select {
		case err := <-done:
			return calls, slowest, err
		case <-time.After(time.Millisecond):
		}
	}
}

// holdConnections is the other process: says "done" when its connections are there, and ends when its input does.
func holdConnections() {
	run := map[string]func() error{"grpc": holdGRPC, "raw": holdRaw}[*hold]
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "grpc:", err)
		os.Exit(1)
	}
	fmt.Println("done")
	io.Copy(io.Discard, os.Stdin)
}

// holdGRPC: all are answered twice, although the server keeps fewer connections than that.
func holdGRPC() error {
	ctx, cancel := context.WithTimeout(context.Background(), longPatience)
	defer cancel()
	var all []*grpc.ClientConn
	for range thousand {
		one, err := dial("test.sock")
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	for round := range 2 {
		for i, one := range all {
			if got, err := call(ctx, one, "Echo", "hello"); err != nil || got != "hello" {
				return fmt.Errorf("call %d on connection %d: %q, %w", round, i, got, err)
			}
		}
	}
	return nil
}

// silent connections; a variable, so that they are not closed as garbage.
var silent []net.Conn

func holdRaw() error {
	for range thousand {
		one, err := net.Dial("unix", filepath.Join(*folder, "test.sock"))
		if err != nil {
			return err
		}
		silent = append(silent, one)
	}
	return nil
}
