package search

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// PassageOptions restrict [Passages].
type PassageOptions struct {
	Limit   int             // passages at most; 0 is 5
	Width   int             // bytes of one, about; 0 is 400
	Without map[string]bool // ids of sessions to leave out
	Part    Part            // of calls
	AsIs    bool            // from the index as it is, without bringing it up to date; nothing if there is none
}

// A Passage is the part of an earlier message that answers a text, with its source.
type Passage struct {
	Project, Session, Title string
	From, To                int    // messages that Request and Text come from
	Exchange                int    // first message of the exchange
	Who                     string // its author in the words of [transcript.Author]
	Time                    time.Time
	Request                 string   // of the exchange, in one line; "" if Text is the request
	Text                    string   // whole sentences, items or changed lines, on one line
	File                    string   // that the call changes or reads
	Name                    string   // of the tool of a call
	Given                   string   // what the model gave to the tool, after what announced it
	Edit                    bool     // the call changes a file
	Failure                 *Failure // of a call that failed; nil for another
	Share                   float64  // the part of the words of the text, by their rarity, that Text contains: 0 to 1
}

// passagesPerSession is how many passages come from one session.
const passagesPerSession = 2

// Passages returns the passages of earlier messages that answer a text best, at most one of an exchange for the same
// words and two of a session. What the user withdrew and what is derived of sessions is left out.
func Passages(ctx context.Context, db *state.DB, projects []refs.Project, text string, o PassageOptions) ([]Passage, error) {
	s := &Searcher{m: db, projects: projects}
	if o.AsIs {
		s.openAsIs()
	} else if err := s.open(ctx); err != nil {
		return nil, err
	}
	defer s.Close()
	q := Query{Words: question(text), Limit: pageSize, Width: o.Width, uncounted: true, Filter: Filter{Without: o.Without, Part: o.Part,
		Classes: index.Messages()}}
	found, err := Search(s.corpora, q)
	if errors.Is(err, index.ErrDamaged) && !o.AsIs {
		found, err = s.Search(ctx, q)
	}
	if err != nil {
		return nil, err
	}
	limit := o.Limit
	if limit <= 0 {
		limit = 5
	}
	var out []Passage
	of := map[string]int{}
	for _, h := range found.Hits {
		if len(out) == limit || h.Session == nil || of[h.Session.ID] == passagesPerSession {
			continue
		}
		of[h.Session.ID]++
		out = append(out, Passage{Project: h.Project, Session: h.Session.ID, Title: h.Session.Title, From: h.From, To: h.To,
			Exchange: h.Doc.Exchange, Who: h.Doc.Class.Role(), Time: h.Time(), Request: h.Request, Text: h.Passage.Text,
			File: h.Doc.File, Share: h.Share, Name: h.Doc.Name, Given: h.Doc.Text[:h.Doc.Said], Edit: h.Doc.Flags&index.Edit != 0, Failure: h.Failure})
	}
	return out, nil
}

// openAsIs opens the indexes that exist.
func (s *Searcher) openAsIs() {
	for _, p := range s.projects {
		head, err := index.ReadHead(searchDir(s.m, p))
		if err != nil || !strings.HasPrefix(head.Key, documentsVersion()+"\n") {
			continue // it is made again before the next search
		}
		if r, err := index.Open(searchDir(s.m, p), head); err == nil {
			s.corpora = append(s.corpora, Corpus{string(p), r})
		}
	}
}
