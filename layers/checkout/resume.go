package checkout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/disk"
)

// ErrForeignAgent reports a session that Claude Code did not write, and cannot resume.
var ErrForeignAgent = errors.New("another agent wrote it, and Claude Code cannot resume it")

// A Resumed is a session where Claude Code finds it.
type Resumed struct {
	Files     []string // that were written
	Continued bool     // the client's file has the beginning of the session: it got the rest
	Captured  bool     // the client's file had more than memory, which has it now
	Session   *state.Session
	ID        string // of the file: a new one if a file of the session has other turns
	From      string // the working directory of the session, if paths were rewritten
	Changed   int    // lines whose paths were rewritten
	// Removed has, by rule, the number of secrets that redaction took out. Their values are only on the device that captured
	// the session, and this device has the text without them.
	Removed map[string]int
}

// Resume writes a session, with its subagents and tool results, to the directory of Claude Code, claude, where it looks for
// the sessions of the working directory here. Paths of the old working directory become those of root, the root of the
// checkout with here. What this device captured or the client still has stays byte for byte, with its secrets; turns of
// other devices follow. If the client's file has turns that memory lacks, they are captured. If a file
// of the session, in any of the client's directories, has other turns, the session is written as a fork, with a new ID.
func Resume(ctx context.Context, db *state.DB, rev state.Rev, claude, here, root string, dryRun bool) (out Resumed, err error) {
	dir := filepath.Join(claude, "projects", capture.ClientDir(here))
	r := &resuming{db: db, project: rev.Project, dir: dir, root: root, out: &out, seen: map[string]bool{}, made: map[string]bool{}, dryRun: dryRun}
	out.Removed = map[string]int{}
	s, err := r.captured(ctx, rev.Session)
	if err != nil {
		return out, err
	}
	if out.ID, err = r.free(ctx, s); err != nil {
		return out, err
	}
	forked := out.ID != s.FileID()
	if out.Session = s; forked {
		r.fork = out.ID
	}
	if r.t, err = disk.OpenTree(dir, disk.TreeOptions{Continue: true, DryRun: dryRun}); err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, r.t.Close()) }()
	if err := r.stageSession(ctx, s, out.ID+".jsonl", s.FileID()+"/tool-results/"); err != nil {
		return out, err
	}
	out.Continued = r.continued
	if !forked {
		if err := r.stageSubagents(ctx, s); err != nil {
			return out, err
		}
	}
	return out, r.t.Commit(func(path string, sum objects.Hash) {
		if r.made[path] {
			capture.Resumed(db, path, sum)
		}
	})
}

// A resuming writes a session to a directory of the client.
type resuming struct {
	db        *state.DB
	project   state.Project
	dir, root string
	t         *disk.Tree
	out       *Resumed
	seen      map[string]bool // placeholders of secrets that were counted
	made      map[string]bool // transcripts by path that are from memory alone
	continued bool            // the last transcript continues a file
	dryRun    bool
	fork      string // the ID of the file, "" for that of the session
}

// filesOf returns the client's files of a session ID: of a checkout that moved or has worktrees, it may have several.
func (r *resuming) filesOf(id string) ([]string, error) {
	all := filepath.Dir(r.dir)
	entries, err := os.ReadDir(all)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		path := filepath.Join(all, e.Name(), id+".jsonl")
		if fi, err := os.Lstat(path); err == nil && fi.Mode().IsRegular() {
			out = append(out, path)
		}
	}
	return out, nil
}

// compare compares a session with the client's file at path.
func (r *resuming) compare(ctx context.Context, s *state.Session, path string) (transcript.Common, error) {
	file, err := os.Open(path)
	if err != nil {
		return transcript.Common{}, err
	}
	defer file.Close()
	return capture.CompareFile(ctx, r.db, r.now(s), file)
}

// now returns a session as it is now.
func (r *resuming) now(s *state.Session) capture.SessionPoint {
	return capture.SessionPoint{Project: r.project.ID, Session: s, Point: s.Now()}
}

