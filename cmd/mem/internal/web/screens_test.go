package web

import (
	"fmt"
	"html"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/knowledge/concepts"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// sampleSession is the session of the sample that has markers.
const sampleSession = "6ecd8c99-4036-403d-bf84-cf8400f67836"

// fill makes versions and a composition of the sample.
func (r *rig) fill() {
	r.t.Helper()
	for _, in := range []api.CompressionSettings{{Ratio: 10}, {Ratio: 30, Distance: 5}, {Mode: "tiered", Preset: "standard"}} {
		r.api(http.MethodPost, "/sessions/"+sampleSession+"/versions", in, nil, 201)
	}
	var j api.JobAnswer
	r.api(http.MethodPost, "/projects/"+string(r.project.ID)+"/compositions",
		api.CompositionRequest{Name: "ctx", Budget: 4000, Components: []api.ComponentRequest{{SessionID: sampleSession, VersionID: "v001"}}}, &j, 202)
	r.wait(&j)
}

// wait waits for a job to be done.
func (r *rig) wait(j *api.JobAnswer) {
	r.t.Helper()
	for j.State == "running" {
		time.Sleep(5 * time.Millisecond)
		r.api(http.MethodGet, "/jobs/"+j.ID, nil, j, 200)
	}
	if j.State != "done" {
		r.t.Fatalf("%s: %+v", j.What, j.Error)
	}
}

// group puts two sessions into a concept each.
func (r *rig) group() {
	r.t.Helper()
	for i, name := range []string{"Coupon codes", "Money as integers"} {
		m, err := knowledge.FindMember(r.t.Context(), r.world.Memory.DB, state.Scope{Project: r.project}, r.ids[i])
		must(r.t, err)
		_, err = knowledge.Assign(r.t.Context(), r.world.Memory.DB, r.project, []knowledge.Member{m}, knowledge.Target{New: &concepts.Definition{Name: name, Topic: name}}, false)
		must(r.t, err)
	}
}

// TestConcepts renames, splits, merges and deletes concepts by their forms.
func TestConcepts(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.group()
	p := "/p/" + string(r.project.ID)
	type concept struct {
		ID       string `json:"conceptId"`
		Name     string `json:"conceptName"`
		Sessions []string
	}
	list := func() []concept {
		var out struct{ Concepts []concept }
		r.api(http.MethodGet, "/concepts", nil, &out, 200)
		slices.SortFunc(out.Concepts, func(a, b concept) int { return strings.Compare(a.Name, b.Name) })
		return out.Concepts
	}
	edit := func(want int, form url.Values) {
		t.Helper()
		if a := r.post(p+"/concepts", form); a.status != want {
			t.Fatalf("%v: %d, want %d: %.400s", form, a.status, want, a.body)
		}
	}
	all := list()
	coupons, money := all[0], all[1]
	if body := r.get(p + "/facts?show=concepts"); strings.Count(body, `value="merge"`) != 2 {
		t.Errorf("the forms: %s", between(body, `class="cards"`, "</main>"))
	}
	edit(303, url.Values{"do": {"rename"}, "concept": {coupons.ID}, "name": {"Gift  cards"}})
	if got := list()[0].Name; got != "Gift cards" {
		t.Errorf("renamed to %q", got)
	}
	edit(400, url.Values{"do": {"rename"}, "concept": {coupons.ID}, "name": {strings.Repeat("x", 81)}})
	edit(400, url.Values{"do": {"move"}, "concept": {coupons.ID}, "member": {money.Sessions[0]}, "name": {"Mine"}})
	edit(400, url.Values{"do": {"merge"}, "concept": {coupons.ID}, "into": {coupons.ID}})
	edit(404, url.Values{"do": {"merge"}, "concept": {coupons.ID}, "into": {"c999"}})
	edit(303, url.Values{"do": {"merge"}, "concept": {coupons.ID}, "into": {money.ID}})
	if all = list(); len(all) != 1 || len(all[0].Sessions) != 2 {
		t.Fatalf("merged: %+v", all)
	}
	edit(303, url.Values{"do": {"move"}, "concept": {money.ID}, "member": {coupons.Sessions[0]}, "name": {"Vouchers"}})
	if all = list(); len(all) != 2 || all[1].Name != "Vouchers" || !slices.Equal(all[1].Sessions, coupons.Sessions) {
		t.Fatalf("split: %+v", all)
	}
	edit(303, url.Values{"do": {"move"}, "concept": {all[1].ID}, "member": {coupons.Sessions[0]}, "into": {money.ID}})
	if all = list(); len(all[0].Sessions) != 2 {
		t.Errorf("moved back: %+v", all)
	}
	edit(303, url.Values{"do": {"delete"}, "concept": {money.ID}})
	if all = list(); slices.ContainsFunc(all, func(c concept) bool { return c.ID == money.ID }) {
		t.Errorf("deleted: %+v", all)
	}
}

// oddNames fills a rig with names that mean something else in a URL: notes, a plan, a composition and a branch. It returns
// the names, of which each is in a link.
func (r *rig) oddNames() (files []string, composition string) {
	r.t.Helper()
	dir := filepath.Join(r.world.Dir, "shop")
	write := func(text string, path ...string) {
		to := filepath.Join(path...)
		must(r.t, os.MkdirAll(filepath.Dir(to), 0o700))
		must(r.t, os.WriteFile(to, []byte(text), 0o600))
	}
	sessions := filepath.Join(r.world.Claude, "projects", capture.ClientDir(dir))
	write(`{"slug":"a+plan for 50%25"}`+"\n", sessions, "5106a000-0000-4000-8000-000000000001.jsonl")
	client := notes.Client{Dir: r.world.Claude, Getenv: func(string) string { return "" }}
	for _, text := range []string{"A note about oddities.\n", "A newer note about oddities.\n"} {
		write("Of the project. "+text, sessions, "memory", "MEMORY.md")
		write("Of the team, money and taxes. "+text, sessions, "memory", "team notes", "a+b & c%41 ü#1?.md")
		write("Of what to build next week. "+text, r.world.Claude, "plans", "a+plan for 50%25.md")
		write("Of somebody who checks all that. "+text, dir, ".claude", "agent-memory", "der Prüfer", "100%.md")
		_, err := notes.CaptureAll(r.t.Context(), r.world.Memory.DB, r.project, client, dir, notes.Options{})
		must(r.t, err)
	}
	composition = "f/50%41+ü"
	var j api.JobAnswer
	r.api(http.MethodPost, "/projects/"+string(r.project.ID)+"/compositions",
		api.CompositionRequest{Name: composition, Budget: 4000, Components: []api.ComponentRequest{{SessionID: sampleSession, VersionID: "v001"}}}, &j, 202)
	r.wait(&j)
	return []string{"memory/MEMORY.md", "memory/team notes/a+b & c%41 ü#1?.md", "plans/a+plan for 50%25.md",
		"agent-memory/der Prüfer/100%.md"}, composition
}

// TestLinks follows every link from the first page on: all pages of all screens can be reached and made, without a script,
// whatever the names are made of. A form that leads back to a page names one that is there.
func TestLinks(t *testing.T) {
	t.Parallel()
	parent := "5106a000-0000-4000-8000-000000000002"
	r := newRig(t, nil, map[string]string{parent + "/subagents/agent-a1": `{"uuid":"u","isSidechain":true,"agentId":"a1","sessionId":"` + parent +
		`","cwd":"/home/user/extra","gitBranch":"fix/50%41 +ü","timestamp":"2026-01-20T10:00:00Z","type":"user","message":{"role":"user","content":"Look for oddities."}}` + "\n"})
	r.fill()
	files, composition := r.oddNames()
	must(t, os.WriteFile(filepath.Join(r.world.Claude, "projects", "-home-dev-shop", "5106a000-0000-4000-8000-000000000003.jsonl"),
		[]byte(`{"uuid":"u","sessionId":"5106a000-0000-4000-8000-000000000003","cwd":"/home/dev/shop","timestamp":"2026-01-25T10:00:00Z","type":"user","message":{"role":"user","content":"New."}}`+"\n"), 0o600))
	p := "/p/" + string(r.project.ID)
	link := regexp.MustCompile(`<(?:a|form|button|input) [^>]*?(?:href|formaction|action|value)="([^"]+)"`)
	todo, seen := []string{"/", "/search?q=price", "/search?q=price&by=session", "/search?q=cart&by=file", "/search?q=oddities",
		"/compare?v=" + sampleSession + ":v001&v=" + sampleSession + ":v002", p + "/compose?budget=3000",
		p + "/compose?part-1=" + sampleSession + "&version-1=auto&do=add+" + r.ids[0]}, map[string]bool{}
	kinds, parts, anchors := map[string]int{}, map[string][]string{}, map[string][]string{} // by page: those wanted, those there
	id := regexp.MustCompile(` id="([^"]+)"`)
	for len(todo) > 0 {
		at := todo[0]
		todo = todo[1:]
		path, part, _ := strings.Cut(at, "#")
		if part != "" && !slices.Contains(parts[path], part) {
			parts[path] = append(parts[path], part)
		}
		kind := regexp.MustCompile(`[0-9a-f]{6,}|[0-9]+`).ReplaceAllString(strings.Split(path, "?")[0], "N")
		if seen[path] || kinds[kind] > 24 {
			continue
		}
		seen[path] = true
		kinds[kind]++
		a := r.do(http.MethodGet, path, "", nil)
		if a.status != 200 && (a.status != 303 || strings.Contains(path, "do=")) {
			t.Errorf("GET %s: %d %.300s", path, a.status, a.body)
			continue
		}
		if !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			continue
		}
		for _, m := range id.FindAllStringSubmatch(a.body, -1) {
			anchors[path] = append(anchors[path], html.UnescapeString(m[1]))
		}
		base, err := url.Parse(path)
		must(t, err)
		for _, m := range link.FindAllStringSubmatch(a.body, -1) {
			to, err := base.Parse(html.UnescapeString(m[1]))
			switch {
			case strings.HasPrefix(m[0], "<a "):
				must(t, err)
				if to.Host == "" {
					todo = append(todo, to.String())
				}
			case strings.HasPrefix(m[0], "<input "): // of the name "back"
				if strings.Contains(m[0], `name="back"`) {
					todo = append(todo, html.UnescapeString(m[1]))
				}
			case err == nil && to.Query().Has("back"):
				back, err := url.Parse(to.Query().Get("back")) // is there once the form has captured the session
				if err != nil || back.Path != p+"/compose" || back.Query().Get("do") != "add "+to.Query().Get("id") {
					t.Errorf("%s: %s leads back to %v", path, m[1], back)
				}
				kinds["back"]++
			}
		}
	}
	for path, wants := range parts {
		for _, want := range wants {
			if seen[path] && !slices.Contains(anchors[path], want) {
				t.Errorf("a link leads to the part %s of %s, which is not there", want, path)
			}
		}
	}
	for _, want := range []string{"/", "/settings", "/sync", "/keys"} {
		if !seen[want] {
			t.Errorf("%s is not reached", want)
		}
	}
	asked := map[string]bool{}
	for path := range seen {
		u, err := url.Parse(path)
		must(t, err)
		asked[strings.TrimPrefix(u.Path, p)] = true
		if strings.HasSuffix(u.Path, "/notes") {
			asked[u.Query().Get("file")+"@"+u.Query().Get("at")] = true
		}
	}
	wants := []string{"/c/" + composition}
	for _, f := range files {
		wants = append(wants, f+"@", f+"@0", f+"@1")
	}
	for _, want := range wants {
		if !asked[want] {
			t.Errorf("no link leads to %s", want)
		}
	}
	if kinds["back"] == 0 {
		t.Error("no form of the builder leads back")
	}
	for _, part := range []string{"?view=messages", "?view=details", "?from=", "/compress", "/m/", "/v/v001", "/keepits/k1", "/markers", "/compositions", "/compose", "/c/ctx", "/facts", "/next", "/history", "/stats", "/usage", "/notes"} {
		if !slices.ContainsFunc(slices.Collect(maps.Keys(seen)), func(s string) bool { return strings.Contains(s, part) }) {
			t.Errorf("no link leads to %s", part)
		}
	}
	t.Logf("%d pages", len(seen))

	drop := regexp.MustCompile(`action="([^"]+/drop/[^"]+)"`)
	first := drop.FindStringSubmatch(r.get(compositionLink(r.project.ID, composition)))
	if first == nil {
		t.Fatal("the page of the composition has no form that removes it")
	}
	a := r.post(html.UnescapeString(first[1]), url.Values{})
	again := drop.FindStringSubmatch(a.body)
	if again == nil {
		t.Fatalf("removing asks nothing: %d %.300s", a.status, a.body)
	}
	if a = r.post(html.UnescapeString(again[1]), url.Values{"sure": {"yes"}}); a.status != http.StatusSeeOther {
		t.Errorf("removing %s: %d %.300s", composition, a.status, a.body)
	}
}

