package web

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
)

// A browserBody is the Memory Browser: the sessions of a project by month, and one of them in detail.
type browserBody struct {
	Projects []state.Project
	Months   []month
	Filter   url.Values
	Branches []string
	Shown    int
	Total    int
	New      int // not in memory

	Subagents int // sessions of subagents in memory, if the project has no others
	Detail    *detail
	View      string // timeline: by month; list
	From      int    // offset of the first session in the list, or in the month
	paged     int    // sessions of the list, or of the month
	Newer     string // links to the adjacent pages of the list
	Older     string
}

// Filtered returns the number of filters that are set behind the heading.
func (b browserBody) Filtered() (n int) {
	for _, name := range []string{"file", "branch", "status", "keepit", "composed"} {
		if b.Filter.Get(name) != "" {
			n++
		}
	}
	return n
}

// A month is a heading of the list.
type month struct {
	Name, Key string
	Open      bool
	Tokens    int
	Counted   int // sessions whose tokens are known
	Sessions  int
	Link      string // to the sessions of the month, if Rows is incomplete
	Rows      []browserRow
}

// A browserRow is a session of the list.
type browserRow struct {
	sessions.Item
	Name   string // in URLs
	Link   string // to its details
	On     bool
	Newest bool
}

// A detail is the pane next to the list.
type detail struct {
	sessions.Item
	Name       string
	Rev        state.Rev
	Versions   []*records.Version
	Keepits    []state.Keepit
	InComposed []string
	Preview    *sessionPreview // of a session that is not in memory
}

// openMonths is the number of expanded months, maxRows the maximum number of sessions on a page. Further months are
// links.
const (
	openMonths = 3
	maxRows    = 150
)

func (s *Server) browser(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	f := r.URL.Query()
	items, st, err := s.List(ctx, p, capture.ListOptions{Subagents: f.Get("subagents") != "",
		Removed: f.Get("status") == "removed"})
	if err != nil {
		return "", page{}, err
	}
	b := browserBody{Filter: f, Total: len(items)}
	if len(items) == 0 {
		b.Subagents = subagents(st)
	}
	if b.View, err = s.view(f.Get("view")); err != nil {
		return "", page{}, err
	}
	if n, err := strconv.Atoi(f.Get("from")); err == nil {
		b.From = max(0, n)
	}
	if b.Projects, err = s.Listed(ctx); err != nil {
		return "", page{}, err
	}
	composed := composedOf(st)
	want, err := s.sessionFilter(r, composed)
	if err != nil {
		return "", page{}, err
	}
	newest := ""
	if recent := st.Recent(); len(recent) > 0 {
		newest = recent[0].ID
	}
	for _, it := range items {
		b.count(it)
		if want(it) {
			b.row(s, it, newest)
		}
	}
	slices.Sort(b.Branches)
	id := f.Get("s")
	if id == "" { // the first one
		for _, m := range b.Months {
			if len(m.Rows) > 0 {
				id = m.Rows[0].ID
				m.Rows[0].On = true
				break
			}
		}
	}
	if id != "" {
		i := slices.IndexFunc(items, func(it sessions.Item) bool { return it.ID == id })
		if i < 0 {
			return "", page{}, api.NoSuch("session", id)
		}
		if b.Detail, err = s.detail(ctx, p, st, items[i]); err != nil {
			return "", page{}, err
		}
		b.Detail.InComposed = composed[id]
	}
	return "browser", page{Title: p.Name, Tab: "browser", Project: p, Crumbs: []crumb{{"Memory", "/"}, {p.Name, ""}},
		Body: b}, nil
}

// subagents counts the sessions of subagents in memory.
func subagents(st *state.State) (n int) {
	for _, s := range st.Sessions {
		if s.Parent() != "" && s.Shown() {
			n++
		}
	}
	return n
}

// count counts a new session and adds its branch to the filter.
func (b *browserBody) count(it sessions.Item) {
	if it.Status == sessions.Untracked {
		b.New++
	}
	if it.Session == nil {
		return
	}
	if branch := it.Session.Now().Scan.Branch; branch != "" && !slices.Contains(b.Branches, branch) {
		b.Branches = append(b.Branches, branch)
	}
}

