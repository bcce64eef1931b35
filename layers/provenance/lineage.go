package provenance

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Node is a node in the graph of derivations.
type Node struct {
	Kind      state.Kind     `json:"kind"`
	Name      string         `json:"name"` // such as abc123:v002
	Session   string         `json:"-"`    // the whole id of the session that the name starts with, or ""
	Project   string         `json:"project,omitempty"`
	Hash      objects.Hash   `json:"hash,omitzero"`  // zero: a pure function that is not stored, such as L1
	Step      string         `json:"step,omitempty"` // of a version or composition
	Version   int            `json:"stepVersion,omitempty"`
	Engine    string         `json:"engine,omitempty"`
	Since     string         `json:"since,omitempty"` // of a version: the label of the version that it continues
	Tokens    int            `json:"tokens,omitempty"`
	Time      time.Time      `json:"time,omitzero"`
	Device    string         `json:"device,omitempty"`
	Witnesses []objects.Hash `json:"witnesses,omitempty"` // requests to a model and its answers
	Missing   bool           `json:"missing,omitempty"`   // its record is missing
	Next      []*Node        `json:"next"`                // its inputs, or the things made from it

	project refs.Project
	record  objects.Hash   // of a version
	inputs  []objects.Hash // of the derivation
	text    objects.Hash   // record of the version whose text a version was made from
	base    objects.Hash   // record of the version that a version continues
}

// ErrNoLineage means that a revision has no lineage.
var ErrNoLineage = errors.New("has no lineage")

// Lineage returns rev with everything that it was made from, or if down is set with everything made from it. A session
// represents all its growth points.
func Lineage(ctx context.Context, db *state.DB, rev state.Rev, down bool) (*Node, error) {
	a, err := newAncestry(ctx, db)
	if err != nil {
		return nil, err
	}
	start, err := a.start(rev)
	if err != nil {
		return nil, err
	}
	a.walk(start, down, map[*Node]bool{})
	return start, nil
}

// An ancestry is the graph of all projects.
type ancestry struct {
	versions     map[objects.Hash][]*Node // by output
	compositions map[objects.Hash][]*Node
	originals    map[objects.Hash]*Node
	users        map[objects.Hash][]*Node // by input
	points       map[string][]objects.Hash
	names        map[objects.Hash]string
	records      map[objects.Hash]*Node   // versions
	followers    map[objects.Hash][]*Node // by the record of their base
}

func newAncestry(ctx context.Context, db *state.DB) (*ancestry, error) {
	a := &ancestry{
		versions: map[objects.Hash][]*Node{}, compositions: map[objects.Hash][]*Node{}, originals: map[objects.Hash]*Node{},
		users: map[objects.Hash][]*Node{}, points: map[string][]objects.Hash{}, names: map[objects.Hash]string{},
		records: map[objects.Hash]*Node{}, followers: map[objects.Hash][]*Node{},
	}
	ids, err := db.Refs.Projects()
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if id == refs.Home {
			continue
		}
		st, err := trust.State(ctx, db, id)
		if err != nil {
			return nil, err
		}
		a.add(st.AsProject(), st)
	}
	return a, nil
}

func (a *ancestry) add(p state.Project, st *state.State) {
	for _, s := range st.Sessions {
		for i := range s.Points {
			q := &s.Points[i]
			if a.originals[q.Original] != nil {
				continue
			}
			name := records.ShortID(s.ID) + ":original"
			if q.Original != s.Now().Original {
				name += fmt.Sprintf(" (messages 1-%d)", q.Scan.Values)
			}
			o := &Node{Kind: state.IsOriginal, Name: name, Session: s.ID, Project: p.Name, project: p.ID, Hash: q.Original, Time: q.Time,
				Device: q.Stamp.Device}
			a.originals[q.Original] = o
			a.points[s.ID] = append(a.points[s.ID], q.Original)
		}
	}
	var hidden []*Node
	for _, v := range st.Versions {
		x := derived(v.Derivation)
		x.Kind, x.Name, x.Session, x.Project, x.project = state.IsVersion, records.ShortID(v.Session)+":"+v.Name(), v.Session, p.Name, p.ID
		x.Time, x.Device, x.Tokens, x.Engine, x.record = v.Time, v.Device, v.TokensOut, v.Engine, v.ID
		if a.records[v.ID] = x; v.Source != "" {
			x.text = v.Base
		}
		if v.Deleted {
			hidden = append(hidden, x)
			continue
		}
		if v.Since != "" {
			x.Since, x.base, a.followers[v.Base] = v.Since, v.Base, append(a.followers[v.Base], x)
		}
		a.use(x, a.versions)
	}
	for _, x := range hidden { // they count only as inputs
		if len(a.versions[x.Hash]) == 0 {
			a.versions[x.Hash] = []*Node{x}
		}
	}
	names := state.StateNames(st)
	for _, c := range st.Compositions {
		if c.Deleted {
			continue
		}
		x := derived(c.Derivation)
		x.Kind, x.Name, x.Project, x.project, x.Time, x.Device, x.Tokens = state.IsComposition, names[c.ID], p.Name, p.ID, c.Time, c.Device, c.Tokens
		a.use(x, a.compositions)
		for i, part := range c.Parts {
			if i < len(c.Derivation.Inputs) {
				a.names[c.Derivation.Inputs[i]] = records.ShortID(part.Session) + ":" + part.Label
			}
		}
	}
}