// TestOnlySubagents opens the pages of a project that has nothing but sessions of subagents: they say so, and lead there.
func TestOnlySubagents(t *testing.T) {
	t.Parallel()
	_, extra := agentTranscripts("")
	maps.DeleteFunc(extra, func(name, _ string) bool { return !strings.Contains(name, "/subagents/") })
	r := newRig(t, func(w *api.World) {
		all, err := trust.Projects(t.Context(), w.Memory.DB)
		must(t, err)
		w.Scope.Project = all[slices.IndexFunc(all, func(p state.Project) bool { return p.Name == "extra" })]
	}, extra)
	p := "/p/" + string(r.world.Scope.Project.ID)
	for _, path := range []string{"/", p, p + "/next"} {
		body := r.get(path)
		if !strings.Contains(body, `only sessions of subagents: <a href="`+p+`?subagents=1">1</a>`) || strings.Contains(body, "mem import") {
			t.Errorf("GET %s: %s", path, between(body, "<main", "</main>"))
		}
	}
	if body := r.get(p + "?subagents=1"); !strings.Contains(body, "1 session") || !strings.Contains(body, "data-row") {
		t.Errorf("the link leads to: %s", between(body, "<main", "</main>"))
	}
}

// TestNoHits searches for what is nowhere, and for what other projects have.
func TestNoHits(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, map[string]string{"5106a000-0000-4000-8000-000000000004": `{"uuid":"u","sessionId":"5106a000-0000-4000-8000-000000000004",` +
		`"cwd":"/home/user/extra","timestamp":"2026-01-20T10:00:00Z","type":"user","message":{"role":"user","content":"Tune the harpsichord."}}` + "\n"})
	body := r.get("/search?q=xylophonist")
	if !strings.Contains(body, "0 hits") || !strings.Contains(body, "no searched text contains &#34;xylophonist&#34;") {
		t.Errorf("a word that is nowhere: %s", between(body, `id="hits"`, "</main>"))
	}
	if here, all := r.get("/search?q=harpsichord"), r.get("/search?q=harpsichord&project="); strings.Contains(here, "<mark>") || !strings.Contains(all, "<mark>harpsichord</mark>") ||
		!strings.Contains(here, `value="`+string(r.project.ID)+`" selected`) || strings.Contains(all, `" selected`) {
		t.Errorf("the search is not that of this project, or that of all is not that of all: %s, %s", between(here, `id="hits"`, "</main>"), between(all, `id="hits"`, "</main>"))
	}
	body = r.get("/search?q=harpsichord&project=" + string(r.project.ID))
	link := regexp.MustCompile(`<a href="([^"]+)">[1-9][0-9]* hits? in other projects</a>`).FindStringSubmatch(body)
	if link == nil || !strings.Contains(body, "no searched text contains &#34;harpsichord&#34;") {
		t.Fatalf("a word of another project: %s", between(body, `id="hits"`, "</main>"))
	}
	if body = r.get(html.UnescapeString(link[1])); !strings.Contains(body, "<mark>harpsichord</mark>") {
		t.Errorf("the link leads to: %s", between(body, `id="hits"`, "</main>"))
	}
}

