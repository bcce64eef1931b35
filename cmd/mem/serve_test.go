package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/cookiejar"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
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
	session := filepath.Join(t.TempDir(), "aaaa1111.jsonl")
	if err := os.WriteFile(session, []byte(serveSession), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := run(t.Context(), testEnv(t, store, io.Discard, io.Discard), []string{"add", "--quiet", session}); code != app.ExitDone {
		t.Fatalf("add: %d", code)
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
	testEngines(t, base, strings.TrimSpace(token.String()))
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

// serveSession is a session of two messages.
const serveSession = `{"type":"user","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","sessionId":"aaaa1111","cwd":"/w","message":{"role":"user","content":"Mend the price parser, which rounds twice."}}
{"type":"assistant","uuid":"u2","timestamp":"2026-01-15T10:01:00Z","sessionId":"aaaa1111","cwd":"/w","message":{"role":"assistant","id":"m1","content":[{"type":"text","text":"It rounds once now, to whole cents."}]}}
`

// testEngines asks for versions and compositions with engines and models: a fault of the request is answered as one, and
// a model that the engine does not need is recorded.
func testEngines(t *testing.T, base, token string) {
	t.Helper()
	send := func(path, body string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/api/memory/"+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
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
	part := func(settings string) string {
		return `{"name":"x","totalTokenBudget":2000,"components":[{"sessionId":"aaaa1111","recompressSettings":` + settings + `}]}`
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{`{"compactionRatio":2,"model":"claude-sonnet-5"}`, 201},
		{`{"compactionRatio":2,"model":"claude-sonnet-5","engine":"extract"}`, 200},
		{`{"compactionRatio":2,"engine":"nothing"}`, 400},
		{`{"compactionRatio":2,"engine":"../x"}`, 400},
		{`{"compactionRatio":2,"engine":"anthropic","model":"sonnet"}`, 400},
		{`{"compactionRatio":2,"engine":"openai"}`, 400},
		{`{"compactionRatio":2,"engine":"openai","model":"m"}`, 400},
		{`{"compactionRatio":2,"engine":"command"}`, 400},
		{`{"compactionRatio":2,"engine":"replay"}`, 422},
		{`{"compactionRatio":2,"engine":"claude","model":"--dangerous"}`, 400},
		{`{"compactionRatio":2,"model":"a b"}`, 400},
		{`{"compactionRatio":2,"model":"` + strings.Repeat("m", 300) + `"}`, 400},
		{`{"compactionRatio":2,"model":7}`, 400},
		{`{"compactionRatio":2,"model":"x\u0000"}`, 400},
	} {
		status, body := send("sessions/aaaa1111/versions", c.body)
		if status != c.want {
			t.Errorf("a version of %s: %d %.300s, want %d", c.body, status, body, c.want)
		}
		if status < 300 && !strings.Contains(body, `"requestedModel":"claude-sonnet-5"`) {
			t.Errorf("a version of %s: %s does not record the model", c.body, body)
		}
		want := c.want
		if want < 300 {
			want = http.StatusAccepted
		}
		if status, body := send("projects/w/compositions", part(c.body)); status != want {
			t.Errorf("a composition of %s: %d %.300s, want %d", c.body, status, body, want)
		}
		if want == http.StatusAccepted {
			want = http.StatusOK
		}
		if status, body := send("sessions/aaaa1111/versions/preview", c.body); status != want {
			t.Errorf("a preview of %s: %d %.300s, want %d", c.body, status, body, want)
		}
	}
}

// TestServeOpen opens the address in a program that stands for the browser: its command line has no token, because other
// users can read it, and the file that it names is the user's alone, signs in once, and is gone when the server ends.
func TestServeOpen(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the program that opens an address has another name")
	}
	dir := t.TempDir()
	store := filepath.Join(dir, "memory")
	seen := filepath.Join(dir, "seen")
	stub := "#!/bin/sh\necho \"$@\" >" + seen + ".tmp && mv " + seen + ".tmp " + seen + "\n"
	if err := os.WriteFile(filepath.Join(dir, "xdg-open"), []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	if code := run(t.Context(), testEnv(t, store, io.Discard, io.Discard), []string{"init", "-q"}); code != app.ExitDone {
		t.Fatalf("init: %d", code)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, testEnv(t, store, io.Discard, io.Discard), []string{"serve", "--open"}) }()
	var line []byte
	for deadline := time.Now().Add(20 * time.Second); len(line) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no browser was started")
		}
		line, _ = os.ReadFile(seen) // it may not be there yet
	}
	file := strings.TrimSpace(string(line))
	if strings.Contains(file, "token") || strings.Contains(file, "http") {
		t.Errorf("the command line has %q", file)
	}
	fi, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	if fi.Mode().Perm() != 0o600 {
		t.Errorf("%s has the mode %o", file, fi.Mode().Perm())
	}
	page, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://127\.0\.0\.1:[0-9]+/\?token=[0-9a-f]{64}`).FindString(string(page))
	for _, want := range []int{http.StatusSeeOther, http.StatusUnauthorized} {
		c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		res, err := c.Get(address)
		if err != nil {
			t.Fatal(err)
		}
		if res.Body.Close(); res.StatusCode != want {
			t.Errorf("the address gives %d, want %d", res.StatusCode, want)
		}
	}
	interrupt()
	<-ended
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%s is still there: %v", file, err)
	}
}