// captured captures the client's files of a session that have turns that memory lacks, and returns the session as it is then.
func (r *resuming) captured(ctx context.Context, s *state.Session) (*state.Session, error) {
	files, err := r.filesOf(s.FileID())
	if err != nil || r.dryRun {
		return s, err
	}
	for _, path := range files {
		common, err := r.compare(ctx, s, path)
		if err != nil {
			return nil, err
		}
		if !common.MoreB {
			continue
		}
		subagents, err := capture.Subagents(path)
		if err != nil {
			return nil, err
		}
		o := capture.AddOptions{Op: "capture", Only: func(p state.Project) bool { return p.ID == r.project.ID }}
		if filepath.Dir(path) == r.dir {
			o.Into = &r.project
		}
		added, err := capture.Add(ctx, r.db, append(subagents, capture.SourceOf(path)), o)
		if err != nil {
			return nil, err
		}
		r.out.Captured = r.out.Captured || slices.ContainsFunc(added, func(a capture.Added) bool { return a.Change != "unchanged" })
		st, err := trust.State(ctx, r.db, r.project.ID)
		if err != nil {
			return nil, err
		}
		s = st.Session(s.ID)
	}
	return s, nil
}

// free returns the ID to resume a session with: its own, unless the client has a file with that ID that has other turns, or this
// device has another branch of the session; else the first fork that has no turns of its own.
func (r *resuming) free(ctx context.Context, s *state.Session) (string, error) {
	st, err := trust.State(ctx, r.db, r.project.ID)
	if err != nil {
		return "", err
	}
	id := s.FileID()
	for n := 1; ; n++ {
		fits, err := r.fits(ctx, st, id, s)
		if fits || err != nil {
			return id, err
		}
		id = s.ForkID(n)
	}
}

// fits reports whether nothing with a session ID has turns that s lacks.
func (r *resuming) fits(ctx context.Context, st *state.State, id string, s *state.Session) (bool, error) {
	known := st.Session(id)
	switch {
	case known == nil || known.ID == s.ID:
	case known.FileID() != s.FileID(): // an earlier fork
		if common, err := comparePoints(ctx, r.db, r.now(s), r.now(known)); err != nil || common.MoreB {
			return false, err
		}
	case known.On(r.db.Refs.Device().ID):
		return false, nil
	}
	files, err := r.filesOf(id)
	if err != nil {
		return false, err
	}
	for _, path := range files {
		common, err := r.compare(ctx, s, path)
		captured := r.dryRun && common.Continued() && known != nil && known.ID == s.ID // as it would be
		if err != nil || common.MoreB && !captured {
			return false, err
		}
	}
	return true, nil
}

// openRegular opens a regular file. The file is nil if there is none: what is there instead is refused when it is written.
func openRegular(path string) (*os.File, error) {
	fi, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !fi.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return os.Open(path)
}

// stageSubagents stages the sessions of subagents next to that of their parent.
func (r *resuming) stageSubagents(ctx context.Context, parent *state.Session) error {
	st, err := trust.Outline(ctx, r.db, r.project.ID)
	if err != nil {
		return err
	}
	for _, s := range st.Sessions {
		if s.Parent() != parent.ID || !s.Shown() {
			continue
		}
		_, file := splitPath(s.Source())
		if _, err := records.ParseFileName(file); err != nil || !strings.HasPrefix(file, "agent-") || path.Ext(file) != ".jsonl" {
			continue // an older client kept it elsewhere
		}
		dir := parent.FileID() + "/subagents/"
		if err := r.stageSession(ctx, s, dir+file, dir); err != nil {
			return err
		}
	}
	return nil
}

// stageSession stages a transcript, unless the client has all of it, and the files that belong to it in the directory files.
func (r *resuming) stageSession(ctx context.Context, s *state.Session, name, files string) error {
	now := s.Now()
	b, err := r.beginning(ctx, s, now, name)
	if err != nil {
		return err
	}
	r.continued = b.local && b.more
	if b.more {
		if len(r.relocation(s, now)) > 0 && r.out.From == "" {
			r.out.From = now.Scan.Cwd
		}
		err = r.t.Stage(name, func(w io.Writer) error { return errors.Join(r.write(ctx, s, now, b, w), b.close()) })
		if err != nil {
			return err
		}
		r.made[r.t.Path(name)] = !b.local
		r.out.Files = append(r.out.Files, r.t.Path(name))
	} else if err := b.close(); err != nil {
		return err
	}
	return r.stageFiles(ctx, s, []*records.Point{s.Last(r.db.Refs.Device().ID), now}, files)
}

