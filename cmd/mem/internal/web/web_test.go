package web

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/doctor"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/hooks"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/version"
	"github.com/memvcs/mem/testdata"
)

// A rig is a server of a memory that holds the sample sessions, and two clients of it: a browser and a program.
type rig struct {
	t       testing.TB
	world   api.World
	server  *Server
	http    *httptest.Server
	cookie  *http.Cookie
	token   string
	project state.Project
	ids     []string // sessions, the newest first
}

// newRig starts a server. Change may alter its world before; extra are transcripts besides the sample, by session id.
func newRig(t testing.TB, change func(*api.World), extra map[string]string) *rig {
	t.Helper()
	dir := t.TempDir()
	claude := filepath.Join(dir, "claude")
	store := filepath.Join(dir, "memory")
	writeSample(t, claude, extra)
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	m, err := layers.Init(t.Context(), store, "desk", state.Options{Now: func() time.Time { return now }, Rand: rand.Reader, Caps: state.Caps{Tokens: -1, Micros: -1}})
	must(t, err)
	t.Cleanup(func() { must(t, m.Close()) })
	sources, err := capture.Sources(claude)
	must(t, err)
	_, err = capture.Add(t.Context(), m.DB, sources, capture.AddOptions{Op: "import"})
	must(t, err)
	all, err := trust.Projects(t.Context(), m.DB)
	must(t, err)
	p := all[0]
	for _, q := range all {
		if q.Name == "shop" {
			p = q
		}
	}
	env := &app.Env{Dir: dir, Now: func() time.Time { return now }, Rand: rand.Reader, Opt: app.Options{LockTimeout: -1},
		Executable: func() (string, error) { return "", errors.New("unknown") },
		Getenv: func(name string) string {
			return map[string]string{"MEM_DIR": store, "CLAUDE_CONFIG_DIR": claude}[name]
		}}
	w := api.World{
		Run: app.Run{Env: env, Memory: m, Scope: state.Scope{Project: p}}, Store: store, Claude: claude, Program: "mem",
		Engine: func(context.Context, state.Rev, string, string) (version.Summarizer, error) { return nil, nil },
		Examine: func(_ context.Context, fix bool) ([]doctor.Finding, error) {
			if fix {
				return []doctor.Finding{{Check: "permissions", Level: "fixed", What: "3 files private again"}}, nil
			}
			return []doctor.Finding{{Check: "program", Level: "ok", What: "mem"}, {Check: "permissions", Level: "fail", What: "others can read 3 files", Fix: "mem doctor --fix"}}, nil
		},
		Hooks: func() (hookcmd.Report, error) {
			return hookcmd.Report{
				Program: "/home/dev/go/bin/mem", Capture: true, Blocking: "off", Every: 20, Spool: 2,
				Files: []hookcmd.HooksInFile{{Scope: "user", File: "/home/dev/.claude/settings.json", State: "incomplete", Missing: []string{"Stop"},
					Problem: "hooks are missing", Fix: "mem hooks install --scope user"}},
				Runs: hooks.Timings(store),
				Log:  []string{"2026-01-30T10:00:00Z Stop 6ecd8c99 the store is locked"}, LogFile: "/home/dev/.claude-memory/cache/hooks.log",
			}, nil
		},
	}
	writeActivity(t, store, p, now)
	if change != nil {
		change(&w)
	}
	r := &rig{t: t, world: w, project: p}
	r.server, err = newServer(w)
	must(t, err)
	r.http = httptest.NewServer(r.server)
	t.Cleanup(func() {
		r.server.Close()
		r.http.CloseClientConnections()
		r.http.Close()
	})
	u, err := url.Parse(r.http.URL)
	must(t, err)
	port, err := strconv.Atoi(u.Port())
	must(t, err)
	r.server.At(port)
	r.signIn()
	r.token, err = addToken(store, "test", now, rand.Reader)
	must(t, err)
	st, err := trust.Outline(t.Context(), m.DB, p.ID)
	must(t, err)
	for _, s := range st.Recent() {
		r.ids = append(r.ids, s.ID)
	}
	return r
}

