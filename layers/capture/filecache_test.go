package capture_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// TestSeenAgain looks at a file that cannot be read, and then can: what went wrong is no fact about the file.
func TestSeenAgain(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	path := filepath.Join(t.TempDir(), "aaaa1111.jsonl")
	src := layerstest.Write(t, path, layerstest.UserLine(1, "hello")+layerstest.UserLine(2, "and more"))
	p := layerstest.Add(t, m, src)[0].Project.ID
	st, err := trust.State(t.Context(), m.DB, p)
	if err != nil {
		t.Fatal(err)
	}
	s := st.Session("aaaa1111")
	fi, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	f, found := capture.ClientFile{Path: path, Size: fi.Size(), Modified: fi.ModTime()}, capture.ReadFileCache(m.DB, p)
	found.ReadModified = true
	if err := os.Rename(path, path+".away"); err != nil {
		t.Fatal(err)
	}
	if _, changed := capture.ChangedFile(t.Context(), m.DB, p, s, f, found); !changed {
		t.Error("a file that cannot be read is unchanged")
	}
	if err := os.Rename(path+".away", path); err != nil {
		t.Fatal(err)
	}
	if _, changed := capture.ChangedFile(t.Context(), m.DB, p, s, f, found); changed {
		t.Error("a file that could not be read once is changed for ever")
	}
}

// TestListingAfterForget lists the files of Claude Code after a session, a message and a value were forgotten that they still
// have, among them a file with a copy of the message and one with the value. No list shows the text, and no cache keeps it.
func TestListingAfterForget(t *testing.T) {
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	claude := t.TempDir()
	line := func(cwd, session, uuid, text string) string {
		return fmt.Sprintf(`{"type":"user","uuid":%q,"timestamp":"2026-01-15T10:00:00Z","cwd":%q,"sessionId":%q,"message":{"role":"user","content":%q}}`+"\n",
			uuid, cwd, session, text)
	}
	write := func(cwd, id, text string) capture.Source {
		dir := filepath.Join(claude, "projects", capture.ClientDir(cwd))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		return layerstest.Write(t, filepath.Join(dir, id+".jsonl"), text)
	}
	for i := range 6 { // projects of any order
		cwd, id := fmt.Sprintf("/w/p%d", i), fmt.Sprintf("aaaa000%d", i)
		layerstest.Add(t, m, write(cwd, id, line(cwd, id, id, "Mend the cart of trillian")))
		layerstest.Add(t, m, write(cwd, "b"+id, line(cwd, "b"+id, "b"+id, "Ask zaphod about it")+line(cwd, "b"+id, "c"+id, "and go on")))
	}
	all, err := trust.Projects(t.Context(), m.DB)
	if err != nil {
		t.Fatal(err)
	}
	list := func() (titles []string) {
		for _, p := range all {
			items, _, err := sessions.ListAll(t.Context(), m.DB, p, capture.ListOptions{Claude: claude, Forgotten: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, it := range items {
				titles = append(titles, it.Title)
			}
		}
		return titles
	}
	write("/w/p3", "cccc0001", line("/w/p3", "cccc0001", "baaaa0003", "Ask zaphod about it")+line("/w/p3", "cccc0001", "n1", "and another way"))
	write("/w/p3", "cccc0002", line("/w/p3", "cccc0002", "n2", "The pin is marvin-4711"))
	if shown := strings.Join(list(), "\n"); !strings.Contains(shown, "marvin-4711") || !strings.Contains(shown, "zaphod") || !strings.Contains(shown, "trillian") {
		t.Fatalf("before: %s", shown)
	}
	for i := range 6 {
		layerstest.ForgetText(t, m, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, m, fmt.Sprintf("aaaa000%d", i)), layerstest.RevOf(t, m, fmt.Sprintf("baaaa000%d#1", i))}})
	}
	layerstest.Add(t, m, write("/w/p3", "dddd0001", line("/w/p3", "dddd0001", "n3", "The other pin is marvin-4711")))
	layerstest.ForgetText(t, m, forget.ForgetOptions{Secret: []byte("marvin-4711")})
	titles := list()
	for _, word := range []string{"zaphod", "trillian", "marvin-4711"} {
		if shown := strings.Join(titles, "\n"); strings.Contains(shown, word) {
			t.Errorf("%s is shown: %s", word, shown)
		}
		if found := layerstest.Stays(t, word, []*layers.Memory{m}); len(found) > 0 {
			t.Errorf("%s stays in %v", word, found)
		}
	}
}