func comparePoints(ctx context.Context, db *state.DB, a, b capture.SessionPoint) (transcript.Common, error) {
	in, _, err := originals.Open(ctx, db, b.Project, b.Session, b.Point)
	if err != nil {
		return transcript.Common{}, err
	}
	defer in.Close()
	return capture.CompareFile(ctx, db, a, in)
}

// A beginning is the part of a transcript that this device has, from its own captures or from the client.
type beginning struct {
	r      io.ReadCloser // nil for none
	local  bool          // it is the client's file
	move   relocation
	common transcript.Common // with the newest transcript
	more   bool              // there is something to write
}

func (b beginning) close() error {
	if b.r == nil {
		return nil
	}
	return b.r.Close()
}

// beginning finds the beginning of a transcript on this device.
func (r *resuming) beginning(ctx context.Context, s *state.Session, now *records.Point, name string) (b beginning, err error) {
	path := r.t.Path(name)
	file, err := openRegular(path)
	if err != nil {
		return b, err
	}
	if file != nil {
		in, _, err := originals.Open(ctx, r.db, r.project.ID, s, now)
		if err != nil {
			return b, errors.Join(err, file.Close())
		}
		b = beginning{r: file, local: true}
		b.common, err = transcript.Compare(file, in)
		if err = errors.Join(err, in.Close()); err == nil {
			_, err = file.Seek(0, io.SeekStart)
		}
		b.more = b.common.MoreB
		if err == nil && b.more && !b.common.Continued() {
			err = &disk.FileError{Path: path, Err: disk.ErrExists}
		}
		if err != nil {
			err = errors.Join(err, file.Close())
		}
		return b, err
	}
	own, common, err := r.own(ctx, s, now)
	if own == nil || err != nil {
		return beginning{more: true}, err
	}
	b = beginning{move: r.relocation(s, own), common: common, more: true}
	b.r, _, err = originals.Open(ctx, r.db, r.project.ID, s, own)
	return b, err
}

// own returns the newest growth point of this device that the transcript now continues, nil if there is none.
func (r *resuming) own(ctx context.Context, s *state.Session, now *records.Point) (*records.Point, transcript.Common, error) {
	device := r.db.Refs.Device().ID
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		if p.Stamp.Device != device || sameStream(p, s.Points[i+1:]) {
			continue
		}
		if p == now {
			return nil, transcript.Common{}, nil
		}
		common, err := comparePoints(ctx, r.db, capture.SessionPoint{Project: r.project.ID, Session: s, Point: p}, r.now(s))
		if err != nil || common.Continued() {
			return p, common, err
		}
	}
	return nil, transcript.Common{}, nil
}

// sameStream reports whether one of the growth points is of the stream of p.
func sameStream(p *records.Point, later []records.Point) bool {
	return slices.ContainsFunc(later, func(q records.Point) bool {
		return q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation
	})
}

// relocation returns how the paths of a growth point become those of this machine.
func (r *resuming) relocation(s *state.Session, p *records.Point) relocation {
	move := relocationOf(p.Scan.Cwd, r.root, sourceDir(capture.SourceOn(s, p.Stamp.Device)), r.dir)
	if r.fork != "" {
		move = append(move, [2]string{s.FileID(), r.fork})
	}
	return move
}

// sourceDir returns the directory of a session file, "" if it is not one of Claude Code.
func sourceDir(file string) string {
	dir, _ := splitPath(file)
	if up, name := splitPath(dir); name == "subagents" {
		dir, _ = splitPath(up)
	}
	if up, _ := splitPath(dir); !strings.HasSuffix(up, "projects") {
		return ""
	}
	return dir
}