// TestDropLine drops a line of the next session's text by its button, and takes that back.
func TestDropLine(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	p := "/p/" + string(r.project.ID)
	before := r.get(p + "/next")
	button := regexp.MustCompile(`name="drop" value="([0-9a-f]+)"`)
	line := button.FindStringSubmatch(before)
	if line == nil {
		t.Fatalf("no line can be dropped: %s", between(before, "<main", "</main>"))
	}
	for _, m := range button.FindAllStringSubmatch(before, -1) {
		a := r.post(p+"/next", url.Values{"drop": {m[1]}})
		if a.status != 303 || a.header.Get("Location") != p+"/next" {
			t.Fatalf("drop %s: %d %.300s", m[1], a.status, a.body)
		}
		if strings.Contains(r.get(p+"/next"), m[1]) {
			t.Errorf("the line %s is still there", m[1])
		}
		if a := r.post(p+"/next", url.Values{"drop": {m[1]}}); a.status != 404 {
			t.Errorf("drop it again: %d", a.status)
		}
		if a := r.post(p+"/history", url.Values{"do": {"undo"}, "operation": {r.next()}}); a.status != 303 {
			t.Fatalf("undo: %d %.300s", a.status, a.body)
		}
	}
	if after := r.get(p + "/next"); between(after, "<h1", "</main>") != between(before, "<h1", "</main>") {
		t.Errorf("undone: %s", between(after, "<h1", "</main>"))
	}
}

// TestOutsideOfProjects opens pages of no project when the working directory belongs to no project in memory: their links
// lead to a project in memory.
func TestOutsideOfProjects(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(w *api.World) {
		w.Scope.Project = state.Project{ID: "0123456789abcdef", Name: "elsewhere"}
	}, nil)
	for _, path := range []string{"/", "/settings", "/doctor", "/sync", "/keys", "/missing"} {
		a := r.do(http.MethodGet, path, "", nil)
		to := regexp.MustCompile(`href="(/p/[0-9a-f]+)"`).FindStringSubmatch(a.body)
		if to == nil || strings.Contains(a.body, "0123456789abcdef") {
			t.Errorf("GET %s: links to %q", path, to)
			continue
		}
		if a := r.do(http.MethodGet, to[1], "", nil); a.status != http.StatusOK {
			t.Errorf("GET %s, linked by %s: %d", to[1], path, a.status)
		}
	}
}

