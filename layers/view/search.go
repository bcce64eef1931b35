package view

import (
	"strconv"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/search/index"
)

// A Hit is a hit of a search.
type Hit struct {
	Ref     string    `json:"ref"`   // the revision for mem show
	Layer   string    `json:"layer"` // L1 to L4, version, composition or note
	Project string    `json:"projectId"`
	Session string    `json:"session,omitempty"`
	Title   string    `json:"title,omitempty"`
	Branch  string    `json:"branch,omitempty"`
	Message string    `json:"message,omitempty"` // its uuid
	N       int       `json:"n,omitempty"`       // its number
	To      int       `json:"to,omitempty"`      // the last message that the snippet comes from, if it is another one
	Request string    `json:"request,omitempty"` // of the exchange, if the hit is another message
	Role    string    `json:"role,omitempty"`
	Time    Time      `json:"timestamp,omitzero"`
	Score   float64   `json:"score"`
	Total   int       `json:"total"` // hits of the query without a limit; with phrases and patterns at least
	Context bool      `json:"context,omitempty"`
	Tool    string    `json:"tool,omitempty"`
	File    string    `json:"file,omitempty"`
	Kind    string    `json:"kind,omitempty"` // of a fact or rule, or of what is open
	Weight  *Weight   `json:"weight,omitempty"`
	Topics  []string  `json:"topics,omitempty"`
	Changed string    `json:"changed,omitempty"` // the message that later changed what an edit wrote
	Count   int       `json:"count,omitempty"`   // matches in the session or file
	Snippet string    `json:"snippet"`
	Matches [][2]int  `json:"matches"`           // bytes of the snippet
	Missing []Unknown `json:"missing,omitempty"` // words of the query that are in no text

	Class index.Class `json:"-"`
}

// An Unknown is a word of a query that is in no text.
type Unknown = search.Unknown

// Hits returns the hits of a query.
func Hits(found search.Results) []Hit {
	out := make([]Hit, 0, len(found.Hits))
	for _, h := range found.Hits {
		x := HitOf(h)
		x.Total, x.Missing = found.Total, found.Missing
		out = append(out, x)
	}
	return out
}

// HitOf returns one hit, without the total of its query.
func HitOf(h search.Hit) Hit {
	x := Hit{
		Ref: RefOf(h), Layer: layerOf(h.Doc.Class), Project: h.Project, N: h.Doc.N, Role: h.Doc.Class.Role(),
		Score: h.Score, Context: h.Context, Time: Time{h.Time()}, Request: h.Request, File: h.Doc.File, Count: h.Count,
		Snippet: h.Passage.Text, Matches: list(h.Passage.Matches), Class: h.Doc.Class,
	}
	if h.To > h.Doc.N {
		x.To = h.To
	}
	if h.Session != nil {
		x.Session, x.Title, x.Branch, x.Topics = h.Session.ID, h.Session.Title, h.Session.Branch, h.Session.Topics
	}
	if c := h.Changed; c != nil {
		x.Changed = records.ShortID(c.Session) + "#" + strconv.Itoa(c.N)
	}
	if h.Weight >= 0 {
		w := Weight(h.Weight)
		x.Weight = &w
	}
	switch h.Doc.Class {
	case index.Fact, index.Rule:
		x.Kind = h.Doc.Name
	case index.Pending:
		if x.Kind = h.Doc.Name; h.Doc.ID != "" { // an issue is a fact
			x.Layer, x.Class = "L2", index.Fact
		}
	case index.Tool:
		x.Tool, x.Message = h.Doc.Name, h.Doc.ID
	case index.Version, index.Composition, index.Concept, index.ClaudeNote:
	default:
		x.Message = h.Doc.ID
	}
	return x
}

// Who returns the author of a hit: the role of a message, the layer and kind of anything else.
func (h Hit) Who() string {
	switch {
	case h.Role != "":
		return h.Role
	case h.Class == index.ClaudeNote:
		return "Claude's note"
	case h.Class == index.Pending:
		return h.Kind
	case h.Kind != "":
		return h.Layer + " " + h.Kind
	}
	return h.Layer
}

// RefOf returns the revision of a hit, with the short id of its session: "mem show" prints what the hit shows.
func RefOf(h search.Hit) string {
	session := ""
	if h.Session != nil {
		session = records.ShortID(h.Session.ID)
	}
	switch h.Doc.Class {
	case index.Fact, index.Rule:
		return h.Doc.ID
	case index.Pending:
		if h.Doc.ID != "" { // an issue is a fact
			return h.Doc.ID
		}
	case index.Concept, index.Composition, index.ClaudeNote:
		return h.Doc.Name
	case index.Version:
		return session + ":" + h.Doc.Name
	}
	name := session + "#" + strconv.Itoa(h.From)
	if h.To > h.From {
		name += ".." + strconv.Itoa(h.To)
	}
	return name
}

func layerOf(c index.Class) string {
	switch c {
	case index.Fact:
		return "L2"
	case index.Concept:
		return "L3"
	case index.Rule:
		return "L4"
	case index.Version:
		return "version"
	case index.Composition:
		return "composition"
	case index.ClaudeNote:
		return "note"
	}
	return "L1"
}

// A Suggestion is a session or version that fits a task.
type Suggestion struct {
	Rev     string   `json:"rev"` // what mem compose takes
	Session string   `json:"sessionId"`
	Version string   `json:"versionId"`
	Score   float64  `json:"relevanceScore"`
	Topics  []string `json:"matchedTopics"`
	Files   []string `json:"matchedFiles"`
	Tokens  int      `json:"suggestedTokens"`
	Title   string   `json:"title"`
	Project string   `json:"projectId"`
	Related string   `json:"related,omitempty"` // the reason for a session of another project
}

// SuggestionsOf returns suggestions. related returns the reason for one of another project; it may be nil.
func SuggestionsOf(all []search.Suggested, related func(search.Suggested) string) []Suggestion {
	out := []Suggestion{}
	for _, x := range all {
		s := Suggestion{Rev: x.Rev, Session: x.Session.ID, Version: x.Version, Score: x.Score, Topics: list(x.Topics),
			Files: list(x.Files), Tokens: x.Tokens, Title: x.Session.Title, Project: x.Project}
		if related != nil {
			s.Related = related(x)
		}
		out = append(out, s)
	}
	return out
}
