package exchange

import (
	"slices"
	"strings"
)

var (
	// finds matches the finding of a reason.
	finds = pattern(`(?i)\b(because|root cause|caused? by|the (real |actual )?(issue|problem|bug|reason|cause) (is|was)|turns out|which means|needs to|should)\b`)
	// opening matches a sentence that only begins an answer.
	opening = pattern(`(?i)^\W{0,3}((that's|this is) )?(an? )?(very )?(good|great|fair|excellent|interesting|important|key|valid) ([a-z]+ ){0,2}(questions?|points?|catch|insights?|observation|feedback|scenarios?)\b.{0,12}$|` +
		`^\W{0,3}(good|great|perfect|excellent|ah|i see|got it|sure|interesting|absolutely|agreed|now i)\b.{0,12}$`)
	// interjections matches what stands before the announcement of a step.
	interjections = pattern(`^\W{0,3}(((That's |This is )?(an? )?(very )?([Gg]ood|[Gg]reat|[Ff]air|Excellent)( [a-z]+)?|Perfect|OK|Okay|Right|Found it|I found it|There it is|I see|Expected|You're right( to question this)?|All (clear|green|clean))\s*[.,!:—–-]+\s*)+`)
	// announcement matches the beginning of an announcement of a step.
	announcement = pattern(`(?i)^\W{0,3}(Let me\b|Now,? let me\b|Now let's|Next,|First,|Also,? let me|Now I see\b|I see\b|I can see\b|I need to (see|check|look|find|read)|I'll |I will |Now,? I'll|Now I |Let's |Continuing with|(Now )?I (now )?have (a |the |all |enough )?([a-z]+ ){0,2}(understanding|picture|context|information)\b|` +
		`Now,? (also |to )?(the|need to|modify|change|adjust|refactor|rewrite|delete|update|add|fix|run|check|commit|push|sync|rebuild|close|create|write|test|verify|replace|remove|implement|install|continue|file|apply|wire|move|set|make|build|compile|look|rename|read|use|finish|start)\b)`)
	// step matches the beginning of a sentence that tells a step.
	step = pattern(`(?i)^\W{0,3}((also|and|then|next|finally|right|good)\W{1,4})?((I|we) (also |just |still |actually )*need to \w+|` +
		`(add|update|replace|fix|remove|create|register|close|run|start|starting|continue|continuing|mark|move|rename|wire|write|apply|commit|push|check|verify)\b)`)
	// expected matches the beginning of a sentence that confirms what was looked at.
	expected = pattern(`(?i)^\W{0,3}(good|great|perfect|excellent|nice)( news)?\s?[,!—–-]`)
	// status matches a sentence that tells how a check ended.
	status = pattern(`(?i)^\W{0,3}(all |the |both |now )*(\d+ (of \d+ )?)?([\w./]+ ){0,3}(tests?|checks?|suite|lint(er)?|credo|type ?check(s|ing)?|types?|build|compilation|migration|compile|it|everything|all)` +
		`( all| now| is| are| ran| runs| still)*( \d+)? (pass(es|ed|ing)?|clean(ly)?|green|succeed(s|ed)?|compiles?|works?)\b[^.]{0,60}[.!]?$|` +
		`^\W{0,3}(all )?(clean|green|clear|good|done|expected|pushed|committed)\b[^.]{0,40}[.!]?$|^\W{0,3}still (compiling|running|waiting)\b`)
)

// Announces reports whether a sentence announces a step, or only begins an answer, and says nothing else.
func Announces(text string) bool {
	rest := text[len(interjections().FindString(text)):]
	next := rest == "" || announcement().MatchString(rest) && !strings.HasPrefix(rest, "Let me know")
	return len(text) <= 200 && (next || opening().MatchString(text)) && !finds().MatchString(text)
}

// TellsStep reports whether a sentence on the way to an outcome only tells a step, how a check ended, or that something is
// as expected.
func TellsStep(text string) bool {
	rest := text[len(interjections().FindString(text)):]
	return len(text) <= 160 && !finds().MatchString(text) && (step().MatchString(rest) || status().MatchString(rest) || expected().MatchString(text))
}

var (
	// agrees matches the beginning of a reply.
	agrees = pattern(`(?i)^\W*(yes|yep|yeah|yup|ok|okay|sure|no|nope|go|do it|do that|let'?s|please|sounds good|perfect|great|option|i agree|agreed|i'?d (like|prefer|go)|correct|right|neither|both|all of)\b`)
	// picks matches what chooses by a number, a letter or a place, option what says what the number or letter is of.
	picks  = pattern(`(?:^|[\s(,#+&])(?:(\d|[B-F])\b|(A)(?:$|[.,)]))|(?i:\b(option|first|second|third|fourth|last|former|latter|both|neither|either|all of|all three)\b)`)
	option = pattern(`(?i)\b(options?|approach|choice|alternative|variant|scenario|number|items?|steps?|points?) #?([A-F]|\d{1,2})\b`)
	// offered matches the beginning of a line with an option: its number or letter.
	offered = pattern(`(?im)^[\s*|#•+-]*(?:(?:option|approach|choice|alternative|variant|scenario)\s+)?([A-F]|\d{1,2})(?:[.):*]|\s*[—–:-]|\s*\|)`)
)

