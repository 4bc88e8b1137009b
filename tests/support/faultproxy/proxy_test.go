// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestWhatNoRuleMatchesPassesUnchangedWithItsToken(t *testing.T) {
	both(t, `{"verb": "delete", "do": "cut"}`, func(s *stage) {
		response, body := s.mustAsk()
		if body != "0123456789" || response.Header.Get("X-Token") != "Bearer secret" {
			s.Fatalf("%q %v", body, response.Header)
		}
		s.server.mutex.Lock()
		defer s.server.mutex.Unlock()
		if got := s.server.applied[0]; got != "PATCH body" {
			s.Fatalf("the server got %q", got)
		}
	})
}

func TestAStatusBeforeIsAnsweredWithoutTheServer(t *testing.T) {
	both(t, `{"verb": "patch", "resource": "pods", "nth": 2, "do": "status", "code": 429, "retryAfter": 3}`, func(s *stage) {
		for number, wanted := range []int{200, 429, 200} {
			response, body := s.mustAsk()
			if response.StatusCode != wanted {
				s.Fatalf("request %d: %d", number+1, response.StatusCode)
			}
			if wanted != 429 {
				continue
			}
			var status struct{ Kind, Reason string }
			if err := json.Unmarshal([]byte(body), &status); err != nil || status.Kind != "Status" ||
				status.Reason != "TooManyRequests" || response.Header.Get("Retry-After") != "3" {
				s.Fatalf("%s %v %v", body, response.Header, err)
			}
		}
		if s.server.count() != 2 {
			s.Fatalf("the server saw %d requests", s.server.count())
		}
	})
}

func TestARuleLooksForItsWordsInTheBody(t *testing.T) {
	for _, row := range []struct {
		body   string
		wanted int
	}{{"^bo.y$", 409}, {"bodies", 200}} {
		both(t, `{"body": "`+row.body+`", "do": "status", "code": 409}`, func(s *stage) {
			if response, _ := s.mustAsk(); response.StatusCode != row.wanted {
				s.Fatalf("%s: %d", row.body, response.StatusCode)
			}
			if row.wanted == 200 && s.server.applied[0] != "PATCH body" {
				s.Fatalf("the server got %q", s.server.applied[0])
			}
		})
	}
}

func TestAStatusAfterHidesThatTheServerApplied(t *testing.T) {
	both(t, `{"do": "status", "code": 500, "when": "after"}`, func(s *stage) {
		if response, _ := s.mustAsk(); response.StatusCode != 500 || s.server.count() != 1 {
			s.Fatalf("%d, applied %d", response.StatusCode, s.server.count())
		}
	})
}

func TestACutBeforeReachesNoServer(t *testing.T) {
	for _, how := range []string{"connection", "stream"} {
		both(t, `{"do": "cut", "how": "`+how+`"}`, func(s *stage) {
			s.Log(how)
			if _, _, err := s.ask(); err == nil {
				s.Fatal("there was an answer")
			}
			if s.server.count() != 0 {
				s.Fatal("the server was asked")
			}
		})
	}
}

func TestACutAfterLosesTheAnswerOfWhatWasApplied(t *testing.T) {
	for _, how := range []string{"connection", "stream"} {
		both(t, `{"do": "cut", "when": "after", "how": "`+how+`"}`, func(s *stage) {
			s.Log(how)
			if _, _, err := s.ask(); err == nil {
				s.Fatal("there was an answer")
			}
			if s.server.count() != 1 {
				s.Fatalf("the server was asked %d times", s.server.count())
			}
			s.mustAsk()
		})
	}
}

func TestACutConnectionTakesItsWatchesAlong(t *testing.T) {
	s := newStage(t, true, `{"verb": "patch", "do": "cut"}`)
	stream := s.watch()
	if _, _, err := s.ask(); err == nil {
		t.Fatal("there was an answer")
	}
	if _, err := stream.Read(make([]byte, 1)); err == nil || err == io.EOF {
		t.Fatalf("the watch goes on: %v", err)
	}
}

func TestACutStreamLeavesTheOthersAlone(t *testing.T) {
	s := newStage(t, true, `{"verb": "patch", "do": "cut", "how": "stream"}`)
	stream := s.watch()
	if _, _, err := s.ask(); err == nil {
		t.Fatal("there was an answer")
	}
	s.server.lines <- "line"
	if got := readLine(t, stream); got != "line" {
		t.Fatalf("%q", got)
	}
}

func TestHalfAnAnswerIsAnError(t *testing.T) {
	both(t, `{"do": "half"}`, func(s *stage) {
		_, body, err := s.ask()
		if err == nil || body != "01234" || s.server.count() != 1 {
			s.Fatalf("%q %v, applied %d", body, err, s.server.count())
		}
	})
}

