// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// apiServer plays the real server: it counts what it applied, and its watches send what the test tells them to.
type apiServer struct {
	*httptest.Server
	mutex   sync.Mutex
	applied []string
	lines   chan string // of a watch; closed: the watch ends
}

func newAPIServer(t *testing.T) *apiServer {
	s := &apiServer{lines: make(chan string, 16)}
	s.Server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

func (s *apiServer) serve(w http.ResponseWriter, r *http.Request) {
	if Classify(r).Verb == "watch" {
		w.WriteHeader(http.StatusOK)
		for {
			_ = http.NewResponseController(w).Flush()
			select {
			case line, more := <-s.lines:
				if !more {
					return
				}
				fmt.Fprintln(w, line)
			case <-r.Context().Done():
				return
			}
		}
	}
	body, _ := io.ReadAll(r.Body)
	s.mutex.Lock()
	s.applied = append(s.applied, r.Method+" "+string(body))
	s.mutex.Unlock()
	w.Header().Set("X-Token", r.Header.Get("Authorization"))
	fmt.Fprint(w, "0123456789")
}

func (s *apiServer) count() int {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return len(s.applied)
}

// stage is a client, the proxy and the server.
type stage struct {
	*testing.T
	server *apiServer
	proxy  *Proxy
	log    *syncBuffer
	url    string
	client *http.Client
}

type syncBuffer struct {
	mutex sync.Mutex
	buffer
}
type buffer = bytes.Buffer

func (b *syncBuffer) Write(data []byte) (int, error) {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.Write(data)
}

func (b *syncBuffer) text() string {
	b.mutex.Lock()
	defer b.mutex.Unlock()
	return b.buffer.String()
}

// newStage: rules are lines of a rule file.
func newStage(t *testing.T, http2 bool, rules string) *stage {
	s := &stage{T: t, server: newAPIServer(t), log: &syncBuffer{}}
	parsed, err := ParseRules(strings.NewReader(rules))
	if err != nil {
		t.Fatal(err)
	}
	target, _ := url.Parse(s.server.URL)
	pool := x509.NewCertPool()
	pool.AddCert(s.server.Certificate())
	s.proxy = NewProxy(target, &tls.Config{RootCAs: pool}, NewLog(s.log))
	s.proxy.rules.Replace(parsed)
	front := httptest.NewUnstartedServer(s.proxy)
	front.Config = s.proxy.Server()
	front.EnableHTTP2 = http2
	front.StartTLS()
	t.Cleanup(front.Close)
	frontPool := x509.NewCertPool()
	frontPool.AddCert(front.Certificate())
	s.url = front.URL
	s.client = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: frontPool},
		ForceAttemptHTTP2: http2}}
	t.Cleanup(s.client.CloseIdleConnections)
	return s
}

// both runs a test over HTTP/2 and HTTP/1.1.
func both(t *testing.T, rules string, test func(s *stage)) {
	for name, http2 := range map[string]bool{"http2": true, "http1": false} {
		t.Run(name, func(t *testing.T) { test(newStage(t, http2, rules)) })
	}
}

const (
	podPath   = "/api/v1/namespaces/default/pods/a"
	watchPath = "/api/v1/pods?watch=1"
)

// ask sends a PATCH. The error is that of the whole exchange, body included.
func (s *stage) ask() (*http.Response, string, error) {
	s.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	s.Cleanup(cancel)
	request, _ := http.NewRequestWithContext(ctx, http.MethodPatch, s.url+podPath, strings.NewReader("body"))
	request.Header.Set("Authorization", "Bearer secret")
	response, err := s.client.Do(request)
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response, string(body), err
}

func (s *stage) mustAsk() (*http.Response, string) {
	s.Helper()
	response, body, err := s.ask()
	if err != nil {
		s.Fatal(err)
	}
	return response, body
}

func (s *stage) watch() io.ReadCloser {
	s.Helper()
	response, err := s.client.Get(s.url + watchPath)
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { response.Body.Close() })
	return response.Body
}

// faults waits until a rule has acted that often, and returns the last record.
func (s *stage) faults(count int) Record {
	s.Helper()
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if faults := s.proxy.log.Faults(); len(faults) >= count {
			return faults[len(faults)-1]
		}
	}
	s.Fatalf("%d faults were expected, there were %v", count, s.proxy.log.Faults())
	return Record{}
}

func (s *stage) requests() []Record {
	records := []Record{}
	for _, line := range strings.Split(strings.TrimSpace(s.log.text()), "\n") {
		record := Record{}
		if json.Unmarshal([]byte(line), &record) == nil && record.What == "request" {
			records = append(records, record)
		}
	}
	return records
}