// supposes matches a text that says what the cause of something is, or may be.
var supposes = pattern(`(?i)\b(issue|problem|cause|reason|bug|culprit|error) (here |there )?(is|was|might|may|could|must|seems|comes|appears)\b|\broot cause|\bcaused by|\bit (looks like|seems)|\b(maybe|probably|likely|might be|may be)\b`)

// Supposes reports whether a text says what the cause of something is, or may be.
func Supposes(text string) bool { return supposes().MatchString(text) || finds().MatchString(text) }

// reacts matches the beginning of a remark about what was just seen.
var reacts = pattern(`^\W*(But wait|Wait|Actually|Hmm+|Ugh|Oh|Ah|Oops|Interesting|Good|Great|Nice)\b`)

// Reacts reports whether a text is a remark about what the assistant just saw, and states no cause.
func Reacts(text string) bool {
	return len(text) <= 240 && reacts().MatchString(text) && !Supposes(text)
}

// intends matches what says what is to be done.
var intends = pattern(`(?im)(^|[.!?] )[^.!?\n]{0,60}\b(I('ll| will| need)\b|(the|my) ([a-z]+ )?(plan|approach|steps|changes)\b|(changes|steps) needed)`)

// Replaced returns the messages of texts that a later text of the exchange replaces: they say what is to be done, and it has
// most of their words; or both are short, state a cause of the same thing, and nothing passed and nothing was committed between
// the two.
func (x *Exchange) Replaced() map[int]bool {
	const (
		few   = 500 // bytes of a text that only states a cause
		least = 8   // words that say what a text is about
		far   = 40  // texts
		share = .6  // of the words
		same  = 2   // words that two causes of the same thing share
	)
	out := map[int]bool{}
	topics := make([]map[string]bool, len(x.Texts))
	shared := func(a, b int) (n int) {
		for w := range topics[a] {
			if topics[b][w] {
				n++
			}
		}
		return n
	}
	proven := func(from, to int) bool {
		return slices.ContainsFunc(x.Commands, func(c Command) bool { return from < c.N && c.N < to && (c.Verdict == Passed || c.Commits) })
	}
	var causes []int // since something passed
	for i, t := range x.Texts {
		topics[i] = Topic(t.Text)
		if len(t.Text) > few || !supposes().MatchString(t.Text) {
			continue
		}
		if n := len(causes); n > 0 && proven(x.Texts[causes[n-1]].N, t.N) {
			causes = nil
		}
		for _, k := range causes {
			out[x.Texts[k].N] = out[x.Texts[k].N] || shared(k, i) >= same
		}
		causes = append(causes[max(0, len(causes)-far):], i)
	}
	for i, t := range x.Texts {
		if !intends().MatchString(t.Text[:min(len(t.Text), few)]) {
			continue
		}
		for k := i + 1; k < min(len(x.Texts), i+far) && len(topics[i]) >= least && !out[t.N]; k++ {
			out[t.N] = float64(shared(i, k)) >= share*float64(len(topics[i]))
		}
	}
	return out
}

// Agrees reports whether a reply begins with a yes or no, or with a choice.
func Agrees(reply string) bool { return agrees().MatchString(reply) }

// Chosen returns the numbers and letters that a reply chooses, in small letters; "" is a place, such as the first. answers: its
// lines have numbers, as answers to questions have.
func Chosen(reply string) (names []string, answers bool) {
	const short, long = 120, 400 // bytes; of the longer ones only what they name counts
	reply = strings.TrimSpace(reply)
	if lines := offered().FindAllStringSubmatch(reply, -1); len(lines) >= 2 && lines[0][1] == "1" && strings.HasPrefix(reply, lines[0][0]) {
		for _, m := range lines {
			names = append(names, strings.ToLower(m[1]))
		}
		return names, true
	}
	if len(reply) > long {
		return nil, false
	}
	for _, m := range option().FindAllStringSubmatch(reply, -1) {
		names = append(names, strings.ToLower(m[2]))
	}
	if len(reply) > short {
		return names, false
	}
	for _, m := range picks().FindAllStringSubmatch(reply, -1) {
		names = append(names, strings.ToLower(m[1]+m[2]))
	}
	return names, false
}

// Offers returns the first of the names of options with which a line of a text begins.
func Offers(text string, names []string) (name string, ok bool) {
	for _, m := range offered().FindAllStringSubmatch(text, -1) {
		if name = strings.ToLower(m[1]); slices.Contains(names, name) {
			return name, true
		}
	}
	return "", false
}
