package checkout

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/worktree"
)

// ErrForeignAgent reports a session that Claude Code did not write, and cannot resume.
var ErrForeignAgent = errors.New("another agent wrote it, and Claude Code cannot resume it")

// A Resumed is a session where Claude Code finds it.
type Resumed struct {
	capture.CheckedOut
	There   bool   // Claude Code has it already: nothing was written
	From    string // the working directory of the session, if paths were rewritten
	Changed int    // lines whose paths were rewritten
	// Removed has, by rule, the number of secrets that redaction took out. Their values are only on the device that captured
	// the session, and this device has the text without them.
	Removed map[string]int
}

// Resume writes a session, with its subagents and tool results, to the directory of Claude Code, claude, where it looks for
// the sessions of the working directory here. Paths of the old working directory become those of root, the root of the
// checkout with here. If this device does
// not have the exact bytes, the text without secrets is written. A file that is there and differs is not replaced: the
// error is a [*worktree.FileError].
func Resume(ctx context.Context, db *state.DB, rev state.Rev, claude, here, root string, dryRun bool) (out Resumed, err error) {
	s, dir := rev.Session, filepath.Join(claude, "projects", capture.ClientDir(here))
	name := s.ID + ".jsonl"
	if _, err := os.Lstat(filepath.Join(dir, name)); err == nil && filepath.Clean(s.Source()) == filepath.Join(dir, name) {
		out.There = true
		return out, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return out, err
	}
	move := relocationOf(s.Now().Scan.Cwd, root, sourceDir(s), dir)
	if len(move) > 0 {
		out.From = s.Now().Scan.Cwd
	}
	out.Removed = map[string]int{}
	out.CheckedOut, err = capture.WriteTree(db, dir, false, dryRun, func(t *worktree.Tree) ([]string, error) {
		names := []string{name}
		if err := stageResumed(ctx, db, t, rev, name, move, &out); err != nil {
			return nil, err
		}
		more, err := stageFiles(ctx, db, t, rev, name)
		if err != nil && !errors.Is(err, originals.ErrWithheld) {
			return nil, err
		}
		names = append(names, more...)
		agents, err := stageSubagents(ctx, db, t, rev, move, &out)
		return append(names, agents...), err
	})
	return out, err
}

// sourceDir returns the directory of the file that a session was captured from, "" if it is not one of Claude Code.
func sourceDir(s *state.Session) string {
	dir, _ := splitPath(s.Source())
	if up, _ := splitPath(dir); !strings.HasSuffix(up, "projects") {
		return ""
	}
	return dir
}

// stageSubagents stages the sessions of subagents next to that of their parent.
func stageSubagents(ctx context.Context, db *state.DB, t *worktree.Tree, rev state.Rev, move relocation,
	out *Resumed) (names []string, err error) {
	st, err := trust.Outline(ctx, db, rev.Project.ID)
	if err != nil {
		return nil, err
	}
	for _, s := range st.Sessions {
		if s.Parent() != rev.Session.ID || !s.Shown() {
			continue
		}
		_, file := splitPath(s.Source())
		if _, err := records.ParseFileName(file); err != nil || !strings.HasPrefix(file, "agent-") || path.Ext(file) != ".jsonl" {
			continue // an older client kept it elsewhere
		}
		name := rev.Session.ID + "/subagents/" + file
		one := state.Rev{Kind: state.IsSession, Project: rev.Project, Session: s, Hash: s.Now().Original}
		if err := stageResumed(ctx, db, t, one, name, move, out); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// stageResumed stages one transcript: its exact bytes if they are here, else the text without secrets.
func stageResumed(ctx context.Context, db *state.DB, t *worktree.Tree, rev state.Rev, name string, move relocation,
	out *Resumed) error {
	store := db
	at, err := originals.Exact(ctx, store, rev.Project.ID, rev.Session)
	exact := err == nil
	if err != nil && !errors.Is(err, originals.ErrWithheld) {
		return err
	}
	if !exact {
		at = rev.Session.Now()
	}
	read := func(w io.Writer) error {
		if exact {
			return originals.WriteOriginal(ctx, store, rev.Project.ID, rev.Session, at, w)
		}
		return originals.WriteObject(ctx, store, rev.Project.ID, at.Original, w)
	}
	return t.Stage(name, func(w io.Writer) error {
		from, to := io.Pipe()
		go func() { to.CloseWithError(read(to)) }()
		in := &firstLine{r: from}
		changed, err := move.apply(counted{w, exact, out.Removed, map[string]bool{}}, in)
		out.Changed += changed
		_ = from.CloseWithError(err) // ends the reader, which has nothing to say then
		if err == nil && transcript.Foreign(in.line) {
			err = fmt.Errorf("session %s: %w", records.ShortID(rev.Session.ID), ErrForeignAgent)
		}
		return err
	})
}

// firstLine keeps the first line that is read through it.
type firstLine struct {
	r    io.Reader
	line []byte
	done bool
}

func (f *firstLine) Read(p []byte) (int, error) {
	n, err := f.r.Read(p)
	if !f.done {
		line, _, found := strings.Cut(string(p[:n]), "\n")
		f.line, f.done = append(f.line, line...), found
	}
	return n, err
}

// counted counts the placeholders of secrets in lines that are not the exact ones.
type counted struct {
	w     io.Writer
	exact bool
	rules map[string]int
	seen  map[string]bool
}

func (c counted) Write(line []byte) (int, error) {
	if !c.exact {
		for _, mark := range redact.Placeholders(line) {
			if !c.seen[mark] {
				c.seen[mark] = true
				c.rules[redact.RuleOf([]byte(mark))]++
			}
		}
	}
	return c.w.Write(line)
}
