package web

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/notes"
)

// TestNotesPage shows the states of a note with what each changed; text of a note is escaped.
func TestNotesPage(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	dir := filepath.Join(r.world.Dir, "shop")
	client := notes.Client{Dir: r.world.Claude, Getenv: func(string) string { return "" }}
	memory := filepath.Join(r.world.Claude, "projects", capture.ClientDir(dir), "memory")
	must(t, os.MkdirAll(memory, 0o700))
	for _, text := range []string{"Prices are floats.\n", "Prices are <b>cents</b>.\n"} {
		must(t, os.WriteFile(filepath.Join(memory, "MEMORY.md"), []byte(text), 0o600))
		_, err := notes.CaptureAll(t.Context(), r.world.Memory.DB, r.project, client, dir, notes.Options{})
		must(t, err)
	}
	p := "/p/" + string(r.project.ID) + "/notes"
	for path, wants := range map[string][]string{
		p: {"memory/MEMORY.md", "by hand", "this one"},
		p + "?file=memory/MEMORY.md": {`class="minus">-Prices are floats.`, `class="plus">&#43;Prices are &lt;b&gt;cents&lt;/b&gt;.`,
			"@{0}", "@{1}"},
		p + "?file=memory/MEMORY.md&at=1": {`class="plus">&#43;Prices are floats.`, "mem notes restore memory/MEMORY.md@{1}"},
	} {
		a := r.do(http.MethodGet, path, "", nil)
		for _, want := range wants {
			if a.status != 200 || !strings.Contains(a.body, want) {
				t.Errorf("GET %s: %d, lacks %q:\n%s", path, a.status, want, a.body)
			}
		}
	}
	if a := r.do(http.MethodGet, p+"?file=memory/none.md", "", nil); a.status != 404 {
		t.Errorf("an unknown note: %d", a.status)
	}
	if a := r.do(http.MethodGet, p+"?file=memory/MEMORY.md&at=7", "", nil); a.status != 400 {
		t.Errorf("an unknown state: %d", a.status)
	}
	if a := r.do(http.MethodGet, "/search?q=cents", "", nil); !strings.Contains(a.body, "/notes?file=memory%2FMEMORY.md") {
		t.Errorf("the search does not lead to the note:\n%s", a.body)
	}
}

// TestUsagePage shows what sessions used in each way, with values on the axis of the charts.
func TestUsagePage(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	p := "/p/" + string(r.project.ID) + "/usage"
	for _, by := range []string{"", "day", "session", "model", "project"} {
		a := r.do(http.MethodGet, p+"?by="+by, "", nil)
		if a.status != 200 || strings.Count(a.body, `class="axis"`) != 6 || !strings.Contains(a.body, `text-anchor="end">$`) {
			t.Errorf("by %q: %d, %d lines of axes\n%s", by, a.status, strings.Count(a.body, `class="axis"`), a.body)
		}
	}
	if a := r.do(http.MethodGet, p+"?by=hour", "", nil); a.status != 400 {
		t.Errorf("by hour: %d", a.status)
	}
}

func TestRoundUp(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 1: 1, 2: 2, 3: 5, 6: 10, 10: 10, 11: 20, 201: 500, 999_999: 1_000_000} {
		if got := roundUp(n); got != want {
			t.Errorf("roundUp(%d) = %d, want %d", n, got, want)
		}
	}
}
