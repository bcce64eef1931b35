package main_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A rig is a store and a way to run mem on it. Its methods may be called from several goroutines at
// once, but for those that end the test.
type rig struct {
	*Store
	t testing.TB
}

type result = Result

// homeOf makes a directory for a test whose commands leave workers in the background. They may write while it goes, which
// t.TempDir would take for a failure.
func homeOf(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "mem-torture")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := RemoveAll(dir); err != nil {
			t.Logf("something is left: %v", err)
		}
	})
	return dir
}

// newRig makes an empty store.
func newRig(t testing.TB, bin, dir string) *rig {
	t.Helper()
	s, err := NewStore(t.Context(), bin, os.Getenv("PATH"), dir)
	if err != nil {
		t.Fatal(err)
	}
	return &rig{s, t}
}

// mem runs a command to its end.
func (r *rig) mem(args ...string) result { return r.kill(0, args...) }

// kill runs a command and kills it after a time, unless that is 0.
func (r *rig) kill(after time.Duration, args ...string) result {
	return r.Kill(r.t.Context(), after, args...)
}

// run runs another program to its end.
func (r *rig) run(argv ...string) result {
	return r.Run(r.t.Context(), 0, "", argv)
}

// ok runs a command that must succeed and returns what it prints.
func (r *rig) ok(args ...string) string {
	r.t.Helper()
	res := r.mem(args...)
	if res.Code != 0 {
		r.t.Fatal(res)
	}
	return res.Stdout
}

// fsck checks that the store is clean without any repair.
func (r *rig) fsck(when string) {
	r.t.Helper()
	if res := r.mem("fsck"); res.Code != 0 {
		r.t.Fatalf("%s: %s", when, res)
	}
}