// TestJourneyByForms does what the pages are for by forms alone.
func TestJourneyByForms(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)
	form := url.Values{"mode": {"uniform"}, "ratio": {"30"}, "level": {"aggressive"}, "distance": {"5"}, "keepit": {"decay"}, "skip": {"0"}}
	if body := r.get(s + "/compress?" + form.Encode()); !strings.Contains(body, "of at least <b>0.65</b> are kept") || !strings.Contains(body, "Kept: <b>3</b>, not protected: <b>2</b>") {
		t.Errorf("the preview says %s", between(body, `id="estimate"`, "</section>"))
	}
	a := r.post(s+"/compress", form)
	if a.status != 303 || a.header.Get("Location") != s+"/v/v001" {
		t.Fatalf("create: %d %v %.300s", a.status, a.header, a.body)
	}
	r.get(s + "/v/v001?view=blame")
	if text := between(r.get(s+"/m/31"), `aria-label="Text"`, "</section>"); !strings.Contains(text, "Prices are int64 cents everywhere") {
		t.Errorf("the page of a message has the text %q", text)
	}
	if a := r.post(s+"/keepits/k2", url.Values{"weight": {"0.10"}}); a.status != 303 {
		t.Fatalf("set: %d %.300s", a.status, a.body)
	}
	if body := r.get(s + "/compress?" + form.Encode()); !strings.Contains(body, "Kept: <b>2</b>, not protected: <b>3</b>") {
		t.Errorf("after the change the preview says %s", between(body, `id="estimate"`, "</section>"))
	}
	if body := r.get(s + "/keepits/k1?weight=0.60"); strings.Count(body, "BARELY SURVIVES") != 0 || !strings.Contains(body, "1 session ago, ratio 30:1: <span class=\"tag kept\">SURVIVES") {
		t.Errorf("the editor says %s", between(body, `id="decay"`, "</ul>"))
	}
	build := url.Values{"name": {"ctx"}, "budget": {"4000"}, "part-1": {sampleSession}, "version-1": {"v001"}, "part-2": {r.ids[0]}, "version-2": {"auto"}}
	if body := r.get(p + "/compose?" + build.Encode()); !strings.Contains(body, "of 4,000 tokens") {
		t.Errorf("the builder says %s", between(body, `id="built"`, "</div>"))
	}
	for _, version := range []string{"", "&version-1=v001", "&version-1=v001&version-2=v001"} {
		body := r.get(p + "/compose?part-1=" + sampleSession + "&part-2=" + sampleSession + version)
		if !strings.Contains(body, "only in different versions that are named") {
			t.Errorf("the same session twice%s: the builder says %s", version, between(body, `id="built"`, "</div>"))
		}
	}
	if body := r.get(p + "/compose?" + build.Encode()); !strings.Contains(body, `name="export" value="md"`) {
		t.Error("the builder cannot export")
	}
	build.Set("export", "md")
	a = r.post(p+"/compose", build)
	job := a.header.Get("Location")
	for range 500 {
		if a = r.do(http.MethodGet, job, "", nil); a.status == 303 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if to := a.header.Get("Location"); to != p+"/c/ctx?export=md" {
		t.Fatalf("the job leads to %q: %.300s", to, a.body)
	}
	if page := r.do(http.MethodGet, p+"/c/ctx?export=md", "", nil); page.header.Get("Refresh") != "0; url=?format=md" {
		t.Errorf("the page of an export: %v", page.header)
	}
	if text := r.get(p + "/c/ctx?format=md"); len(text) < 100 {
		t.Errorf("the download is %q", text)
	}
	if a = r.post(s+"/delete", nil); a.status != 400 {
		t.Errorf("nothing is selected: %d %.300s", a.status, a.body)
	}
	a = r.post(s+"/delete", url.Values{"v": {sampleSession + ":v001"}})
	if a.status != 200 || !strings.Contains(a.body, "Compositions use v001") || !strings.Contains(a.body, "Remove 1 version (") {
		t.Errorf("deleting asks: %d %s", a.status, between(a.body, `role="alert"`, "</div>"))
	}
	if a = r.post(s+"/delete", url.Values{"v": {sampleSession + ":v001"}, "sure": {"yes"}}); a.status != 303 {
		t.Errorf("delete: %d %.300s", a.status, a.body)
	}
	if a = r.do(http.MethodGet, s+"/v/v001", "", nil); a.status != 404 {
		t.Errorf("a deleted version: %d", a.status)
	}
	if a = r.post(p+"/history", url.Values{"do": {"undo"}, "operation": {r.next()}}); a.status != 303 {
		t.Errorf("undo: %d %.300s", a.status, a.body)
	}
	r.get(s + "/v/v001")
	if a = r.post("/settings", url.Values{"ui.confirmDestructiveActions": {"perhaps"}}); !strings.Contains(a.body, `role="alert"`) {
		t.Errorf("a wrong value: %d", a.status)
	}
	if a = r.post("/settings", url.Values{"llm.command": {"rm -rf /"}}); a.status != 403 {
		t.Errorf("a program is set by a page: %d", a.status)
	}
}

func between(s, from, to string) string {
	_, s, _ = strings.Cut(s, from)
	s, _, _ = strings.Cut(s, to)
	return s
}

// TestManySessions lists more sessions than a page shows: the others are behind their month.
func TestManySessions(t *testing.T) {
	t.Parallel()
	extra := map[string]string{}
	for i := range maxRows + 40 {
		id := fmt.Sprintf("%08x-2222-4000-8000-000000000000", i)
		extra[id] = fmt.Sprintf(`{"uuid":"u","sessionId":"%s","cwd":"/home/user/extra","timestamp":"2026-01-%02dT10:00:00Z","type":"user","message":{"role":"user","content":"session %d"}}`+"\n", id, 1+i%28, i)
	}
	r := newRig(t, nil, extra)
	all, err := trust.Projects(t.Context(), r.world.Memory.DB)
	must(t, err)
	at := ""
	for _, p := range all {
		if p.Name == "extra" {
			at = "/p/" + string(p.ID)
		}
	}
	rows := func(path string) int { return strings.Count(r.get(path), `class="name"`) }
	if n := rows(at); n < maxRows || n > maxRows+1 {
		t.Errorf("the first page has %d rows", n)
	}
	for from, want := range map[string]int{"": maxRows, "&from=150": 40} {
		if n := rows(at + "?month=2026-01" + from); n != want {
			t.Errorf("the month has %d rows%s, want %d", n, from, want)
		}
	}
	if body := r.get(at + "?month=2026-01"); !strings.Contains(body, `rel="next" href="?from=150&amp;month=2026-01"`) {
		t.Errorf("the month has no second page: %s", between(body, `aria-label="Pages"`, "</nav>"))
	}
	if n := rows(at + "?q=session+7"); n == 0 || n > 40 {
		t.Errorf("the filter leaves %d rows", n)
	}
}

