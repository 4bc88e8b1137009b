// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
)

// Control is an HTTP handler for whoever plays the tests: other rules, and what has happened since they were set.
func (p *Proxy) Control() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("PUT /rules", func(w http.ResponseWriter, r *http.Request) {
		rules, err := ParseRules(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.rules.Replace(rules)
		p.log.forgetFaults()
		// The last request that they did not see: a log tells of a request when it has ended.
		_, _ = fmt.Fprintln(w, p.count.Load())
	})
	mux.HandleFunc("GET /faults", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(p.log.Faults())
	})
	mux.HandleFunc("PUT /mark", func(w http.ResponseWriter, r *http.Request) {
		text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 4096))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.log.Write(Record{What: "mark", At: p.log.now(), Text: string(text)})
	})
	return mux
}

// listenUnix replaces a socket that an earlier run left.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil && info.Mode()&os.ModeSocket != 0 {
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	return net.Listen("unix", path)
}
