// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Rule says which requests are disturbed, and how; README.md has the table. Zero values mean the defaults.
type Rule struct {
	Name string `json:"name"` // in the log; by default what it does

	Verb     string `json:"verb"`     // regular expressions; verb and resource match as a whole, path anywhere in path?query
	Resource string `json:"resource"` //
	Path     string `json:"path"`     //
	Body     string `json:"body"`     // anywhere in the body
	Nth      int    `json:"nth"`      // the first matching request that is disturbed; 1 is the first
	Times    int    `json:"times"`    // how many from there on; 1 by default, -1 for all

	Do         string `json:"do"`
	When       string `json:"when"` // before (default), after: the server has applied it, late: see stop
	Code       int    `json:"code"`
	RetryAfter int    `json:"retryAfter"` // seconds
	How        string `json:"how"`        // of a cut: connection (default) or stream
	Ms         int    `json:"ms"`
	Bytes      int    `json:"bytes"`
	Event      int    `json:"event"` // of a watch, not counting bookmarks; 1 is the first, and the default
	Signal     string `json:"signal"`
	Pid        string `json:"pid"` // file that holds the process id

	Seed    uint64  `json:"seed"`    // of random
	Percent float64 `json:"percent"` // of random: how many of the matching requests

	verb, resource, path, body *regexp.Regexp
	seen                 int
	ordinals             map[string]int // of random: how many requests of a kind there were
}

// action describes one value of "do": the points in time it knows (the first is the default), and what else it needs.
type action struct {
	when  []string
	watch bool // only watches
	check func(*Rule) error
}

var actions = map[string]action{
	"status":          {when: []string{"before", "after"}, check: checkStatus},
	"cut":             {when: []string{"before", "after"}, check: checkCut},
	"half":            {when: []string{"after"}, check: checkCut},
	"delay":           {when: []string{"before", "after"}, check: needMs},
	"slow":            {when: []string{"after"}, check: needMs},
	"goaway":          {when: []string{"after"}},
	"stop":            {when: []string{"before", "after", "late"}, check: checkStop},
	"watch-half":      {when: []string{"after"}, watch: true, check: checkCut},
	"watch-duplicate": {when: []string{"after"}, watch: true},
	"watch-withhold":  {when: []string{"after"}, watch: true, check: checkCut},
	"watch-gone":      {when: []string{"after"}, watch: true},
	"random":          {when: []string{"before"}, check: checkRandom},
}

func checkStatus(r *Rule) error {
	if r.Code < 400 || r.Code > 599 {
		return fmt.Errorf("code: an HTTP error from 400 to 599 is needed, not %d", r.Code)
	}
	return nil
}

func checkCut(r *Rule) error {
	if r.How == "" {
		r.How = "connection"
	}
	if r.How != "connection" && r.How != "stream" {
		return fmt.Errorf("how: connection or stream, not %q", r.How)
	}
	return nil
}

func needMs(r *Rule) error {
	if r.Ms <= 0 {
		return fmt.Errorf("ms: a number of milliseconds is needed")
	}
	return nil
}

func checkStop(r *Rule) error {
	switch {
	case r.Signal != "KILL" && r.Signal != "STOP":
		return fmt.Errorf("signal: KILL or STOP, not %q", r.Signal)
	case r.Signal == "STOP" && r.Ms <= 0:
		return fmt.Errorf("ms: a stopped process needs a time after which it goes on")
	case r.When == "late" && r.Ms <= 0:
		return fmt.Errorf("ms: how late the request reaches the server is needed")
	case r.Pid == "":
		return fmt.Errorf("pid: the file that holds the process id is needed")
	}
	return nil
}

func checkRandom(r *Rule) error {
	if r.Percent <= 0 || r.Percent > 100 {
		return fmt.Errorf("percent: more than 0 and at most 100, not %v", r.Percent)
	}
	r.ordinals = map[string]int{}
	return nil
}

