package permanent

import (
	"regexp"
	"strings"
	"sync"
)

// corrects matches a sentence in which the user corrects what the model did.
var corrects = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^(?:(?:please|ok|well|hm+|but|and)[,.]?\s+)*(?:` + strings.Join([]string{
		`no[,.!]?\s`, `nope\b`, `(?:please )?(?:don['’]?t|do not|stop|never)\s`, `not like that`, `i (?:said|told you|meant|asked)\b`,
		`you (?:(?:just )?should(?: just)?|should ?n['’]?t|must(?: not|n['’]?t)?|forgot)\b`, `again[,!]\s`, `use \S.*\b(?:instead|not)\b`,
		`instead[, ]`, `that['’]?s (?:wrong|not)\b`, `.*(?:지\s*마|말고)`, `.*(?:じゃなくて|ではなく|しないで|やめて)`, `(?:不要|别|別|不是|不对|不對)`,
	}, "|") + `)`)
})

// Corrections returns the sentences of a message in which the user corrects the model. The caller must pass only text
// that the user typed.
func Corrections(message string) (out []string) {
	if len(message) > maxStated {
		return nil
	}
	for _, s := range sentences(message) {
		if s.canBeRule() && corrects().MatchString(s.ownText) {
			out = append(out, s.text)
		}
	}
	return out
}
