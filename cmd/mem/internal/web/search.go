package web

import (
	"context"
	"errors"
	"html/template"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/state"

	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/layers/view"
	"github.com/memvcs/mem/refs"
)

// A searchBody is the search form with the hits.
type searchBody struct {
	api.SearchAnswer
	Form     url.Values
	Projects []state.Project
	Names    map[string]string // of projects, by id
	Asked    bool
	Problem  *api.Problem
	Others   int    // hits in other projects, if the searched one has none
	Wider    string // link to the search in all projects
	Building string // link to the hits, if the index is not ready yet
}

// maxHits is the maximum number of hits on the page.
const maxHits = 50

func (s *Server) searchScreen(w http.ResponseWriter, r *http.Request) (string, page, error) {
	b := searchBody{Form: r.URL.Query(), Names: map[string]string{}}
	var err error
	if b.Projects, err = s.Listed(r.Context()); err != nil {
		return "", page{}, err
	}
	if own := s.Scope.Project.ID; !b.Form.Has("project") && slices.ContainsFunc(b.Projects, func(p state.Project) bool { return p.ID == own }) {
		b.Form.Set("project", string(own)) // "" are all
	}
	p := page{Title: "Search", Crumbs: []crumb{{"Memory", "/"}, {"Search", ""}}}
	for _, x := range b.Projects {
		b.Names[string(x.ID)] = x.Name
		if string(x.ID) == b.Form.Get("project") {
			p.Project = x
		}
	}
	for k := range b.Form {
		b.Asked = b.Asked || !slices.Contains([]string{"part", "by", "project"}, k) && strings.TrimSpace(b.Form.Get(k)) != ""
	}
	if b.Asked {
		if err := b.search(s, r); errors.Is(err, context.DeadlineExceeded) {
			b.Form.Set("part", "hits")
			b.Building = "/search?" + b.Form.Encode()
			if r.Header.Get("HX-Request") == "" {
				w.Header().Set("Refresh", "3") // works without JavaScript
			}
		} else if err != nil {
			return "", page{}, err
		}
	}
	p.Body = b
	return "search", p, nil
}

// search sets the hits, or the problem with the form. The error is [context.DeadlineExceeded] if the index is not ready in time.
func (b *searchBody) search(s *Server, r *http.Request) (err error) {
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	if b.SearchAnswer, err = s.Find(ctx, &http.Request{URL: &url.URL{RawQuery: b.Form.Encode()}}, maxHits); errors.Is(err, context.DeadlineExceeded) {
		return err
	} else if err != nil {
		b.Problem = s.ProblemOf(err)
		return nil
	}
	return b.explain(ctx, s)
}

// explain says what other projects have, as mem search does, if the searched one has nothing.
func (b *searchBody) explain(ctx context.Context, s *Server) error {
	if len(b.Hits) > 0 || b.Form.Get("project") == "" {
		return nil
	}
	wider := maps.Clone(b.Form)
	wider.Set("project", "")
	wider.Del("part")
	query := wider.Encode()
	found, err := s.Find(ctx, &http.Request{URL: &url.URL{RawQuery: query}}, maxHits)
	if len(found.Hits) > 0 {
		b.Others, b.Wider = found.Hits[0].Total, "/search?"+query
	}
	return err
}

// marked returns a snippet with its matches highlighted.
func marked(h view.Hit) template.HTML {
	var b strings.Builder
	at := 0
	for _, m := range h.Matches {
		if m[0] < at || m[1] > len(h.Snippet) {
			continue
		}
		b.WriteString(template.HTMLEscapeString(h.Snippet[at:m[0]]) + "<mark>" +
			template.HTMLEscapeString(h.Snippet[m[0]:m[1]]) + "</mark>")
		at = m[1]
	}
	b.WriteString(template.HTMLEscapeString(h.Snippet[at:]))
	return template.HTML(b.String()) //nolint:gosec // escaped piece by piece
}