func TestADelayHoldsTheRequestOrTheAnswer(t *testing.T) {
	for when, applied := range map[string]int{"before": 0, "after": 1} {
		both(t, `{"do": "delay", "ms": 150, "when": "`+when+`"}`, func(s *stage) {
			began := time.Now()
			go func() { _, _, _ = s.ask() }()
			s.faults(1)
			if s.server.count() != applied {
				s.Fatalf("%s: applied %d", when, s.server.count())
			}
			for len(s.requests()) == 0 {
				time.Sleep(time.Millisecond)
			}
			if time.Since(began) < 150*time.Millisecond || s.server.count() != 1 {
				s.Fatalf("%s: after %v, applied %d", when, time.Since(began), s.server.count())
			}
		})
	}
}

func TestSlowBytesArriveAll(t *testing.T) {
	both(t, `{"do": "slow", "ms": 10, "bytes": 2}`, func(s *stage) {
		began := time.Now()
		if _, body := s.mustAsk(); body != "0123456789" || time.Since(began) < 40*time.Millisecond {
			s.Fatalf("%q after %v", body, time.Since(began))
		}
	})
}

func TestGoawayMovesTheNextRequestToAnotherConnection(t *testing.T) {
	s := newStage(t, true, `{"do": "goaway"}`)
	response, body := s.mustAsk()
	if body != "0123456789" || response.StatusCode != 200 {
		t.Fatalf("%d %q", response.StatusCode, body)
	}
	connections := map[string]bool{}
	s.proxy.rules.Replace(nil)
	for range 3 {
		s.mustAsk()
	}
	for _, record := range s.requests() {
		if record.Protocol != "HTTP/2.0" || record.Status != 200 {
			t.Fatalf("%+v", record)
		}
		connections[record.Client] = true
	}
	if len(connections) != 2 {
		t.Fatalf("%d connections", len(connections))
	}
}

func readLine(t *testing.T, stream io.Reader) string {
	t.Helper()
	line, one := []byte{}, make([]byte, 1)
	for {
		if _, err := stream.Read(one); err != nil {
			t.Fatalf("after %q: %v", line, err)
		}
		if one[0] == '\n' {
			return string(line)
		}
		line = append(line, one[0])
	}
}

func TestHalfALineOfAWatchIsCut(t *testing.T) {
	both(t, `{"do": "watch-half", "event": 2}`, func(s *stage) {
		stream := s.watch()
		for _, line := range []string{"first", `{"type":"BOOKMARK"}`, "second"} {
			s.server.lines <- line
		}
		readLine(s.T, stream)
		readLine(s.T, stream)
		rest, err := io.ReadAll(stream)
		if string(rest) != "sec" || err == nil {
			s.Fatalf("%q %v", rest, err)
		}
	})
}

func TestAWatchEventIsDuplicated(t *testing.T) {
	both(t, `{"do": "watch-duplicate", "event": 2}`, func(s *stage) {
		stream := s.watch()
		for _, line := range []string{"first", "second", "third"} {
			s.server.lines <- line
		}
		for _, wanted := range []string{"first", "second", "second", "third"} {
			if got := readLine(s.T, stream); got != wanted {
				s.Fatalf("%q, not %q", got, wanted)
			}
		}
	})
}

func TestWithheldWatchEventsComeLaterInOrder(t *testing.T) {
	both(t, `{"do": "watch-withhold", "event": 2, "ms": 100}`, func(s *stage) {
		stream := s.watch()
		for _, line := range []string{"first", "second", "third"} {
			s.server.lines <- line
		}
		readLine(s.T, stream)
		began := time.Now()
		if got := readLine(s.T, stream); got != "second" || time.Since(began) < 50*time.Millisecond {
			s.Fatalf("%q after %v", got, time.Since(began))
		}
		if got := readLine(s.T, stream); got != "third" {
			s.Fatalf("%q", got)
		}
	})
}

func TestWithheldForGoodEndsWithTheClient(t *testing.T) {
	both(t, `{"do": "watch-withhold"}`, func(s *stage) {
		stream := s.watch()
		s.server.lines <- "first"
		s.faults(1)
		stream.Close()
		for len(s.requests()) == 0 {
			time.Sleep(time.Millisecond)
		}
	})
}

func TestAVersionThatIsTooOldEndsAWatch(t *testing.T) {
	both(t, `{"do": "watch-gone"}`, func(s *stage) {
		stream := s.watch()
		s.server.lines <- "first"
		rest, err := io.ReadAll(stream)
		var event struct {
			Type   string
			Object struct{ Code int }
		}
		if err != nil || json.Unmarshal(rest, &event) != nil || event.Type != "ERROR" || event.Object.Code != 410 {
			s.Fatalf("%q %v", rest, err)
		}
	})
}