// row adds a session to its month.
func (b *browserBody) row(s *Server, it sessions.Item, newest string) {
	b.Shown++
	last := s.local(it.Last)
	key := last.Format("2006-01")
	if b.View == "list" {
		key = "list"
	}
	if n := len(b.Months); n == 0 || b.Months[n-1].Key != key {
		b.Months = append(b.Months, month{Name: last.Format("January 2006"), Key: key, Open: n < openMonths ||
			b.Filter.Get("q") != "" || b.Filter.Get("month") == key})
	}
	m := &b.Months[len(b.Months)-1]
	if m.Tokens += it.Tokens; it.Counted {
		m.Counted++
	}
	m.Sessions++
	switch chosen := b.Filter.Get("month"); {
	case b.View == "list" || chosen == key:
		b.paged++
		if !b.onPage() {
			return
		}
	case chosen != "" || m.Link != "" || b.Shown > maxRows && it.ID != b.Filter.Get("s"):
		m.Link = "?" + b.with("month", key)
		return
	}
	row := browserRow{Item: it, Link: "?" + b.with("s", it.ID), On: it.ID == b.Filter.Get("s"), Newest: it.ID == newest,
		Name: it.ID}
	if it.Session != nil {
		row.Name = it.Session.ID
	}
	m.Open = m.Open || row.On
	m.Rows = append(m.Rows, row)
}

// onPage reports whether the current session is on the page of the list or of the month, and sets the links to the adjacent pages.
func (b *browserBody) onPage() bool {
	switch at := b.paged - 1; {
	case at < b.From:
		b.Newer = "?" + b.with("from", strconv.Itoa(max(0, b.From-maxRows)))
		return false
	case at >= b.From+maxRows:
		b.Older = "?" + b.with("from", strconv.Itoa(b.From+maxRows))
		return false
	}
	return true
}

// with returns the query of the page with one parameter changed.
func (b *browserBody) with(name, value string) string {
	q := url.Values{}
	for k, v := range b.Filter {
		if k != "part" && k != "s" && (k != "from" || name == "s") {
			q[k] = v
		}
	}
	q.Set(name, value)
	return q.Encode()
}

// composedOf returns the names of compositions by session.
func composedOf(st *state.State) map[string][]string {
	out := map[string][]string{}
	for _, c := range st.Named() {
		for _, part := range c.Parts {
			if !slices.Contains(out[part.Session], c.Name) {
				out[part.Session] = append(out[part.Session], c.Name)
			}
		}
	}
	return out
}

// sessionFilter returns the filter of a request. The filter by file uses the search index.
func (s *Server) sessionFilter(r *http.Request, composed map[string][]string) (func(sessions.Item) bool, error) {
	f := r.URL.Query()
	text, branch, status := strings.ToLower(strings.TrimSpace(f.Get("q"))), f.Get("branch"), f.Get("status")
	var about map[string]bool
	if file := strings.TrimSpace(f.Get("file")); file != "" {
		q := *r.URL
		q.RawQuery = url.Values{"file": {file}, "by": {"session"}, "project": {r.PathValue("project")}}.Encode()
		found, err := s.Find(r.Context(), &http.Request{URL: &q}, 10_000)
		if err != nil {
			return nil, err
		}
		about = map[string]bool{}
		for _, h := range found.Hits {
			about[h.Session] = true
		}
	}
	return func(it sessions.Item) bool {
		switch status {
		case "in":
			if it.Status == sessions.Untracked {
				return false
			}
		case "new":
			if it.Status != sessions.Untracked && it.Status != sessions.Changed {
				return false
			}
		case "removed":
			if it.Status != sessions.Removed {
				return false
			}
		}
		return (text == "" || strings.Contains(strings.ToLower(it.Title+" "+it.ID), text)) &&
			(branch == "" || it.Session != nil && it.Session.Now().Scan.Branch == branch) &&
			(f.Get("keepit") == "" || it.Markers > 0) && (f.Get("composed") == "" || len(composed[it.ID]) > 0) &&
			(about == nil || about[it.ID])
	}, nil
}

