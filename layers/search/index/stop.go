package index

import "strings"

// stopWords are the words that nearly every text contains; they have no term.
var stopWords = words(
	`a about above after again against all am an and any are as at be because been before being below between both
but by can cannot could did do does doing down during each few for from further had has have having he her here hers herself him himself
his how i if in into is it its itself just let me more most my myself no nor not now of off on once only or other our ours ourselves out
over own same she should so some such than that the their theirs them themselves then there these they this those through to too under
until up very was we were what when where which while who whom why will with would you your yours yourself yourselves s t don re ve ll m d
isn aren wasn weren doesn didn won wouldn couldn shouldn hasn haven hadn im ive id thats dont didnt doesnt cant youre theres whats also
really like yeah oh hey hi ok okay`)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