func TestAWatchPassesLineByLine(t *testing.T) {
	both(t, ``, func(s *stage) {
		stream := s.watch()
		for _, line := range []string{"first", "second"} {
			s.server.lines <- line
			if got := readLine(s.T, stream); got != line {
				s.Fatalf("%q", got)
			}
		}
		close(s.server.lines)
		if rest, err := io.ReadAll(stream); err != nil || len(rest) != 0 {
			s.Fatalf("%q %v", rest, err)
		}
	})
}

// victim starts a process that only waits, and returns it and the file that names it.
func victim(t *testing.T) (*exec.Cmd, string) {
	command := exec.Command("cat")
	if _, err := command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = command.Process.Kill(); _ = command.Wait() })
	file := filepath.Join(t.TempDir(), "pid")
	if err := os.WriteFile(file, []byte(strconv.Itoa(command.Process.Pid)+" 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return command, file
}

func TestAProcessIsKilledBeforeOrAfterTheServerApplied(t *testing.T) {
	for when, applied := range map[string]int{"before": 0, "after": 1} {
		both(t, "", func(s *stage) {
			command, file := victim(s.T)
			s.set(`{"do": "stop", "signal": "KILL", "when": "` + when + `", "pid": "` + file + `"}`)
			if _, _, err := s.ask(); err == nil {
				s.Fatal("there was an answer")
			}
			if err := command.Wait(); err == nil || s.server.count() != applied {
				s.Fatalf("%s: %v, applied %d", when, err, s.server.count())
			}
		})
	}
}

func TestAWriteOfADeadProcessArrivesLate(t *testing.T) {
	both(t, "", func(s *stage) {
		command, file := victim(s.T)
		s.set(`{"do": "stop", "signal": "KILL", "when": "late", "ms": 100, "pid": "` + file + `"}`)
		began := time.Now()
		if _, _, err := s.ask(); err == nil {
			s.Fatal("there was an answer")
		}
		if err := command.Wait(); err == nil || s.server.count() != 1 || time.Since(began) < 100*time.Millisecond {
			s.Fatalf("%v, applied %d after %v", err, s.server.count(), time.Since(began))
		}
	})
}

func TestAStoppedProcessGoesOn(t *testing.T) {
	s := newStage(t, true, "")
	command, file := victim(t)
	s.set(`{"do": "stop", "signal": "STOP", "ms": 50, "pid": "` + file + `"}`)
	if _, body := s.mustAsk(); body != "0123456789" {
		t.Fatalf("%q", body)
	}
	for hasHalted(command.Process.Pid) {
		time.Sleep(time.Millisecond)
	}
}

func TestASeedDisturbsTheSameRequestsEveryTime(t *testing.T) {
	draw := func(seed string) string {
		rules, err := ParseRules(strings.NewReader(`{"do": "random", "seed": ` + seed + `, "percent": 30}`))
		if err != nil {
			t.Fatal(err)
		}
		set, drawn := RuleSet{rules: rules}, []string{}
		for range 200 {
			for _, q := range []Request{{Verb: "watch", Resource: "pods"}, {Verb: "patch", Resource: "pods"}} {
				if rule := set.Choose(q); rule != nil {
					drawn = append(drawn, q.Verb+" "+rule.Do+" "+rule.When+" "+strconv.Itoa(rule.Code))
				}
			}
		}
		return strings.Join(drawn, "\n")
	}
	one := draw("1")
	if one != draw("1") || one == draw("2") {
		t.Fatal("not decided by the seed")
	}
	if count := strings.Count(one, "\n"); count < 80 || count > 160 {
		t.Fatalf("30 percent of 400 are not %d", count)
	}
	for _, wanted := range []string{"watch watch-half", "watch status before 410", "patch status after 504", "patch half"} {
		if !strings.Contains(one, wanted) {
			t.Errorf("%q is never drawn", wanted)
		}
	}
}

func TestRulesThatMakeNoSenseAreRefused(t *testing.T) {
	for rule, wanted := range map[string]string{
		`{"do": "explode"}`:                                `do: "explode" is unknown`,
		`{"do": "cut", "verbs": "get"}`:                    `unknown field "verbs"`,
		`{"do": "cut"} {}`:                                 "something follows the object",
		`{"do": "cut", "when": "late"}`:                    "when: cut knows before, after",
		`{"do": "cut", "how": "softly"}`:                   "how: connection or stream",
		`{"do": "cut", "path": "("}`:                       "path: error parsing regexp",
		`{"do": "cut", "nth": -1}`:                         "nth: -1 is negative",
		`{"do": "cut", "times": -2}`:                       "times: a count, or -1",
		`{"do": "status"}`:                                 "code: an HTTP error",
		`{"do": "delay"}`:                                  "ms: a number of milliseconds",
		`{"do": "stop", "signal": "TERM"}`:                 "signal: KILL or STOP",
		`{"do": "stop", "signal": "KILL"}`:                 "pid: the file",
		`{"do": "stop", "signal": "STOP"}`:                 "ms: a stopped process",
		`{"do": "random", "percent": 101}`:                 "percent: more than 0",
		"# a comment\n\n" + `{"do": "slow"}`:               "line 3: ms: a number",
		`{"do": "stop", "signal": "KILL", "when": "late"}`: "ms: how late",
	} {
		if _, err := ParseRules(strings.NewReader(rule)); err == nil || !strings.Contains(err.Error(), wanted) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

func TestTheFirstRuleWithATurnActsAndAllCount(t *testing.T) {
	rules, err := ParseRules(strings.NewReader(`{"do": "cut", "nth": 2, "times": 2}
		{"do": "half", "nth": 3, "times": -1}`))
	if err != nil {
		t.Fatal(err)
	}
	set, done := RuleSet{rules: rules}, ""
	for range 5 {
		if rule := set.Choose(Request{Verb: "get"}); rule != nil {
			done += rule.Do + " "
		} else {
			done += "- "
		}
	}
	if done != "- cut cut half half " {
		t.Fatal(done)
	}
}

func TestRequestsAreReadAsTheServerReadsThem(t *testing.T) {
	for target, wanted := range map[string]string{
		"GET /api/v1/pods":                 "list pods  ",
		"GET /api/v1/pods?watch=true":      "watch pods  ",
		"GET /api/v1/namespaces":           "list namespaces  ",
		"GET /api/v1/namespaces/a":         "get namespaces  a",
		"POST /api/v1/namespaces/a/events": "create events a ",
		"PATCH /apis/resource.k8s.io/v1/namespaces/a/resourceclaims/b/status": "patch resourceclaims/status a b",
		"DELETE /apis/tangram.dev/v1alpha1/namespaces/a/gangs":                "deletecollection gangs a ",
		"PUT /apis/coordination.k8s.io/v1/namespaces/a/leases/b":              "update leases a b",
		"GET /version": "get   ",
	} {
		method, path, _ := strings.Cut(target, " ")
		q := Classify(httptest.NewRequest(method, path, nil))
		if got := strings.Join([]string{q.Verb, q.Resource, q.Namespace, q.Name}, " "); got != wanted {
			t.Errorf("%s: %q", target, got)
		}
	}
}

func TestTheLogListsWritesAndFaults(t *testing.T) {
	both(t, `{"name": "lost", "do": "cut", "when": "after", "nth": 2}`, func(s *stage) {
		s.mustAsk()
		_, _, _ = s.ask()
		fault := s.faults(1)
		if fault.N != 2 || fault.Verb != "patch" || fault.Resource != "pods" || fault.Name != "a" ||
			fault.Server != 200 || fault.Did != "cut after" || fault.Rule != "lost" {
			s.Fatalf("%+v", fault)
		}
		for len(s.requests()) < 2 {
			time.Sleep(time.Millisecond)
		}
		records := s.requests()
		if records[0].Status != 200 || records[1].Status != 0 || records[1].Server != 200 {
			s.Fatalf("%+v", records)
		}
	})
}

// set puts other rules in force through the control handler, as whoever plays tests does.
func (s *stage) set(rules string) {
	s.Helper()
	answer := httptest.NewRecorder()
	s.proxy.Control().ServeHTTP(answer, httptest.NewRequest(http.MethodPut, "/rules", strings.NewReader(rules)))
	if answer.Code != http.StatusOK {
		s.Fatalf("%d %s", answer.Code, answer.Body)
	}
}

func TestControlSetsRulesTellsFaultsAndMarksTheLog(t *testing.T) {
	s := newStage(t, true, `{"do": "status", "code": 500, "times": -1}`)
	s.mustAsk()
	s.faults(1)
	s.set(`{"do": "status", "code": 503}`)
	if response, _ := s.mustAsk(); response.StatusCode != 503 {
		t.Fatal(response.StatusCode)
	}
	answer := httptest.NewRecorder()
	s.proxy.Control().ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/faults", nil))
	faults := []Record{}
	if err := json.Unmarshal(answer.Body.Bytes(), &faults); err != nil || len(faults) != 1 ||
		faults[0].Did != "status 503 before" {
		t.Fatalf("%s %v", answer.Body, err)
	}
	s.proxy.Control().ServeHTTP(answer, httptest.NewRequest(http.MethodPut, "/mark", strings.NewReader("here")))
	if !strings.Contains(s.log.text(), `"what":"mark"`) {
		t.Fatal(s.log.text())
	}
	refused := httptest.NewRecorder()
	s.proxy.Control().ServeHTTP(refused, httptest.NewRequest(http.MethodPut, "/rules", strings.NewReader("{}")))
	if refused.Code != http.StatusBadRequest {
		t.Fatal(refused.Code)
	}
}
