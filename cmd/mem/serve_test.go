package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/cookiejar"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

// TestServe runs "mem serve": the printed address shows a page, a token of "mem token add" opens the API, and an interrupt ends it.
func TestServe(t *testing.T) {
	t.Parallel()
	store := filepath.Join(t.TempDir(), "memory")
	if code := run(t.Context(), testEnv(t, store, io.Discard, io.Discard), []string{"init", "-q"}); code != app.ExitDone {
		t.Fatalf("init: %d", code)
	}
	var token strings.Builder
	if code := run(t.Context(), testEnv(t, store, &token, io.Discard), []string{"token", "add", "test"}); code != app.ExitDone {
		t.Fatalf("token: %d", code)
	}
	pipe, w := io.Pipe()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, testEnv(t, store, w, io.Discard), []string{"serve"}) }()
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimSpace(line)
	base, _, _ := strings.Cut(address, "/?token=")
	if !strings.HasPrefix(base, "http://127.0.0.1:") {
		t.Fatalf("the address is %s", address)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	get := func(c *http.Client, url, bearer string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bearer != "" {
			req.Header.Set("Authorization", "Bearer "+bearer)
		}
		res, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b)
	}
	if status, body := get(browser, address, ""); status != http.StatusOK || !strings.Contains(body, "<h1>Memory</h1>") {
		t.Errorf("the page: %d %.200s", status, body)
	}
	if status, body := get(browser, base+"/doctor?check=1", ""); status != http.StatusOK || !strings.Contains(body, "directories 0700, files 0600") ||
		!strings.Contains(body, "settings.local.json") {
		t.Errorf("the page of the doctor: %d %s", status, body)
	}
	if status, body := get(&http.Client{}, base+"/api/memory/projects", strings.TrimSpace(token.String())); status != http.StatusOK || !strings.Contains(body, `"projects"`) {
		t.Errorf("the API: %d %.200s", status, body)
	}
	if status, _ := get(&http.Client{}, base+"/api/memory/projects", ""); status != http.StatusUnauthorized {
		t.Errorf("the API without a token: %d", status)
	}
	interrupt()
	select {
	case code := <-ended:
		if code != app.ExitDone {
			t.Errorf("it ends with %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("an interrupt does not end it")
	}
}