func (s *Server) detail(ctx context.Context, p state.Project, st *state.State, it sessions.Item) (*detail, error) {
	d := &detail{Item: it, Name: it.ID}
	if it.Session == nil {
		var err error
		if it.Path != "" {
			d.Preview, err = s.previewSession(ctx, it.Path)
		}
		return d, err
	}
	d.Name = it.Session.ID
	d.Rev = state.Rev{Kind: state.IsSession, Project: p, Session: it.Session}
	d.Versions = st.VersionsOf(it.Session.ID)
	if it.Markers == 0 {
		return d, nil
	}
	var err error
	d.Keepits, err = markers.Keepits(ctx, s.Memory.DB, d.Rev)
	slices.SortStableFunc(d.Keepits, func(a, b state.Keepit) int { return cmp.Compare(b.Mark.Weight, a.Mark.Weight) })
	return d, err
}

// view returns the requested view, or by default that of the settings.
func (s *Server) view(requested string) (string, error) {
	if requested == "timeline" || requested == "list" {
		return requested, nil
	}
	conf, err := s.Settings()
	if err != nil {
		return "", err
	}
	return conf.String("ui.defaultView"), nil
}

// showsTokens reports whether lists show estimated tokens.
func (s *Server) showsTokens() bool {
	conf, err := s.Settings()
	return err != nil || conf.Bool("ui.showTokenEstimates") // the page of the settings reports the error
}

// requiresConfirmation reports whether the settings require a confirmation before something is hidden.
func (s *Server) requiresConfirmation() (bool, error) {
	conf, err := s.Settings()
	if err != nil {
		return true, err
	}
	return conf.Bool("ui.confirmDestructiveActions"), nil
}

// selected composes or removes the selected sessions. Sessions that are not in memory are left out.
func (s *Server) selected(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	var revs []state.Rev
	parts := url.Values{}
	for _, id := range r.Form["id"] {
		rev, err := s.Session(r.Context(), id)
		var missing *state.NotFoundError
		if errors.As(err, &missing) {
			continue
		} else if err != nil {
			return "", page{}, err
		}
		revs = append(revs, rev)
		parts.Set("part-"+strconv.Itoa(len(revs)), rev.Session.ID)
	}
	back := "/p/" + string(p.ID)
	switch do := r.FormValue("do"); {
	case len(revs) == 0:
		return "", page{}, api.BadRequest("no session in memory is selected")
	case do == "compose":
		return redirect(w, r, back+"/compose?"+parts.Encode())
	case do != "remove":
		return "", page{}, api.BadRequest("do is compose or remove")
	}
	ask, err := s.requiresConfirmation()
	if err != nil {
		return "", page{}, err
	}
	again := url.Values{"do": {"remove"}, "id": r.Form["id"]}
	b := confirmBody{Question: "Remove " + count(len(revs), "session") + "?", Action: back + "/select?" + again.Encode(), Back: back}
	if sure := r.PostFormValue("sure") != ""; !ask || sure {
		for _, rev := range revs {
			var used *derive.UsedError
			if err := derive.Remove(r.Context(), s.Memory.DB, rev, sure, false); errors.As(err, &used) {
				b.Used = used.Error()
				return "confirm", page{Title: "Confirm", Project: p, Body: b}, nil
			} else if err != nil {
				return "", page{}, err
			}
		}
		return s.changed(w, r, nil, back)
	}
	return "confirm", page{Title: "Confirm", Project: p, Body: b}, nil
}

// addSessions captures the selected sessions.
func (s *Server) addSessions(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	if len(r.Form["id"]) == 0 {
		return "", page{}, api.BadRequest("no session is selected")
	}
	for _, id := range r.Form["id"] {
		if err := s.Register(r.Context(), p, id); err != nil {
			return "", page{}, err
		}
	}
	return s.changed(w, r, nil, r.FormValue("back"))
}
