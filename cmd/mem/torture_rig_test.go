package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A rig is a store and a way to run mem on it. Its methods may be called from several goroutines at
// once, but for those that end the test.
type rig struct {
	t     testing.TB
	bin   string
	dir   string // the user's home
	store string
}

// newRig makes an empty store.
func newRig(t testing.TB, bin, dir string) *rig {
	t.Helper()
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{t: t, bin: bin, dir: dir, store: filepath.Join(dir, "store")}
	r.ok("init")
	return r
}

// A result is how a command ended. A killed one has the code -1.
type result struct {
	args           []string
	code           int
	stdout, stderr string
}

func (r result) String() string {
	return fmt.Sprintf("mem %s: exit %d\nstdout: %.2000s\nstderr: %.2000s", strings.Join(r.args, " "), r.code, r.stdout, r.stderr)
}

func (r *rig) environ() []string {
	return []string{
		"HOME=" + r.dir, "MEM_DIR=" + r.store, "CLAUDE_CONFIG_DIR=" + filepath.Join(r.dir, "claude"), "PATH=" + os.Getenv("PATH"),
		"TMPDIR=" + os.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C", "NO_COLOR=1",
	}
}

// mem runs a command to its end.
func (r *rig) mem(args ...string) result { return r.kill(0, args...) }

// kill runs a command and kills it after a time, unless that is 0.
func (r *rig) kill(after time.Duration, args ...string) result {
	return r.run(after, append([]string{r.bin}, args...))
}

func (r *rig) run(after time.Duration, argv []string) result {
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = r.dir, r.environ()
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Start()
	if err == nil {
		if after > 0 {
			timer := time.AfterFunc(after, func() { cmd.Process.Kill() }) // it may have ended before
			defer timer.Stop()
		}
		err = cmd.Wait()
	}
	res := result{args: argv[1:], stdout: out.String(), stderr: errs.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		res.code = exit.ExitCode()
	case err != nil:
		res.code, res.stderr = -2, err.Error()
	}
	return res
}

// ok runs a command that must succeed and returns what it prints.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	res := r.mem(args...)
	if res.code != 0 {
		r.t.Fatal(res)
	}
	return res.stdout
}

// git runs system git on one of the two repositories; it must succeed.
func (r *rig) git(repo string, args ...string) string {
	r.t.Helper()
	res := r.run(0, append([]string{"git", "-C", filepath.Join(r.store, repo)}, args...))
	if res.code != 0 {
		r.t.Fatalf("git in %s: %s", repo, res)
	}
	return res.stdout
}

// fsck checks that the store is clean without any repair.
func (r *rig) fsck(when string) {
	r.t.Helper()
	if res := r.mem("fsck"); res.code != 0 {
		r.t.Fatalf("%s: %s", when, res)
	}
}

// gitFsck checks both repositories with system git.
func (r *rig) gitFsck() {
	r.t.Helper()
	for _, repo := range []string{"memory.git", "originals.git"} {
		r.git(repo, "fsck", "--strict", "--no-dangling")
	}
}

// original returns the bytes of a session as mem restores them.
func (r *rig) original(id string) ([]byte, error) {
	to := filepath.Join(r.dir, "restored-"+id)
	defer os.Remove(to) // the directory goes with the test
	if res := r.mem("checkout", id+":original", "-o", to); res.code != 0 {
		return nil, errors.New(res.String())
	}
	return os.ReadFile(to)
}

// same checks that a session restores to exactly want.
func (r *rig) same(id string, want []byte, when string) {
	r.t.Helper()
	got, err := r.original(id)
	if err != nil {
		r.t.Fatalf("%s: %v", when, err)
	}
	if !bytes.Equal(got, want) {
		r.t.Fatalf("%s: original of %s has %d bytes, want %d; first difference at %d", when, id, len(got), len(want), differ(got, want))
	}
}

func differ(a, b []byte) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// sessions returns the ids of the sessions that are in memory.
func (r *rig) sessions() map[string]bool {
	r.t.Helper()
	return ids(r.t, r.ok("ls", "--all-projects", "--json"), "sessions", "session", "id")
}

// ids collects, from the list called list in a JSON document, the first field of fields that is there.
func ids(t testing.TB, doc, list string, fields ...string) map[string]bool {
	t.Helper()
	var all map[string]json.RawMessage
	var items []map[string]any
	if err := json.Unmarshal([]byte(doc), &all); err != nil {
		t.Fatalf("%v in %.500s", err, doc)
	}
	if err := json.Unmarshal(all[list], &items); err != nil && all[list] != nil {
		t.Fatalf("%v in %.500s", err, doc)
	}
	found := map[string]bool{}
	for _, item := range items {
		for _, f := range fields {
			if id, ok := item[f].(string); ok {
				found[id] = true
				break
			}
		}
	}
	return found
}

// write writes a file below the user's home and returns its path.
func (r *rig) write(name string, content []byte) string {
	r.t.Helper()
	path := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// clone copies the store, so that a fault can be tried on the copy.
func (r *rig) clone(dir string) *rig {
	r.t.Helper()
	c := &rig{t: r.t, bin: r.bin, dir: dir, store: filepath.Join(dir, "store")}
	if err := errors.Join(os.RemoveAll(c.store), os.MkdirAll(dir, 0o700)); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", r.store, c.store).CombinedOutput(); err != nil {
		r.t.Fatalf("copy store: %v\n%s", err, out)
	}
	return c
}
