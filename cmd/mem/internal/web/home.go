package web

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/hookcmd"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// A homeBody is the content of the start page.
type homeBody struct {
	Projects   []view.Project
	Current    state.Project
	Recent     []*state.Session
	Operations []history.Operation
	Since      time.Time // the visit before this one; zero if there was none
	News       int       // operations since then
	Steps      []step
	Notices    []string           // about sessions of several devices
	Undo       *history.Operation // the operation that undo applies to
	Remotes    []syncRow
	Hooks      hookcmd.Report
	Subagents  int            // sessions of subagents in memory, if the project has no others
	Undecided  []state.Device // whose data is not used until the user trusts them
}

// A step is something that makes sense to do now.
type step struct{ Text, Link, Command string }

// steps returns what makes sense to do now, the most useful first, as mem without a command does.
func (s *Server) steps(b homeBody, st *state.State) (out []step) {
	p := "/p/" + string(b.Current.ID)
	for _, d := range b.Undecided {
		out = append(out, step{"Use the data of the device " + d.Name + ", which is not trusted yet", "",
			s.Program + " " + term.Shell("device", "trust", d.Name)})
	}
	switch {
	case !b.Hooks.Installed():
		out = append(out, step{"Capture new sessions, and brief each of them", "/doctor", s.Program + " hooks install"})
	case !b.Hooks.Capture:
		out = append(out, step{"Capture is off: turn it on", "/doctor", s.Program + " config hooks.capture true"})
	}
	if len(b.Remotes) == 0 {
		out = append(out, step{"Back up: this disk has the only copy", "/sync", s.Program + " remote add origin URL"})
	}
	for _, r := range b.Remotes {
		if len(r.Remote.Projects) == 0 && len(r.Home) > 0 {
			out = append(out, step{"Back up: nothing was sent to " + r.Remote.Name + " yet", "/sync", s.Program + " push --all " + r.Remote.Name})
		}
		if r.Unpushed > 0 {
			out = append(out, step{"Send " + count(r.Unpushed, "operation") + " to " + r.Remote.Name, "/sync", s.Program + " sync " + r.Remote.Name})
		}
	}
	if recent := st.Recent(); len(recent) > 0 {
		out = append(out, step{"Read what the next session is told", p + "/next", s.Program + " next"})
		if len(st.VersionsOf(recent[0].ID)) == 0 {
			out = append(out, step{"Make a shorter version of the newest session", "/s/" + recent[0].ID + "/compress", s.Program + " compress @"})
		}
		if len(st.Named()) == 0 {
			out = append(out, step{"Build one context from several sessions", p + "/compose", ""})
		}
	}
	return out
}

// visitCookie has the times of the last visit and of the one before it. A visit ends after a quarter of an hour.
const visitCookie = "mem-visit"

// visited returns the time of the visit before this one, and records this one.
func (s *Server) visited(w http.ResponseWriter, r *http.Request) (before time.Time) {
	now, last := s.Now(), time.Time{}
	if c, err := r.Cookie(visitCookie); err == nil {
		a, b, _ := strings.Cut(c.Value, "|")
		before, last = parseTime(a), parseTime(b)
	}
	if last.IsZero() || now.Sub(last) > 15*time.Minute {
		before = last
	}
	http.SetCookie(w, &http.Cookie{Name: visitCookie, Value: before.UTC().Format(time.RFC3339) + "|" + now.UTC().Format(time.RFC3339),
		Path: "/", MaxAge: 365 * 24 * 3600, HttpOnly: true, SameSite: http.SameSiteStrictMode})
	if before.Year() < 2 {
		return time.Time{}
	}
	return before
}

// homeRows is the maximum number of sessions, and of operations, on the start page.
const homeRows = 8

func (s *Server) home(w http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	all, err := s.Listed(ctx)
	if err != nil {
		return "", page{}, err
	}
	first := s.firstProject(ctx)
	b := homeBody{Current: cmp.Or(first, s.Scope.Project)}
	for _, p := range all {
		sum, err := s.Summary(ctx, p)
		if err != nil {
			return "", page{}, err
		}
		b.Projects = append(b.Projects, sum)
	}
	slices.SortStableFunc(b.Projects, func(x, y view.Project) int {
		return y.LastAccessed.Compare(x.LastAccessed.Time)
	})
	st, err := trust.Outline(ctx, s.Memory.DB, b.Current.ID)
	if err != nil {
		return "", page{}, err
	}
	b.Recent = st.Recent()
	if len(b.Recent) == 0 {
		b.Subagents = subagents(st)
	}
	var of []refs.Project // all of them, without sessions here
	if len(b.Recent) > 0 {
		of = append(of, b.Current.ID)
	}
	if b.Undecided, err = trust.Undecided(ctx, s.Memory.DB, of); err != nil {
		return "", page{}, err
	}
	b.Recent = b.Recent[:min(homeRows, len(b.Recent))]
	if b.Operations, err = history.Operations(ctx, s.Memory.DB, b.Current.ID); err != nil {
		return "", page{}, err
	}
	for i, op := range b.Operations {
		if op.State == history.OpNext {
			b.Undo = &b.Operations[i]
		}
	}
	b.Since = s.visited(w, r)
	b.News = len(b.Operations)
	if !b.Since.IsZero() {
		b.News = 0
		for _, op := range b.Operations {
			if op.Time.After(b.Since) {
				b.News++
			}
		}
	}
	most := homeRows
	if !b.Since.IsZero() && b.News > 0 {
		most = min(homeRows, b.News)
	}
	b.Operations = b.Operations[:min(most, len(b.Operations))]
	if b.Remotes, err = s.remotes(ctx); err != nil {
		return "", page{}, err
	}
	if b.Hooks, err = s.Hooks(); err != nil {
		return "", page{}, err
	}
	parted, err := app.PartedSessions(ctx, s.Memory.DB, b.Current.ID, "")
	if err != nil {
		return "", page{}, err
	}
	waiting, err := app.WaitingSessions(ctx, s.Memory.DB, b.Current.ID)
	if err != nil {
		return "", page{}, err
	}
	b.Notices = append(app.PartedLines(parted), app.WaitingLines(waiting)...)
	b.Steps = s.steps(b, st)
	return "home", page{Title: "Memory", Project: first, Body: b}, nil
}
