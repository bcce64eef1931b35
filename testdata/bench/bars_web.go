package main

import (
	"cmp"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	webPages    = 200    // of each kind that are measured
	webSessions = 40     // whose pages are looked at
	webMany     = 10_000 // sessions of the large memory
)

// barWeb measures the pages of "mem serve" on real sessions, or on generated ones as large, and on a memory of 10,000 sessions.
func (b *bench) barWeb() ([]row, error) {
	c, ok, err := b.real()
	if err == nil && !ok {
		c, err = b.generated(193e6, 269)
	}
	if err != nil {
		return nil, err
	}
	if err := b.initStore(); err != nil {
		return nil, err
	}
	if err := b.once(b.mem, "import", c.dir); err != nil {
		return nil, err
	}
	rows, err := b.pages(c.name)
	if err != nil {
		return rows, err
	}
	more, err := b.crowd(c)
	rows = append(rows, more...)
	if err != nil {
		return rows, err
	}
	more, err = b.manySessions()
	return append(rows, more...), err
}

// A listed is a session as the API lists it.
type listed struct {
	ID       string `json:"sessionId"`
	Messages int    `json:"messages"`
	InMemory bool   `json:"inMemory"`
}

// sessions returns the projects of the memory, and its sessions, those with most messages first.
func (s *site) sessions() (projects []string, all []listed, err error) {
	var list struct {
		Projects []struct {
			ID string `json:"projectId"`
		}
	}
	if err := s.api("/projects?limit=500", &list); err != nil {
		return nil, nil, err
	}
	for _, p := range list.Projects {
		projects = append(projects, p.ID)
		for cursor := ""; ; {
			var page struct {
				Sessions []listed
				Next     string `json:"nextCursor"`
			}
			if err := s.api("/projects/"+p.ID+"/sessions?limit=500&cursor="+cursor, &page); err != nil {
				return nil, nil, err
			}
			all = append(all, page.Sessions...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
	}
	slices.SortFunc(all, func(a, b listed) int { return cmp.Or(b.Messages-a.Messages, strings.Compare(a.ID, b.ID)) })
	return projects, all, nil
}

// webWords are what is searched for: words that are in many sessions, in few, and in none, and phrases.
func webWords() []string {
	return []string{"error", "test", "fix the failing test", "\"go test\"", "merge conflict", "deadlock", "timeout", "refactor", "json schema",
		"permission denied", "nil pointer", "README", "login page", "race condition", "commit message", "docker", "zzyzx", "cache invalidation"}
}

func (b *bench) pages(corpus string) (rows []row, err error) {
	s, err := b.serveSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	resident, err := s.idle()
	if err != nil {
		return nil, err
	}
	projects, all, err := s.sessions()
	if err != nil {
		return nil, err
	}
	rows = append(rows, mostOf("`mem serve` idle", corpus, "MB", resident, 40, "after Home was shown once"))
	var browsers, sessions, transcripts, searches, previews []string
	for _, p := range projects {
		browsers = append(browsers, "/p/"+p)
	}
	for i, one := range all[:min(webSessions, len(all))] {
		sessions = append(sessions, "/s/"+one.ID)
		if one.Messages >= 200 {
			transcripts = append(transcripts, "/s/"+one.ID+"?view=messages")
		}
		for ratio := range 5 {
			q := url.Values{"mode": {"uniform"}, "ratio": {fmt.Sprint(3 + i + 10*ratio)}, "level": {"aggressive"}, "part": {"estimate"}}
			previews = append(previews, "/s/"+one.ID+"/compress?"+q.Encode())
		}
	}
	for _, w := range webWords() {
		searches = append(searches, "/search?part=hits&q="+url.QueryEscape(w))
	}
	for _, k := range []struct {
		what  string
		paths []string
		most  float64
	}{
		{"Home", []string{"/"}, 50}, {"Memory Browser", browsers, 50}, {"Session", sessions, 50}, {"Transcript, 200 messages", transcripts, 60},
		{"search", searches, 30}, {"live preview of a compression", previews, 100},
	} {
		got, err := s.measure(k.paths, webPages)
		if err != nil {
			return rows, fmt.Errorf("%s: %w", k.what, err)
		}
		rows = append(rows, mostOf("first byte of "+k.what+", p95", corpus, "ms", got.p95(), k.most, got.String()))
	}
	heaviest, of := 0, ""
	for _, p := range []string{"/", browsers[0], sessions[0], previews[0], "/search?q=error", "/settings", browsers[0] + "/history", browsers[0] + "/stats"} {
		n, err := s.weight(strings.Replace(p, "part=estimate", "", 1))
		if err != nil {
			return rows, err
		}
		if n > heaviest {
			heaviest, of, _ = n, p, 0
		}
	}
	of, _, _ = strings.Cut(of, "?")
	rows = append(rows, mostOf("weight of the heaviest page with all that it loads, not compressed", corpus, "kB", float64(heaviest)/1000, 150, of))
	after, err := s.resident()
	rows = append(rows, row{Bar: "web", What: "`mem serve` after all of it", Corpus: corpus, Unit: "MB", Value: after})
	return rows, err
}

func mostOf(what, corpus, unit string, value, most float64, detail string) row {
	r := row{Bar: "web", What: what, Corpus: corpus, Unit: unit, Value: value, Detail: detail}
	r.Demand, r.Least = atMost(most)
	return r
}

// idle shows Home once and returns the resident set a moment later.
func (s *site) idle() (float64, error) {
	if _, _, err := s.get("/"); err != nil {
		return 0, err
	}
	time.Sleep(3 * time.Second)
	return s.resident()
}

// manySessions measures the Memory Browser of a project of 10,000 sessions.
func (b *bench) manySessions() (rows []row, err error) {
	c, err := b.generated(80e6, webMany)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(b.tmp, "home", "claude", "projects")
	defer os.RemoveAll(dir) // the next bar does without if this fails
	one := filepath.Join(dir, "-home-dev-many")
	if err := errors.Join(b.fresh(dir), os.MkdirAll(one, 0o700), b.initStore()); err != nil {
		return nil, err
	}
	for _, f := range c.files { // all of one project: that of the directory that their records name
		text, err := os.ReadFile(f)
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(one, filepath.Base(f)), oneDirectory(text), 0o600); err != nil {
			return nil, err
		}
	}
	if err := b.once(b.mem, "import"); err != nil {
		return nil, err
	}
	s, err := b.serveSite()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	projects, all, err := s.sessions()
	if err != nil {
		return nil, err
	}
	if len(projects) != 1 || len(all) != webMany {
		return nil, fmt.Errorf("%d sessions in %d projects", len(all), len(projects))
	}
	corpus := fmt.Sprintf("generated, %d sessions in one project", len(all))
	for _, k := range []struct{ what, path string }{
		{"Memory Browser", "/p/" + projects[0]}, {"Memory Browser, filtered", "/p/" + projects[0] + "?part=rows&q=the"},
	} {
		got, err := s.measure([]string{k.path}, 60)
		if err != nil {
			return rows, err
		}
		rows = append(rows, mostOf("first byte of "+k.what+", p95", corpus, "ms", got.p95(), 400, got.String()))
	}
	resident, err := s.resident()
	return append(rows, row{Bar: "web", What: "`mem serve` then", Corpus: corpus, Unit: "MB", Value: resident}), err
}
