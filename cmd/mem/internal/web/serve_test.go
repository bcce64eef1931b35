package web

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
)

// TestCrowd has 64 clients read pages while another process, as hooks do, captures a session that grows, and this one compresses.
func TestCrowd(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)
	paths := []string{"/", p, p + "?s=" + sampleSession, s, s + "?view=messages", s + "/compress", p + "/history", p + "/next", "/search?q=price", api.Prefix + "/sessions/" + sampleSession + "/versions"}
	hooks, err := layers.Open(r.world.Store, state.Options{Now: r.world.Now, Rand: rand.Reader, LockTimeout: 20 * time.Second})
	must(t, err)
	defer func() { must(t, hooks.Close()) }()

	var readers, writers sync.WaitGroup
	var read atomic.Int64
	done := make(chan struct{})
	for i := range 64 {
		readers.Go(func() {
			for n := i; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				at := paths[n%len(paths)]
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.http.URL+at, nil)
				if err != nil {
					t.Error(err)
					return
				}
				req.AddCookie(r.cookie)
				body, status, err := whole(req)
				switch {
				case err != nil:
					t.Errorf("GET %s: %v", at, err)
				case status != http.StatusOK:
					t.Errorf("GET %s: %d %.200s", at, status, body)
				case !strings.HasSuffix(strings.TrimSpace(body), "</html>") && !strings.HasSuffix(strings.TrimSpace(body), "}"):
					t.Errorf("GET %s: torn: …%q", at, body[max(0, len(body)-80):])
				}
				read.Add(1)
			}
		})
	}
	const grown = "0a0a0a0a-0000-4000-8000-000000000001"
	writers.Go(func() {
		file := filepath.Join(r.world.Claude, "projects", "-home-dev-shop", grown+".jsonl")
		text := ""
		for n := range 20 {
			text += fmt.Sprintf(`{"uuid":"u%d","sessionId":"%s","cwd":"/home/dev/shop","timestamp":"2026-01-25T10:00:%02dZ","type":"user","message":{"role":"user","content":"grown %d"}}`+"\n", n, grown, n, n)
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Error(err)
				return
			}
			if _, err := capture.Add(t.Context(), hooks.DB, []capture.Source{capture.SourceOf(file)}, capture.AddOptions{Op: "add"}); err != nil {
				t.Errorf("capture %d: %v", n, err)
			}
		}
	})
	writers.Go(func() {
		for n := range 5 {
			r.api(http.MethodPost, "/sessions/"+sampleSession+"/versions", api.CompressionSettings{Ratio: 5 + n}, nil, 201)
		}
	})
	writers.Wait()
	close(done)
	readers.Wait()
	if n := read.Load(); n < 64 {
		t.Errorf("only %d pages were read", n)
	}
	if body := r.get("/s/" + grown); !strings.Contains(body, "grown 19") {
		t.Error("what another process captured last is not shown")
	}
	t.Logf("%d pages", read.Load())
}

// whole sends a request and reads the answer to its end.
func whole(req *http.Request) (string, int, error) {
	res, err := client().Do(req)
	if err != nil {
		return "", 0, err
	}
	defer res.Body.Close()
	var b strings.Builder
	_, err = io.Copy(&b, res.Body)
	return b.String(), res.StatusCode, err
}
