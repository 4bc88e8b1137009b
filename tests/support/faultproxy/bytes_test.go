// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pipe returns a client of a server that echoes, with the rules between them.
func pipe(t *testing.T, rules string) net.Conn {
	t.Helper()
	parsed, err := ParseByteRules(strings.NewReader(rules))
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	back, err := listenUnix(filepath.Join(folder, "back"))
	if err != nil {
		t.Fatal(err)
	}
	front, err := listenUnix(filepath.Join(folder, "front"))
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			connection, err := back.Accept()
			if err != nil {
				return
			}
			go func() {
				_, _ = io.Copy(connection, connection)
				connection.Close()
			}()
		}
	}()
	bytes := &BytePipe{rules: parsed, log: NewLog(io.Discard),
		dial: func() (net.Conn, error) { return net.Dial("unix", back.Addr().String()) }}
	go func() { _ = bytes.Serve(front) }()
	client, err := net.Dial("unix", front.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(); front.Close(); back.Close() })
	return client
}

// echo writes, ends the direction and returns what came back.
func echo(t *testing.T, client net.Conn, text string) (string, error) {
	t.Helper()
	if err := client.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Write([]byte(text)); err != nil {
		return "", err
	}
	if err := client.(*net.UnixConn).CloseWrite(); err != nil {
		return "", err
	}
	back, err := io.ReadAll(client)
	return string(back), err
}

func TestBytesPassBothWays(t *testing.T) {
	for _, rules := range []string{"", `{"connection": 2, "do": "cut"}`} {
		if got, err := echo(t, pipe(t, rules), "hello"); got != "hello" || err != nil {
			t.Fatalf("%q %v", got, err)
		}
	}
}

func TestBytesAreCutAfterSoMany(t *testing.T) {
	if got, _ := echo(t, pipe(t, `{"do": "cut", "from": "server", "after": 3}`), "hello"); got != "hel" {
		t.Fatalf("%q", got)
	}
}

func TestAConnectionIsRefused(t *testing.T) {
	if got, _ := echo(t, pipe(t, `{"do": "refuse"}`), "hello"); got != "" {
		t.Fatalf("%q", got)
	}
}

func TestBytesAreDelayedOrSlow(t *testing.T) {
	for _, rule := range []string{`{"do": "delay", "ms": 50}`, `{"do": "slow", "ms": 10, "from": "server"}`} {
		began := time.Now()
		if got, err := echo(t, pipe(t, rule), "hello"); got != "hello" || err != nil || time.Since(began) < 40*time.Millisecond {
			t.Fatalf("%q %v after %v", got, err, time.Since(began))
		}
	}
}

func TestSwallowedBytesGetNoAnswer(t *testing.T) {
	if got, _ := echo(t, pipe(t, `{"do": "swallow", "after": 2}`), "hello"); got != "he" {
		t.Fatalf("%q", got)
	}
}

func TestSilenceEndsWithACut(t *testing.T) {
	client := pipe(t, `{"do": "swallow", "ms": 50}`)
	if err := client.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(client); len(got) != 0 || time.Since(began) < 40*time.Millisecond || err != nil {
		t.Fatalf("%q %v after %v", got, err, time.Since(began))
	}
}

func TestByteRulesThatMakeNoSenseAreRefused(t *testing.T) {
	for _, rule := range []string{`{"do": "status"}`, `{"do": "slow"}`, `{"do": "cut", "from": "both"}`,
		`{"do": "cut", "after": -1}`, `{"do": "cut", "x": 1}`} {
		if _, err := ParseByteRules(strings.NewReader(rule)); err == nil {
			t.Error(rule)
		}
	}
}
