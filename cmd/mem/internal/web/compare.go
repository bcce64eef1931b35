package web

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/records"

	"github.com/memvcs/mem/layers/trace"
)

// A compareBody is two texts side by side, or in one column, aligned by the messages that they stand for.
type compareBody struct {
	provenance.Comparison
	Names  [2]string
	Groups []compareGroup
	Cut    int // groups that are not shown
	View   string
	Share  string
	Other  string
	Swap   string
	Matrix []survival
}

type compareGroup struct {
	trace.Group
	Session string // in addresses
	Changes []trace.Change
}

// A survival is a row of the matrix: a marker and what became of it on both sides.
type survival struct {
	Weight  string
	Text    string
	Message int
	Session string
	Sides   [2]trace.Place
}

// mostGroups is how many differences a page shows.
const mostGroups = 200

// compareScreen takes two revisions: as v=…&v=…, or in its address, /compare/abc123:v001..v002.
func (s *Server) compareScreen(w http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	names := api.NonEmpty(r.URL.Query()["v"])
	if spec := r.PathValue("spec"); spec != "" {
		a, b, _ := strings.Cut(spec, "..")
		names = api.NonEmpty([]string{a, b})
	}
	if len(names) == 1 {
		session, _, _ := strings.Cut(names[0], ":")
		names = []string{session + ":original", names[0]}
	}
	if len(names) != 2 {
		return "", page{}, api.BadRequest("a comparison wants two versions, not more and not fewer")
	}
	if id, label, ok := strings.Cut(names[0], ":"); ok && strings.Count(names[1], ":") == 0 && label != "" {
		names[1] = id + ":" + names[1]
	}
	c, err := s.Comparison(ctx, s.Scope, names[0], names[1])
	if err != nil {
		return "", page{}, err
	}
	b := compareBody{Comparison: c, Names: [2]string{names[0], names[1]}, View: r.URL.Query().Get("view"), Share: "/compare/" + names[0] + ".." + names[1]}
	q := url.Values{"v": {names[0], names[1]}}
	if b.View != "unified" {
		q.Set("view", "unified")
	}
	b.Other = "/compare?" + q.Encode()
	b.Swap = "/compare?" + url.Values{"v": {names[1], names[0]}, "view": {b.View}}.Encode()
	b.fill(c)
	if err := c.Err(); err != nil {
		return "", page{}, err
	}
	p := page{Title: "Compare", Project: c.A.Rev.Project, Tab: "browser", Crumbs: []crumb{{"Memory", "/"}, {c.A.Rev.Project.Name, "/p/" + string(c.A.Rev.Project.ID)}, {"Compare", ""}}, Body: b}
	if of := c.A.Rev.Session; of != nil {
		p.Crumbs = slices.Insert(p.Crumbs, 2, crumb{records.ShortID(of.ID), "/s/" + api.SessionName(of)})
	}
	return "compare", p, nil
}

func (b *compareBody) fill(c provenance.Comparison) {
	for i, g := range c.Groups {
		name := ""
		if of := c.Sessions[g.Source]; of != nil {
			name = api.SessionName(of)
		}
		for _, k := range g.Keepits {
			side := k.Sides[0]
			if !side.Known {
				side = k.Sides[1]
			}
			b.Matrix = append(b.Matrix, survival{side.Weight.String(), k.Text, k.Message, name, k.Sides})
		}
		if i >= mostGroups {
			b.Cut++
			continue
		}
		b.Groups = append(b.Groups, compareGroup{g, name, g.Changes()})
	}
}

// Delta is by how much the tokens differ, with its sign.
func (b compareBody) Delta() int { return b.Summary.Tokens[1] - b.Summary.Tokens[0] }
