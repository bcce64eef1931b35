package main

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// travelBytes is how many bytes of incompressible transcripts make a history of 500 MB.
const travelBytes = 670e6

// barTravel pushes, clones and pushes again a history of 500 MB, against git with the same objects, to a directory and over http.
func (b *bench) barTravel() ([]row, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, err
	}
	if err := b.travelStore(); err != nil {
		return nil, err
	}
	backend, err := b.output(git, "--exec-path")
	if err != nil {
		return nil, err
	}
	server := httptest.NewServer(private(&cgi.Handler{Path: strings.TrimSpace(string(backend)) + "/git-http-backend",
		Env: []string{"GIT_PROJECT_ROOT=" + b.tmp, "GIT_HTTP_EXPORT_ALL=1"}, Stderr: os.Stderr}))
	defer server.Close()
	helper := []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=credential.helper", "GIT_CONFIG_VALUE_0=!f() { echo username=me; echo password=pw; }; f", "GIT_TERMINAL_PROMPT=0"}
	var rows []row
	for _, way := range []struct{ name, base string }{{"directory", b.tmp}, {"http", server.URL}} {
		got, err := b.travel(git, way.name, way.base, helper)
		rows = append(rows, got...)
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// private lets those in who know the password.
func private(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pw, _ := r.BasicAuth(); pw != "pw" {
			w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// travelStore makes a memory of sessions that do not get smaller.
func (b *bench) travelStore() error {
	if err := b.initStore(); err != nil {
		return err
	}
	dir := filepath.Join(b.tmp, "random", "projects", "-home-dev-big")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	const files = 100
	for i := range files {
		if err := randomSession(dir, i, travelBytes/files); err != nil {
			return err
		}
	}
	return b.once(b.mem, "-c", "redact.rules=off", "-q", "import", "--no-l1", filepath.Join(b.tmp, "random"))
}

func randomSession(dir string, i int, size int) error {
	id := fmt.Sprintf("%08x-0000-4000-8000-%012x", i+1, i+1)
	f, err := os.Create(filepath.Join(dir, id+".jsonl"))
	if err != nil {
		return err
	}
	defer f.Close()
	raw := make([]byte, 3000)
	for n, done := 0, 0; done < size; n++ {
		if _, err := rand.Read(raw); err != nil {
			return err
		}
		k, err := fmt.Fprintf(f, `{"type":"user","uuid":"%d-%d","timestamp":"2026-01-15T10:00:00Z","cwd":"/home/dev/big","sessionId":"%s","message":{"role":"user","content":"%s"}}`+"\n",
			i, n, id, base64.StdEncoding.EncodeToString(raw))
		if err != nil {
			return err
		}
		done += k
	}
	return f.Close()
}

// travel measures one way to reach a remote.
func (b *bench) travel(git, way, base string, env []string) ([]row, error) {
	store := b.store()
	bare := func(name string) func() error {
		return func() error {
			if err := os.RemoveAll(filepath.Join(b.tmp, name)); err != nil {
				return err
			}
			if err := b.once(git, "init", "-q", "--bare", filepath.Join(b.tmp, name)); err != nil {
				return err
			}
			return b.once(git, "-C", filepath.Join(b.tmp, name), "config", "http.receivepack", "true")
		}
	}
	clean := func(name string) func() error {
		return func() error { return os.RemoveAll(filepath.Join(b.tmp, name)) }
	}
	remote := "r" + way
	if err := b.once(b.mem, "remote", "add", remote, base+"/ours.git"); err != nil {
		return nil, err
	}
	gitPush := &probe{name: "git push", prep: bare("theirs.git"), env: env, argv: []string{git, "-C", filepath.Join(store, "memory.git"), "-c", "http.postBuffer=1073741824", "push", "-q", base + "/theirs.git", "refs/heads/p/*:refs/heads/p/*"}}
	push := &probe{name: "mem push", prep: bare("ours.git"), env: env, argv: []string{b.mem, "push", "--all", "--yes", remote}}
	gitClone := &probe{name: "git clone", prep: clean("clone.git"), env: env, argv: []string{git, "clone", "-q", "--bare", "--no-local", base + "/theirs.git", filepath.Join(b.tmp, "clone.git")}}
	clone := &probe{name: "mem clone", prep: clean("clone"), env: env, argv: []string{b.mem, "--mem-dir", filepath.Join(b.tmp, "clone"), "clone", base + "/ours.git"}}
	if err := b.interleave(gitPush, push, gitClone, clone); err != nil {
		return nil, err
	}
	again := &probe{name: "mem push", env: env, argv: []string{b.mem, "push", "--all", "--yes", remote}, prep: func() error {
		dir := filepath.Join(b.tmp, "one")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		if err := randomSession(dir, 1000+int(os.Getpid()%1000)+len(remote)*1000, 200_000); err != nil {
			return err
		}
		files, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		if err != nil {
			return err
		}
		return b.once(append([]string{b.mem, "-q", "add"}, files...)...)
	}}
	if err := b.round(again); err != nil {
		return nil, err
	}
	corpus := "500 MB history, " + way
	d, least := atMost(1.3)
	rows := []row{ratio("travel", "mem push / git push", corpus, push, gitPush, d, least), ratio("travel", "mem clone / git clone", corpus, clone, gitClone, d, least)}
	for _, p := range []*probe{push, clone} {
		d, least := atMost(300)
		rows = append(rows, row{Bar: "travel", What: "peak memory of " + p.name, Corpus: corpus, Unit: "MB", Value: float64(p.rss) / 1e6, Demand: d, Least: least})
	}
	d, least = atMost(1000)
	return append(rows, row{Bar: "travel", What: "push after one more session", Corpus: corpus, Unit: "ms", Value: again.median(), Demand: d, Least: least}), nil
}
