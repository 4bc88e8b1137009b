// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync/atomic"
	"time"
)

// Proxy forwards what it receives to one server and disturbs it by rules.
type Proxy struct {
	server    *url.URL
	transport http.RoundTripper
	rules     *RuleSet
	log       *Log
	count     atomic.Int64
}

func NewProxy(server *url.URL, clientTLS *tls.Config, log *Log) *Proxy {
	return &Proxy{
		server: server,
		rules:  &RuleSet{},
		log:    log,
		transport: &http.Transport{
			TLSClientConfig:    clientTLS,
			ForceAttemptHTTP2:  true,
			DisableCompression: true, // bodies pass as they are
			Proxy:              nil,
		},
	}
}

type connectionKey struct{}

// Server returns an HTTP server that knows the connection of each request, so that it can be cut.
func (p *Proxy) Server() *http.Server {
	return &http.Server{
		Handler: p,
		ConnContext: func(ctx context.Context, connection net.Conn) context.Context {
			return context.WithValue(ctx, connectionKey{}, connection)
		},
		ErrorLog: nil,
	}
}

// exchange is one request on its way.
type exchange struct {
	http.ResponseWriter
	proxy   *Proxy
	request *http.Request
	means   Request
	rule    *Rule // nil: undisturbed
	record  Record
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	means := Classify(r)
	// Taken whole before anything happens to its client, so that the server gets all of it or nothing.
	body, err := io.ReadAll(r.Body)
	means.Body = body
	x := &exchange{ResponseWriter: w, proxy: p, request: r, means: means, rule: p.rules.Choose(means)}
	x.record = Record{What: "request", N: int(p.count.Add(1)), At: p.log.now(), Verb: means.Verb,
		Resource: means.Resource, Namespace: means.Namespace, Name: means.Name, Target: means.Target,
		Client: r.RemoteAddr, Protocol: r.Proto}
	defer func() {
		// Cuts leave by a panic that the HTTP server understands, and are logged like the others.
		x.record.Took = p.log.now() - x.record.At
		p.log.Write(x.record)
	}()
	if err != nil {
		x.unreachable(err)
		return
	}
	x.play()
}

// note logs what is about to be done to the request.
func (x *exchange) note(did string) {
	x.record.Rule, x.record.Did = x.rule.Name, did
	fault := x.record
	fault.What, fault.Took = "fault", x.proxy.log.now()-x.record.At
	x.proxy.log.Write(fault)
}

func (x *exchange) play() {
	when := ""
	if x.rule != nil {
		when = x.rule.When
	}
	late := when == "late"
	if (when == "before" || late) && !x.act() {
		return
	}
	response, err := x.forward(late)
	if err != nil {
		x.unreachable(err)
		return
	}
	defer response.Body.Close()
	x.record.Server = response.StatusCode
	if late {
		x.wake()
		return
	}
	if when != "after" {
		x.deliver(response, x.copyBody)
		return
	}
	x.after(response)
}