// set changes a setting.
func (r *rig) set(key, value string) {
	r.t.Helper()
	if a := r.post("/settings", url.Values{key: {value}}); a.status != http.StatusSeeOther {
		r.t.Fatalf("set %s: %d %.300s", key, a.status, a.body)
	}
}

// TestFormsKeepWhatWasTyped sends forms with mistakes: the answer has what was typed, and the mistake at its field.
func TestFormsKeepWhatWasTyped(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)
	for _, tt := range []struct {
		path string
		form url.Values
		want []string
	}{
		{p + "/compose", url.Values{"part-1": {sampleSession}, "budget": {"3210"}, "tokens-1": {"777"}, "name": {" "}},
			[]string{"A composition needs a name", `value="3210"`, `value="777"`, `id="k-name" name="name"`, `aria-invalid="true"`}},
		{p + "/compose", url.Values{"part-1": {sampleSession}, "budget": {"none"}, "name": {"feature-y"}},
			[]string{"number of tokens", `value="feature-y"`, sampleSession}},
		{p + "/compose", url.Values{"part-1": {sampleSession}, "budget": {"3210"}, "name": {"ctx"}, "replace": {"other"}},
			[]string{`class="error" role="alert">ctx exists`, `name="replace" value="ctx">`, `value="3210"`}},
		{"/settings", url.Values{"hooks.contextSize": {"many"}, "ui.defaultView": {"list"}},
			[]string{`role="alert"`, `value="many"`, `aria-describedby="e-hooks.contextSize"`, "<option value=\"list\" selected>"}},
		{s + "/keepits", url.Values{"message": {"31"}, "text": {"words that nobody typed"}, "weight": {"0.70"}},
			[]string{`value="words that nobody typed"`, `value="0.70"`, `action="` + s + `/keepits"`}},
	} {
		a := r.post(tt.path, tt.form)
		for _, want := range tt.want {
			if !strings.Contains(a.body, want) {
				t.Errorf("POST %s %v: %d without %s", tt.path, tt.form, a.status, want)
			}
		}
	}
	if body := r.get("/settings"); strings.Contains(body, `<option value="list" selected>`) {
		t.Error("a form with a mistake was saved in part")
	}
	sure := url.Values{"part-1": {sampleSession}, "version-1": {"auto"}, "budget": {"3210"}, "name": {"ctx"}, "replace": {"ctx"}}
	if a := r.post(p+"/compose", sure); a.status != 303 || !strings.HasPrefix(a.header.Get("Location"), "/jobs/") {
		t.Errorf("a name is replaced on request: %d %.300s", a.status, a.body)
	}
}

// TestNotice changes a weight: the next page says so, once, and offers to undo it.
func TestNotice(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	at := "/s/" + sampleSession + "/keepits/k2"
	a := r.post(at, url.Values{"preset": {"0.90"}})
	cookie, _, _ := strings.Cut(a.header.Get("Set-Cookie"), ";")
	if a.status != http.StatusSeeOther || !strings.HasPrefix(cookie, noticeCookie+"=") {
		t.Fatalf("POST: %d %v", a.status, a.header)
	}
	name, value, _ := strings.Cut(cookie, "=")
	next := r.do(http.MethodGet, at, "", func(q *http.Request) { q.AddCookie(&http.Cookie{Name: name, Value: value}) })
	if !strings.Contains(next.body, "k2 has the weight 0.90 now.") || !strings.Contains(between(next.body, `role="status"`, "</div>"), `value="undo" title="keepit set `) ||
		!strings.Contains(next.header.Get("Set-Cookie"), "Max-Age=0") {
		t.Errorf("the notice: %v %s", next.header, between(next.body, `role="status"`, "</div>"))
	}
	if body := r.get(at); !strings.Contains(body, `value="0.90" aria-pressed="true"`) {
		t.Error("the weight that the marker has is not marked")
	}
	if body := r.get("/s/" + sampleSession + "?view=messages"); !strings.Contains(body, `aria-label="Weight of k2"`) {
		t.Error("the message has no choice of the weight")
	}
}

// next returns the commit of the operation that the button of the start page names.
func (r *rig) next() string {
	r.t.Helper()
	return between(r.get("/"), `name="operation" value="`, `"`)
}

// TestUndoNamed presses buttons that name an operation: that one is undone, or none, and the page says why.
func TestUndoNamed(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	p, at := "/p/"+string(r.project.ID), "/s/"+sampleSession+"/keepits/k2"
	weight := func(w string) string {
		r.post(at, url.Values{"preset": {w}})
		return r.next()
	}
	has := func(w string) {
		t.Helper()
		if body := r.get(at); !strings.Contains(body, `value="`+w+`" aria-pressed="true"`) {
			t.Errorf("the weight is not %s", w)
		}
	}
	press := func(do, operation string, status int, want string) {
		t.Helper()
		a := r.post(p+"/history", url.Values{"do": {do}, "operation": {operation}})
		said, _ := url.QueryUnescape(a.header.Get("Set-Cookie"))
		if a.status != status || !strings.Contains(a.body+said, want) {
			t.Errorf("%s: %d %s %s", do, a.status, said, between(a.body, "<main", "</main>"))
		}
	}
	first := weight("0.90")
	second := weight("0.50")
	press("undo", first, http.StatusConflict, "was changed again since")
	has("0.50")
	press("undo", second, http.StatusSeeOther, "Undone: keepit set")
	press("undo", second, http.StatusConflict, "is undone already")
	has("0.90")
	press("redo", first, http.StatusConflict, "is not undone")
	press("redo", second, http.StatusSeeOther, "Redone: keepit set")
	has("0.50")
	press("undo", "", http.StatusBadRequest, "and an operation")

	// A restore of Claude's notes is undone in a terminal, where the button would be; what is before it stays.
	m := r.world.Memory
	n := records.Note{Dir: t.TempDir(), File: "memory/MEMORY.md", Text: "First.\n"}
	must(t, m.DB.Refs.Update(t.Context(), r.project.ID, "notes restore memory/MEMORY.md", func(tx *refs.Tx) error {
		tx.Trailer("Op", "notes restore")
		_, err := tx.Add(records.KindNote, n)
		return err
	}))
	ops, err := history.Operations(t.Context(), m.DB, r.project.ID)
	must(t, err)
	for _, page := range []string{"/", p + "/history"} {
		body := r.get(page)
		if !strings.Contains(body, "mem undo "+ops[0].Commit[:7]+"</code> in a terminal") || strings.Contains(body, `value="undo"`) {
			t.Errorf("%s offers to undo a restore: %s", page, between(body, "<main", "</main>"))
		}
	}
	press("undo", ops[0].Commit, http.StatusBadRequest, "in a terminal")
	has("0.50")
}