// gitFsck checks both repositories with system git.
func (r *rig) gitFsck() {
	r.t.Helper()
	if err := r.GitFsck(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
}

// original returns the bytes of a session as mem restores them.
func (r *rig) original(id string) ([]byte, error) {
	return r.Original(r.t.Context(), id)
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

// write writes a file below the user's home and returns its path.
func (r *rig) write(name string, content []byte) string {
	r.t.Helper()
	path := filepath.Join(r.Home, name)
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
	s := *r.Store
	s.Home, s.Dir = dir, filepath.Join(dir, "store")
	c := &rig{&s, r.t}
	if err := errors.Join(os.RemoveAll(c.Dir), os.MkdirAll(dir, 0o700)); err != nil {
		r.t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", r.Dir, c.Dir).CombinedOutput(); err != nil {
		r.t.Fatalf("copy store: %v\n%s", err, out)
	}
	return c
}

// A Store is a memory in a home of its own. It is safe for concurrent use.
type Store struct {
	Bin  string
	Home string
	Dir  string // the memory
	Path string // the PATH of the programs
}

// NewStore creates an empty memory below home.
func NewStore(ctx context.Context, bin, path, home string) (*Store, error) {
	home, err := filepath.EvalSymlinks(home)
	if err != nil {
		return nil, err
	}
	s := &Store{Bin: bin, Home: home, Dir: filepath.Join(home, "store"), Path: path}
	return s, s.Do(ctx, "init")
}

// A Result is the outcome of a program. The code is -1 if it was killed, -2 if it could not be started.
type Result struct {
	Args           []string
	Code           int
	Stdout, Stderr string
}

func (r Result) String() string {
	return fmt.Sprintf("mem %s: exit %d\nstdout: %.2000s\nstderr: %.2000s", strings.Join(r.Args, " "), r.Code,
		r.Stdout, r.Stderr)
}

// Environ returns the environment of the programs that the store runs.
func (s *Store) Environ() []string {
	return []string{
		"HOME=" + s.Home, "USERPROFILE=" + s.Home, "MEM_DIR=" + s.Dir, "CLAUDE_CONFIG_DIR=" + filepath.Join(s.Home, "claude"),
		"PATH=" + s.Path,
		"TMPDIR=" + s.Home, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "LC_ALL=C", "NO_COLOR=1",
		"CLAUDE_CODE_ENTRYPOINT=sdk-cli",
	}
}

// Mem runs a command to its end.
func (s *Store) Mem(ctx context.Context, args ...string) Result { return s.Kill(ctx, 0, args...) }

// Kill runs a command and kills it after a time; 0 means never.
func (s *Store) Kill(ctx context.Context, after time.Duration, args ...string) Result {
	return s.Run(ctx, after, "", append([]string{s.Bin}, args...))
}

// Run runs any program in the directory of the store, with the file stdin as its input unless that is "".
func (s *Store) Run(ctx context.Context, after time.Duration, stdin string, argv []string) Result {
	res := Result{Args: argv[1:]}
	p, err := s.start(ctx, stdin, argv)
	if err != nil {
		res.Code, res.Stderr = -2, err.Error()
		return res
	}
	if after == 0 {
		return p.wait()
	}
	var killed atomic.Bool
	defer time.AfterFunc(after, func() { killed.Store(p.cmd.Process.Kill() == nil) }).Stop()
	res = p.wait()
	if runtime.GOOS == "windows" && killed.Load() && res.Code == 1 { // the status of a killed program there
		res.Code = -1
	}
	return res
}

// A process is a running program.
type process struct {
	cmd       *exec.Cmd
	in        *os.File
	out, errs bytes.Buffer
}

func (s *Store) start(ctx context.Context, stdin string, argv []string) (*process, error) {
	p := &process{cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	p.cmd.Dir, p.cmd.Env = s.Home, append(s.Environ(), "GOGC=400") // see setupScript
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.errs
	// a concurrently started program may inherit the pipes
	p.cmd.WaitDelay = 3 * time.Minute
	if stdin != "" {
		var err error
		if p.in, err = os.Open(stdin); err != nil {
			return nil, err
		}
		p.cmd.Stdin = p.in
	}
	if err := p.cmd.Start(); err != nil {
		if p.in != nil {
			p.in.Close()
		}
		return nil, err
	}
	return p, nil
}

func (p *process) wait() Result {
	err := p.cmd.Wait()
	if p.in != nil {
		p.in.Close()
	}
	res := Result{Args: p.cmd.Args[1:], Stdout: p.out.String(), Stderr: p.errs.String()}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		res.Code = exit.ExitCode()
	case err != nil:
		res.Code, res.Stderr = -2, res.Stderr+err.Error()
	}
	return res
}

// Do runs a command that must succeed.
func (s *Store) Do(ctx context.Context, args ...string) error {
	_, err := s.Output(ctx, args...)
	return err
}

// Output runs a command that must succeed and returns what it prints.
func (s *Store) Output(ctx context.Context, args ...string) (string, error) {
	res := s.Mem(ctx, args...)
	if res.Code == 0 {
		return res.Stdout, nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return "", brokenf("%s", res)
}

// Original returns the bytes of a session as the program restores them.
func (s *Store) Original(ctx context.Context, id string) ([]byte, error) {
	to := filepath.Join(s.Home, "restored-"+id)
	defer os.Remove(to) // if it stays, it is removed with the directory of the proof
	if err := s.Do(ctx, "checkout", "--force", id+":original", "-o", to); err != nil {
		return nil, err
	}
	return os.ReadFile(to)
}

// Read returns the bytes of a session, restored in this process, which is faster than running the program.
func (s *Store) Read(ctx context.Context, now func() time.Time, id string) (content []byte, err error) {
	m, err := s.memory(now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, m.Close()) }()
	projects, err := trust.Projects(ctx, m.DB)
	if err != nil {
		return nil, err
	}
	for _, p := range projects {
		st, err := trust.Outline(ctx, m.DB, p.ID)
		if err != nil {
			return nil, err
		}
		for _, session := range st.Sessions {
			if session.ID == id {
				var b bytes.Buffer
				err := checkout.Write(ctx, m.DB, state.Rev{Kind: state.IsOriginal, Project: p, Session: session}, checkout.JSONL, &b)
				return b.Bytes(), err
			}
		}
	}
	return nil, fmt.Errorf("session %s is not there", id)
}

// Drain drains the spool of the hooks until it is empty.
func (s *Store) Drain(ctx context.Context, uptime func() time.Duration) error {
	for end := uptime() + 5*time.Minute; ; {
		res := s.Mem(ctx, "hook", "work")
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if res.Code != 0 || res.Stderr != "" {
			return brokenf("%s", res)
		}
		notes, err := s.notes()
		if err != nil || len(notes) == 0 {
			return err
		}
		if uptime() > end {
			return brokenf("the spool still has notes of hooks: %v", notes)
		}
	}
}

// notes returns the complete notes of hooks in the spool. Those of killed hooks may be incomplete.
func (s *Store) notes() ([]string, error) {
	dir := filepath.Join(s.Dir, "spool")
	files, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // no hook has run yet
		return nil, err
	}
	var notes []string
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".note" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // processed meanwhile
		case err != nil:
			return nil, err
		case bytes.HasSuffix(b, []byte("\n")):
			notes = append(notes, f.Name())
		}
	}
	return notes, nil
}

