package handover

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/search"
)

// Limits of the answer to a prompt.
const (
	maxPassages     = 4
	maxPromptFiles  = 3
	maxPromptWords  = 200
	capPassages     = 1000
	capPromptFiles  = 300
	showOn          = 70
	shortestSpelled = 4
)

// A prompt is answered if its evidence reaches leastEvidence. Evidence is the share of the prompt's words in the most
// similar exchange plus the score of the best file. unseenWeight is added to the prompt's weight, so that two common
// words are no evidence. The figures were fitted with the prompts of a project against those of other projects and idle
// ones; docs/benchmarks.md has the results.
const (
	fileWeight    = 0.025
	unseenWeight  = 6.0
	leastEvidence = 0.33
)

// spelledBonus is the score of a file if the prompt spells its name or one of its symbols. Other words in both path and
// prompt score by their rarity.
const spelledBonus = 6.0

// Thresholds of the passages of the index.
const (
	leastShare   = 0.20 // of the prompt's words in a passage
	shareOfFirst = 0.5  // of the share of the best passage
	enoughShare  = 0.33 // with which a passage answers without other evidence
)

// A Query is a parsed prompt.
type Query struct {
	words   []string        // distinct, lower case, without stop words
	said    map[string]bool // all words, lower case
	spelled map[string]bool // names of files and symbols, as written
	chore   bool            // it asks for no work of its own
}

// Empty reports whether nothing can answer the prompt: it has too few words to match, or ends with the request to commit, push
// or merge.
func (q Query) Empty() bool { return len(q.words) < 2 && len(q.spelled) == 0 || q.chore }

// topic returns the words of the prompt that say what it is about.
func (q Query) topic() map[string]bool {
	out := map[string]bool{}
	for _, w := range q.words {
		out[w] = true
	}
	return out
}

// ParsePrompt parses a prompt.
func ParsePrompt(text string) Query {
	q := Query{spelled: map[string]bool{}, said: map[string]bool{}}
	if list := sentences(text); len(text) <= maxCorrection && len(list) > 0 {
		q.chore = housekeeping().MatchString(list[len(list)-1])
	}
	if i := strings.Index(text, "```"); i > 0 {
		text = text[:i] + " " + text[i:min(len(text), i+2000)]
	}
	for token := range strings.FieldsFuncSeq(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-/@", r)
	}) {
		token = strings.Trim(token, "._-/@")
		if len(q.spelled) < maxPromptWords && spells(token) {
			q.spelled[token] = true
			q.spelled[baseOf(token)] = true
		}
	}
	for _, w := range exchange.Words(text) {
		q.said[w] = true
		if len(q.words) < maxPromptWords && !slices.Contains(q.words, w) && !exchange.StopWords[w] {
			q.words = append(q.words, w)
		}
	}
	return q
}

// spells reports whether a token is a name rather than a word: it has a mark or a change of case inside.
func spells(token string) bool {
	if len(token) < shortestSpelled {
		return false
	}
	inner := token[1:]
	return strings.ContainsAny(inner, "._/") || strings.ToLower(inner) != inner && strings.ToUpper(token) != token
}

// A matcher weighs words by their rarity in the digests.
type matcher struct {
	q     Query
	paths map[string]int // number of paths with a word
	turns map[string]int // number of turns with a word
	nPath int
	nTurn int
	total float64 // weight of all words of the prompt among turns

	inPath [][]string // words of the prompt that each ranked file has in its path
}

func rarity(n, of int) float64 { return math.Log(1 + (float64(of-n)+0.5)/(float64(n)+0.5)) }

// Prompt returns the passages and files that fit a prompt, without delivered ones, or nothing if nothing fits well
// enough. asked has the words that each turn of each digest shares with the prompt.
func Prompt(q Query, digests []Digest, asked [][][]string, found []search.Passage, delivered map[string]bool) []brief.Section {
	ranked := Files(digests)
	m := newMatcher(q, asked, ranked)
	answered := slices.ContainsFunc(found, func(p search.Passage) bool { return p.Share >= enoughShare })
	if m.total == 0 || m.evidence(asked, ranked) < leastEvidence && !answered {
		return nil
	}
	passages, files := passageItems(found), m.files(ranked, delivered)
	if len(passages) == 0 && len(files) == 0 {
		return nil
	}
	return []brief.Section{
		{Title: "Earlier messages that fit this prompt", Items: passages},
		{Title: "Files that fit (from tool calls)", Items: fitting(files, capPromptFiles), Rank: 1},
	}
}