// TestBuilderOffers finds sessions by words, and offers a few at once.
func TestBuilderOffers(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	p := "/p/" + string(r.project.ID)
	if n := strings.Count(r.get(p+"/compose"), `value="add `); n == 0 || n > mostChoices {
		t.Errorf("%d sessions are offered", n)
	}
	if body := r.get(p + "/compose?part-1=" + sampleSession + "&version-1=recompress+30"); !strings.Contains(body, `value="recompress 30" selected`) || !strings.Contains(body, "of 16,000 tokens") {
		t.Errorf("recompress with a ratio: %s", between(body, `id="built"`, "</ol>"))
	}
	if body := r.get("/s/" + sampleSession + "?view=details"); !strings.Contains(body, "used in 1 composition") || strings.Count(body, "<td>never</td>") != 2 {
		t.Errorf("the composition uses the session and v001: %s", between(body, "<dt>Original", "</table>"))
	}
	if body := r.get(p + "/compose?find=zzyzx"); !strings.Contains(body, "No other session matches") {
		t.Error("words that no title has find a session")
	}
	if body := r.get(p + "/compose?do=add+" + sampleSession + "&find=" + sampleSession[:8]); !strings.Contains(body, `name="part-1" value="`+sampleSession) || strings.Contains(body, `value="add `+sampleSession) {
		t.Error("the added session is no part, or is offered again")
	}
}

// TestHome says what to do next, and what changed since the visit before.
func TestHome(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	visits := func(before, last time.Time) func(*http.Request) {
		return func(q *http.Request) {
			q.AddCookie(&http.Cookie{Name: visitCookie, Value: before.Format(time.RFC3339) + "|" + last.Format(time.RFC3339)})
		}
	}
	old := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	if a := r.do(http.MethodGet, "/", "", visits(old, old.Add(time.Hour))); !strings.Contains(a.body, "Since you were here") {
		t.Errorf("after a visit long ago: %s", between(a.body, `id="ops"`, "</section>"))
	}
	late := time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC)
	if a := r.do(http.MethodGet, "/", "", visits(late, late)); !strings.Contains(a.body, "Nothing changed since you were here") {
		t.Errorf("after a visit later than everything: %s", between(a.body, `id="ops"`, "</section>"))
	}
	if body := r.get("/"); !strings.Contains(body, "What to do next") || !strings.Contains(body, " hooks install") || !strings.Contains(body, "Last changes") || strings.Contains(body, "L1 refined") {
		t.Errorf("home: %s", between(body, "<main", "</main>"))
	}
}

// TestUISettings changes the settings of the interface and looks at what they are for.
func TestUISettings(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	s, p := "/s/"+sampleSession, "/p/"+string(r.project.ID)
	if body := r.get(p); strings.Count(body, `<details class="month"`) == 0 || !strings.Contains(body, `num dim">~`) {
		t.Errorf("by month with tokens: %s", between(body, `id="rows"`, "</form>"))
	}
	r.set("ui.defaultView", "list")
	if body := r.get(p); strings.Contains(body, `<details class="month"`) || strings.Count(body, `class="name"`) < 2 {
		t.Errorf("one list: %s", between(body, `id="rows"`, "</form>"))
	}
	if body := r.get(p + "?view=timeline"); !strings.Contains(body, `<details class="month"`) {
		t.Error("the view that is asked for is not shown")
	}
	r.set("ui.showTokenEstimates", "false")
	if body := r.get(p); strings.Contains(body, `num dim">~`) {
		t.Error("the list shows tokens")
	}
	if body := r.get(s); strings.Contains(body, `<th class="num">Tokens</th>`) {
		t.Error("the list of versions shows tokens")
	}

	a := r.post(p+"/drop/ctx", url.Values{})
	if a.status != 200 || !strings.Contains(a.body, "Remove the composition ctx?") {
		t.Fatalf("delete asks: %d %.300s", a.status, a.body)
	}
	r.get(p + "/c/ctx")
	if a = r.post(s+"/remove", url.Values{"sure": {"yes"}}); a.status != 303 {
		t.Errorf("a session that is used, and sure: %d %.300s", a.status, a.body)
	}
	if a = r.post(p+"/history", url.Values{"do": {"undo"}, "operation": {r.next()}, "back": {"/"}}); a.status != 303 || a.header.Get("Location") != "/" {
		t.Errorf("undo from Home: %d %v", a.status, a.header)
	}
	r.set("ui.confirmDestructiveActions", "false")
	if a = r.post(s+"/remove", url.Values{}); a.status != 200 || !strings.Contains(a.body, `role="alert"`) {
		t.Errorf("a session that is used, without a question: %d %.300s", a.status, a.body)
	}
	if a = r.post(p+"/drop/ctx", url.Values{}); a.status != 303 {
		t.Errorf("delete without a question: %d %.300s", a.status, a.body)
	}
	if a = r.do(http.MethodGet, p+"/c/ctx", "", nil); a.status != 404 {
		t.Errorf("a deleted composition: %d", a.status)
	}
}

