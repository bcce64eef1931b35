package api

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"
	"sync"
	"time"
)

// pollInterval is the interval at which changes by other processes are looked for, while there are listeners.
const pollInterval = time.Second

// Events notifies listeners of changes. One watcher looks for changes by other processes; it pauses without listeners.
type Events struct {
	store string
	quit  <-chan struct{}

	mu        sync.Mutex
	listeners map[chan event]bool
	watching  bool
	seen      string // the last fingerprint
}

// An event is one message of the stream.
type event struct{ kind, data string }

func newEvents(store string, quit <-chan struct{}) *Events {
	return &Events{store: store, quit: quit, listeners: map[chan event]bool{}}
}

// send notifies all listeners. A slow listener misses events, which only say that there is new data to fetch.
func (e *Events) send(kind string, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		return // cannot happen: these are our own structs
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for l := range e.listeners {
		select {
		case l <- event{kind, string(data)}:
		default:
		}
	}
}

// Changed notifies listeners that this server has changed the memory.
func (e *Events) Changed() {
	e.mu.Lock()
	e.seen = e.fingerprint()
	e.mu.Unlock()
	e.send("memory", struct{}{})
}

func (e *Events) listen() chan event {
	l := make(chan event, 16)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listeners[l] = true
	if !e.watching {
		e.watching = true
		go e.watch()
	}
	return l
}

func (e *Events) leave(l chan event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.listeners, l)
}

// watch runs until there are no listeners. Changes within one interval are one event. The store is looked at under the lock: a look
// from before a change that [Events.Changed] has sent would be sent as another one.
func (e *Events) watch() {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	e.mu.Lock()
	e.seen = e.fingerprint()
	e.mu.Unlock()
	for {
		select {
		case <-e.quit:
			return
		case <-tick.C:
		}
		e.mu.Lock()
		if len(e.listeners) == 0 {
			e.watching = false
			e.mu.Unlock()
			return
		}
		fp := e.fingerprint()
		changed := fp != e.seen
		e.seen = fp
		e.mu.Unlock()
		if changed {
			e.send("memory", struct{}{})
		}
	}
}

// fingerprint changes when a ref of the memory or a setting changes.
func (e *Events) fingerprint() string {
	out := ""
	add := func(name string, d fs.DirEntry) {
		if fi, err := d.Info(); err == nil {
			out += fmt.Sprintf("%s %d %d\n", name, fi.Size(), fi.ModTime().UnixNano())
		}
	}
	for _, name := range []string{"config.json", filepath.Join("memory.git", "packed-refs"),
		filepath.Join("memory.git", "refs")} {
		_ = filepath.WalkDir(filepath.Join(e.store, name), func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				add(name, d)
			}
			return nil // unreadable: no change
		})
	}
	return out
}

// apiEvents writes events until the client or the server ends.
func (s *API) apiEvents(c *call) (reply, error) {
	flush := http.NewResponseController(c.w)
	l := s.Events.listen()
	defer s.Events.leave(l)
	c.w.Header().Set("Content-Type", "text/event-stream")
	if _, err := fmt.Fprint(c.w, "retry: 2000\n\n"); err != nil {
		return reply{}, nil // the client has closed the connection
	}
	keepAlive := time.NewTicker(20 * time.Second)
	defer keepAlive.Stop()
	for {
		if err := flush.Flush(); err != nil {
			return reply{}, nil // as above
		}
		var err error
		select {
		case <-c.Done():
			return reply{}, nil
		case <-s.quit:
			return reply{}, nil
		case <-keepAlive.C:
			_, err = fmt.Fprint(c.w, ": still here\n\n")
		case ev := <-l:
			_, err = fmt.Fprintf(c.w, "event: %s\ndata: %s\n\n", ev.kind, ev.data)
		}
		if err != nil {
			return reply{}, nil // as above
		}
	}
}