// write writes a transcript: its beginning, and what follows in the newest one.
func (r *resuming) write(ctx context.Context, s *state.Session, now *records.Point, b beginning, w io.Writer) error {
	had := map[string]bool{} // records at the end of the beginning that are no turns
	if b.r != nil {
		end := &after{skip: b.common.EndA}
		changed, err := b.move.apply(w, io.TeeReader(b.r, end))
		if err != nil {
			return err
		}
		r.out.Changed += changed
		for v := range transcript.Values(end.b) {
			had[string(b.move.line(v.Raw))] = true
		}
	}
	in, exact, err := originals.Open(ctx, r.db, r.project.ID, s, now)
	if err != nil {
		return err
	}
	defer in.Close()
	if exact && now.Stamp.Device == s.Points[0].Stamp.Device {
		return r.rest(s, now, b.common.Turns, had, w, in) // the device that captured it first has all secrets
	}
	return r.rest(s, now, b.common.Turns, had, counted{w, r.out.Removed, r.seen}, in)
}

// rest writes what follows a number of turns in the transcript now, without the records that the beginning ends with.
func (r *resuming) rest(s *state.Session, now *records.Point, turns int, had map[string]bool, w io.Writer, in io.Reader) error {
	move := r.relocation(s, now)
	if turns == 0 {
		first := &firstLine{r: in}
		changed, err := move.apply(w, first)
		r.out.Changed += changed
		if err == nil && transcript.Foreign(first.line) {
			err = fmt.Errorf("session %s: %w", records.ShortID(s.ID), ErrForeignAgent)
		}
		return err
	}
	for v, err := range transcript.Whole(in) {
		if err != nil {
			return err
		}
		turn := transcript.TurnKey(v) != ""
		if turns > 0 {
			if turn {
				turns--
			}
			continue
		}
		line := move.line(v.Raw)
		if had[string(line)] && !turn {
			continue
		}
		if !bytes.Equal(line, v.Raw) {
			r.out.Changed++
		}
		if _, err := w.Write(append(bytes.Clone(line), '\n')); err != nil {
			return err
		}
	}
	return nil
}

// after keeps what is written to it after the first skip bytes.
type after struct {
	skip int64
	b    []byte
}

func (a *after) Write(p []byte) (int, error) {
	n := min(a.skip, int64(len(p)))
	a.skip -= n
	a.b = append(a.b, p[n:]...)
	return len(p), nil
}

// stageFiles stages the files that belong to a session at growth points, in a directory. A file that is there stays.
func (r *resuming) stageFiles(ctx context.Context, s *state.Session, points []*records.Point, dir string) error {
	staged := map[string]bool{}
	for _, p := range points {
		if p == nil {
			continue
		}
		for _, f := range p.Files {
			name := dir + f.Name
			if _, err := os.Lstat(r.t.Path(name)); err == nil || staged[name] {
				continue
			}
			staged[name] = true
			if strings.Contains(f.Name, "/") {
				return &disk.FileError{Path: r.t.Path(name), Err: disk.ErrName}
			}
			at := capture.SessionPoint{Project: r.project.ID, Session: s, Point: p}
			err := r.t.Stage(name, func(w io.Writer) error {
				err := capture.WriteFile(ctx, r.db, at, f, w)
				if !errors.Is(err, originals.ErrWithheld) {
					return err
				}
				var clean bytes.Buffer
				if err := originals.WriteObject(ctx, r.db, r.project.ID, f.Hash, &clean); err != nil {
					return err
				}
				_, err = counted{w, r.out.Removed, r.seen}.Write(clean.Bytes())
				return err
			})
			if err != nil {
				return err
			}
			r.out.Files = append(r.out.Files, r.t.Path(name))
		}
	}
	return nil
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

// counted counts the placeholders of secrets, each once.
type counted struct {
	w     io.Writer
	rules map[string]int
	seen  map[string]bool
}

func (c counted) Write(b []byte) (int, error) {
	for _, mark := range redact.Placeholders(b) {
		if !c.seen[mark] {
			c.seen[mark] = true
			c.rules[redact.RuleOf([]byte(mark))]++
		}
	}
	return c.w.Write(b)
}
