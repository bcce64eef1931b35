package main

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

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/tokens"
)

type addOptions struct {
	all    bool
	update bool
}

// add is the command that captures sessions.
func (e *Env) add() *cli.Command {
	var o addOptions
	return &cli.Command{
		Name:      "add",
		Usage:     "capture sessions, byte for byte",
		ArgsUsage: "<file|session>...",
		Description: "A file is any session file of Claude Code; a session is named by its id or the start of it. A session that\n" +
			"grew adds only what is new; one that was rewritten keeps both. Adding twice changes nothing.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"A"}, Usage: "add every session of the project", Destination: &o.all},
			&cli.BoolFlag{Name: "update", Aliases: []string{"u"}, Usage: "add what is new of the sessions in memory", Destination: &o.update},
		},
		Action: func(c *cli.Context) error {
			least, most := 1, -1
			if o.all || o.update {
				least, most = 0, 0
			}
			if err := operands(c, least, most); err != nil {
				return err
			}
			return e.runAdd(c.Context, o, c.Args().Slice())
		},
	}
}

// An addedAnswer is one session as add and import print it with --json.
type addedAnswer struct {
	Session  string `json:"session"`
	Change   string `json:"change"`
	Project  string `json:"project"`
	Title    string `json:"title"`
	Messages int    `json:"messages"`
	Values   int    `json:"values"`
	Opaque   int    `json:"opaque"`
	Markers  int    `json:"markers"`
	Bytes    int64  `json:"bytes"`
	NewBytes int64  `json:"new_bytes"`
	Tail     int64  `json:"tail_bytes"`
	Files    int    `json:"files"` // of tool results, new or changed
	Tokens   int    `json:"tokens_estimate"`
	Original string `json:"original"`
}

type addAnswer struct {
	DryRun bool          `json:"dry_run"`
	Added  []addedAnswer `json:"added"`
	Errors []string      `json:"errors"`
}

func (e *Env) runAdd(ctx context.Context, o addOptions, names []string) error {
	return e.withStore(func(m *layers.Memory) error {
		scope := sync.OnceValues(func() (layers.Scope, error) { return e.scope(ctx, m) })
		if e.opt.project != "" {
			if _, err := scope(); err != nil {
				return err
			}
		}
		sources, err := e.addSources(ctx, m, scope, o, names)
		if err != nil {
			return err
		}
		return e.addAll(ctx, m, "add", sources, nil, nil)
	})
}

// addSources finds the files that are to be added.
func (e *Env) addSources(ctx context.Context, m *layers.Memory, scope func() (layers.Scope, error), o addOptions, names []string) ([]layers.Source, error) {
	var sources []layers.Source
	for _, name := range names {
		src, err := e.sourceNamed(ctx, m, scope, name)
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
	items, err := e.clientItems(ctx, m, sc.Project)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Path != "" && (it.Status == layers.Untracked && o.all || it.Status == layers.Changed) {
			subagents, err := layers.Subagents(it.Path)
			if err != nil {
				return nil, err
			}
			sources = append(append(sources, layers.SourceOf(it.Path)), subagents...)
		}
	}
	return sources, nil
}

// clientItems lists the sessions of a project with what Claude Code's files say of them.
func (e *Env) clientItems(ctx context.Context, m *layers.Memory, p layers.Project) ([]layers.Item, error) {
	claude, err := e.claudeDir()
	if err != nil {
		return nil, err
	}
	items, _, err := m.List(ctx, p, layers.ListOptions{Claude: claude, Dir: e.Dir})
	if errors.Is(err, fs.ErrPermission) {
		return nil, withHint(fmt.Errorf("Claude Code's files: %w", err), "make the directory readable: chmod u+rx", "or name files: mem add FILE...")
	}
	return items, err
}

// sourceNamed finds the file that a user means: a path, or a session of Claude Code by the start of its id.
func (e *Env) sourceNamed(ctx context.Context, m *layers.Memory, scope func() (layers.Scope, error), name string) (layers.Source, error) {
	path := e.path(name)
	_, err := os.Stat(path)
	if err == nil || strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".jsonl") {
		return layers.SourceOf(path), nil // whatever is wrong with it, reading it will say so
	}
	if !errors.Is(err, os.ErrNotExist) {
		return layers.Source{}, err
	}
	sc, err := scope()
	if err != nil {
		return layers.Source{}, err
	}
	items, err := e.clientItems(ctx, m, sc.Project)
	if err != nil {
		return layers.Source{}, err
	}
	var found []layers.Item
	for _, it := range items {
		if it.Path != "" && (it.ID == name || len(name) >= 4 && strings.HasPrefix(it.ID, name)) {
			found = append(found, it)
		}
	}
	switch len(found) {
	case 1:
		return layers.SourceOf(found[0].Path), nil
	case 0:
		return e.sourceAnywhere(name)
	}
	var names []string
	for _, it := range found {
		names = append(names, shortID(it.ID)+" "+it.Title)
	}
	return layers.Source{}, withHint(&layers.AmbiguousError{What: "session", Name: name, Candidates: names}, "write more of the id")
}