// derived returns the node of a derivation.
func derived(d lineage.Derivation) *Node {
	return &Node{Hash: d.Output, Step: d.Recipe.Step, Version: d.Recipe.Version, Witnesses: d.Witnesses, inputs: d.Inputs}
}

// use adds a node to the graph.
func (a *ancestry) use(x *Node, by map[objects.Hash][]*Node) {
	by[x.Hash] = append(by[x.Hash], x)
	for i, in := range x.inputs {
		if !slices.Contains(x.inputs[:i], in) {
			a.users[in] = append(a.users[in], x)
		}
	}
}

// start returns the node of a revision.
func (a *ancestry) start(rev state.Rev) (*Node, error) {
	same := func(x *Node) bool { return x.project == rev.Project.ID }
	pick := func(list []*Node) *Node {
		if i := slices.IndexFunc(list, same); i >= 0 {
			return list[i]
		}
		return nil
	}
	var x *Node
	switch rev.Kind {
	case state.IsVersion:
		x = pick(slices.DeleteFunc(slices.Clone(a.versions[rev.Hash]), func(x *Node) bool { return x.Name != rev.Name() }))
	case state.IsComposition:
		x = pick(a.compositions[rev.Hash])
	case state.IsSession, state.IsOriginal, state.IsMessages:
		x = a.originals[rev.Session.Now().Original]
		if x != nil && rev.Kind == state.IsSession {
			all := *x
			all.Kind, all.Name, all.Session = state.IsSession, records.ShortID(rev.Session.ID), rev.Session.ID
			x = &all
		}
	case state.IsL1:
		l1 := a.refined(rev.Session.ID, rev.Project.Name)
		l1.inputs = []objects.Hash{rev.Session.Now().Original}
		return l1, nil
	case state.IsObject:
		x = pick(slices.Concat(a.versions[rev.Hash], a.compositions[rev.Hash]))
		if x == nil {
			x = a.originals[rev.Hash]
		}
	}
	if x == nil {
		return nil, fmt.Errorf("%s %w", rev.Name(), ErrNoLineage)
	}
	return x, nil
}

// refined returns the L1 of a session, which is computed when needed and never stored.
func (a *ancestry) refined(session, project string) *Node {
	return &Node{Kind: state.IsL1, Name: records.ShortID(session) + ":L1", Session: session, Project: project}
}

// walk fills in the ancestors or descendants of x. The nodes are derivations. If a record does not name its source,
// equal outputs make it ambiguous from which derivation an input came; an edge to a node of path, or to the same node
// as another edge, is dropped, so the result is a tree of finite depth.
func (a *ancestry) walk(x *Node, down bool, path map[*Node]bool) {
	if down {
		a.down(x)
	} else {
		a.up(x)
	}
	path[x] = true
	seen := map[*Node]bool{}
	x.Next = slices.DeleteFunc(x.Next, func(n *Node) bool {
		drop := path[n] || seen[n]
		seen[n] = true
		return drop
	})
	for _, n := range x.Next {
		if n.Next == nil {
			a.walk(n, down, path)
		}
	}
	delete(path, x)
}

// source returns the version whose text is the input of x, if its record names one with that output.
func (a *ancestry) source(x *Node, in objects.Hash) *Node {
	if from := a.records[x.text]; from != nil && from.Hash == in {
		return from
	}
	return nil
}

func (a *ancestry) up(x *Node) {
	x.Next = []*Node{}
	for i, in := range x.inputs {
		switch {
		case a.originals[in] != nil:
			x.Next = append(x.Next, a.originals[in])
		case a.source(x, in) != nil:
			x.Next = append(x.Next, a.source(x, in))
		case len(a.versions[in]) > 0:
			x.Next = append(x.Next, a.version(in))
		default:
			x.Next = append(x.Next, &Node{Kind: state.IsObject, Name: cmp.Or(a.names[in], fmt.Sprintf("input %d", i+1)),
				Hash: in, Missing: true, Next: []*Node{}})
		}
	}
	if base := a.records[x.base]; base != nil {
		x.Next = append(x.Next, base)
	}
}

// version returns the version with an output: the one that compositions name, else the first.
func (a *ancestry) version(out objects.Hash) *Node {
	list := a.versions[out]
	if i := slices.IndexFunc(list, func(x *Node) bool { return x.Name == a.names[out] }); i >= 0 {
		return list[i]
	}
	return list[0]
}

func (a *ancestry) down(x *Node) {
	x.Next = []*Node{}
	switch x.Kind {
	case state.IsSession:
		x.Next = append(x.Next, a.refined(x.Session, x.Project))
		for _, h := range a.points[x.Session] {
			x.Next = append(x.Next, a.users[h]...)
		}
	case state.IsL1:
	default:
		for _, n := range a.users[x.Hash] {
			if from := a.source(n, x.Hash); from == nil || from == x {
				x.Next = append(x.Next, n)
			}
		}
		if !x.record.IsZero() {
			x.Next = append(x.Next, a.followers[x.record]...)
		}
	}
}