// repositories returns the names of the git repositories in a store.
func repositories() []string { return []string{"memory.git", "originals.git"} }

// GitFsck checks both repositories with git, if it is installed.
func (s *Store) GitFsck(ctx context.Context) error {
	if _, err := exec.LookPath("git"); err != nil {
		return nil
	}
	for _, repo := range repositories() {
		if _, err := s.git(ctx, repo, "fsck", "--strict", "--no-dangling"); err != nil {
			return err
		}
	}
	return nil
}

// git runs a git command that must succeed in a repository of the store and returns the words that it prints.
func (s *Store) git(ctx context.Context, repo string, args ...string) ([]string, error) {
	res := s.Run(ctx, 0, "", append([]string{"git", "-C", filepath.Join(s.Dir, repo)}, args...))
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if res.Code != 0 {
		return nil, brokenf("git in %s: %s", repo, res)
	}
	return strings.Fields(res.Stdout), nil
}

// leftovers returns the remaining temporary files of killed writers.
func (s *Store) leftovers() ([]string, error) {
	var all []string
	for _, repo := range repositories() {
		packs, err := os.ReadDir(filepath.Join(s.Dir, repo, "objects", "pack"))
		if err != nil {
			return nil, err
		}
		for _, f := range packs {
			if strings.HasPrefix(f.Name(), "tmp_") {
				all = append(all, filepath.Join(repo, "objects", "pack", f.Name()))
			}
		}
	}
	return all, nil
}

// Private checks that only the user can access the store, and returns the number of its files and directories.
func (s *Store) Private() (int, error) {
	n := 0
	err := filepath.WalkDir(s.Dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // swept meanwhile
		}
		if err != nil {
			return err
		}
		fi, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		n++
		if bits := fi.Mode().Perm() & 0o077; bits != 0 {
			return brokenf("%s has the mode %v: others can read it", path, fi.Mode())
		}
		return nil
	})
	return n, err
}

// memory opens the store in this process for reading.
func (s *Store) memory(now func() time.Time) (*layers.Memory, error) {
	return layers.Open(s.Dir, state.Options{Now: now, LockTimeout: time.Minute})
}

// A Generator generates a transcript in the format of Claude Code: the same seed gives the same bytes.
type Generator struct {
	random
	ID     string // the session id
	Cwd    string
	Turns  int    // records so far; the first one is a message of the user
	Mark   string // a word in every message of the user
	parent string
	now    time.Time
}