// sourceAnywhere looks for a session in all of Claude Code's projects.
func (e *Env) sourceAnywhere(name string) (layers.Source, error) {
	missing := withHint(&layers.NotFoundError{What: "session", Name: name}, "see the sessions of this project with \"mem ls\"")
	claude, err := e.claudeDir()
	if err != nil {
		return layers.Source{}, err
	}
	sources, err := layers.Sources(claude)
	if errors.Is(err, os.ErrNotExist) {
		return layers.Source{}, missing
	}
	for _, src := range sources {
		if id := src.SessionID(); id == name || len(name) >= 8 && strings.HasPrefix(id, name) {
			return src, nil
		}
	}
	if err != nil { // it may be where nobody could look
		return layers.Source{}, err
	}
	return layers.Source{}, missing
}

// tuneMemory sets the garbage collector up for capturing: almost all of the heap is buffers then. Of a
// long file at most [captureMemory] is aimed at; what is short needs no collection at all.
func (e *Env) tuneMemory(sources []layers.Source, size int64) {
	switch {
	case size <= captureShort:
		e.growing = func() { reserveHeap(captureMemory) }
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(3 * captureMemory)
	case len(sources) == 1:
		debug.SetMemoryLimit(captureMemory)
	default:
		e.growing = func() { reserveHeap(2 * captureMemory) } // GC percent stays at 100: collecting costs less than pages that were never used
	}
}

const (
	captureMemory = 32 << 20
	captureShort  = 64 << 20
)

// addAll captures sources and says what became of them; failed are those that could not even be looked at. then, if
// any, works on what was stored.
func (e *Env) addAll(ctx context.Context, m *layers.Memory, op string, sources []layers.Source, failed []error, then func([]layers.Added) error) error {
	size := totalSize(sources)
	e.tuneMemory(sources, size)
	bar := e.progressBytes(op, size)
	added, err := m.Add(ctx, sources, layers.AddOptions{DryRun: e.opt.dryRun, Op: op, Progress: bar.add})
	bar.end()
	more, fatal := splitErrors(err)
	failed = append(failed, more...)
	if fatal != nil {
		return e.stoppedAdding(op, added, storeError(fatal))
	}
	if len(added) == 0 && len(failed) == 1 {
		return storeError(failed[0])
	}
	if then != nil && !e.opt.dryRun {
		if err := then(added); err != nil {
			return err
		}
	}
	if err := e.printAdded(op, added, failed); err != nil {
		return err
	}
	e.autoTierAll(ctx, m, added)
	switch {
	case len(failed) == 0:
		return nil
	case len(added) == 0:
		return exit(exitFatal)
	}
	return exit(exitPartial)
}

// stoppedAdding says what was stored before the store failed, if anything was.
func (e *Env) stoppedAdding(op string, added []layers.Added, fatal error) error {
	added = slices.DeleteFunc(added, func(a layers.Added) bool { return a.Change == "unchanged" || a.Change == "forgotten" })
	if len(added) == 0 {
		return fatal
	}
	if err := e.printAdded(op, added, nil); err != nil {
		return err
	}
	if statusOf(fatal) == exitFatal {
		fatal = withCode(exitPartial, fatal)
	}
	return fatal
}

func totalSize(sources []layers.Source) (n int64) {
	for _, s := range sources {
		if fi, err := os.Stat(s.Path); err == nil {
			n += fi.Size()
		}
	}
	return n
}

// splitErrors tells the sources that could not be read from what ended the work.
func splitErrors(err error) (failed []error, fatal error) {
	if err == nil {
		return nil, nil
	}
	list := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		list = joined.Unwrap()
	}
	for _, one := range list {
		var src *layers.SourceError
		if errors.As(one, &src) {
			failed = append(failed, one)
		} else {
			fatal = errors.Join(fatal, one)
		}
	}
	return failed, fatal
}