// prepare fills in defaults and refuses what makes no sense.
func (r *Rule) prepare() error {
	act, known := actions[r.Do]
	if !known {
		names := []string{}
		for name := range actions {
			names = append(names, name)
		}
		slices.Sort(names)
		return fmt.Errorf("do: %q is unknown; there are %s", r.Do, strings.Join(names, ", "))
	}
	if r.When == "" {
		r.When = act.when[0]
	}
	if !slices.Contains(act.when, r.When) {
		return fmt.Errorf("when: %s knows %s, not %q", r.Do, strings.Join(act.when, ", "), r.When)
	}
	if act.check != nil {
		if err := act.check(r); err != nil {
			return err
		}
	}
	for name, value := range map[string]int{"nth": r.Nth, "ms": r.Ms, "bytes": r.Bytes, "event": r.Event,
		"retryAfter": r.RetryAfter} {
		if value < 0 {
			return fmt.Errorf("%s: %d is negative", name, value)
		}
	}
	if r.Times < -1 {
		return fmt.Errorf("times: a count, or -1 for all, not %d", r.Times)
	}
	r.Nth = max(r.Nth, 1)
	r.Event = max(r.Event, 1)
	if r.Times == 0 {
		r.Times = 1
	}
	if r.Do == "random" {
		r.Times = -1
	}
	if r.Name == "" {
		r.Name = r.Do
	}
	return r.compile(act)
}

func (r *Rule) compile(act action) error {
	if act.watch && r.Verb == "" {
		r.Verb = "watch"
	}
	for _, field := range []struct {
		name, text string
		whole      bool
		to         **regexp.Regexp
	}{{"verb", r.Verb, true, &r.verb}, {"resource", r.Resource, true, &r.resource}, {"path", r.Path, false, &r.path},
		{"body", r.Body, false, &r.body}} {
		text := field.text
		if text == "" {
			continue
		}
		if field.whole {
			text = "^(?:" + text + ")$"
		}
		compiled, err := regexp.Compile(text)
		if err != nil {
			return fmt.Errorf("%s: %w", field.name, err)
		}
		*field.to = compiled
	}
	return nil
}

// decode takes one JSON object without fields that it does not know.
func decode(line []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if _, err := decoder.Token(); err != io.EOF {
		return fmt.Errorf("something follows the object")
	}
	return nil
}

// eachLine calls take for every line that is neither empty nor a comment (#).
func eachLine(source io.Reader, take func(line []byte) error) error {
	scanner := bufio.NewScanner(source)
	scanner.Buffer(nil, 1<<20)
	for number := 1; scanner.Scan(); number++ {
		line := bytes.TrimSpace(scanner.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		if err := take(line); err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	return scanner.Err()
}

// ParseRules reads one rule a line.
func ParseRules(source io.Reader) ([]*Rule, error) {
	rules := []*Rule{}
	err := eachLine(source, func(line []byte) error {
		rule := &Rule{}
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

func (r *Rule) matches(q Request) bool {
	return (r.verb == nil || r.verb.MatchString(q.Verb)) &&
		(r.resource == nil || r.resource.MatchString(q.Resource)) &&
		(r.path == nil || r.path.MatchString(q.Target)) &&
		(r.body == nil || r.body.Match(q.Body)) &&
		(!actions[r.Do].watch || q.Verb == "watch")
}

// RuleSet is the rules in force. Every rule counts the requests that match it; of those that want to act on a request
// the first in the file does.
type RuleSet struct {
	mutex sync.Mutex
	rules []*Rule
}

// Replace puts other rules in force; they begin to count at this moment.
func (s *RuleSet) Replace(rules []*Rule) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.rules = rules
}

// Choose counts a request and returns the rule that disturbs it, or nil.
func (s *RuleSet) Choose(q Request) *Rule {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var chosen *Rule
	for _, rule := range s.rules {
		if !rule.matches(q) {
			continue
		}
		rule.seen++
		if chosen != nil || rule.seen < rule.Nth || (rule.Times >= 0 && rule.seen >= rule.Nth+rule.Times) {
			continue
		}
		if rule.Do == "random" {
			chosen = rule.draw(q)
		} else {
			chosen = rule
		}
	}
	return chosen
}