// after: the server has answered, and the rule wants to act on that.
func (x *exchange) after(response *http.Response) {
	deliveries := map[string]func(io.Reader){
		"half": x.copyHalf, "slow": x.copySlowly, "watch-half": x.watchHalf, "watch-duplicate": x.watchDuplicate,
		"watch-withhold": x.watchWithhold, "watch-gone": x.watchGone,
	}
	if copyBody, is := deliveries[x.rule.Do]; is {
		x.deliver(response, copyBody)
		return
	}
	if x.means.Verb != "watch" {
		// The answer is complete before it is lost: what the server had to do is done.
		body, err := io.ReadAll(response.Body)
		if err != nil {
			x.unreachable(err)
			return
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	if x.act() {
		x.deliver(response, x.copyBody)
	}
}

// act does what a rule does at one moment. It tells whether the request goes on.
func (x *exchange) act() bool {
	r := x.rule
	switch r.Do {
	case "status":
		x.note(fmt.Sprintf("status %d %s", r.Code, r.When))
		x.answer(r.Code)
		return false
	case "cut":
		x.note("cut " + r.When)
		x.cut()
	case "delay":
		x.note("delay " + r.When)
		return x.pause()
	case "goaway":
		x.note("goaway")
		// The HTTP/2 server says GOAWAY for it and finishes what is on the connection.
		x.Header().Set("Connection", "close")
	case "stop":
		return x.stop()
	}
	return true
}

// pause waits for the rule's time, or until the client is gone.
func (x *exchange) pause() bool {
	select {
	case <-time.After(time.Duration(x.rule.Ms) * time.Millisecond):
		return true
	case <-x.request.Context().Done():
		return false
	}
}

// stop signals the process. One that is killed gets no answer; one that is stopped goes on after the rule's time, its
// request before it or, if late, only then.
func (x *exchange) stop() bool {
	r := x.rule
	x.note("stop " + r.Signal + " " + r.When)
	pid, err := readPid(r.Pid)
	if err == nil {
		err = halt(pid, r.Signal)
	}
	if err != nil {
		x.record.Text = err.Error()
		return true
	}
	if r.When == "late" {
		time.Sleep(time.Duration(r.Ms) * time.Millisecond)
		return true
	}
	if r.Signal == "KILL" {
		x.abort()
	}
	time.AfterFunc(time.Duration(r.Ms)*time.Millisecond, func() { _ = resume(pid) })
	return true
}

// wake ends a late request: its client goes on without an answer.
func (x *exchange) wake() {
	if x.rule.Signal == "STOP" {
		if pid, err := readPid(x.rule.Pid); err == nil {
			_ = resume(pid)
		}
	}
	x.abort()
}

// cut ends the connection with a reset, or only this stream of it.
func (x *exchange) cut() {
	if x.rule.How == "connection" {
		x.abort()
	}
	x.record.Status = 0
	panic(http.ErrAbortHandler)
}

// abort resets the connection.
func (x *exchange) abort() {
	x.record.Status = 0
	if connection, is := x.request.Context().Value(connectionKey{}).(net.Conn); is {
		if secure, is := connection.(*tls.Conn); is {
			connection = secure.NetConn()
		}
		if tcp, is := connection.(*net.TCPConn); is {
			_ = tcp.SetLinger(0)
		}
		_ = connection.Close()
	}
	panic(http.ErrAbortHandler)
}

// reasons: what Kubernetes calls these answers (metav1.StatusReason).
var reasons = map[int]string{401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 409: "Conflict", 410: "Expired",
	429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}

// status is a metav1.Status.
func (x *exchange) status(code int) []byte {
	details := map[string]any{}
	if x.rule.RetryAfter > 0 {
		details["retryAfterSeconds"] = x.rule.RetryAfter
	}
	body, err := json.Marshal(map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{},
		"status": "Failure", "message": "the fault proxy answers so", "reason": reasons[code], "details": details,
		"code": code})
	if err != nil {
		panic(err) // strings and numbers
	}
	return body
}

func (x *exchange) answer(code int) {
	header := x.Header()
	header.Set("Content-Type", "application/json")
	if x.rule.RetryAfter > 0 {
		header.Set("Retry-After", strconv.Itoa(x.rule.RetryAfter))
	}
	x.record.Status = code
	x.WriteHeader(code)
	_, _ = x.Write(x.status(code))
}

// unreachable: no rule, but the real server cannot be asked, or the client has left.
func (x *exchange) unreachable(err error) {
	if x.request.Context().Err() != nil {
		x.record.Text = "the client left"
		panic(http.ErrAbortHandler)
	}
	x.record.Text, x.record.Status = err.Error(), http.StatusBadGateway
	http.Error(x, err.Error(), http.StatusBadGateway)
}

// connectionHeaders are those between two parties; the rest passes.
var connectionHeaders = []string{"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Te", "Trailer",
	"Transfer-Encoding", "Upgrade"}

// forward sends the request on. A late one does not depend on its client any more.
func (x *exchange) forward(late bool) (*http.Response, error) {
	ctx := x.request.Context()
	if late {
		ctx = context.WithoutCancel(ctx)
	}
	out := x.request.Clone(ctx)
	out.Body = io.NopCloser(bytes.NewReader(x.means.Body))
	out.ContentLength = int64(len(x.means.Body))
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host = x.proxy.server.Scheme, x.proxy.server.Host
	out.Host = x.proxy.server.Host
	for _, name := range connectionHeaders {
		out.Header.Del(name)
	}
	if x.rule != nil && actions[x.rule.Do].watch {
		out.Header.Del("Accept-Encoding") // its lines are read
	}
	return x.proxy.transport.RoundTrip(out)
}

// deliver passes the head of an answer and then its body by copyBody.
func (x *exchange) deliver(response *http.Response, copyBody func(io.Reader)) {
	for name, values := range response.Header {
		if !slices.Contains(connectionHeaders, name) {
			x.Header()[name] = values
		}
	}
	x.record.Status = response.StatusCode
	x.WriteHeader(response.StatusCode)
	x.flush()
	copyBody(response.Body)
}

func (x *exchange) flush() {
	_ = http.NewResponseController(x).Flush()
}

// Unwrap lets the response controller see the writer below.
func (x *exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }
