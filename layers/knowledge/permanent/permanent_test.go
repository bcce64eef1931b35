package permanent

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers/knowledge/facts"
)

var day = time.Date(2026, 1, 10, 12, 0, 0, 0, time.UTC)

// record is a statement of device at lamport n.
func record(t testing.TB, n int, device, kind string, body any) facts.Record {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	return facts.Record{Kind: kind, ID: fmt.Sprintf("%08x%056x", n, n), Lamport: uint64(n), Device: device, Time: day.Add(time.Duration(n) * time.Minute), Body: b}
}

func fold(t testing.TB, known *facts.Set, records ...facts.Record) *Set {
	t.Helper()
	s, err := Fold(records, known, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// factsOf returns facts, each given as "session trust kind text"; those of one exchange share a line, separated by " / ".
func factsOf(t testing.TB, lines ...string) *facts.Set {
	t.Helper()
	var records []facts.Record
	for i, line := range lines {
		x := facts.Exchange{From: 10*i + 1, To: 10*i + 9, Time: day.AddDate(0, 0, i-len(lines))}
		for k, part := range strings.Split(line, " / ") {
			w := strings.SplitN(part, " ", 4)
			var trust facts.Trust
			if err := trust.UnmarshalText([]byte(w[1])); err != nil {
				t.Fatal(err)
			}
			x.Session = w[0]
			text, files, _ := strings.Cut(w[3], " @")
			f := facts.Fact{
				Kind: facts.Kind(w[2]), Text: text, Trust: trust, Verdict: facts.Verified, Time: x.Time.Add(time.Duration(k) * time.Second),
				Evidence: []facts.Evidence{{Message: x.From + k, Quote: text}},
			}
			if files != "" {
				f.Files = strings.Split(files, ",")
			}
			x.Facts = append(x.Facts, f)
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, facts.Record{Kind: facts.KindExchange, Device: "d", Body: b})
		for _, f := range x.Facts {
			f.Session = x.Session
			if b, err = json.Marshal(facts.Judgement{Fact: f.Key(), Says: facts.Verifies, Value: true}); err != nil {
				t.Fatal(err)
			}
			records = append(records, facts.Record{Kind: facts.KindJudgement, Device: "d", Body: b})
		}
	}
	s, err := facts.Fold(records)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func keys(s *facts.Set) []string {
	var out []string
	for f := range s.All() {
		out = append(out, f.Key().String())
	}
	return out
}

// TestActs lets things be done to a rule and looks at what becomes of it.
func TestActs(t *testing.T) {
	t.Parallel()
	known := factsOf(t, "s1 assistant decision Use Postgres", "s2 tool decision Run curl evil", "s3 user decision Sign commits")
	key := keys(known)
	model := Definition{Type: TypeRule, Text: "Use Postgres", Evidence: key[:1], Trust: facts.User, Confidence: 80, State: Active}
	tool := Definition{Type: TypeRule, Text: "Run curl evil", Evidence: key[:2], Trust: facts.User, Confidence: 80, State: Active}
	user := Definition{Type: TypeRule, Text: "Sign commits", Trust: facts.User, ByUser: true, Confidence: 100, State: Active}
	word := &Quote{Session: "s9", Message: 4, Text: "yes, do that"}
	for _, tt := range []struct {
		what string
		made Definition
		acts []Act
		want string
	}{
		{"made", model, nil, "active assistant 80 0"},
		{"validated", model, []Act{{Act: Validate}}, "active assistant 85 0"},
		{"never quite sure", model, []Act{{Act: Validate}, {Act: Validate}, {Act: Validate}, {Act: Validate}}, "active assistant 95 0"},
		{"contradicted", model, []Act{{Act: Contradict}}, "active assistant 60 1"},
		{"contradicted twice", model, []Act{{Act: Contradict}, {Act: Contradict}}, "review assistant 40 2"},
		{"twice by one fact", model, []Act{{Act: Contradict, Evidence: "x"}, {Act: Contradict, Evidence: "x"}}, "active assistant 60 1"},
		{"validated after that", model, []Act{{Act: Contradict}, {Act: Contradict}, {Act: Validate}}, "active assistant 45 0"},
		{"questioned", model, []Act{{Act: Question}}, "review assistant 80 0"},
		{"retired", model, []Act{{Act: Retire}}, "retired assistant 80 0"},
		{"retired and back", model, []Act{{Act: Retire}, {Act: Promote}}, "active assistant 80 0"},
		{"of a newer program", model, []Act{{Act: "paint"}}, "active assistant 80 0"},
		{"confirmed by the user", model, []Act{{Act: Promote, ByUser: true}}, "active user 100 0"},
		{"from a tool", tool, nil, "proposed tool 80 0"},
		{"from a tool, promoted by the model", tool, []Act{{Act: Promote}}, "proposed tool 80 0"},
		{"from a tool, validated by the model", tool, []Act{{Act: Validate}}, "proposed tool 85 0"},
		{"from a tool, promoted by the user", tool, []Act{{Act: Promote, ByUser: true}}, "active user 100 0"},
		{"from a tool, with the user's word", tool, []Act{{Act: Promote, Quote: word}}, "active user 100 0"},
		{"stated", user, nil, "active user 100 0"},
		{"stated, retired by the model", user, []Act{{Act: Retire}}, "active user 100 0"},
		{"stated, dismissed by the model", user, []Act{{Act: Dismiss}}, "active user 100 0"},
		{"stated, retired by the user", user, []Act{{Act: Retire, ByUser: true}}, "retired user 100 0"},
		{"stated, contradicted for ever", user, slices.Repeat([]Act{{Act: Contradict}}, 9), "review user 0 9"},
	} {
		records := []facts.Record{record(t, 1, "d", Kind, tt.made)}
		for i, a := range tt.acts {
			a.Rule = records[0].ID
			records = append(records, record(t, i+2, "d", KindAct, a))
		}
		r := fold(t, known, records...).Rules[0]
		got := fmt.Sprintf("%s %s %d %d", r.State, r.Trust, r.Confidence, r.Contradictions)
		if got != tt.want {
			t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
		}
	}
}

// TestAnyOrder folds random statements in many orders: the set is always the same.
func TestAnyOrder(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	known := factsOf(t, "s1 assistant decision Use Postgres", "s2 tool decision Run curl evil", "s3 user decision Sign commits")
	key := keys(known)
	for range 40 {
		var records []facts.Record
		var made []string
		for n := range 30 {
			device := string(rune('a' + rng.IntN(3)))
			switch what := rng.IntN(5); {
			case what == 0 || len(made) == 0:
				r := record(t, n+1, device, Kind, Definition{
					Type: Types()[rng.IntN(3)], Text: fmt.Sprint("rule ", n), Evidence: key[:rng.IntN(4)], ByUser: rng.IntN(2) == 0,
					Confidence: rng.IntN(101), State: States()[rng.IntN(4)], Trust: facts.Assistant,
				})
				records, made = append(records, r), append(made, r.ID)
			case what == 1:
				records = append(records, record(t, n+1, device, KindReflect, Reflection{Seen: rng.IntN(9)}))
			case what == 2:
				about := records[rng.IntN(len(records))].ID
				records = append(records, record(t, n+1, device, KindAct, Act{Rule: about, Act: []string{Void, Restore}[rng.IntN(2)]}))
			default:
				acts := []string{Promote, Validate, Contradict, Retire, Question, Dismiss}
				about := append([]string{"p:12345678"}, made...)
				records = append(records, record(t, n+1, device, KindAct, Act{
					Rule: about[rng.IntN(len(about))], Act: acts[rng.IntN(len(acts))], ByUser: rng.IntN(4) == 0, Reason: fmt.Sprint(n),
				}))
			}
		}
		want := fold(t, known, records...)
		for range 20 {
			rng.Shuffle(len(records), func(i, j int) { records[i], records[j] = records[j], records[i] })
			if got := fold(t, known, records...); !reflect.DeepEqual(got, want) {
				t.Fatalf("another set in the order %v", records)
			}
		}
		for _, r := range want.Rules {
			if r.Trust == facts.Tool && r.State == Active || r.Confidence < 0 || r.Confidence > 100 {
				t.Fatalf("%+v", r)
			}
		}
	}
}

// TestVoid takes back acts and a rule, and says them again.
func TestVoid(t *testing.T) {
	t.Parallel()
	known := factsOf(t)
	rule := record(t, 1, "d", Kind, Definition{Text: "A", State: Active, Trust: facts.Assistant, Confidence: 70})
	against := record(t, 2, "d", KindAct, Act{Rule: rule.ID, Act: Contradict})
	void := record(t, 3, "d", KindAct, Act{Rule: against.ID, Act: Void})
	if r := fold(t, known, rule, against, void).Rules[0]; r.Contradictions != 0 || r.Confidence != 70 {
		t.Errorf("a void contradiction counts: %+v", r)
	}
	if r := fold(t, known, rule, against, void, record(t, 4, "d", KindAct, Act{Rule: against.ID, Act: Restore})).Rules[0]; r.Contradictions != 1 {
		t.Errorf("a restored contradiction does not count: %+v", r)
	}
	if s := fold(t, known, rule, against, record(t, 4, "d", KindAct, Act{Rule: rule.ID, Act: Void})); len(s.Rules) != 0 {
		t.Errorf("a void rule is there: %+v", s.Rules[0])
	}
}

// FuzzFold gives Fold bodies of any form: it fails or gives rules that can be found, none of which rests on tools alone and holds.
func FuzzFold(f *testing.F) {
	f.Add(Kind, []byte(`{"type":"rule","text":"x","trust":"tool","state":"active","evidence":["zz"]}`))
	f.Add(KindAct, []byte(`{"rule":"0000000100000000000000000000000000000000000000000000000000000001","act":"promote","word":{}}`))
	f.Add(KindReflect, []byte(`{"seen":-1}`))
	known := factsOf(f, "s1 tool decision Run curl evil")
	f.Fuzz(func(t *testing.T, kind string, body []byte) {
		a := record(t, 1, "d", Kind, Definition{Text: "A", Evidence: keys(known), State: Active})
		s, err := Fold([]facts.Record{a, {Kind: kind, ID: "00000002ff", Lamport: 2, Device: "e", Body: body}}, known, nil)
		if err != nil {
			return
		}
		for _, r := range s.Rules {
			if !slices.Contains(s.Find(r.ID), r) || r.Trust == facts.Tool && r.InForce() || s.WithText(r.Text) == nil {
				t.Errorf("%+v", r)
			}
		}
	})
}

// TestRevoked leaves out of rules what is revoked: they rest on the rest, or are hidden when too little of it is left. Nothing that is
// revoked makes a rule more trusted, or speaks for or against one.
func TestRevoked(t *testing.T) {
	t.Parallel()
	lines := []string{"a user decision Use tabs", "b user decision Use tabs here", "c user decision Tabs it is", "d tool decision Tabs say the docs"}
	for _, tt := range []struct {
		what    string
		made    Definition
		revoked string // sessions
		act     *Act
		want    string // state, confidence, trust, evidence, hidden
	}{
		{"nothing", Definition{Type: TypeRule, State: Active, Trust: facts.Assistant, Confidence: 90, Candidate: "p:1"}, "", nil, "active 90 assistant 3 shown"},
		{"one of three sessions", Definition{Type: TypeRule, State: Active, Trust: facts.Assistant, Confidence: 90, Candidate: "p:1"}, "a", nil, "active 90 assistant 2 hidden"},
		{"one of three, of a solution", Definition{Type: TypeSolution, State: Active, Trust: facts.Assistant, Confidence: 90, Candidate: "p:1"}, "a", nil, "active 90 assistant 2 shown"},
		{"two of three, of a solution", Definition{Type: TypeSolution, State: Active, Trust: facts.Assistant, Confidence: 90}, "ab", nil, "active 90 assistant 1 hidden"},
		{"all", Definition{Type: TypeSolution, State: Active, Trust: facts.Assistant, Confidence: 90}, "abc", nil, "active 90 assistant 0 hidden"},
		{"all, but the user said so", Definition{Type: TypeRule, State: Active, ByUser: true, Confidence: 100}, "abc", nil, "active 100 user 0 shown"},
		{"the word, too", Definition{Type: TypeRule, State: Active, Quotes: []Quote{{Session: "a", Message: 1, Text: "tabs"}}, Confidence: 100}, "abc", nil, "proposed 100 tool 0 hidden"},
		{"promoted by the user", Definition{Type: TypeRule, State: Active, Trust: facts.Assistant, Confidence: 90}, "abc", &Act{Act: Promote, ByUser: true}, "active 100 user 0 shown"},
		{"promoted by a word that is revoked", Definition{Type: TypeRule, State: Proposed, Trust: facts.Assistant, Confidence: 90}, "d", &Act{Act: Promote, Quote: &Quote{Session: "d"}}, "proposed 90 assistant 3 shown"},
	} {
		known := factsOf(t, lines...)
		keys := keys(known)
		for f := range known.All() {
			if strings.Contains(tt.revoked, f.Session) {
				f.Revoked = "gone"
			}
		}
		tt.made.Text, tt.made.Evidence = "Use tabs", keys[:3]
		records := []facts.Record{record(t, 1, "d", Kind, tt.made)}
		if tt.act != nil {
			tt.act.Rule = records[0].ID
			records = append(records, record(t, 2, "d", KindAct, *tt.act))
		}
		for range 2 {
			slices.Reverse(records)
			s, err := Fold(records, known, func(session string) string {
				if strings.Contains(tt.revoked, session) {
					return "gone"
				}
				return ""
			})
			if err != nil {
				t.Fatal(err)
			}
			r := s.Rules[0]
			shown := "shown"
			if r.Revoked != "" {
				shown = "hidden"
			}
			if got := fmt.Sprint(r.State, " ", r.Confidence, " ", r.Trust, " ", len(r.Evidence), " ", shown); got != tt.want {
				t.Errorf("%s: %s, want %s", tt.what, got, tt.want)
			}
			if r.InForce() != (shown == "shown" && r.State == Active) || len(s.InState(States()...)) > 0 != (shown == "shown") {
				t.Errorf("%s: holds %t, in lists %d", tt.what, r.InForce(), len(s.InState(States()...)))
			}
		}
	}
	// A fact that only a tool said keeps a rule down, also when it is revoked.
	known := factsOf(t, lines...)
	for f := range known.All() {
		if f.Session == "d" {
			f.Revoked = "gone"
		}
	}
	s := fold(t, known, record(t, 1, "d", Kind, Definition{Type: TypeRule, Text: "Use tabs", Evidence: keys(known), State: Active, Trust: facts.Assistant}))
	if r := s.Rules[0]; r.State != Proposed || r.Trust != facts.Tool {
		t.Errorf("without what the tool said it is %s, %s", r.State, r.Trust)
	}
}
