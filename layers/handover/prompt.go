package handover

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/search"
)

// Limits of the answer to a prompt.
const (
	maxPassages     = 4
	maxPromptFiles  = 3
	showAsked       = 130
	showAnswered    = 230
	maxPromptWords  = 200
	capPassages     = 1000
	capPromptFiles  = 300
	showOn          = 70
	shortestWord    = 3
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

// The chance that a session works on a file is the logistic function of a weighted sum. More weights than these fitted
// the tuning projects better and other projects worse.
const (
	chanceBase    = -4.4 // of a file without any evidence
	chanceName    = 1.25 // share of the words of its name that are in the prompt
	chanceSimilar = 4.0  // mean similarity of the sessions that touched it
	chanceRecent  = 1.2  // rank at a start, from 0 to 1
	chanceSpelled = 2.2  // the prompt spells the file
	chanceSymbol  = 1.0  // the prompt spells one of its symbols
)

// Thresholds for files and passages of an answered prompt.
const (
	leastChance   = 0.05 // of a file
	shareOfBest   = 0.20 // of the chance of the best file
	leastCoverage = 0.45 // share of the prompt's weight that a passage covers
	leastPassage  = 9.0  // weight of the words that a passage shares with the prompt
	leastShare    = 0.20 // of the prompt's words in a passage of the index
	shareOfFirst  = 0.5  // of the share of the best passage
	enoughShare   = 0.33 // with which a passage answers without other evidence
)

// A Query is a parsed prompt.
type Query struct {
	words   []string        // distinct, lower case, without stop words
	said    map[string]bool // all words, lower case
	spelled map[string]bool // names of files and symbols, as written
}

// Empty reports whether the prompt has too few words to match.
func (q Query) Empty() bool { return len(q.words) < 2 && len(q.spelled) == 0 }

// ParsePrompt parses a prompt.
func ParsePrompt(text string) Query {
	q := Query{spelled: map[string]bool{}, said: map[string]bool{}}
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
	for _, w := range Words(text) {
		q.said[w] = true
		if len(q.words) < maxPromptWords && !slices.Contains(q.words, w) && !stopWords[w] {
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

// stopWords are words without meaning for the topic of a prompt.
var stopWords = func() map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(
		`the and for you that this with have are was not but can could would should will what when where which who
		why how does did doing done from into out about there their they them then than its our your please yes yeah
		okay thank great good nice look need want like just also some any all now let make made run again test tests
		commit push pull continue start stop fix add change update use using used work working file files code line
		lines new old see show tell think check try get got set put take give go going here more most other only
		same still very well been being were had has may might must shall each every message request command user
		caveat local image error issue problem help sure after before over because while first last next one two
		three thing things way know implement implementation plan following review create remove delete write read
		open close call don isn doesn http https www com github org html`) {
		out[w[:singular([]byte(w))]] = true
	}
	return out
}()

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
func Prompt(q Query, digests []Digest, asked [][][]string, found []search.Passage, delivered map[string]bool,
	id ID) []brief.Section {
	ranked := Files(digests)
	m := newMatcher(q, asked, ranked)
	answered := slices.ContainsFunc(found, func(p search.Passage) bool { return p.Share >= enoughShare })
	if m.total == 0 || m.evidence(asked, ranked) < leastEvidence && !answered {
		return nil
	}
	passages := passageItems(found, id)
	if len(found) == 0 {
		passages = m.passages(digests, asked, delivered, id)
	}
	files := m.files(digests, asked, ranked, delivered, id)
	if len(passages) == 0 && len(files) == 0 {
		return nil
	}
	return []brief.Section{
		{Title: "Earlier messages that fit this prompt", Items: passages},
		{Title: "Files that fit (from tool calls)", Items: fitting(files, capPromptFiles), Rank: 1},
	}
}

// passageItems lists passages of the index, each with what it answered. Of a call of a tool only the file is named.
func passageItems(found []search.Passage, id ID) (out []brief.Item) {
	for _, p := range found {
		it := brief.Item{Source: id.at(p.Session, p.To), Time: p.Time, Keys: []string{passageKey(p)}, Trust: brief.Assistant,
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
		switch p.Who {
		case "user":
			it.Trust, it.Text = brief.User, day+"“"+p.Text+"”"
		case "plan":
			it.By, it.Text = p.Who, day+"in a plan that the user accepted: “"+p.Text+"”"
		case "tool":
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
	wanted := map[string]bool{}
	for _, w := range q.words {
		wanted[w] = true
	}
	for i, r := range ranked {
		m.inPath[i] = shared(r.Path, wanted)
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
			weight, _ := m.similarity(words)
			resembles = max(resembles, weight)
		}
	}
	for i, r := range ranked {
		best = max(best, m.fit(i, r).score)
	}
	return resembles/(m.total+unseenWeight) + fileWeight*best
}

// A fit is the match of a file with the prompt, by name and symbols.
type fit struct {
	score           float64 // as evidence
	spelled, symbol bool
	why             []string
}

// fit returns the fit of the file with rank i.
func (m *matcher) fit(i int, r Ranked) (f fit) {
	for _, w := range m.inPath[i] {
		f.score += rarity(m.paths[w], m.nPath)
		f.why = append(f.why, w)
	}
	if m.q.spelled[r.Path] || m.q.spelled[baseOf(r.Path)] {
		f.score += spelledBonus
		f.spelled = true
		f.why = append(f.why, "spelled")
	}
	if k := slices.IndexFunc(r.Symbols, func(s string) bool { return m.q.spelled[s] }); k >= 0 {
		f.score += spelledBonus
		f.symbol = true
		f.why = append(f.why, "symbol "+r.Symbols[k])
	}
	return f
}

// chance estimates the probability that a session works on a file after the prompt. Rank is from 0 to 1; similar is the
// mean similarity of the sessions that touched the file.
func (m *matcher) chance(f fit, r Ranked, similar, rank float64) float64 {
	z := chanceBase + chanceName*m.q.names(r.Path) + chanceSimilar*similar + chanceRecent*rank
	if f.spelled {
		z += chanceSpelled
	}
	if f.symbol {
		z += chanceSymbol
	}
	return 1 / (1 + math.Exp(-z))
}

// names returns the share of the words of a file's name that are in the prompt. The word "test" does not count.
func (q Query) names(file string) float64 {
	name := baseOf(file)
	if i := strings.IndexByte(name, '.'); i > 0 {
		name = name[:i]
	}
	n, in := 0, 0
	eachWord(name, func(w []byte) {
		if string(w) == "test" {
			return
		}
		n++
		if q.said[string(w)] {
			in++
		}
	})
	return float64(in) / float64(max(n, 1))
}

// similarity returns the weight of the words of a turn, and its share of the weight of the prompt.
func (m *matcher) similarity(words []string) (weight, share float64) {
	for _, w := range words {
		weight += rarity(m.turns[w], m.nTurn)
	}
	return weight, weight / m.total
}

// passages returns the exchanges most similar to the prompt.
func (m *matcher) passages(digests []Digest, asked [][][]string, delivered map[string]bool, id ID) (out []brief.Item) {
	type found struct {
		score float64
		d, t  int
	}
	var list []found
	for i, d := range digests {
		for k := range d.Turns {
			if weight, share := m.similarity(asked[i][k]); weight >= leastPassage && share >= leastCoverage {
				list = append(list, found{weight, i, k})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.score, a.score) })
	n := 0
	for _, f := range list {
		d, t := digests[f.d], digests[f.d].Turns[f.t]
		key := fmt.Sprintf("%s#%d", d.Session, t.Asked.N)
		if delivered[key] {
			continue
		}
		if n++; n > maxPassages {
			break
		}
		out = append(out, brief.Item{Text: "Asked: " + t.request(showAsked), Source: id.at(d.Session, t.Asked.N),
			Trust: brief.User, Time: d.Last, Keys: []string{key},
			Why: fmt.Sprintf("shares words of weight %.1f with the prompt", f.score)})
		if t.Answered.Text != "" && t.Denied == 0 {
			out = append(out, brief.Item{Text: "Answered: " + outcome(t.Answered.Text, showAnswered),
				Source: id.at(d.Session, t.Answered.N), Trust: brief.Assistant, Child: true, Why: "the answer to it"})
		}
	}
	return out
}

// similarSessions returns, by file, the mean similarity of the sessions that touched it: the share of the prompt's
// weight in their turns. The mean counts one additional session without similarity, so that a single session is no
// proof.
func (m *matcher) similarSessions(digests []Digest, asked [][][]string) map[string]float64 {
	sum, count := map[string]float64{}, map[string]float64{}
	for i, d := range digests {
		var words []string
		for _, turn := range asked[i] {
			words = append(words, turn...)
		}
		slices.Sort(words)
		_, share := m.similarity(slices.Compact(words))
		for _, f := range d.Files {
			sum[f.Path] += share
			count[f.Path]++
		}
	}
	for p := range sum {
		sum[p] /= count[p] + 1
	}
	return sum
}

// reasonOf tells why a file fits: of the words of its name alone, that they are in the prompt.
func reasonOf(why string) string {
	switch {
	case strings.Contains(why, "spelled"):
		return "the prompt names it"
	case strings.Contains(why, "symbol "):
		return "the prompt names a symbol in it"
	case why != "":
		return "words of its name are in the prompt"
	}
	return ""
}

// files lists the files that fit the prompt, the best first.
func (m *matcher) files(digests []Digest, asked [][][]string, ranked []Ranked, delivered map[string]bool,
	id ID) (out []brief.Item) {
	similar := m.similarSessions(digests, asked)
	type found struct {
		chance float64
		Ranked
		why string
	}
	var list []found
	for i, r := range ranked {
		if delivered[r.Path] {
			continue
		}
		f := m.fit(i, r)
		rank := 1 - float64(i)/float64(len(ranked))
		list = append(list, found{m.chance(f, r, similar[r.Path], rank), r, strings.Join(f.why, ", ")})
	}
	slices.SortStableFunc(list, func(a, b found) int { return cmp.Compare(b.chance, a.chance) })
	for _, f := range list {
		if len(out) == maxPromptFiles || f.chance < leastChance || f.chance < shareOfBest*list[0].chance {
			break
		}
		what := times(f.Reads, "read")
		if f.Edits > 0 {
			what = times(f.Edits, "edit")
		}
		out = append(out, brief.Item{Text: f.Path + ", " + what + ": " + cmp.Or(reasonOf(f.why), "similar requests"), Source: id.at(f.Session, f.N), Trust: brief.Assistant,
			Short: true, Time: f.Time, Keys: []string{f.Path},
			Why: fmt.Sprintf("chance %.0f %%: %s", 100*f.chance, cmp.Or(f.why, "similar requests"))})
	}
	return out
}