// NewGenerator returns a generator of session number n.
func NewGenerator(n uint64, cwd string) *Generator {
	w := &Generator{random: random(n*0x9e3779b9 + 7), Cwd: cwd, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	w.ID = fmt.Sprintf("%08x-0000-4000-a000-%012x", uint32(w.next()), n)
	return w
}

// More returns about n more records.
func (w *Generator) More(n int) []byte {
	var b strings.Builder
	for range n {
		switch k := w.IntN(10); {
		case w.Turns == 0 || k == 0:
			w.user(&b)
		case k < 4:
			w.assistant(&b)
		default:
			w.tool(&b)
		}
		w.Turns++
	}
	return []byte(b.String())
}

func (w *Generator) user(b *strings.Builder) {
	text := w.Words(30)
	if w.Mark != "" {
		text += " " + w.Mark
	}
	if w.IntN(3) == 0 {
		text += fmt.Sprintf("\n##keepit0.%d0## %s\n##/keepit##", 1+w.IntN(9), w.Words(12))
	}
	w.Record(b, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": text}})
}

func (w *Generator) assistant(b *strings.Builder) {
	w.reply(b, map[string]any{"type": "text", "text": w.Words(60)})
}

func (w *Generator) tool(b *strings.Builder) {
	id := fmt.Sprintf("toolu_%016x", w.next())
	w.reply(b, map[string]any{"type": "tool_use", "id": id, "name": "Bash",
		"input": map[string]any{"command": "go test ./" + w.Words(1)}})
	out := strings.Repeat(w.Words(20)+"\n", 1+w.IntN(40))
	w.Record(b, map[string]any{
		"type": "user",
		"message": map[string]any{"role": "user",
			"content": []any{map[string]any{"type": "tool_result", "tool_use_id": id, "content": out}}},
		"toolUseResult": map[string]any{"stdout": out, "stderr": "", "interrupted": false},
	})
}

func (w *Generator) reply(b *strings.Builder, block map[string]any) {
	w.Record(b, map[string]any{"type": "assistant", "requestId": "req_1", "message": map[string]any{
		"id": fmt.Sprintf("msg_%016x", w.next()), "type": "message", "role": "assistant", "model": "claude-opus-4-6",
		"content": []any{block}, "usage": map[string]any{"input_tokens": 3, "output_tokens": 40,
			"cache_read_input_tokens": 100 * w.Turns},
	}})
}

// Record writes one line in the format of the client.
func (w *Generator) Record(b *strings.Builder, fields map[string]any) {
	uuid := fmt.Sprintf("%08x-1111-4111-a111-%012x", uint32(w.next()), w.next()>>16)
	w.now = w.now.Add(time.Duration(w.IntN(5000)) * time.Millisecond)
	for k, v := range map[string]any{
		"uuid": uuid, "parentUuid": nil, "timestamp": w.now.Format("2006-01-02T15:04:05.000Z"), "sessionId": w.ID,
		"cwd": w.Cwd, "version": "2.1.39", "isSidechain": false, "userType": "external", "gitBranch": "main",
	} {
		fields[k] = v
	}
	if w.parent != "" {
		fields["parentUuid"] = w.parent
	}
	w.parent = uuid
	line, err := json.Marshal(fields)
	if err != nil {
		panic(err) // maps of strings and numbers always encode
	}
	b.Write(append(line, '\n'))
}

var vocabulary = sync.OnceValue(func() []string {
	return strings.Fields(`the store keeps every session as it was written and a budget is a promise that holds
	retry after three attempts with a growing pause use one table per tenant migrate before deploy 결정 완료 데이터 저장
	設計を確認する 日本語 我们 使用 缓存 🙂 "quoted" back\slash <tag> & tab	end a_b.go pkg/main_test.go 0x1f`)
})

// Words returns up to n words.
func (w *Generator) Words(n int) string {
	words := vocabulary()
	list := make([]string, 1+w.IntN(n))
	for i := range list {
		list[i] = words[w.IntN(len(words))]
	}
	return strings.Join(list, " ")
}
