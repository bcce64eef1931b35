package sessioncmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/urfave/cli/v2"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/cmd/mem/internal/versioncmd"
	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
)

type addOptions struct {
	all    bool
	update bool
}

// Add returns the command that captures sessions.
func Add(e *app.Env) *cli.Command {
	var o addOptions
	return &cli.Command{
		Name:      "add",
		Usage:     "capture sessions, byte for byte",
		ArgsUsage: "<file|session>...",
		Description: "A file is any session file of Claude Code; a session is named by its id or a prefix of\n" +
			"it. Of a session that grew, only the new part is stored; of a file that was rewritten,\n" +
			"both states are kept. Adding twice changes nothing. A hidden session that you name is\n" +
			"shown again.",
		Flags: []cli.Flag{
			app.BoolFlag(&o.all, "all,A", "add every session of the project, or with --all-projects of all"),
			app.BoolFlag(&o.update, "update,u", "add the new messages of sessions in memory"),
		},
		Action: func(c *cli.Context) error {
			least, most := 1, -1
			if o.all || o.update {
				least, most = 0, 0
			}
			if err := e.WantOperands(c, least, most); err != nil {
				return err
			}
			return runAdd(c.Context, e, o)
		},
	}
}

func runAdd(ctx context.Context, e *app.Env, o addOptions) error {
	return app.WithStore(e, func(m *layers.Memory) error {
		scope := sync.OnceValues(func() (state.Scope, error) { return app.Scope(ctx, e, m) })
		if e.Opt.Project != "" {
			if _, err := scope(); err != nil {
				return err
			}
		}
		sources, err := addSources(ctx, e, m, scope, o)
		if err != nil {
			return err
		}
		var stored []capture.Added
		err = addAll(ctx, e, m, addition{op: "add", sources: sources, show: !o.all && !o.update, then: func(added []capture.Added) error {
			stored = added
			return capture.CountAdded(ctx, m.DB, added)
		}})
		if len(stored) > 1 { // of one, its line has the project
			err = errors.Join(err, noteElsewhere(ctx, e, m, stored))
		}
		if err != nil && app.StatusOf(err) == app.ExitFatal {
			return err // nothing was captured
		}
		return errors.Join(err, captureNotes(ctx, e, m, []string{e.Dir}))
	})
}

// captureNotes captures the notes of Claude Code about directories whose projects are in memory.
func captureNotes(ctx context.Context, e *app.Env, m *layers.Memory, dirs []string) error {
	dir, err := e.ClaudeDir()
	if err != nil {
		return err
	}
	client := notes.Client{Dir: dir, Getenv: e.Getenv}
	var files []string
	for _, dir := range dirs {
		if !client.Changed(m.Refs.Dir(), dir) {
			continue
		}
		p, _, err := projects.Locate(ctx, m.DB, dir)
		if err != nil {
			return err
		}
		if has, err := projects.HasProject(ctx, m.DB, p.ID); err != nil || !has {
			if err != nil {
				return err
			}
			continue
		}
		done, err := notes.CaptureAll(ctx, m.DB, p, client, dir, notes.Options{DryRun: e.Opt.DryRun})
		if err != nil {
			return err
		}
		files = append(files, app.Each(done.Changes, func(c notes.Change) string { return c.File })...)
		for _, path := range done.Skipped {
			e.Warn("%s is not text or is longer than %s: not captured", e.Safe(path), app.BytesText(records.MaxNote))
		}
	}
	if len(files) > 0 {
		verb := e.Verb("captured", "would capture")
		e.Note("%s %s of Claude: mem notes", verb, term.Count(len(files), "changed note"))
	}
	return nil
}

// addSources returns the files to add.
func addSources(
	ctx context.Context, e *app.Env, m *layers.Memory, scope func() (state.Scope, error), o addOptions,
) ([]capture.Source, error) {
	var sources []capture.Source
	for _, name := range e.Operands {
		src, err := sourceNamed(ctx, e, m, scope, name)
		if err != nil {
			return nil, err
		}
		sources = append(sources, src)
	}
	if !o.all && !o.update {
		return sources, nil
	}
	sc, err := scope()
	if err != nil {
		return nil, err
	}
	items, elsewhere, err := list(ctx, app.Run{Env: e, Memory: m, Scope: sc},
		capture.ListOptions{Unreadable: unreadableClient})
	if err != nil {
		return nil, err
	}
	if len(elsewhere) > 0 && o.all {
		defer e.Hint("%s: mem import", elsewhereText(elsewhere))
	}
	for _, it := range items {
		if it.Path != "" && (it.Status == sessions.Untracked && o.all || it.Status == sessions.Changed) {
			subagents, err := capture.Subagents(it.Path)
			if err != nil {
				return nil, err
			}
			sources = append(append(sources, capture.SourceOf(it.Path)), subagents...)
		}
	}
	return sources, nil
}

