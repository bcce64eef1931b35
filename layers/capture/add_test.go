package capture_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// The commits of an import hold every source once and in order, no session twice, and no more than a kill may cost; of a large
// project there are few, because each reads the whole of it.
func TestBatches(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, capture.BatchFiles, capture.BatchFiles + 1, 3000, 100_000} {
		g := &capture.Group{}
		for i := range n {
			id := i
			if rnd.IntN(5000) == 0 && i > 0 {
				id-- // found in two places
			}
			g.Sources = append(g.Sources, capture.Source{Path: fmt.Sprintf("/a/%08d.jsonl", id)})
			g.Sizes = append(g.Sizes, int64(rnd.IntN(8000)))
		}
		if n == 3000 {
			g.Sizes[7], g.Sizes[2000] = capture.BytesMost+1, capture.BytesMost
		}
		at, before, batches := 0, int64(0), g.Batches()
		for _, b := range batches {
			ids, bytes := map[string]bool{}, int64(0)
			for i, src := range b {
				if src.Path != g.Sources[at+i].Path {
					t.Fatalf("of %d sources, number %d is %s, want %s", n, at+i, src.Path, g.Sources[at+i].Path)
				}
				if ids[src.SessionID()] {
					t.Errorf("of %d sources, session %s is twice in a commit", n, src.SessionID())
				}
				ids[src.SessionID()] = true
				bytes += g.Sizes[at+i]
			}
			if most := min(max(capture.BatchFiles, at/8), capture.BatchMost); len(b) == 0 || len(b) > most || bytes > min(max(capture.BatchBytes, before/8), capture.BytesMost) && len(b) > 1 {
				t.Errorf("of %d sources, after %d: a commit of %d, %d bytes; want at most %d, and an eighth of %d bytes", n, at, len(b), bytes, most, before)
			}
			at, before = at+len(b), before+bytes
		}
		if at != n {
			t.Errorf("%d of %d sources are in commits", at, n)
		}
		if n == 100_000 && len(batches) > 100 {
			t.Errorf("%d sources make %d commits", n, len(batches))
		}
	}
}

// An import that is interrupted keeps the sessions that it has captured, and the next one goes on.
func TestInterruptedAdd(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	dir := t.TempDir()
	var sources []capture.Source
	for i := range 6 {
		line := fmt.Sprintf(`{"type":"user","cwd":"/w/shop","sessionId":"s%d","message":{"role":"user","content":"%s"}}`+"\n",
			i, strings.Repeat("deploy it ", capture.BatchBytes/16))
		sources = append(sources, layerstest.Write(t, filepath.Join(dir, fmt.Sprintf("s%d.jsonl", i)), line))
	}
	ctx, stop := context.WithCancel(t.Context())
	var done atomic.Int32
	added, err := capture.Add(ctx, m.DB, sources, capture.AddOptions{Progress: func(int64) {
		if done.Add(1) == 4 {
			stop()
		}
	}})
	if !errors.Is(err, context.Canceled) || len(added) < 2 || len(added) == len(sources) {
		t.Fatalf("%d sessions are stored, error %v", len(added), err)
	}
	changes, err := add(t, m, capture.AddOptions{}, sources...)
	for i, src := range sources {
		want := "new"
		if i < len(added) {
			want = "unchanged"
		}
		if got := changes[src.SessionID()]; got != want || err != nil {
			t.Errorf("session %d: %q, want %q, error %v", i, got, want, err)
		}
	}
}

// add captures sources with options and returns the changes by session.
func add(t *testing.T, m *layers.Memory, o capture.AddOptions, sources ...capture.Source) (map[string]string, error) {
	t.Helper()
	added, err := capture.Add(t.Context(), m.DB, sources, o)
	changes := map[string]string{}
	for _, a := range added {
		changes[a.Session] = a.Change
	}
	return changes, err
}

