package permanent

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

// words returns the content words of a text, sorted and stemmed, and whether the text is negated. In scripts without
// spaces it returns pairs of characters.
func words(s string) (list []string, denies bool) {
	seen := map[string]bool{}
	put := func(w string) {
		if !seen[w] {
			seen[w] = true
			list = append(list, w)
		}
	}
	field := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '\'' && r != '’' }
	for _, w := range strings.FieldsFunc(strings.ToLower(s), field) {
		w = strings.ReplaceAll(w, "’", "'")
		switch {
		case isNegation(w) || strings.HasSuffix(w, "n't"):
			denies = !denies
		case unspaced(w):
			r := []rune(w)
			for i := range max(1, len(r)-1) {
				put(string(r[i:min(i+2, len(r))]))
			}
			if negatedWord().MatchString(notNegated().Replace(w)) {
				denies = !denies
			}
		case !isStopWord(w):
			put(stem(strings.Trim(w, "'")))
		}
	}
	slices.Sort(list)
	return list, denies
}

// negatedWord matches a word that is negated, in a script without spaces or with endings attached to words.
var negatedWord = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`不|没|别|別|禁止|않|금지|지(?:마|말)|^마(?:$|라|세|요|십|시오)|^말(?:$|고|자|라|것|아|도록)|ない|ません|ず`)
})

// notNegated removes words that only look negated, for example "always", "last" and "especially".
var notNegated = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, w := range strings.Fields(`必ず まず ずつ ずっと はず 少ない 不具合 不同 不仅 不僅 不但 不过 不過 不断 不斷 不管 不论 不論 不少 不错 不錯
		特别 特別 区别 區別 区別 分别 分別 类别 類別 级别 級別 识别 識別 個別 个别 判别 判別 性别 性別`) {
		pairs = append(pairs, w, " ")
	}
	return strings.NewReplacer(pairs...)
})

func isNegation(w string) bool {
	switch w {
	case "not", "never", "no", "without", "avoid", "cannot":
		return true
	}
	return false
}

func isStopWord(w string) bool {
	switch w {
	case "", "a", "an", "the", "of", "to", "in", "on", "at", "by", "for", "with", "and", "or", "but", "is", "are",
		"was", "were", "be", "been", "it", "its", "this", "that", "we", "i", "you", "user", "should", "must", "will",
		"would", "can", "has", "have", "had", "do", "does", "did", "as", "from", "all", "always", "decided", "decide",
		"decision", "so", "now", "instead", "than", "rather", "into", "their", "there", "wants", "asked", "chose",
		"agreed":
		return true
	}
	return false
}

func stem(w string) string {
	for _, end := range []string{"ing", "ed", "es", "s"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 3 && !strings.HasSuffix(w, "ss") {
			return strings.TrimSuffix(rest, "e")
		}
	}
	if len(w) > 4 {
		return strings.TrimSuffix(w, "e")
	}
	return w
}

// unspaced reports whether a word is in a script without spaces between words, or with endings attached to words.
func unspaced(w string) bool {
	return strings.ContainsFunc(w, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// similar reports whether two sorted lists of words may come from texts with the same meaning: they share three fifths
// of the shorter list.
func similar(a, b []string) bool {
	return overlaps(shared(a, b), len(a), len(b))
}

func overlaps(both, a, b int) bool {
	return both >= 2 && 5*both >= 3*min(a, b) && 3*both >= max(a, b) || both > 0 && both == a && both == b
}

func shared(a, b []string) int {
	n := 0
	for i, k := 0, 0; i < len(a) && k < len(b); {
		switch c := cmp.Compare(a[i], b[k]); {
		case c < 0:
			i++
		case c > 0:
			k++
		default:
			n, i, k = n+1, i+1, k+1
		}
	}
	return n
}

// A group contains facts that may mean the same. The words are those of the first one.
type group struct {
	words  []string
	denies bool
	facts  []facts.Fact
}

// grouped groups facts that may mean the same. The groups are only proposals, which a person or a model checks. The
// first fact of a group depends on time and id alone.
func grouped(list []facts.Fact) []*group {
	slices.SortFunc(list, earlier)
	var groups []*group
	index := map[string][]int{} // from a word to the groups whose first fact contains it
	for _, f := range list {
		w, denies := words(f.Text)
		both := map[int]int{}
		for _, word := range w {
			for _, g := range index[word] {
				both[g]++
			}
		}
		best := -1
		for g, n := range both {
			if groups[g].denies != denies || !overlaps(n, len(w), len(groups[g].words)) {
				continue
			}
			if best < 0 || n > both[best] || n == both[best] && g < best {
				best = g
			}
		}
		if best >= 0 {
			groups[best].facts = append(groups[best].facts, f)
			continue
		}
		for _, word := range w {
			index[word] = append(index[word], len(groups))
		}
		groups = append(groups, &group{w, denies, []facts.Fact{f}})
	}
	return groups
}

func earlier(a, b facts.Fact) int { return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.ID, b.ID)) }
