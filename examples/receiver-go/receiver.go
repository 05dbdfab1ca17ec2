// Receives Parley's webhooks, verifies each delivery with sdk/go/verify.go, acknowledges it and prints its event once, on one
// line. Uses only Go's standard library.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"parley"
)

const (
	maxBytes = 1 << 20
	maxIDs   = 10000
)

type event struct {
	ID   string          `json:"id"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// seenEvents has the last IDs, in memory. Keep them in a database if you run more than one process.
type seenEvents struct {
	mutex sync.Mutex
	known map[string]bool
	order []string
}

// add returns false if the ID was known.
func (seen *seenEvents) add(id string) bool {
	seen.mutex.Lock()
	defer seen.mutex.Unlock()
	if seen.known[id] {
		return false
	}
	seen.known[id] = true
	seen.order = append(seen.order, id)
	if len(seen.order) > maxIDs {
		delete(seen.known, seen.order[0])
		seen.order = seen.order[1:]
	}
	return true
}

func receive(secret string) http.HandlerFunc {
	seen := &seenEvents{known: map[string]bool{}}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.Header().Set("Allow", http.MethodPost)
			http.Error(w, "only POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBytes))
		if err != nil {
			var tooLarge *http.MaxBytesError
			if errors.As(err, &tooLarge) {
				http.Error(w, "the body is too large", http.StatusRequestEntityTooLarge)
			} else {
				http.Error(w, "the body is incomplete", http.StatusBadRequest)
			}
			return
		}
		if err := parley.Verify(body, r.Header.Get("Service-Signature"), secret); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		var e event
		var line bytes.Buffer
		if err := json.Unmarshal(body, &e); err != nil {
			http.Error(w, "the body is not an event", http.StatusBadRequest)
			return
		}
		if err := json.Compact(&line, e.Data); err != nil {
			http.Error(w, "the event has no data", http.StatusBadRequest)
			return
		}
		// The same event may arrive more than once.
		isNew := seen.add(e.ID)
		w.WriteHeader(http.StatusNoContent)
		// The response is sent when this function returns, so work that takes longer belongs in its own goroutine.
		if isNew {
			go fmt.Println(e.Type, e.ID, line.String())
		}
	}
}

func main() {
	secret := os.Getenv("PARLEY_WEBHOOK_SECRET")
	if secret == "" {
		log.Fatal(`Set PARLEY_WEBHOOK_SECRET to the "whsec_…" value that was shown when the endpoint was created.`)
	}
	address := net.JoinHostPort(setting("HOST", "127.0.0.1"), setting("PORT", "9000"))
	server := &http.Server{Addr: address, Handler: receive(secret), ReadTimeout: 30 * time.Second}
	fmt.Printf("Listening at http://%s/\n", address)
	log.Fatal(server.ListenAndServe())
}

func setting(name, fallback string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return fallback
}
