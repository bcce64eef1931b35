package notes

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/records"
)

// TestChanged asks what a hook asks: new, rewritten and deleted notes are seen, an unchanged one is not, and a young one
// proves nothing.
func TestChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store, cwd := filepath.Join(dir, "store"), filepath.Join(dir, "work")
	c := Client{Dir: filepath.Join(dir, "claude"), Getenv: func(string) string { return "" }}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(cwd, 0o700))
	file := filepath.Join(c.Places(cwd)[0].Dir, "MEMORY.md")
	must(os.MkdirAll(filepath.Dir(file), 0o700))
	now := time.Now()
	capture := func() {
		files, _ := scan(c.Places(cwd))
		writeStamps(stampFile(store, cwd), files, nil, now)
	}
	write := func(text string, age time.Duration) {
		must(os.WriteFile(file, []byte(text), 0o600))
		must(os.Chtimes(file, now.Add(-age), now.Add(-age)))
	}
	for _, step := range []struct {
		what string
		do   func()
		want bool
	}{
		{"nothing there", func() {}, false},
		{"a new note", func() { write("one", time.Hour) }, true},
		{"captured", capture, false},
		{"rewritten", func() { write("two", time.Minute) }, true},
		{"captured while it is young", func() { write("six", 0); capture() }, true},
		{"the young one is deleted", func() { must(os.Remove(file)) }, true},
		{"captured again", capture, false},
		{"no memory any more", func() { must(os.RemoveAll(filepath.Dir(file))) }, false},
	} {
		step.do()
		if got := c.Changed(store, cwd); got != step.want {
			t.Errorf("%s: changed is %v, want %v", step.what, got, step.want)
		}
	}
}

// TestHeads has states of two devices: the newest are those that no other replaced, each content once.
func TestHeads(t *testing.T) {
	t.Parallel()
	state := func(device, text string, lamport uint64, after ...*State) *State {
		s := &State{Note: records.Note{File: "memory/MEMORY.md", Text: text}, Stamp: records.Stamp{Device: device, Lamport: lamport}}
		for _, a := range after {
			s.After = append(s.After, a.Name())
		}
		return s
	}
	one := state("a", "one", 1)
	two, other := state("a", "two", 2, one), state("b", "other", 3, one)
	both := state("b", "two", 4, two, other)
	copied := state("c", "two", 5)
	for _, c := range []struct {
		states, want []*State
	}{
		{[]*State{one}, []*State{one}},
		{[]*State{two, one}, []*State{two}},
		{[]*State{other, two, one}, []*State{other, two}},
		{[]*State{both, other, two, one}, []*State{both}},
		{[]*State{copied, both, other, two, one}, []*State{copied}},
	} {
		f := File{Name: "memory/MEMORY.md", States: c.states}
		if got := f.Heads(); !slices.Equal(got, c.want) {
			t.Errorf("heads of %d states: %d, want %d", len(c.states), len(got), len(c.want))
		}
	}
}

// TestWrites replays calls.
func TestWrites(t *testing.T) {
	t.Parallel()
	text := ""
	for _, w := range []write{
		{content: "a\nb\n"},
		{edits: []edit{{Old: "b", New: "c"}}},
		{edits: []edit{{Old: "missing", New: "x"}, {Old: "a", New: "z", All: true}}},
		{edits: []edit{}},
	} {
		text = w.apply(text)
	}
	if text != "z\nc\n" {
		t.Errorf("got %q", text)
	}
}

// TestNames finds a note by what a user types.
func TestNames(t *testing.T) {
	t.Parallel()
	var files []*File
	for _, name := range []string{"agent-memory/x/MEMORY.md", "memory/MEMORY.md", "memory/team/a.md", "plans/a.md", "plans/b.md"} {
		files = append(files, &File{Name: name})
	}
	for typed, want := range map[string]string{
		"MEMORY.md": "memory/MEMORY.md", "memory": "", "b": "plans/b.md", "plans/a": "plans/a.md", "a.md": "", "x/MEMORY.md": files[0].Name, "": "",
	} {
		f, err := Find(files, typed)
		if got := ""; err == nil {
			if got = f.Name; got != want {
				t.Errorf("%q is %q, want %q", typed, got, want)
			}
		} else if want != "" {
			t.Errorf("%q: %v", typed, err)
		}
	}
}