// TestState looks for the state of hooks, sync and storage where people look for it.
func TestState(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	p := "/p/" + string(r.project.ID)
	home := r.get("/")
	for _, want := range []string{`value="undo"`, `href="/sync"`, `href="/doctor"`, "not installed", "this disk has the only copy", "Undo: compose ctx"} {
		if !strings.Contains(home, want) {
			t.Errorf("Home lacks %q", want)
		}
	}
	hooks := r.get("/doctor")
	for _, want := range []string{"incomplete", "mem hooks install --scope user", "8.0 ms", "19.0 ms", "the store is locked", "Run the checks"} {
		if !strings.Contains(hooks, want) {
			t.Errorf("the page of the hooks lacks %q", want)
		}
	}
	if strings.Contains(hooks, "others may look") {
		t.Error("the checks ran without being asked for")
	}
	if body := r.get("/doctor?check=1"); !strings.Contains(body, "others can read 3 files") || !strings.Contains(body, "1 check of 2 failed or warned") {
		t.Errorf("the checks say %s", between(body, `id="checks"`, "</section>"))
	}
	if a := r.post("/doctor", nil); a.status != 200 || !strings.Contains(a.body, "3 files private again") {
		t.Errorf("mend: %d %s", a.status, between(a.body, `id="checks"`, "</section>"))
	}
	var stats struct {
		Storage struct {
			Kinds []struct {
				Kind        string
				StoredBytes int64
			}
		}
		Largest []struct{ StoredBytes int64 } `json:"largestSessions"`
		Hooks   []struct{ P95Milliseconds float64 }
	}
	r.api(http.MethodGet, "/stats", nil, &stats, 200)
	kinds, sum := map[string]int64{}, int64(0)
	for _, k := range stats.Storage.Kinds {
		kinds[k.Kind] = k.StoredBytes
		sum += k.StoredBytes
	}
	packed := int64(0)
	must(t, filepath.WalkDir(r.world.Store, func(name string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, ".pack") {
			fi, err := d.Info()
			must(t, err)
			packed += fi.Size()
		}
		return err
	}))
	if kinds["sessions"] == 0 || kinds["versions"] == 0 || kinds["compositions"] == 0 || kinds["records"] == 0 || sum > packed || sum < packed/10 {
		t.Errorf("storage %v, %d in all, the packs have %d", kinds, sum, packed)
	}
	if len(stats.Largest) == 0 || stats.Largest[0].StoredBytes == 0 || len(stats.Hooks) != 1 || stats.Hooks[0].P95Milliseconds != 19 {
		t.Errorf("stats %+v", stats)
	}
	if body := r.get(p + "/stats?storage=1"); !strings.Contains(body, `<table id="storage">`) || !strings.Contains(body, "19.0 ms") {
		t.Error("the page of statistics lacks storage or hooks")
	}
}

// TestCompareCompositions compares two states of a composition, and two compositions, by the links of their page.
func TestCompareCompositions(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	p := "/p/" + string(r.project.ID)
	compose := func(name string, parts ...api.ComponentRequest) {
		var j api.JobAnswer
		r.api(http.MethodPost, "/projects/"+string(r.project.ID)+"/compositions", api.CompositionRequest{Name: name, Budget: 6000, Components: parts}, &j, 202)
		r.wait(&j)
	}
	first, second := api.ComponentRequest{SessionID: sampleSession, VersionID: "v001"}, api.ComponentRequest{SessionID: r.ids[0], VersionID: "auto"}
	if first.SessionID == second.SessionID {
		second.SessionID = r.ids[1]
	}
	compose("ctx", first, second)
	compose("other", second)
	body := r.get(p + "/c/ctx")
	link := regexp.MustCompile(`href="(/compare[^"]+)">Compare with now`).FindStringSubmatch(body)
	if link == nil {
		t.Fatalf("no link to compare with the state before: %s", between(body, "Earlier states", "</ul>"))
	}
	body = r.get(strings.ReplaceAll(link[1], "&amp;", "&"))
	part := `<a href="/s/` + second.SessionID + `">`
	if !strings.Contains(body, "<h2>Parts</h2>") || strings.Count(body, part) != 1 || !strings.Contains(body, "By message") {
		t.Errorf("the comparison: %s", between(body, "<h1>", "By message"))
	}
	if body = r.get("/compare?project=" + string(r.project.ID) + "&v=ctx&v=other"); !strings.Contains(body, "Tokens") {
		t.Error("two compositions cannot be compared")
	}
	if body = r.get("/compare/" + sampleSession + ":v001..v002"); !strings.Contains(body, ":v002</h1>") {
		t.Errorf("the address of a comparison shows %s", between(body, "<h1>", "</h1>"))
	}
	if body = r.get("/compare?v=ctx"); !strings.Contains(body, "<h2>Parts</h2>") {
		t.Error("a composition alone is not compared with its state before")
	}
}

// TestNamesake calls two compositions of two projects by their common name.
func TestNamesake(t *testing.T) {
	t.Parallel()
	session, extra := agentTranscripts("")
	r := newRig(t, nil, extra)
	rev, err := r.server.Session(t.Context(), session)
	must(t, err)
	compose := func(project, name, session string) {
		var j api.JobAnswer
		r.api(http.MethodPost, "/projects/"+project+"/compositions", api.CompositionRequest{Name: name, Budget: 6000,
			Components: []api.ComponentRequest{{SessionID: session}}}, &j, 202)
		r.wait(&j)
	}
	own, other := string(r.project.ID), string(rev.Project.ID)
	compose(other, "ctx", session) // the name of its project comes before that of the first
	compose(own, "ctx", r.ids[0])
	var got view.Composition
	if r.api(http.MethodGet, "/compositions/ctx", nil, &got, 200); got.ProjectID != own {
		t.Errorf("ctx is that of %s, want %s", got.ProjectID, own)
	}
	r.api(http.MethodDelete, "/compositions/ctx", nil, nil, 200)
	if r.api(http.MethodGet, "/compositions/ctx", nil, &got, 200); got.ProjectID != other {
		t.Errorf("ctx is that of %s, want %s", got.ProjectID, other)
	}
}

// TestCounts compares the counts of messages that the pages and the API show with those of the records.
func TestCounts(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	r.fill()
	st, err := trust.Outline(t.Context(), r.world.Memory.DB, r.project.ID)
	must(t, err)
	var list sessionPage
	r.api(http.MethodGet, "/projects/"+string(r.project.ID)+"/sessions?limit=100", nil, &list, 200)
	listed := map[string]int{}
	for _, s := range list.Sessions {
		listed[s.ID] = *s.Messages
	}
	for _, id := range r.ids {
		want := st.Session(id).Now().Scan.Messages
		var file struct {
			Messages int `json:"originalMessages"`
		}
		r.api(http.MethodGet, "/sessions/"+id+"/versions", nil, &file, 200)
		if listed[id] != want || file.Messages != want {
			t.Errorf("%s has %d messages, the list says %d, the versions %d", id, want, listed[id], file.Messages)
		}
		text := fmt.Sprintf("· %s messages", tokens.Commas(want))
		if page := r.get("/s/" + st.Session(id).ID); !strings.Contains(page, text) {
			t.Errorf("the page of %s lacks %s", id, text)
		}
	}
	for _, v := range st.Versions {
		text := fmt.Sprintf("<dt>Messages</dt><dd>%s → %s</dd>", tokens.Commas(v.MessagesIn), tokens.Commas(v.MessagesOut))
		if page := r.get("/s/" + st.Session(v.Session).ID + "/v/" + v.Label); !strings.Contains(page, text) {
			t.Errorf("the page of %s:%s lacks %s", v.Session, v.Label, text)
		}
	}
	for _, c := range st.Compositions {
		text := fmt.Sprintf("<dt>Messages</dt><dd>%s</dd>", tokens.Commas(c.Messages))
		if page := r.get("/p/" + string(r.project.ID) + "/c/" + c.Name); !strings.Contains(page, text) {
			t.Errorf("the page of %s lacks %s", c.Name, text)
		}
	}
}

