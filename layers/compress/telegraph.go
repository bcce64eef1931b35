package compress

import (
	"strings"
	"sync"
)

// The words that telegraphic deletion drops. Negations, "I", "we" and "my" stay: without them a sentence can turn
// into its opposite or change its speaker. The second set goes only at the highest ratios, and never from user text.
var (
	dropped     = sync.OnceValue(func() map[string]bool { return set(dropList) })
	droppedHard = sync.OnceValue(func() map[string]bool { return set(dropHardList) })
)

const (
	dropList = `a an the is are was were be been being am it its it's that that's this these those there there's here of to in on at by for from with
		as and or so such into about than then also just really very quite simply basically actually of course do does did done has have had having will would shall
		can could may might let's let us you your yours they them their theirs he she his her him which who whom whose what
		some any both each other own same too up out over again further once during only because while well now get got i'll i've i'd
		we'll we've you're they're okay ok oh hey yeah please maybe kind sort`
	dropHardList = `let me looks look like see going need needs want wants sure good great perfect excellent let's correctly properly currently
		first next finally already still even now however therefore thus since if when where how all more most much many new make makes made using use used`
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		m[w] = true
	}
	return m
}

// terse is how far texts are shortened: not at all, without function words, without filler.
type terse int

const (
	whole terse = iota
	telegram
	curt
)

// telegraph deletes words that carry little. What stands in back-ticks or quotes, paths, numbers and names stay as
// they are, and so does punctuation that ends a kept word. The words that remain keep their order and spelling.
func telegraph(s string, t terse) string {
	if t == whole || strings.HasPrefix(s, "    ") || strings.HasPrefix(s, "\t") {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	quoted := false
	for f := range strings.FieldsSeq(s) {
		ticks := strings.Count(f, "`")
		keep := quoted || ticks > 0 || !droppable(f, t)
		if ticks%2 == 1 {
			quoted = !quoted
		}
		if !keep {
			// the end of a clause survives its last word
			if tail := f[len(f)-1]; (tail == '.' || tail == ',' || tail == ':' || tail == ';' || tail == '?' || tail == '!') && b.Len() > 0 && !punctEnd(b.String()) {
				b.WriteByte(tail)
			}
			continue
		}
		if t == curt {
			f = strings.Trim(f, "*")
		} else {
			f = strings.ReplaceAll(f, "**", "")
		}
		if f == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(f)
	}
	return b.String()
}

func punctEnd(s string) bool { return strings.IndexByte(".,:;?!", s[len(s)-1]) >= 0 }

func droppable(f string, t terse) bool {
	w := strings.Trim(f, ".,:;?!*\"()")
	if w == "" || len(w) > 12 {
		return false
	}
	if strings.IndexByte(w, '\xe2') >= 0 {
		w = strings.ReplaceAll(w, "’", "'")
	}
	w = strings.ToLower(w)
	return dropped()[w] || t == curt && droppedHard()[w]
}
