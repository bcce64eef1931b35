package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A pair is a fact with what was said, and whether that says it.
type pair struct {
	who, said string
	fact      Fact
	true      bool
	how       string // it was made
}

// people are the speakers of a talk.
var people = map[string]Speaker{"user": ByUser, "assistant": ByAssistant, "Mira": ByUser, "Tom": ByAssistant}

// transcript is the talk of one message that a pair speaks of.
func (p pair) transcript() *Transcript {
	t := &Transcript{}
	if p.who == "Mira" || p.who == "Tom" {
		t.Names = map[Speaker]string{ByUser: "Mira", ByAssistant: "Tom"}
	}
	t.Add(7, Part{people[p.who], "Hi there.\n" + p.said + "\nThanks!"})
	return t
}

func readPairs(t *testing.T, file string, holds bool) []pair {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", file))
	if err != nil {
		t.Fatal(err)
	}
	var out []pair
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(strings.TrimSpace(line), "|")
		if len(f) != 4 {
			t.Fatalf("%s: %q", file, line)
		}
		kind := Kind(f[1])
		if people[f[0]] != ByUser && (kind == Preference || kind == Request) {
			kind = Decision // of people, whoever is called the user
		}
		out = append(out, pair{f[0], f[2], Fact{Kind: kind, Text: f[3], Evidence: []Evidence{{7, f[2]}}}, holds, "hand"})
	}
	return out
}

// corrupt makes wrong facts of a true one: another number, another name, the contrary, somebody else, a quote that nobody
// said, and the fact of another pair. Its lists are its own, not those of the checker.
func corrupt(p, other pair) []pair {
	var out []pair
	add := func(how, text string) {
		if text != p.fact.Text {
			q := p
			q.fact.Text, q.true, q.how = text, false, how
			out = append(out, q)
		}
	}
	words := strings.Fields(p.fact.Text)
	swap := func(i int, w string) string {
		list := append([]string{}, words...)
		list[i] = w
		return strings.Join(list, " ")
	}
	for i, w := range words {
		core := strings.Trim(w, ".,;\"")
		switch {
		case core != "" && strings.Trim(core, "0123456789") == "":
			add("number", swap(i, strings.Replace(w, core, fmt.Sprint(len(core))+core[1:]+"7", 1)))
		case i > 1 && len(core) > 2 && core[0] >= 'A' && core[0] <= 'Z' && strings.ToLower(core[1:]) == core[1:]:
			add("name", swap(i, strings.Replace(w, core, []string{"Zurich", "Pelham", "Quentin"}[i%3], 1)))
		case strings.Contains(core, "/") || strings.Contains(core, "_"):
			add("path", swap(i, strings.Replace(w, core, core[:len(core)-1]+"x", 1)))
		}
	}
	add("negation", contrary(words))
	for _, names := range [][2]string{{"Mira", "Tom"}, {"Tom", "Mira"}} {
		if p.who == names[0] {
			add("speaker", strings.Replace(p.fact.Text, names[0], names[1], 1))
		}
	}
	if strings.HasPrefix(p.fact.Text, "The user ") {
		q := p
		q.who, q.true, q.how = "assistant", false, "speaker"
		out = append(out, q)
	}
	invented := p
	invented.fact.Evidence, invented.true, invented.how = []Evidence{{7, p.said + " Do that."}}, false, "quote"
	out = append(out, invented)
	if other.who == p.who {
		add("other fact", other.fact.Text)
	}
	return out
}

// contrary says the opposite of a sentence: it takes its negation out or puts one in behind its first verb.
func contrary(words []string) string {
	for i, w := range words {
		switch strings.ToLower(w) {
		case "not", "never":
			return strings.Join(append(append([]string{}, words[:i]...), words[i+1:]...), " ")
		}
	}
	for i, w := range words {
		switch w {
		case "is", "was", "are", "were", "should", "has", "will", "have":
			return strings.Join(words[:i+1], " ") + " not " + strings.Join(words[i+1:], " ")
		case "wants":
			return strings.Join(words[:i], " ") + " does not want " + strings.Join(words[i+1:], " ")
		}
	}
	if len(words) > 2 && (words[0] == "Mira" || words[0] == "Tom") {
		return words[0] + " never " + strings.Join(words[1:], " ")
	}
	return strings.Join(words, " ")
}

// TestQuality holds the checker against pairs: "verified" is the answer yes. The bar is that of the issue.
func TestQuality(t *testing.T) {
	good, bad := readPairs(t, "pairs.txt", true), readPairs(t, "wrong.txt", false)
	all := append(append([]pair{}, good...), bad...)
	for i, p := range good {
		all = append(all, corrupt(p, good[(i+2)%len(good)])...)
	}
	type score struct{ right, all int }
	scores := map[string]score{}
	var yes, no score
	for _, p := range all {
		f := p.fact
		Check(&f, p.transcript())
		ok := (f.Verdict == Verified) == p.true
		kind := p.how
		if p.true {
			kind = "true"
		}
		s := scores[kind]
		s.all++
		half := &no
		if p.true {
			half = &yes
		}
		half.all++
		if ok {
			s.right++
			half.right++
		} else {
			t.Logf("%s: %s said %q: %q is %s (%s)", kind, p.who, p.said, f.Text, f.Verdict, f.Reason)
		}
		scores[kind] = s
	}
	for _, kind := range []string{"true", "hand", "number", "name", "path", "negation", "speaker", "quote", "other fact"} {
		t.Logf("%-10s %3d of %3d", kind, scores[kind].right, scores[kind].all)
	}
	balanced := (float64(yes.right)/float64(yes.all) + float64(no.right)/float64(no.all)) / 2
	t.Logf("balanced accuracy %.3f (true %d/%d, false %d/%d)", balanced, yes.right, yes.all, no.right, no.all)
	if balanced < .85 {
		t.Errorf("balanced accuracy %.3f, want at least .85", balanced)
	}
}

// TestVerbatim: whatever was said is a fact of itself, whoever said it and however its lines were broken.
func TestVerbatim(t *testing.T) {
	for _, p := range append(readPairs(t, "pairs.txt", true), readPairs(t, "wrong.txt", true)...) {
		if p.who != "user" && p.who != "assistant" {
			continue
		}
		for _, text := range []string{p.said, strings.TrimRight(p.said, ".!?"), strings.Join(strings.Fields(p.said), " \n ")} {
			f := Fact{Kind: Issue, Text: text, Evidence: []Evidence{{7, strings.ReplaceAll(p.said, " ", "\n  ")}}}
			if Check(&f, p.transcript()); f.Verdict != Verified {
				t.Errorf("%q is %s (%s), want verified", text, f.Verdict, f.Reason)
			}
		}
	}
}