// hitLink returns the URL of a hit.
func hitLink(h view.Hit) string {
	project := "/p/" + h.Project
	switch h.Class {
	case index.Fact:
		return project + "/facts#" + h.Ref
	case index.Rule:
		return project + "/facts?show=rules#" + h.Ref
	case index.Concept:
		return project + "/facts?show=concepts"
	case index.Composition:
		return compositionLink(refs.Project(h.Project), h.Ref)
	case index.ClaudeNote:
		return project + "/notes?file=" + url.QueryEscape(h.Ref)
	case index.Version:
		_, label, _ := strings.Cut(h.Ref, ":")
		return "/s/" + h.Session + "/v/" + label
	}
	_, messages, _ := strings.Cut(h.Ref, "#")
	if n := number(messages); n > 0 {
		return messageLink(h.Session, n)
	}
	return "/s/" + h.Session
}

// number returns the number at the start of a range of messages, such as 27..29, or 0.
func number(messages string) int {
	n, err := strconv.Atoi(messages[:len(messages)-len(strings.TrimLeft(messages, "0123456789"))])
	if err != nil {
		return 0
	}
	return n
}

// A nextBody is the context for the next session, by section.
type nextBody struct {
	view.Next
	Limit     int
	Sections  []nextSection
	Subagents int // sessions of subagents in memory, if the project has no others
}

type nextSection struct {
	Name  string
	Units int
	Lines []view.NextLine
}

func (s *Server) nextScreen(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	var err error
	b := nextBody{}
	if b.Next, err = s.Next(r.Context(), p); err != nil {
		return "", page{}, err
	}
	conf, err := s.Settings()
	if err != nil {
		return "", page{}, err
	}
	b.Limit = conf.Int("hooks.contextSize")
	if len(b.Lines) == 0 {
		st, err := trust.Outline(r.Context(), s.Memory.DB, p.ID)
		if err != nil {
			return "", page{}, err
		}
		if len(st.Recent()) == 0 {
			b.Subagents = subagents(st)
		}
	}
	for _, l := range b.Lines {
		i := slices.IndexFunc(b.Sections, func(x nextSection) bool { return x.Name == l.Section })
		if i < 0 {
			i = len(b.Sections)
			b.Sections = append(b.Sections, nextSection{Name: l.Section})
		}
		b.Sections[i].Lines = append(b.Sections[i].Lines, l)
		b.Sections[i].Units += len([]rune(l.Text)) + 1
	}
	return projectPage("next", "next", "Next session", p, b, nil)
}

// dropLine drops a line from what sessions are handed.
func (s *Server) dropLine(w http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	lines, err := s.DropLine(r.Context(), p, r.PostFormValue("drop"))
	said := "Sessions are no longer told: " + tokens.OneLine(strings.Join(lines, " "), 120)
	return s.did(w, r, p, err, said, "/p/"+string(p.ID)+"/next")
}

func projectCrumbs(p state.Project, last ...string) []crumb {
	out := []crumb{{"Memory", "/"}, {p.Name, "/p/" + string(p.ID)}}
	for _, name := range last {
		out = append(out, crumb{name, ""})
	}
	return out
}

// projectPage returns the page of a project with a screen, or the error of what it shows.
func projectPage(screen, tab, title string, p state.Project, body any, err error) (string, page, error) {
	return screen, page{Title: title, Tab: tab, Project: p, Crumbs: projectCrumbs(p, title), Body: body}, err
}

// lineText returns a line without its sign and without the source at its end, which the page shows as a link.
func lineText(l view.NextLine) string {
	text := strings.TrimPrefix(strings.TrimSpace(l.Text), "- ")
	if i := strings.LastIndex(text, " ["); i > 0 && l.Source != "" && strings.HasSuffix(text, l.Source+"]") {
		return text[:i]
	}
	return text
}

// isChild reports whether a line belongs to the one before it.
func isChild(text string) bool { return strings.HasPrefix(text, "  ") }

// lineLink returns the URL of the source message of a line, "" if its source is not a message.
func lineLink(l view.NextLine) string {
	id, n, ok := strings.Cut(l.Source, "#")
	if !ok || !api.PlainName(id) || number(n) == 0 {
		return ""
	}
	return messageLink(id, number(n))
}
