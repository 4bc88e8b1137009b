// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
)

// Request says what an HTTP request means to an API server, in the words of its authorizer.
type Request struct {
	Verb      string // get, list, watch, create, update, patch, delete, deletecollection, or the method in small letters
	Resource  string // "pods", "resourceclaims/status"; empty for what is no resource (/version, /healthz)
	Namespace string
	Name      string
	Target    string // path and query as sent
	Body      []byte // added by who has read it
}

// methodVerbs: the verb of a method on a collection and on a single object.
var methodVerbs = map[string][2]string{
	http.MethodGet:    {"list", "get"},
	http.MethodHead:   {"list", "get"},
	http.MethodPost:   {"create", "create"},
	http.MethodPut:    {"update", "update"},
	http.MethodPatch:  {"patch", "patch"},
	http.MethodDelete: {"deletecollection", "delete"},
}

// Classify reads method, path and query as the API server does (apiserver/pkg/endpoints/request, RequestInfo).
func Classify(r *http.Request) Request {
	q := Request{Verb: strings.ToLower(r.Method), Target: r.URL.RequestURI()}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case parts[0] == "api" && len(parts) > 2:
		parts = parts[2:]
	case parts[0] == "apis" && len(parts) > 3:
		parts = parts[3:]
	default:
		return q
	}
	if parts[0] == "namespaces" && len(parts) > 2 {
		q.Namespace = parts[1]
		parts = parts[2:]
	}
	q.Resource = parts[0]
	single := 0
	if len(parts) > 1 {
		q.Name = parts[1]
		single = 1
	}
	if len(parts) > 2 {
		q.Resource += "/" + strings.Join(parts[2:], "/")
	}
	if verbs, known := methodVerbs[r.Method]; known {
		q.Verb = verbs[single]
	}
	if watch := r.URL.Query().Get("watch"); r.Method == http.MethodGet && (watch == "1" || watch == "true") {
		q.Verb = "watch"
	}
	return q
}

// Writes tells whether the request changes something.
func (q Request) Writes() bool {
	switch q.Verb {
	case "get", "list", "watch", "head", "options":
		return false
	}
	return true
}
