// SPDX-License-Identifier: Apache-2.0

// churn plays an API server for one kind, ResourceClaims, that change all the time: lists in pages of one snapshot, watches with
// bookmarks, 410 for what is too old. It serves TLS, wants a bearer token, and tells on /freeze, when it has stopped changing
// anything, what there is.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"strconv"
	"time"
)

const (
	collection = "/apis/resource.k8s.io/v1/resourceclaims"
	token      = "soak"
)

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "HOST:PORT")
	certificate := flag.String("cert", "", "certificate (PEM)")
	key := flag.String("key", "", "its key (PEM)")
	objects := flag.Int("objects", 10000, "how many objects there are, about")
	rate := flag.Int("rate", 200, "changes a second")
	seed := flag.Uint64("seed", 1, "other changes for another seed")
	ready := flag.String("ready", "", "file that gets the port when the server listens")
	flag.Parse()

	world := newWorld(*objects, *seed)
	socket, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal("churn: ", err)
	}
	if err := os.WriteFile(*ready, []byte(fmt.Sprint(socket.Addr().(*net.TCPAddr).Port)), 0o600); err != nil {
		log.Fatal("churn: ", err)
	}
	go world.churn(*rate)
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+collection, authorized(world.get))
	mux.HandleFunc("POST /freeze", authorized(world.freeze))
	log.Fatal("churn: ", http.ServeTLS(socket, mux, *certificate, *key))
}

func authorized(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			refuse(w, http.StatusUnauthorized, "Unauthorized", "no token, or another one")
			return
		}
		next(w, r)
	}
}

func status(code int, reason, message string) []byte {
	out, err := json.Marshal(map[string]any{
		"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Failure", "code": code, "reason": reason, "message": message,
	})
	if err != nil {
		panic(err)
	}
	return out
}

func refuse(w http.ResponseWriter, code int, reason, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	w.Write(status(code, reason, message))
}

func (w *world) get(out http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	out.Header().Set("Content-Type", "application/json")
	if query.Get("watch") == "" {
		w.list(out, query.Get("continue"), query.Get("limit"))
		return
	}
	from, err := strconv.ParseUint(query.Get("resourceVersion"), 10, 64)
	if err != nil {
		refuse(out, http.StatusBadRequest, "BadRequest", "resourceVersion: "+err.Error())
		return
	}
	seconds, err := strconv.Atoi(query.Get("timeoutSeconds"))
	if err != nil {
		seconds = 300
	}
	w.watch(out, r, from, time.Duration(seconds)*time.Second)
}

// list: a page of a snapshot. The token of the next one is "SNAPSHOT.OFFSET".
func (w *world) list(out http.ResponseWriter, next, limit string) {
	var id, offset int
	s, known := (*snapshot)(nil), false
	if next == "" {
		id, s = w.take()
		known = true
	} else if _, err := fmt.Sscanf(next, "%d.%d", &id, &offset); err == nil {
		s, known = w.snapshot(id)
	}
	if !known || offset > len(s.objects) {
		refuse(out, http.StatusGone, "Expired", "the continue token is too old")
		return
	}
	size, err := strconv.Atoi(limit)
	if err != nil || size <= 0 {
		size = len(s.objects)
	}
	end := min(offset+size, len(s.objects))
	fmt.Fprintf(out, `{"kind":"ResourceClaimList","apiVersion":"resource.k8s.io/v1","metadata":{"resourceVersion":"%d"`, s.version)
	if end < len(s.objects) {
		fmt.Fprintf(out, `,"continue":"%d.%d"`, id, end)
	}
	fmt.Fprint(out, `},"items":[`)
	for i := offset; i < end; i++ {
		if i > offset {
			out.Write([]byte(","))
		}
		out.Write(s.objects[i])
	}
	fmt.Fprint(out, "]}")
}

const bookmarkEvery = time.Second

func (w *world) watch(out http.ResponseWriter, r *http.Request, from uint64, lifetime time.Duration) {
	end := time.After(lifetime)
	bookmark := time.NewTicker(bookmarkEvery)
	defer bookmark.Stop()
	flusher := out.(http.Flusher)
	flusher.Flush()
	for {
		events, now, changed, ok := w.since(from)
		if !ok {
			fmt.Fprintf(out, "{\"type\":\"ERROR\",\"object\":%s}\n", status(http.StatusGone, "Expired", "too old resource version"))
			return
		}
		for _, e := range events {
			fmt.Fprintf(out, "{\"type\":%q,\"object\":%s}\n", e.kind, e.object)
		}
		from = now
		flusher.Flush()
		select {
		case <-changed:
		case <-bookmark.C:
			fmt.Fprintf(out, "{\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"ResourceClaim\",\"apiVersion\":\"resource.k8s.io/v1\",\"metadata\":{\"resourceVersion\":\"%d\"}}}\n", from)
			flusher.Flush()
		case <-end:
			return
		case <-r.Context().Done():
			return
		}
	}
}

// freeze: nothing changes any more; "VERSION OBJECTS DIGEST" of what there is.
func (w *world) freeze(out http.ResponseWriter, _ *http.Request) {
	version, objects, digest := w.stop()
	fmt.Fprintf(out, "%d %d %d\n", version, objects, digest)
}