// clientItems lists the sessions of a project, in memory and in Claude Code's files, with hidden and forgotten ones.
func clientItems(ctx context.Context, e *app.Env, m *layers.Memory, p state.Project) ([]sessions.Item, error) {
	claude, err := e.ClaudeDir()
	if err != nil {
		return nil, err
	}
	items, _, err := sessions.ListAll(ctx, m.DB, p, capture.ListOptions{Claude: claude, Dir: e.Dir, Removed: true, Forgotten: true})
	return items, unreadableClient(err)
}

// unreadableClient adds a hint to the error of an unreadable directory of Claude Code.
func unreadableClient(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return app.WithHint(fmt.Errorf("Claude Code's files: %w", err), "make the directory readable: chmod u+rx",
			"or name files: mem add FILE...")
	}
	return err
}

// sourceNamed returns the source for an operand: a path, or the start of the id of a session of Claude Code.
func sourceNamed(ctx context.Context, e *app.Env, m *layers.Memory, scope func() (state.Scope, error),
	name string) (capture.Source, error) {
	path := e.Path(name)
	fi, err := os.Stat(path)
	if err == nil && fi.IsDir() {
		return capture.Source{}, app.WithHint(fmt.Errorf("%s: a directory: %w", path, state.ErrNotTranscript),
			"capture the session files in it: "+term.Shell("mem", "import", name))
	}
	if err == nil || strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".jsonl") {
		return capture.SourceOf(path), nil // reading it reports errors
	}
	if !errors.Is(err, os.ErrNotExist) {
		return capture.Source{}, err
	}
	sc, err := scope()
	if err != nil {
		return capture.Source{}, err
	}
	items, err := clientItems(ctx, e, m, sc.Project)
	if err != nil {
		return capture.Source{}, err
	}
	var found, stored []sessions.Item
	for _, it := range items {
		switch {
		case it.ID != name && (len(name) < 4 || !strings.HasPrefix(it.ID, name)):
		case it.Path != "":
			found = append(found, it)
		default:
			stored = append(stored, it)
		}
	}
	switch len(found) {
	case 1:
		return capture.SourceOf(found[0].Path), nil
	case 0:
		src, err := sourceAnywhere(e, name)
		var missing *state.NotFoundError
		if errors.As(err, &missing) && len(stored) > 0 {
			id := term.ShortID(stored[0].ID)
			hint := term.Shell("mem", "checkout", id+":original", "-o", stored[0].ID+".jsonl")
			if stored[0].Status == sessions.Removed {
				hint = "it is hidden; to show it again: " + term.Shell("mem", "rm", "--undo", id)
			}
			err = app.WithHint(fmt.Errorf("Claude Code has no file of %s any more: its copy in memory is unchanged", id), hint)
		}
		return src, err
	}
	candidates := app.Each(found, func(it sessions.Item) string { return term.ShortID(it.ID) + " " + it.Title })
	return capture.Source{}, app.WithHint(&state.AmbiguousError{What: "session", Name: name, Candidates: candidates},
		"write more of the id")
}