func mustAdd(t *testing.T, m *layers.Memory, o capture.AddOptions, sources ...capture.Source) map[string]string {
	t.Helper()
	changes, err := add(t, m, o, sources...)
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// commits counts the commits of this device's lane of a project.
func commits(t *testing.T, m *layers.Memory, p refs.Project) (n int) {
	t.Helper()
	for _, err := range m.Refs.Log(t.Context(), p, nil) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestAddSelects captures what the options select and nothing else.
func TestAddSelects(t *testing.T) {
	t.Parallel()
	shop, blog := layerstest.Session(t, "a1", "/home/dev/shop", 3), layerstest.Session(t, "b1", "/home/dev/blog", 3)
	second := layerstest.Session(t, "a2", "/home/dev/shop", 3)
	sub := layerstest.Session(t, "agent-1", "/home/dev/shop", 3)
	sub.Parent = "a1"
	for name, c := range map[string]struct {
		o    capture.AddOptions
		want map[string]string
	}{
		"all":    {capture.AddOptions{}, map[string]string{"a1": "unchanged", "a2": "new", "b1": "new", sub.SessionID(): "new"}},
		"known":  {capture.AddOptions{Known: true}, map[string]string{"a1": "unchanged", sub.SessionID(): "new"}},
		"only":   {capture.AddOptions{Only: func(p state.Project) bool { return p.Name == "blog" }}, map[string]string{"b1": "new"}},
		"within": {capture.AddOptions{Within: func(dir string) bool { return dir == "/home/dev/blog" }}, map[string]string{"b1": "new"}},
		"none":   {capture.AddOptions{Within: func(string) bool { return false }}, map[string]string{}},
	} {
		for _, dry := range []bool{true, false} {
			m := layerstest.NewMemory(t, layerstest.TestOptions())
			p := layerstest.Add(t, m, shop)[0].Project.ID
			before := commits(t, m, p)
			c.o.DryRun = dry
			if got := mustAdd(t, m, c.o, shop, second, blog, sub); !maps.Equal(got, c.want) {
				t.Errorf("%s, dry run %v: %v, want %v", name, dry, got, c.want)
			}
			if now := commits(t, m, p); dry && now != before {
				t.Errorf("%s: a dry run makes %d commits", name, now-before)
			}
			for _, project := range []string{"/home/dev/shop", "/home/dev/blog"} {
				_, known, err := projects.Locate(t.Context(), m.DB, project)
				if want := strings.HasSuffix(project, "shop") || !dry && c.want["b1"] != ""; err != nil || known != want {
					t.Errorf("%s, dry run %v: %s is registered: %v, %v; want %v", name, dry, project, known, err, want)
				}
			}
		}
	}
}

// TestAddInto captures into a project that the directory does not belong to, and leaves the directory alone.
func TestAddInto(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	into := layerstest.Add(t, m, layerstest.Session(t, "a1", "/home/dev/shop", 3))[0].Project
	added, err := capture.Add(t.Context(), m.DB, []capture.Source{layerstest.Session(t, "b1", "/home/dev/blog", 3)}, capture.AddOptions{Into: &into})
	if err != nil || len(added) != 1 || added[0].Project.ID != into.ID {
		t.Errorf("Add = %+v, %v; want the project %s", added, err, into.ID)
	}
	if _, known, err := projects.Locate(t.Context(), m.DB, "/home/dev/blog"); known || err != nil {
		t.Errorf("the directory is registered: %v, %v", known, err)
	}
}

// TestAddOfALinkedDirectory links a directory to another project: its known session stays where it is, a new one goes to
// the new project.
func TestAddOfALinkedDirectory(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	known := layerstest.Session(t, "a1", "/home/dev/shop", 3)
	was := layerstest.Add(t, m, known)[0].Project
	now := layerstest.Add(t, m, layerstest.Session(t, "b1", "/home/dev/blog", 3))[0].Project
	if err := projects.LinkProject(t.Context(), m.DB, now, "/home/dev/shop"); err != nil {
		t.Fatal(err)
	}
	grown := layerstest.Session(t, "a1", "/home/dev/shop", 5)
	fresh := layerstest.Session(t, "a2", "/home/dev/shop", 2)
	added, err := capture.Add(t.Context(), m.DB, []capture.Source{grown, fresh}, capture.AddOptions{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, a := range added {
		got[a.Session] = a.Change + " in " + a.Project.Name
	}
	if want := map[string]string{"a1": "grown in " + was.Name, "a2": "new in " + now.Name}; !maps.Equal(got, want) {
		t.Errorf("Add = %v, want %v", got, want)
	}
}

// TestAddOfHidden captures a session that the user hid: it stays hidden, unless the user names it.
func TestAddOfHidden(t *testing.T) {
	t.Parallel()
	for _, show := range []bool{false, true} {
		m := layerstest.NewMemory(t, layerstest.TestOptions())
		p := layerstest.Add(t, m, layerstest.Session(t, "a1", "/home/dev/shop", 3))[0].Project.ID
		if err := m.Refs.Update(t.Context(), p, "hide", func(tx *refs.Tx) error {
			_, err := tx.Add(records.KindSet, records.SetBody{Target: "session/a1", Field: "deleted", Value: true})
			return err
		}); err != nil {
			t.Fatal(err)
		}
		added, err := capture.Add(t.Context(), m.DB, []capture.Source{layerstest.Session(t, "a1", "/home/dev/shop", 5)}, capture.AddOptions{Show: show})
		if err != nil {
			t.Fatal(err)
		}
		if a := added[0]; a.Change != "grown" || a.Hidden == show || a.Shown != show {
			t.Errorf("show %v: %+v", show, a)
		}
		if s := sessionOf(t, m, p, "a1"); s.Deleted == show || s.Now().Scan.Values != 5 {
			t.Errorf("show %v: hidden %v with %d lines, want 5", show, s.Deleted, s.Now().Scan.Values)
		}
	}
}

// TestAddOfAFileThatGoes removes a file between its start and its content: the others are committed without any of it,
// and the next Add captures it.
func TestAddOfAFileThatGoes(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	one, gone, three := layerstest.Session(t, "a1", "/home/dev/shop", 3), layerstest.Session(t, "a2", "/home/dev/shop", 3),
		layerstest.Session(t, "a3", "/home/dev/shop", 3)
	away := gone.Path + ".away"
	var reported int64
	got, err := add(t, m, capture.AddOptions{Only: func(state.Project) bool { return os.Rename(gone.Path, away) == nil },
		Progress: func(n int64) { reported += n }}, one, gone, three)
	var failed *capture.SourceError
	if !errors.As(err, &failed) || failed.Source.Path != gone.Path || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the error is %v, want that of the file that is gone", err)
	}
	if want := map[string]string{"a1": "new", "a3": "new"}; !maps.Equal(got, want) {
		t.Errorf("Add = %v, want %v", got, want)
	}
	if info, err := os.Stat(one.Path); err != nil || reported != 2*info.Size() {
		t.Errorf("the progress is %d bytes, want each file once, %d", reported, 2*info.Size())
	}
	layerstest.CheckClean(t, m)
	if err := os.Rename(away, gone.Path); err != nil {
		t.Fatal(err)
	}
	if got := mustAdd(t, m, capture.AddOptions{}, one, gone, three); !maps.Equal(got, map[string]string{"a1": "unchanged", "a2": "new", "a3": "unchanged"}) {
		t.Errorf("the next Add = %v", got)
	}
}

// TestCancelledAdd commits nothing.
func TestCancelledAdd(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	ctx, cancel := context.WithCancel(t.Context())
	added, err := capture.Add(ctx, m.DB, []capture.Source{layerstest.Session(t, "a1", "/home/dev/shop", 3)},
		capture.AddOptions{Only: func(state.Project) bool { cancel(); return true }})
	if !errors.Is(err, context.Canceled) || len(added) > 0 {
		t.Errorf("Add = %+v, %v", added, err)
	}
	if all, err := m.Refs.Projects(); err != nil || len(all) > 0 {
		t.Errorf("there are lanes of %v, %v", all, err)
	}
}

// TestAddTogether captures the same growing session and others from several goroutines: each session is there once, with
// its last growth.
func TestAddTogether(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "s1.jsonl")
	text := ""
	var lines []string
	for i := range 6 {
		text += layerstest.UserLine(i, fmt.Sprint("message ", i))
		lines = append(lines, text)
	}
	src := layerstest.Write(t, path, lines[0])
	p := layerstest.Add(t, m, src)[0].Project.ID
	done := make(chan error, 4)
	for w := range 4 {
		go func() {
			var err error
			for i := range 3 {
				_, aerr := capture.Add(t.Context(), m.DB, []capture.Source{src, layerstest.Session(t, fmt.Sprintf("w%d-%d", w, i), "/home/dev/shop", 2)}, capture.AddOptions{})
				err = errors.Join(err, aerr)
			}
			done <- err
		}()
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for i := 1; i < len(lines); i++ {
		if _, err := file.WriteString(lines[i][len(lines[i-1]):]); err != nil {
			t.Fatal(err)
		}
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	layerstest.Add(t, m, src)
	got := layerstest.Restored(t, m, p, "s1")
	if last := string(got[len(got)-1]); last != text {
		t.Errorf("the session ends as %q, want %q", last, text)
	}
	for i, b := range got {
		if !strings.HasPrefix(text, string(b)) {
			t.Errorf("growth point %d is %q, which the file never was", i, b)
		}
	}
	st := stateOf(t, m, p)
	var ids []string
	for _, s := range st.Recent() {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	if len(ids) != 1+4*3 || len(slices.Compact(ids)) != 13 {
		t.Errorf("there are %d sessions: %v", len(ids), ids)
	}
	layerstest.CheckClean(t, m)
}
