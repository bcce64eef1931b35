package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// in returns the file of a session that ran in a directory of the desk.
func (d *desk) in(cwd, session string) string {
	return filepath.Join(d.dir, "claude", "projects", capture.ClientDir(cwd), session+".jsonl")
}

// owners returns the project of each session that the memory has, by its directory's name.
func (d *desk) owners() map[string]string {
	out := map[string]string{}
	d.memory(func(m *layers.Memory, _ state.Project) {
		projects, err := trust.Projects(context.Background(), m.DB)
		if err != nil {
			d.t.Fatal(err)
		}
		for _, p := range projects {
			if p.ID == refs.Home {
				continue
			}
			st, err := trust.Outline(context.Background(), m.DB, p.ID)
			if err != nil {
				d.t.Fatal(err)
			}
			for _, s := range st.Sessions {
				out[s.ID] = p.Name
			}
		}
	})
	return out
}

// TestCatchUpBeneath lets sessions be killed in directories inside a project, and in others whose directories of Claude Code
// look like those: a start in the project captures its own, all of them, and nothing else.
func TestCatchUpBeneath(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for _, dir := range []string{".git", "private", "a/very", "own/.git"} {
		if err := os.MkdirAll(filepath.Join(d.cwd, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(d.cwd, "private", ".memignore"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	long := filepath.Join(d.cwd, strings.Repeat("long/", 60)+"dir")
	sibling := d.cwd + "-old"
	for cwd, ids := range map[string][]string{
		d.cwd: {"root-1"}, filepath.Join(d.cwd, "old"): {"mine-1", "mine-2"}, filepath.Join(d.cwd, "a", "very"): {"mine-3"}, long: {"mine-4"},
		sibling: {"other-1", "other-2"}, filepath.Join(d.cwd, "private"): {"hush-1"}, filepath.Join(d.cwd, "own"): {"inner-1"}, filepath.Join(d.cwd, "off"): {"off-1"},
		filepath.Join(d.dir, "else"): {"else-1"}, d.cwd + "ord": {"near-1"}, filepath.Join(d.cwd, "..", "w-x"): {"near-2"}, d.cwd + "/old/../../up": {"near-3"},
	} {
		for _, id := range ids {
			d.writeAt(cwd, d.in(cwd, id), "A question in "+id)
		}
	}
	d.writeAt(filepath.Join(d.cwd, "old"), strings.TrimSuffix(d.in(filepath.Join(d.cwd, "old"), "mine-1"), ".jsonl")+"/subagents/agent-m1.jsonl", "Count")
	d.writeAt(sibling, strings.TrimSuffix(d.in(sibling, "other-1"), ".jsonl")+"/subagents/agent-o1.jsonl", "Count")
	linked := filepath.Join(d.dir, "beside")
	d.writeAt(filepath.Join(d.cwd, "link"), filepath.Join(linked, "link-1.jsonl"), "Behind a link")
	if err := os.Symlink(linked, filepath.Join(d.dir, "claude", "projects", capture.ClientDir(filepath.Join(d.cwd, "link")))); err != nil {
		t.Fatal(err)
	}
	d.env = map[string]string{"MEM_CAPTURE": "off"}
	d.hook("SessionStart", "off-1", map[string]any{"cwd": filepath.Join(d.cwd, "off"), "transcript_path": d.in(filepath.Join(d.cwd, "off"), "off-1")})
	d.env = nil

	want := map[string]string{"root-1": "w", "mine-1": "w", "mine-2": "w", "mine-3": "w", "mine-4": "w", "agent-m1": "w"}
	for i := range 3 { // the first start reads, the others know
		out := d.hook("SessionStart", fmt.Sprintf("new-%d", i), nil)
		if got := d.owners(); fmt.Sprint(got) != fmt.Sprint(want) || d.log() != "" || !strings.Contains(out, "(5 sessions)") {
			t.Fatalf("start %d captured %v\nwant %v\n%s%s", i, got, want, out, d.log())
		}
	}

	// Nothing was remembered of the others that would keep them from being captured where they belong.
	d.hook("SessionStart", "new-9", map[string]any{"cwd": sibling, "transcript_path": d.in(sibling, "new-9")})
	want["other-1"], want["other-2"], want["agent-o1"] = "w-old", "w-old", "w-old"
	if got := d.owners(); fmt.Sprint(got) != fmt.Sprint(want) || d.log() != "" {
		t.Errorf("a start beside it: %v\nwant %v\n%s", got, want, d.log())
	}
}

// TestCatchUpBeneathUnmet starts in a directory that is no repository and that memory never met: what was killed inside it is
// captured at this start, as at every later one, but not what is a project of its own.
func TestCatchUpBeneathUnmet(t *testing.T) {
	t.Parallel()
	for name, rooted := range map[string]bool{"nothing ran in it": false, "something ran in it": true} {
		d := newDesk(t)
		if err := os.MkdirAll(filepath.Join(d.cwd, "own", ".git"), 0o700); err != nil {
			t.Fatal(err)
		}
		met := filepath.Join(d.cwd, "met")
		d.writeAt(met, d.in(met, "met-1"), "It is a project already")
		d.hook("Stop", "met-1", map[string]any{"cwd": met, "transcript_path": d.in(met, "met-1")})
		for cwd, ids := range map[string][]string{
			filepath.Join(d.cwd, "a"): {"mine-1", "mine-2"}, filepath.Join(d.cwd, "a", "b"): {"mine-3"}, met: {"met-2"},
			filepath.Join(d.cwd, "own", "x"): {"inner-1"}, d.cwd + "-old": {"other-1"},
		} {
			for _, id := range ids {
				d.writeAt(cwd, d.in(cwd, id), "A question in "+id)
			}
		}
		want := map[string]string{"met-1": "met", "mine-1": "w", "mine-2": "w", "mine-3": "w"}
		if rooted {
			d.write("root-1", "A question at the top")
			want["root-1"] = "w"
		}
		for i := range 2 {
			out := d.hook("SessionStart", fmt.Sprintf("new-%d", i), nil)
			if got := d.owners(); fmt.Sprint(got) != fmt.Sprint(want) || d.log() != "" || !strings.Contains(out, "mine-3") {
				t.Fatalf("%s: start %d captured %v\nwant %v\n%s%s", name, i, got, want, out, d.log())
			}
		}
	}
}

// TestCatchUpBeneathUnmetQuiet starts in such a directory in which nothing else ran: nothing is remembered of it.
func TestCatchUpBeneathUnmetQuiet(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.hook("SessionStart", "new-0", nil)
	d.memory(func(m *layers.Memory, _ state.Project) {
		if _, known, err := projects.Locate(context.Background(), m.DB, d.cwd); known || err != nil {
			t.Errorf("known: %v, %v; %s", known, err, d.log())
		}
	})
}

// TestCatchUpBeneathSwitches lets capture be off in three ways for sessions inside a project: no start takes them.
func TestCatchUpBeneathSwitches(t *testing.T) {
	t.Parallel()
	for name, off := range map[string]func(*Settings){
		"all":     func(s *Settings) { s.Capture = false },
		"project": func(s *Settings) { s.CaptureProject = func(state.Project) bool { return false } },
		"new":     func(s *Settings) { s.Register = false },
	} {
		d := newDesk(t)
		d.write("root-1", "The project is known")
		d.hook("Stop", "root-1", nil)
		d.writeAt(filepath.Join(d.cwd, "sub"), d.in(filepath.Join(d.cwd, "sub"), "mine-1"), "A question")
		on := d.settings
		off(&d.settings)
		d.hook("SessionStart", "new-1", nil)
		if got := d.owners(); len(got) != 1 || d.log() != "" {
			t.Errorf("%s: %v; %s", name, got, d.log())
		}
		d.settings = on
		d.hook("SessionStart", "new-2", nil)
		if got := d.owners(); got["mine-1"] != "w" || d.log() != "" {
			t.Errorf("%s, on again: %v; %s", name, got, d.log())
		}
	}
}

// TestBehindOnce counts what is looked at: the second look at a project reads no transcript, whoever's it is.
func TestBehindOnce(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("root-1", "The project is known")
	d.hook("Stop", "root-1", nil)
	sub, sibling := filepath.Join(d.cwd, "sub"), d.cwd+"-old"
	d.writeAt(sub, d.in(sub, "mine-1"), "A question")
	d.writeAt(sibling, d.in(sibling, "other-1"), "A question")
	look := func() (paths []string) {
		d.memory(func(m *layers.Memory, p state.Project) {
			behind, err := capture.Pending(context.Background(), m.DB, p, capture.ListOptions{Claude: filepath.Join(d.dir, "claude"), Dir: d.cwd, SessionDir: d.sessions()})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range behind {
				paths = append(paths, c.SessionID()+" "+c.Cwd)
			}
		})
		return paths
	}
	want := []string{"mine-1 " + sub}
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("behind: %q, want %q", got, want)
	}
	for _, file := range []string{d.in(sub, "mine-1"), d.in(sibling, "other-1")} { // what would be read now names nothing
		if err := os.WriteFile(file, []byte("{}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := look(); !slices.Equal(got, want) {
		t.Errorf("behind, again: %q, want %q", got, want)
	}
}

// TestWorkerOfNoCapture starts a session with capture switched off: the worker that makes the missing digests captures nothing.
func TestWorkerOfNoCapture(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	for i := range 4 {
		d.write(fmt.Sprintf("old-%d", i), "How does the parser work?")
	}
	d.hook("SessionStart", "new-0", nil)
	if err := os.RemoveAll(filepath.Join(d.store(), "cache")); err != nil {
		t.Fatal(err)
	}
	d.settings.Capture = false
	d.write("private-1", "My salary is 4711")
	d.slow = 500 * time.Millisecond
	d.hook("SessionStart", "new-1", nil)
	if !slices.Equal(d.detached, []string{"hook work"}) {
		t.Fatalf("started %q: the test shows nothing; %s", d.detached, d.log())
	}
	d.work()
	if n := d.stored(); n != 4 || Backlogs(d.store()) != 0 || d.log() != "" {
		t.Errorf("%d sessions stored, want 4, %d places left; %s", n, Backlogs(d.store()), d.log())
	}
}

// TestNestedSubagents switches capture off for a session with a subagent in a directory of its subagents: no session captures it.
func TestNestedSubagents(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.env = map[string]string{"MEM_CAPTURE": "off"}
	d.write("private-1", "My salary is 4711")
	d.hook("Stop", "private-1", nil)
	d.env = nil
	d.writeAt(d.cwd, filepath.Join(d.sessions(), "private-1", "subagents", "more", "agent-a1.jsonl"), "4711")
	d.hook("SessionStart", "open-1", nil)
	d.work()
	if n := d.stored(); n != 0 || d.log() != "" {
		t.Errorf("%d sessions stored; %s", n, d.log())
	}
	if id := sessionOf("/subagents/.claude/projects/-w/aaaa1111.jsonl"); id != "aaaa1111" {
		t.Errorf("a session of a user called subagents is %q", id)
	}
}

// TestFailures splits the errors of a capture: a note is done if its file is gone, not if something else is missing.
func TestFailures(t *testing.T) {
	t.Parallel()
	d := newDesk(t)
	d.write("aaaa1111", "Hello")
	there, gone := filepath.Join(d.sessions(), "aaaa1111.jsonl"), filepath.Join(d.sessions(), "bbbb2222.jsonl")
	w := d.world(strings.NewReader(""), io.Discard)
	missing := &fs.PathError{Op: "open", Path: "x.pack", Err: fs.ErrNotExist}
	failed, fatal := w.failures(errors.Join(&capture.SourceError{Source: capture.Source{Path: there}, Err: missing},
		&capture.SourceError{Source: capture.Source{Path: gone}, Err: missing}), nil)
	if fatal != nil || len(failed) != 1 || !failed[there] || !strings.Contains(d.log(), "capture aaaa1111") {
		t.Errorf("failed: %v, %v; log %q", failed, fatal, d.log())
	}
}
