package main_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

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
	p.cmd.Dir, p.cmd.Env = s.Home, s.Environ()
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