// TestAdding looks at what the page tells of a session before it is added, and adds it.
func TestAdding(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	const id = "0d0d0d0d-0000-4000-8000-000000000001"
	line := func(n int, text string) string {
		return fmt.Sprintf(`{"uuid":"u%d","sessionId":"%s","cwd":"/home/dev/shop","timestamp":"2026-01-25T10:0%d:00Z","type":"user","message":{"role":"user","content":%q}}`+"\n", n, id, n, text)
	}
	file := filepath.Join(r.world.Claude, "projects", "-home-dev-shop", id+".jsonl")
	must(t, os.WriteFile(file, []byte(line(1, "Begin. ##keepit1.00## Never float.")+line(2, "##keepit0.80## Say why.")+line(3, "##keepit0.25## And how.")), 0o600))
	p := "/p/" + string(r.project.ID)
	body := between(r.get(p+"?s="+id), `id="details"`, "</aside>")
	for _, want := range []string{"<dt>Messages</dt><dd>3</dd>", "25 Jan 2026 10:01", "25 Jan 2026 10:03", "Pinned texts: 3", "##keepit1.00##</code> 1 <span class=\"dim\">Pinned",
		"##keepit0.80##</code> 1 <span class=\"dim\">Important", "##keepit0.25##</code> 1 <span class=\"dim\">Minor", "Cancel"} {
		if !strings.Contains(body, want) {
			t.Errorf("the card lacks %q: %s", want, body)
		}
	}
	if n := regexp.MustCompile(`<dt>Tokens</dt><dd>([0-9]+)</dd>`).FindStringSubmatch(body); n == nil || n[1] == "0" {
		t.Errorf("the card has no tokens: %v", n)
	}
	if a := r.do(http.MethodGet, "/s/"+id, "", nil); a.status != 404 {
		t.Errorf("looking has added the session: %d", a.status)
	}
	if a := r.post(p+"/add", url.Values{"id": {id}, "back": {p + "?s=" + id}}); a.status != 303 {
		t.Fatalf("add: %d %.300s", a.status, a.body)
	}
	if body = r.get(p + "?s=" + id); !strings.Contains(body, "Create version") {
		t.Error("the session is not in memory")
	}
}

// TestNames renames and tags a session by its forms.
func TestNames(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil, nil)
	s := "/s/" + sampleSession
	name := func(want int, form url.Values) {
		t.Helper()
		if a := r.post(s+"/names", form); a.status != want {
			t.Fatalf("%v: %d, want %d: %.300s", form, a.status, want, a.body)
		}
	}
	name(303, url.Values{"do": {"title"}, "title": {"Cents, at last"}})
	for _, at := range []string{s, "/", "/p/" + string(r.project.ID)} {
		if body := r.get(at); !strings.Contains(body, "Cents, at last") {
			t.Errorf("%s does not show the new title", at)
		}
	}
	name(303, url.Values{"do": {"tag"}, "tag": {"money"}})
	if body := r.get("/s/money"); !strings.Contains(body, `<span class="tag">money</span>`) {
		t.Error("the tag does not lead to the session")
	}
	name(400, url.Values{"do": {"tag"}, "tag": {"two words"}})
	if a := r.post("/s/"+r.ids[0]+"/names", url.Values{"do": {"tag"}, "tag": {"money"}}); r.ids[0] != sampleSession && a.status != 409 {
		t.Errorf("a tag that is taken: %d %.300s", a.status, a.body)
	}
	name(303, url.Values{"untag": {"money"}})
	name(303, url.Values{"do": {"title"}, "title": {""}})
	if body := r.get(s); strings.Contains(body, "Cents, at last") || strings.Contains(body, `<span class="tag">money</span>`) {
		t.Error("the names are still there")
	}
}

// TestRelate relates a session to another project by its form, and takes it back.
func TestRelate(t *testing.T) {
	t.Parallel()
	const other = "11111111-2222-4333-8444-555555555555"
	r := newRig(t, nil, map[string]string{other: `{"uuid":"u","sessionId":"` + other + `","cwd":"/home/user/shop",` +
		`"timestamp":"2026-01-03T10:00:00Z","type":"user","message":{"role":"user","content":"another shop"}}` + "\n"})
	all, err := r.server.Projects(t.Context())
	must(t, err)
	i := slices.IndexFunc(all, func(p state.Project) bool { return p.ID != r.project.ID && p.Name == r.project.Name })
	if i < 0 {
		t.Fatal("there is one project of that name")
	}
	s, to := "/s/"+sampleSession, string(all[i].ID)
	relate := func(want int, form url.Values) {
		t.Helper()
		if a := r.post(s+"/relate", form); a.status != want {
			t.Fatalf("%v: %d, want %d: %.300s", form, a.status, want, a.body)
		}
	}
	for _, at := range []string{s + "?view=details", "/p/" + to, "/search"} {
		if body := r.get(at); !strings.Contains(body, `>shop: /home/user/shop</option>`) {
			t.Errorf("%s does not tell the two projects apart", at)
		}
	}
	relate(303, url.Values{"to": {to}, "reason": {"shared prices"}})
	if body := r.get(s + "?view=details"); !strings.Contains(body, `href="/p/`+to+`"`) || !strings.Contains(body, "shared prices") {
		t.Error("the page does not show the relation")
	}
	relate(400, url.Values{"to": {to}, "reason": {""}})
	relate(404, url.Values{"to": {"nowhere"}, "reason": {"x"}})
	relate(409, url.Values{"to": {string(r.project.ID)}, "reason": {"its own"}})
	relate(303, url.Values{"off": {to}})
	relate(409, url.Values{"off": {to}})
	if body := r.get(s + "?view=details"); strings.Contains(body, "shared prices") {
		t.Error("the relation is still there")
	}
}