// passageItems lists passages of the index, each with what it answered. Of a call of a tool only the file is named.
func passageItems(found []search.Passage) (out []brief.Item) {
	for _, p := range found {
		if checks(p.Text) {
			continue // whether they pass now, it does not know
		}
		it := brief.Item{Source: citing(p.Session, p.To), Time: p.Time, Keys: []string{passageKey(p)}, Trust: brief.Assistant,
			Why: fmt.Sprintf("has %.0f %% of the prompt's words by weight", 100*p.Share)}
		day, asked := "", ""
		if !p.Time.IsZero() {
			day = p.Time.UTC().Format("2006-01-02") + ": "
		}
		if plan, is := strings.CutPrefix(p.Request, "plan "); is {
			asked = "plan " + quoted(strings.TrimLeft(plan, "# "), showOn) + ": "
		} else if p.Request != "" {
			asked = "asked " + quoted(Own(p.Request), showOn) + ": "
		}
		switch {
		case p.Text == "":
			it.Text = strings.TrimSuffix(day+asked, ": ")
		case p.Who == "user":
			it.Trust, it.Text = brief.User, day+"“"+p.Text+"”"
		case p.Who == "plan":
			it.By, it.Text = p.Who, day+"in a plan that the user accepted: “"+p.Text+"”"
		case p.Who == "tool":
			it.Text = day + asked + p.Text
		default:
			it.Text = day + asked + "“" + p.Text + "”"
		}
		out = append(out, it)
	}
	return fitting(out, capPassages)
}

// fitting returns the first items that fit.
func fitting(list []brief.Item, units int) []brief.Item {
	for i, it := range list {
		if units -= brief.Units(it.Text) + lineUnits; units < 0 {
			return list[:i]
		}
	}
	return list
}

// lineUnits is about the size of the source of a line and its bullet.
const lineUnits = 30

// newMatcher counts the words of the prompt in turns and paths.
func newMatcher(q Query, asked [][][]string, ranked []Ranked) *matcher {
	m := &matcher{q: q, paths: map[string]int{}, turns: map[string]int{}, nPath: len(ranked),
		inPath: make([][]string, len(ranked))}
	wanted := q.topic()
	for i, r := range ranked {
		m.inPath[i] = exchange.Shared(r.Path, wanted)
		for _, w := range m.inPath[i] {
			m.paths[w]++
		}
	}
	for _, turns := range asked {
		for _, words := range turns {
			for _, w := range words {
				m.turns[w]++
			}
		}
		m.nTurn += len(turns)
	}
	for _, w := range q.words {
		m.total += rarity(m.turns[w], m.nTurn)
	}
	return m
}

// evidence returns how well the project matches the prompt.
func (m *matcher) evidence(asked [][][]string, ranked []Ranked) float64 {
	resembles, best := 0.0, 0.0
	for _, turns := range asked {
		for _, words := range turns {
			weight := 0.0
			for _, w := range words {
				weight += rarity(m.turns[w], m.nTurn)
			}
			resembles = max(resembles, weight)
		}
	}
	for i, r := range ranked {
		score, _ := m.fit(i, r)
		best = max(best, score)
	}
	return resembles/(m.total+unseenWeight) + fileWeight*best
}

// fit returns how well the file with rank i matches the prompt by its path and symbols, and why it is worth naming, "" if
// only some words of its path are in the prompt.
func (m *matcher) fit(i int, r Ranked) (score float64, why string) {
	for _, w := range m.inPath[i] {
		score += rarity(m.paths[w], m.nPath)
	}
	if m.q.names(r.Path) {
		why = "words of its name are in the prompt"
	}
	if slices.ContainsFunc(r.Symbols, func(s string) bool { return m.q.spelled[s] }) {
		score, why = score+spelledBonus, "the prompt names a symbol in it"
	}
	if m.q.spelled[r.Path] || m.q.spelled[baseOf(r.Path)] {
		score, why = score+spelledBonus, "the prompt names it"
	}
	return score, why
}

// names reports whether most of the words of a file's name are in the prompt, and more than one. The word "test" does not count.
func (q Query) names(file string) bool {
	name, _, _ := strings.Cut(baseOf(file), ".")
	n, in := 0, 0
	exchange.EachWord(name, func(w []byte) {
		if string(w) == "test" {
			return
		}
		n++
		if q.said[string(w)] {
			in++
		}
	})
	return in > 1 && 2*in > n
}

// files lists the files that the prompt names, the best first.
func (m *matcher) files(ranked []Ranked, delivered map[string]bool) (out []brief.Item) {
	type found struct {
		Ranked
		score float64
		why   string
	}
	var list []found
	for i, r := range ranked {
		if score, why := m.fit(i, r); why != "" && !delivered[r.Path] {
			list = append(list, found{r, score, why})
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	for _, f := range list[:min(len(list), maxPromptFiles)] {
		what := times(f.Reads, "read")
		if f.Edits > 0 {
			what = times(f.Edits, "edit")
		}
		out = append(out, brief.Item{Text: f.Path + ", " + what + ": " + f.why, Source: citing(f.Session, f.N), Trust: brief.Assistant,
			Short: true, Time: f.Time, Keys: []string{f.Path}, Why: f.why})
	}
	return out
}
