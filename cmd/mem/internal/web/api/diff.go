package api

import (
	"context"

	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trace"
)

// A diffAnswer is the difference between two texts, aligned by their source messages.
type diffAnswer struct {
	A       diffSide        `json:"a"`
	B       diffSide        `json:"b"`
	Same    bool            `json:"same"`
	Both    int             `json:"messagesInBoth"`
	Anchors []trace.Anchors `json:"anchors"`
	Groups  []diffGroup     `json:"groups"`
}

type diffSide struct {
	Name     string `json:"name"`
	Tokens   int    `json:"tokens"`
	Segments int    `json:"segments"`
	Messages int    `json:"messages"`
	Kept     int    `json:"keepitsKept"`
	Keepits  int    `json:"keepits"`
}

type diffGroup struct {
	Session  string       `json:"sessionId,omitempty"`
	Messages [][2]int     `json:"messages"`
	Tokens   [2]int       `json:"tokens"`
	Changes  []diffChange `json:"changes"`
}

type diffChange struct {
	A string `json:"a"`
	B string `json:"b"`
}

// Comparison compares two revisions.
func (s *API) Comparison(ctx context.Context, sc state.Scope, a, b string) (provenance.Comparison, error) {
	first, err := s.resolve(ctx, sc, a)
	if err != nil {
		return provenance.Comparison{}, err
	}
	sc.Last = first.Session
	second, err := s.resolve(ctx, sc, b)
	if err != nil {
		return provenance.Comparison{}, err
	}
	return provenance.Compare(ctx, s.Memory.DB, first, second)
}

func (s *API) apiDiff(c *call, p state.Project) (reply, error) {
	q := c.r.URL.Query()
	if q.Get("a") == "" || q.Get("b") == "" {
		return reply{}, BadRequest("a comparison needs two revisions, a and b")
	}
	d, err := s.Comparison(c, s.ScopeOf(p), q.Get("a"), q.Get("b"))
	if err != nil {
		return reply{}, err
	}
	n := d.Summary
	side := func(i int, name string) diffSide {
		return diffSide{name, n.Tokens[i], n.Segments[i], n.Messages[i], n.Kept[i], n.Marks[i]}
	}
	out := diffAnswer{A: side(0, d.A.Name), B: side(1, d.B.Name), Same: d.Same(), Both: n.Both,
		Anchors: append([]trace.Anchors{}, n.Anchors...), Groups: []diffGroup{}}
	for _, g := range d.Groups {
		one := diffGroup{Messages: append([][2]int{}, g.Src...), Tokens: g.Tokens, Changes: []diffChange{}}
		if of := d.Sessions[g.Source]; of != nil {
			one.Session = of.ID
		}
		for _, ch := range g.Changes() {
			one.Changes = append(one.Changes, diffChange{ch.A, ch.B})
		}
		out.Groups = append(out.Groups, one)
	}
	if err := d.Err(); err != nil {
		return reply{}, err
	}
	return ok(out)
}

type blameAnswer struct {
	Lines []blameLine `json:"lines"`
}

type blameLine struct {
	Line       int      `json:"line"`
	Text       string   `json:"text"`
	Frame      bool     `json:"frame"`
	Session    string   `json:"sessionId,omitempty"`
	Messages   [][2]int `json:"messages"`
	Role       string   `json:"role,omitempty"`
	Marker     string   `json:"markerId,omitempty"`
	Confidence int      `json:"confidence"`
	Supported  bool     `json:"supported"`
}

func (s *API) apiBlame(c *call, p state.Project) (reply, error) {
	rev, err := s.resolve(c, s.ScopeOf(p), c.r.URL.Query().Get("rev"))
	if err != nil {
		return reply{}, err
	}
	lines, err := provenance.Blame(c, s.Memory.DB, rev)
	if err != nil {
		return reply{}, err
	}
	out := blameAnswer{[]blameLine{}}
	for _, l := range lines {
		one := blameLine{Line: l.Line, Text: l.Text, Frame: l.Frame, Messages: append([][2]int{}, l.Messages...),
			Role: l.Role, Marker: l.Marker, Confidence: l.Confidence, Supported: l.Supported}
		if l.Session != nil {
			one.Session = l.Session.ID
		}
		out.Lines = append(out.Lines, one)
	}
	return ok(out)
}