// writeActivity writes the logs of twelve runs of a hook, and of three hand-overs.
func writeActivity(t testing.TB, store string, p state.Project, now time.Time) {
	t.Helper()
	runs := strings.Repeat(fmt.Sprintf("%d Stop 8000 ok\n", now.Unix()), 11) + fmt.Sprintf("%d Stop 19000 failed\n", now.Unix())
	var handed []byte
	for i, session := range []string{"a", "b", "b"} {
		b, err := json.Marshal(hooks.Handover{Time: now, Session: session, Project: string(p.ID), Event: "SessionStart", Units: []int{2000, 2000, 100}[i]})
		must(t, err)
		handed = append(append(handed, b...), '\n')
	}
	for file, text := range map[string]string{hooks.RunsFile(store): runs, hooks.HandoverFile(store): string(handed)} {
		must(t, os.MkdirAll(filepath.Dir(file), 0o700))
		must(t, os.WriteFile(file, []byte(text), 0o600))
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func writeSample(t testing.TB, claude string, extra map[string]string) {
	t.Helper()
	write := func(name string, b []byte) {
		to := filepath.Join(claude, "projects", filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(to), 0o700))
		must(t, os.WriteFile(to, b, 0o600))
	}
	must(t, fs.WalkDir(testdata.Sample, testdata.SampleRoot, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := testdata.Sample.ReadFile(name)
		write(strings.TrimPrefix(name, testdata.SampleRoot+"/"), b)
		return err
	}))
	for id, body := range extra {
		write("-home-user-extra/"+id+".jsonl", []byte(body))
	}
}

// client follows no redirection.
func client() *http.Client {
	return &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// signIn exchanges a one-time token for the cookie.
func (r *rig) signIn() {
	r.t.Helper()
	res, err := client().Get(r.server.SignInURL())
	must(r.t, err)
	must(r.t, res.Body.Close())
	if res.StatusCode != http.StatusSeeOther || len(res.Cookies()) != 1 || strings.Contains(res.Header.Get("Location"), "token") {
		r.t.Fatalf("sign in: %d, %v", res.StatusCode, res.Header)
	}
	r.cookie = res.Cookies()[0]
}

// An answered is an answer that has been read.
type answered struct {
	status int
	header http.Header
	body   string
}

// do sends a request as the browser does; edit may change it.
func (r *rig) do(method, path, body string, edit func(*http.Request)) answered {
	r.t.Helper()
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.http.URL+path, strings.NewReader(body))
	must(r.t, err)
	req.AddCookie(r.cookie)
	if edit != nil {
		edit(req)
	}
	res, err := client().Do(req)
	must(r.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	must(r.t, err)
	if strings.Contains(string(b), "The sessions are being indexed") { // as the page does
		return r.do(method, path, body, edit)
	}
	return answered{res.StatusCode, res.Header, string(b)}
}

// get reads a page that must be there.
func (r *rig) get(path string) string {
	r.t.Helper()
	a := r.do(http.MethodGet, path, "", nil)
	if a.status != http.StatusOK {
		r.t.Fatalf("GET %s: %d %s", path, a.status, a.body)
	}
	return a.body
}

// post sends a form.
func (r *rig) post(path string, form url.Values) answered {
	r.t.Helper()
	return r.do(http.MethodPost, path, form.Encode(), func(q *http.Request) {
		q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		q.Header.Set("Origin", r.http.URL)
	})
}

// api calls an endpoint as a program does, and reads its answer into out, if that is not nil.
func (r *rig) api(method, path string, in, out any, want int) string {
	r.t.Helper()
	var body []byte
	if in != nil {
		var err error
		body, err = json.Marshal(in)
		must(r.t, err)
	}
	req, err := http.NewRequestWithContext(r.t.Context(), method, r.http.URL+api.Prefix+path, bytes.NewReader(body))
	must(r.t, err)
	req.Header.Set("Authorization", "Bearer "+r.token)
	res, err := client().Do(req)
	must(r.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	must(r.t, err)
	if res.StatusCode != want {
		r.t.Fatalf("%s %s: %d, want %d: %s", method, path, res.StatusCode, want, b)
	}
	if out != nil {
		must(r.t, json.Unmarshal(b, out))
	}
	return string(b)
}

func withCancel(t testing.TB) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}