func (e *Env) printAdded(op string, added []layers.Added, failed []error) error {
	answer := addAnswer{DryRun: e.opt.dryRun, Added: []addedAnswer{}, Errors: []string{}}
	for _, a := range added {
		answer.Added = append(answer.Added, answerOf(a))
	}
	for _, err := range failed {
		answer.Errors = append(answer.Errors, err.Error())
	}
	if e.opt.json {
		return e.printJSON(op, answer)
	}
	changed := 0
	for _, a := range added {
		if a.Change != "unchanged" && a.Change != "forgotten" {
			changed++
		}
	}
	for _, a := range added {
		if a.Change == "unchanged" && len(added) > 1 {
			continue
		}
		if len(added) > 20 && !e.opt.verbose {
			break
		}
		e.sayAdded(a)
	}
	if len(added) != 1 {
		e.sayTotal(op, added, changed, len(added) > 20 && !e.opt.verbose)
	}
	for _, err := range failed {
		e.say("%s %v", e.stderrStyle().red("error:"), err)
	}
	return nil
}

func answerOf(a layers.Added) addedAnswer {
	now := a.Now
	return addedAnswer{
		Session: a.Session, Change: a.Change, Project: a.Project.Name, Title: now.Scan.Title, Messages: now.Scan.Messages,
		Values: now.Scan.Values, Opaque: now.Scan.Opaque, Markers: newMarkers(a), Bytes: now.Size + a.Tail, NewBytes: a.NewBytes,
		Tail: a.Tail, Files: a.Files, Tokens: a.Tokens, Original: now.Original.String(),
	}
}

// newMarkers counts the markers in what was added.
func newMarkers(a layers.Added) int {
	if a.Change == "unchanged" {
		return 0
	}
	return len(a.Now.Markers)
}

// sayAdded tells people of one session.
func (e *Env) sayAdded(a layers.Added) {
	id := shortID(a.Session)
	if a.Change == "unchanged" {
		e.note("%s is unchanged", id)
		return
	}
	if a.Change == "forgotten" {
		e.note("%s was forgotten: it is not taken in again", id)
		return
	}
	verb := map[string]string{"new": "add", "grown": "grow", "rewritten": "rewrite"}[a.Change]
	if e.opt.dryRun {
		verb = "would " + verb
	}
	title := ""
	if t := a.Now.Scan.Title; t != "" {
		title = fmt.Sprintf(" %q", t)
	}
	e.printf("[%s] %s %s%s\n", e.safe(a.Project.Name), verb, e.safe(id), e.safe(title))
	scan := a.Now.Scan
	line := fmt.Sprintf(" %s message%s, ~%s tokens", tokens.Commas(scan.Messages), plural(scan.Messages), tokens.Format(a.Tokens))
	if a.Change == "grown" {
		line = fmt.Sprintf(" +%s, %s message%s in all", a.Growth(), tokens.Commas(scan.Messages), plural(scan.Messages))
	}
	if !scan.First.IsZero() {
		line += ", " + scan.First.Format("2 Jan 15:04") + " - " + scan.Last.Format("2 Jan 15:04")
	}
	if scan.Branch != "" {
		line += ", branch " + scan.Branch
	}
	e.printf("%s\n", e.safe(line))
	e.printf(" %s of transcript\n", bytesText(a.Now.Size+a.Tail))
	if n := len(a.Now.Markers); n > 0 {
		e.printf(" %d new keepit marker%s: %s\n", n, plural(n), weights(a.Now.Markers))
	}
	if scan.Opaque > 0 {
		e.warn("%d of %d records of %s could not be read as JSON; they are kept as they are", scan.Opaque, scan.Values, id)
	}
	if a.Tail > 0 {
		e.detail("%d bytes at the end are no complete record yet; they are kept too", a.Tail)
	}
	if a.Change == "rewritten" {
		e.warn("%s was rewritten before its old end; both are kept", id)
	}
}

// weights counts markers by weight, the heaviest first.
func weights(marks []layers.Mark) string {
	var parts []string
	for w := 100; w >= 0; w-- {
		n := 0
		for _, k := range marks {
			if int(k.Weight) == w {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d.%02d", n, w/100, w%100))
		}
	}
	return strings.Join(parts, ", ")
}

// sayTotal tells people of all sessions together, withOpaque of the records too that could not be read.
func (e *Env) sayTotal(op string, added []layers.Added, changed int, withOpaque bool) {
	var bytes int64
	opaque := 0
	for _, a := range added {
		bytes += a.NewBytes
		opaque += a.Now.Scan.Opaque
	}
	verb := op
	if e.opt.dryRun {
		verb = "would " + op
	}
	if len(added) == 0 {
		e.note("nothing to %s", op)
		return
	}
	e.printf("%s: %d session%s new or changed, %d unchanged, %s\n", verb, changed, plural(changed), len(added)-changed, bytesText(bytes))
	if opaque > 0 && withOpaque {
		e.warn("%d records could not be read as JSON; they are kept as they are", opaque)
	}
}