// sourceAnywhere finds a session in any of Claude Code's projects.
func sourceAnywhere(e *app.Env, name string) (capture.Source, error) {
	missing := app.WithHint(&state.NotFoundError{What: "session", Name: name},
		"list the sessions of this project with \"mem ls\"")
	claude, err := e.ClaudeDir()
	if err != nil {
		return capture.Source{}, err
	}
	sources, err := capture.Sources(claude)
	if errors.Is(err, os.ErrNotExist) {
		return capture.Source{}, missing
	}
	var found []capture.Source
	var ids []string
	for _, src := range sources {
		switch id := src.SessionID(); {
		case id == name:
			return src, nil
		case len(name) >= 8 && strings.HasPrefix(id, name) && !slices.Contains(ids, id):
			found, ids = append(found, src), append(ids, id)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return capture.Source{}, app.WithHint(&state.AmbiguousError{What: "session", Name: name, Candidates: ids},
			"write more of the id")
	}
	if err != nil { // it may be in a directory that cannot be read
		return capture.Source{}, err
	}
	return capture.Source{}, missing
}

// tuneMemory sets up the garbage collector for capturing, when almost all of the heap is buffers. A long file gets the
// limit [captureMemory]; a short one needs no collection.
func tuneMemory(sources []capture.Source, size int64) {
	switch {
	case size <= captureShort:
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(3 * captureMemory)
	case len(sources) == 1:
		debug.SetMemoryLimit(captureMemory)
	default:
		debug.SetMemoryLimit(7 * captureMemory) // the state of very many files adds up
	}
}

const (
	captureMemory = 32 << 20
	captureShort  = 64 << 20
)

// An addition is a set of sources to capture.
type addition struct {
	op      string // the command
	sources []capture.Source
	show    bool                        // hidden sessions
	failed  []error                     // of sources that could not be opened
	then    func([]capture.Added) error // called with the stored sessions
}

// addAll captures sources and prints the results.
func addAll(ctx context.Context, e *app.Env, m *layers.Memory, a addition) error {
	size := totalSize(a.sources)
	tuneMemory(a.sources, size)
	bar := e.ProgressBytes(a.op, size)
	o := capture.AddOptions{DryRun: e.Opt.DryRun, Op: a.op, Show: a.show, Progress: bar.Add}
	added, err := capture.Add(ctx, m.DB, a.sources, o)
	bar.End()
	more, fatal := splitErrors(err)
	failed := append(a.failed, more...)
	if fatal != nil {
		if !errors.Is(fatal, context.Canceled) {
			failed = append(failed, notCaptured(a.sources, added, failed)...)
		}
		return stoppedAdding(e, a.op, added, failed, fatal)
	}
	var ignored []error
	if !a.show && len(added) > 0 { // nobody named the files: what is no session is no failure
		none := func(err error) bool { return errors.Is(err, state.ErrNotTranscript) }
		ignored = slices.DeleteFunc(slices.Clone(failed), func(err error) bool { return !none(err) })
		failed = slices.DeleteFunc(failed, none)
	}
	if len(added) == 0 && len(failed) == 1 {
		return failed[0]
	}
	var after error // the stored sessions are printed in any case
	if !e.Opt.DryRun {
		after = a.then(added)
	}
	if err := errors.Join(after, printAdded(e, a.op, added, failed, ignored)); err != nil {
		return err
	}
	versioncmd.AutoAll(ctx, e, m, added)
	switch {
	case len(failed) == 0:
		return nil
	case len(added) == 0:
		return app.Exit(app.ExitFatal)
	}
	return app.Exit(app.ExitPartial)
}

// noteElsewhere says which of the added sessions are of other projects than that of the command: the working directory in
// each file decides.
func noteElsewhere(ctx context.Context, e *app.Env, m *layers.Memory, added []capture.Added) error {
	here, err := app.TheProject(ctx, e, m)
	if err != nil {
		return err
	}
	counts := map[string]int{}
	for _, a := range added {
		if a.Project.ID != here.ID && a.Now.Parent == "" {
			counts[a.Project.Name]++
		}
	}
	if e.Opt.AllProjects || len(counts) == 0 {
		return nil
	}
	of := sessionsOf(counts)
	if n := len(of) - 5; n > 0 {
		of = append(of[:5], term.Count(n, "more project"))
	}
	e.Note("not of project %s, by the working directory in the file: %s", e.Safe(here.Name), e.Safe(strings.Join(of, ", ")))
	e.Hint("mem ls --all-projects")
	return nil
}

// notCaptured returns an error for each source that has neither a result nor an error: the capture ended before it.
func notCaptured(sources []capture.Source, added []capture.Added, failed []error) (out []error) {
	done := map[string]bool{}
	for _, a := range added {
		done[a.Path] = true
	}
	for _, err := range failed {
		var src *capture.SourceError
		if errors.As(err, &src) {
			done[src.Source.Path] = true
		}
	}
	for _, s := range sources {
		if !done[s.Path] {
			out = append(out, fmt.Errorf("%s: not captured", s.Path))
		}
	}
	return out
}

// stoppedAdding prints the sessions stored before a fatal error, and those that were not, if any was stored. After an
// interrupt it says how many are in memory.
func stoppedAdding(e *app.Env, op string, added []capture.Added, failed []error, fatal error) error {
	stored, kept := false, 0
	for _, a := range added {
		stored = stored || a.Change != "unchanged" && a.Change != "forgotten"
		if a.Change != "forgotten" {
			kept++
		}
	}
	if errors.Is(fatal, context.Canceled) && !e.Opt.DryRun {
		fatal = app.WithHint(fatal, fmt.Sprintf("%s in memory; the next mem %s goes on", term.Count(kept, "session"), op))
	}
	if !stored {
		return fatal // one error, not one for each session
	}
	if err := printAdded(e, op, added, failed, nil); err != nil {
		return err
	}
	if app.StatusOf(fatal) == app.ExitFatal {
		fatal = app.WithCode(app.ExitPartial, fatal)
	}
	return fatal
}

func totalSize(sources []capture.Source) (n int64) {
	for _, s := range sources {
		if fi, err := os.Stat(s.Path); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// splitErrors separates errors of single sources from those that ended the capture.
func splitErrors(err error) (failed []error, fatal error) {
	if err == nil {
		return nil, nil
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, one := range list {
		var src *capture.SourceError
		if errors.As(one, &src) {
			failed = append(failed, one)
		} else {
			fatal = errors.Join(fatal, one)
		}
	}
	return failed, fatal
}
