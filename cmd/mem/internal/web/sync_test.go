package web

import (
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs/remote"
)

// TestSyncButtons pulls and pushes from the page. The first push of a project is left to the command line, and what a push
// refused is told.
func TestSyncButtons(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	hub := layerstest.NewHub(t, "file")
	address, _, err := remote.ParseURL(hub.URL, nil)
	must(t, err)
	must(t, sync.AddRemote(t.Context(), r.world.Memory.DB, "origin", address))
	press := func(do string) string {
		t.Helper()
		a := r.post("/sync", url.Values{"remote": {"origin"}, "do": {do}})
		job := a.header.Get("Location")
		if a.status != http.StatusSeeOther || !strings.HasPrefix(job, "/jobs/j") {
			t.Fatalf("%s: %d %.300s", do, a.status, a.body)
		}
		must(t, r.server.Jobs.Wait(t.Context(), strings.TrimPrefix(job, "/jobs/")))
		if shown := r.do(http.MethodGet, job, "", nil); shown.status == http.StatusSeeOther {
			return "to " + shown.header.Get("Location")
		} else {
			return shown.body
		}
	}
	if got := press("push"); !strings.Contains(got, "no project was pushed to origin before: mem push --all origin") {
		t.Errorf("the first push: %s", between(got, "<h1>", "</section>"))
	}
	_, err = sync.Push(t.Context(), r.world.Memory.DB, sync.PushOptions{Remote: layerstest.Origin(t, r.world.Memory), Projects: []state.Project{r.project}, Consent: layerstest.Yes})
	must(t, err)
	r.post("/s/"+sampleSession+"/compress", url.Values{"mode": {"uniform"}, "ratio": {"10"}})
	if body := r.get("/sync"); !strings.Contains(body, "1 operation to send") {
		t.Errorf("before: %s", between(body, "<article", "</article>"))
	}
	for _, do := range []string{"sync", "push", "pull"} {
		if got := press(do); got != "to /sync" {
			t.Errorf("%s: %s", do, between(got, "<h1>", "</section>"))
		}
	}
	if body := r.get("/sync"); !strings.Contains(body, "up to date") {
		t.Errorf("after: %s", between(body, "<article", "</article>"))
	}
	if a := r.post("/sync", url.Values{"remote": {"origin"}, "do": {"force"}}); a.status != http.StatusBadRequest {
		t.Errorf("an unknown button: %d", a.status)
	}
}

// TestUntrustedFirst opens the start page of a memory that has got data of another device: what to do next begins with its
// trust, also if there is nothing else.
func TestUntrustedFirst(t *testing.T) {
	t.Parallel()
	hub := layerstest.NewHub(t, "file")
	other := hub.Memory(t, "lap top")
	text := `{"uuid":"u","sessionId":"5106a000-0000-4000-8000-000000000005","cwd":"/home/user/extra","timestamp":"2026-01-20T10:00:00Z","type":"user","message":{"role":"user","content":"Go on."}}` + "\n"
	layerstest.Add(t, other, layerstest.Write(t, filepath.Join(t.TempDir(), "5106a000-0000-4000-8000-000000000005.jsonl"), text))
	all, err := trust.Projects(t.Context(), other.DB)
	must(t, err)
	_, err = sync.Push(t.Context(), other.DB, sync.PushOptions{Remote: layerstest.Origin(t, other), Projects: all, Consent: layerstest.Yes})
	must(t, err)
	empty := hub.Memory(t, "desk")
	r := newRig(t, func(w *api.World) { w.Memory = empty }, nil)
	_, err = sync.Fetch(t.Context(), empty.DB, sync.FetchOptions{Remote: layerstest.Origin(t, empty)})
	must(t, err)
	body := between(r.get("/"), `id="todo"`, "</ul>")
	_, first, _ := strings.Cut(body, "<li>")
	if first, _, _ = strings.Cut(first, "</li>"); !strings.Contains(first, "mem device trust &#39;lap top&#39;") {
		t.Errorf("what to do next: %s", body)
	}
}
