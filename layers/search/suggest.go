package search

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/search/index"
)

// Criteria select the sessions that are suggested.
type Criteria struct {
	Files  []string // names or ends of paths
	Topics []string // words
	Only   Only
	Now    int64 // seconds since 1970
}

// A Suggestion is a session that meets criteria.
type Suggestion struct {
	Project string
	Session *index.Session
	Score   float64 // from 0 to 1
	Files   []string
	Topics  []string
}

// How much of a score follows from files, topics and age. The shares of criteria that were not given go to the others.
const (
	filesPart  = .45
	topicsPart = .35
	agePart    = .2

	halfAge = 14 * 24 * 3600 // seconds after which age counts half
	related = .35            // the least share of the best score with which a session counts as about a topic
)

// Suggest returns the sessions that meet the criteria, the best first. A session that has none of the files and topics
// is left out, if any are given. Subagents are part of the sessions that started them.
func Suggest(corpora []Corpus, w Criteria) ([]Suggestion, error) {
	blank := func(s string) bool { return strings.TrimSpace(s) == "" }
	w.Files = slices.DeleteFunc(slices.Clone(w.Files), blank)
	w.Topics = slices.DeleteFunc(slices.Clone(w.Topics), blank)
	found := map[[2]string]*Suggestion{}
	var all []*Suggestion
	for i := range corpora {
		for k := range corpora[i].Sessions {
			s := corpora[i].Sessions[k]
			if s.Parent != "" || !w.Only.allows(corpora[i].Project, &s) {
				continue
			}
			x := &Suggestion{Project: corpora[i].Project, Session: &s}
			found[[2]string{x.Project, s.ID}] = x
			all = append(all, x)
		}
	}
	of := func(h Hit) *Suggestion {
		return found[[2]string{h.Project, cmp.Or(h.Session.Parent, h.Session.ID)}]
	}
	for _, file := range w.Files {
		if err := matchFile(corpora, file, w.Only, of); err != nil {
			return nil, err
		}
	}
	for _, topic := range w.Topics {
		if err := matchTopic(corpora, topic, w.Only, of); err != nil {
			return nil, err
		}
	}
	return scored(all, w), nil
}

// matchFile adds a file to the suggestions of the sessions with calls about it.
func matchFile(corpora []Corpus, file string, only Only, of func(Hit) *Suggestion) error {
	filter := Filter{Files: []string{file}, Classes: []index.Class{index.Tool}, Only: only}
	found, err := find(corpora, Query{Filter: filter, By: BySession})
	for _, h := range found.Hits {
		if x := of(h); x != nil && !slices.Contains(x.Files, file) {
			x.Files = append(x.Files, file)
		}
	}
	return err
}

// matchTopic adds a topic to the suggestions of the sessions that have it, and of those whose score for its words is
// near the best.
func matchTopic(corpora []Corpus, topic string, only Only, of func(Hit) *Suggestion) error {
	found, err := find(corpora, Query{Words: topic, Filter: Filter{Only: only}, By: BySession})
	if err != nil || len(found.Hits) == 0 {
		return err
	}
	most := found.Hits[0].Score
	for _, h := range found.Hits {
		x := of(h)
		named := slices.ContainsFunc(h.Session.Topics, func(t string) bool { return indexFold(t, topic) >= 0 })
		if x != nil && (named || h.Score >= related*most) && !slices.Contains(x.Topics, topic) {
			x.Topics = append(x.Topics, topic)
			x.Score += max(h.Score/most, btof(named))
		}
	}
	return nil
}

func btof(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// scored puts suggestions in order. Until then their score is the sum over topics.
func scored(all []*Suggestion, w Criteria) (out []Suggestion) {
	whole := agePart
	if len(w.Files) > 0 {
		whole += filesPart
	}
	if len(w.Topics) > 0 {
		whole += topicsPart
	}
	for _, x := range all {
		if len(w.Files)+len(w.Topics) > 0 && len(x.Files)+len(x.Topics) == 0 {
			continue
		}
		score := agePart * math.Exp2(-float64(max(0, w.Now-x.Session.Last))/halfAge)
		if len(w.Files) > 0 {
			score += filesPart * float64(len(x.Files)) / float64(len(w.Files))
		}
		if len(w.Topics) > 0 {
			score += topicsPart * x.Score / float64(len(w.Topics))
		}
		x.Score = math.Round(score/whole*1000) / 1000
		out = append(out, *x)
	}
	slices.SortFunc(out, func(a, b Suggestion) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Session.Last, a.Session.Last),
			strings.Compare(a.Session.ID, b.Session.ID))
	})
	return out
}
