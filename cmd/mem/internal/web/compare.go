package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/trace"
)

// A compareBody compares two texts, side by side or unified, aligned by their source messages.
type compareBody struct {
	provenance.Comparison
	Names  [2]string
	Groups []compareGroup
	Cut    int // number of omitted groups
	View   string
	Other  string
	Swap   string
	Matrix []survival
}

type compareGroup struct {
	trace.Group
	Session string // in URLs
	Changes []trace.Change
}

// A survival is a row of the matrix: a marker and its state on both sides.
type survival struct {
	Weight  string
	Text    string
	Message int
	Session string
	Sides   [2]trace.MarkerState
}

// maxGroups is the maximum number of differences on a page.
const maxGroups = 200

// compareScreen compares two revisions: v=A&v=B in the query, or A..B in the path, such as /compare/abc123:v001..v002.
// A single revision is compared with its basis.
func (s *Server) compareScreen(w http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	names := api.NonEmpty(r.URL.Query()["v"])
	if spec := r.PathValue("spec"); spec != "" {
		a, b, _ := strings.Cut(spec, "..")
		names = api.NonEmpty([]string{a, b})
	}
	if len(names) == 1 {
		names = []string{basis(names[0]), names[0]}
	}
	if len(names) != 2 {
		return "", page{}, api.BadRequest("select two versions or compositions to compare")
	}
	if id, _, ok := strings.Cut(names[0], ":"); ok && (revision.IsLabel(names[1]) || names[1] == "latest") {
		names[1] = id + ":" + names[1]
	}
	sc, project := s.Scope, r.URL.Query().Get("project")
	if project != "" {
		p, err := s.Project(ctx, project)
		if err != nil {
			return "", page{}, err
		}
		sc = s.ScopeOf(p)
	}
	c, err := s.Comparison(ctx, sc, names[0], names[1])
	if err != nil {
		return "", page{}, err
	}
	b := compareBody{Comparison: c, Names: [2]string{names[0], names[1]}, View: r.URL.Query().Get("view")}
	b.links(project)
	b.fill(c)
	p := page{Title: "Compare", Project: c.A.Rev.Project, Tab: "browser",
		Crumbs: []crumb{{"Memory", "/"}, {c.A.Rev.Project.Name, "/p/" + string(c.A.Rev.Project.ID)}, {"Compare", ""}},
		Body:   b}
	if of := c.A.Rev.Session; of != nil {
		p.Crumbs = slices.Insert(p.Crumbs, 2, crumb{records.ShortID(of.ID), "/s/" + of.ID})
	}
	if of := c.B.Rev.Composition; of != nil {
		p.Tab = "compositions"
		p.Crumbs = slices.Insert(p.Crumbs, 2, crumb{of.Name, compositionLink(c.B.Rev.Project.ID, of.Name)})
	}
	return "compare", p, nil
}

// basis returns the original of a version, or the previous state of a composition.
func basis(name string) string {
	if session, _, ok := strings.Cut(name, ":"); ok {
		return session + ":original"
	}
	return name + "@{1}"
}

// links sets the URLs of the comparison in the other view, and with the sides swapped.
func (b *compareBody) links(project string) {
	q := url.Values{}
	if project != "" {
		q.Set("project", project)
	}
	q["v"] = []string{b.Names[1], b.Names[0]}
	if b.View != "" {
		q.Set("view", b.View)
	}
	b.Swap = "/compare?" + q.Encode()
	q["v"] = b.Names[:]
	q.Del("view")
	if b.View != "unified" {
		q.Set("view", "unified")
	}
	b.Other = "/compare?" + q.Encode()
}

func (b *compareBody) fill(c provenance.Comparison) {
	for i, g := range c.Groups {
		name := ""
		if of := c.Sessions[g.Source]; of != nil {
			name = of.ID
		}
		for _, k := range g.Keepits {
			side := k.Sides[0]
			if !side.Known {
				side = k.Sides[1]
			}
			b.Matrix = append(b.Matrix, survival{side.Weight.String(), k.Text, k.Message, name, k.Sides})
		}
		if i >= maxGroups {
			b.Cut++
			continue
		}
		b.Groups = append(b.Groups, compareGroup{g, name, g.Changes()})
	}
}

// Delta returns the difference in tokens.
func (b compareBody) Delta() int { return b.Summary.Tokens[1] - b.Summary.Tokens[0] }
