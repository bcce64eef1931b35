package planning

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/quick"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/tokens"
)

func conversation(n, raw int) Stats {
	var st Stats
	for i := range n {
		st.Messages = append(st.Messages, Message{First: 3*i + 1, Last: 3*i + 2, Raw: raw})
	}
	return st
}

func TestParseTier(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Tier{
		"25:10:moderate": {End: 25, Ratio: 10, Level: keepit.Moderate},
		"100%:3x:light":  {End: 100, Ratio: 3, Level: keepit.Minimal},
	} {
		if got, err := ParseTier(in); err != nil || got != want {
			t.Errorf("ParseTier(%q) = %v, %v, want %v", in, got, err, want)
		}
	}
	for _, in := range []string{"", "25", "25:10", "25:10:hard", "0:10:light", "101:1:light", "50:0:light", "50:-1:light", "a:1:light", "25:10:light:x", "25:99999999999:light"} {
		if got, err := ParseTier(in); !errors.Is(err, ErrSettings) {
			t.Errorf("ParseTier(%q) = %v, %v, want ErrSettings", in, got, err)
		}
	}
}

func FuzzParseTier(f *testing.F) {
	f.Add("25:10:moderate")
	f.Add("100%:3x:light")
	f.Fuzz(func(t *testing.T, s string) {
		tier, err := ParseTier(s)
		if err != nil {
			return
		}
		if again, err := ParseTier(tier.String()); err != nil || again != tier {
			t.Fatalf("ParseTier(%q) = %v; written and read again: %v, %v", s, tier, again, err)
		}
	})
}

func TestResolve(t *testing.T) {
	t.Parallel()
	st := conversation(100, 1000)
	agg := keepit.Aggressive
	for _, c := range []struct {
		name string
		s    Settings
		want string
	}{
		{"ratio", Settings{Ratio: 30}, "3333: 1-299 3333 aggressive"},
		{"ratio and level", Settings{Ratio: 4, Level: &agg}, "25000: 1-299 25000 aggressive"},
		{"tokens", Settings{Tokens: 10000}, "10000: 1-299 10000 moderate"},
		{"skip", Settings{Ratio: 10, Skip: 50}, "5000: 151-299 5000 moderate"},
		{"standard", Settings{Preset: "standard"}, "11499: 1-74 1000 aggressive, 75-149 1666 aggressive, 150-224 2500 moderate, 225-269 3000 moderate, 270-299 3333 minimal"},
		{"standard in 1000", Settings{Preset: "standard", Tokens: 1000}, "1000: 1-74 86 aggressive, 75-149 145 aggressive, 150-224 218 moderate, 225-269 261 moderate, 270-299 290 minimal"},
		{"custom", Settings{Tiers: []Tier{{End: 50, Ratio: 50, Level: agg}, {End: 100, Ratio: 2, Level: keepit.Minimal}}}, "26000: 1-149 1000 aggressive, 150-299 25000 minimal"},
	} {
		p, _, err := Resolve(c.s, st, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var ps []string
		for _, x := range p.Tiers {
			ps = append(ps, fmt.Sprintf("%d-%d %d %s", x.From, x.To, x.Budget, x.Level))
		}
		if got := fmt.Sprintf("%d: %s", p.Budget, strings.Join(ps, ", ")); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestResolveRejects(t *testing.T) {
	t.Parallel()
	mod := keepit.Moderate
	for name, s := range map[string]Settings{
		"nothing": {}, "negative ratio": {Ratio: -1}, "huge ratio": {Ratio: 1 << 31}, "both": {Ratio: 2, Tokens: 5}, "ratio and preset": {Ratio: 2, Preset: "gentle"},
		"negative tokens": {Tokens: -5}, "preset": {Preset: "hard"}, "skip": {Ratio: 2, Skip: -1}, "distance": {Ratio: 2, Distance: -1},
		"level of tiers": {Preset: "gentle", Level: &mod}, "mode": {Ratio: 2, Keepit: "maybe"},
		"tiers descend": {Tiers: []Tier{{End: 50, Ratio: 2, Level: mod}, {End: 40, Ratio: 2, Level: mod}, {End: 100, Ratio: 2, Level: mod}}}, "tiers end early": {Tiers: []Tier{{End: 50, Ratio: 2, Level: mod}}},
	} {
		if p, _, err := Resolve(s, conversation(10, 100), nil); !errors.Is(err, ErrSettings) {
			t.Errorf("%s: %+v, %v, want ErrSettings", name, p, err)
		}
	}
	if p, _, err := Resolve(Settings{Ratio: 1_000_000}, conversation(10, 100), nil); err != nil || p.Budget != 1 {
		t.Errorf("a ratio above the number of tokens: budget %d, %v, want 1", p.Budget, err)
	}
	for _, s := range []Settings{{Ratio: 2, Skip: 10}, {Ratio: 2, Skip: 11}} {
		if _, _, err := Resolve(s, conversation(10, 100), nil); !errors.Is(err, ErrEmpty) {
			t.Errorf("skip %d: %v, want ErrEmpty", s.Skip, err)
		}
	}
	if _, _, err := Resolve(Settings{Ratio: 2}, Stats{}, nil); !errors.Is(err, ErrEmpty) {
		t.Errorf("empty session: %v, want ErrEmpty", err)
	}
}

// TestTypedBeforeFirst has text typed into the queue before the first message: it is of the first tier with messages, which has room.
func TestTypedBeforeFirst(t *testing.T) {
	t.Parallel()
	st := Stats{Messages: []Message{{First: 5, Last: 5, Raw: 4000}, {First: 8, Last: 8, Raw: 4000}}, Typed: []int{2, 6}}
	for _, c := range []struct {
		ends []int
		skip int
		want string
	}{
		{[]int{100}, 0, "[2 8]"},
		{[]int{50, 100}, 0, "[2 5] [6 8]"},
		{[]int{30, 100}, 0, "[2 1] [2 8]"},
		{[]int{20, 40, 100}, 1, "[6 5] [6 5] [6 8]"},
	} {
		s := Settings{Skip: c.skip}
		for _, end := range c.ends {
			s.Tiers = append(s.Tiers, Tier{End: end, Ratio: 2})
		}
		p, _, err := Resolve(s, st, nil)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, x := range p.Tiers {
			got = append(got, fmt.Sprint([2]int{x.From, x.To}))
		}
		if got := strings.Join(got, " "); got != c.want {
			t.Errorf("tiers to %d, %d skipped: %s, want %s", c.ends, c.skip, got, c.want)
		}
	}
}

// Tiers cover every message once and budgets add up, whatever the tiers are.
func TestTiersCover(t *testing.T) {
	t.Parallel()
	f := func(n, a, b uint8, raw uint16, total uint16) bool {
		st := conversation(int(n)+1, int(raw)+50)
		x, y := int(a%98)+1, int(b%98)+1
		if x >= y {
			return true
		}
		s := Settings{Tiers: []Tier{{End: x, Ratio: 3, Level: 0}, {End: y, Ratio: 2, Level: 1}, {End: 100, Ratio: 1, Level: 2}}, Tokens: int(total)}
		p, _, err := Resolve(s, st, nil)
		if err != nil {
			return false
		}
		sum, at := 0, 1
		for _, t := range p.Tiers {
			if t.From != at || t.Budget < 0 {
				return false
			}
			at, sum = t.To+1, sum+t.Budget
		}
		return at == st.Messages[n].Last+1 && sum == p.Budget && (total == 0 || p.Budget == int(total))
	}
	if err := quick.Check(f, nil); err != nil {
		t.Error(err)
	}
}

func TestFates(t *testing.T) {
	t.Parallel()
	st := conversation(100, 1000)
	var marks []Mark
	for i, w := range []string{"1.00", "1.00", "0.80", "0.80", "0.50", "0.50", "0.25"} {
		marks = append(marks, Marks(3*i*5+1, "see ##keepit"+w+"##this##/keepit##.")...)
	}
	for _, c := range []struct {
		s    Settings
		kept string
	}{
		{Settings{Ratio: 30, Distance: 5}, "1.00 1.00 0.80 0.80"},
		{Settings{Ratio: 30, Distance: 11}, "1.00 1.00 0.80 0.80"},
		{Settings{Ratio: 50, Distance: 10}, "1.00 1.00"},
		{Settings{Ratio: 30, Distance: 5, Keepit: PreserveAll}, "1.00 1.00 0.80 0.80 0.50 0.50 0.25"},
		{Settings{Ratio: 30, Distance: 5, Keepit: Ignore}, ""},
		{Settings{Ratio: 30, Distance: 5, Skip: 6}, "1.00 1.00 0.80 0.80"},
		{Settings{Ratio: 30, Distance: 5, Skip: 11}, "1.00 1.00 0.80"},
		{Settings{Preset: "aggressive", Distance: 10}, "1.00 1.00"}, // all in the tier of 50:1
	} {
		p, fates, err := Resolve(c.s, st, marks)
		if err != nil {
			t.Fatal(err)
		}
		var kept []string
		for _, k := range p.Kept {
			kept = append(kept, k.Weight.String())
		}
		if got := strings.Join(kept, " "); got != c.kept {
			t.Errorf("%+v: kept %q, want %q", c.s, got, c.kept)
		}
		skipped := 0
		for _, f := range fates {
			if f.Skipped != (p.Skips(f.Mark.Message) && f.Mark.Weight < keepit.Pinned) {
				t.Errorf("%+v: the mark in message %d: skipped %v", c.s, f.Mark.Message, f.Skipped)
			}
			if f.Skipped {
				skipped++
			}
		}
		if (skipped > 0) != (c.s.Skip > 10) {
			t.Errorf("%+v: %d skipped marks", c.s, skipped)
		}
		if c.s.Keepit != Ignore && len(p.Kept)+len(p.Summarised)+skipped != len(fates) {
			t.Errorf("%+v: %d fates for %d + %d spans, %d skipped", c.s, len(fates), len(p.Kept), len(p.Summarised), skipped)
		}
	}
}

func TestPlanIsTheRecipe(t *testing.T) {
	t.Parallel()
	st := conversation(10, 1000)
	marks := Marks(4, "##keepit1.00##x")
	a, _, err := Resolve(Settings{Ratio: 10, Distance: 1, Counter: tokens.For("")}, st, marks)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := Resolve(Settings{Tokens: a.Budget, Distance: 3, Level: &a.Tiers[0].Level, Counter: tokens.For("")}, st, marks)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("two ways to ask for the same give %+v and %+v", a, b)
	}
	r, err := a.Recipe()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"engine":"extract/30","tokenizer":"o200k*1.60/1","budget":1600,"skip":0,"tiers":[{"from":1,"to":29,"budget":1600,"level":"moderate"}],"kept":[{"message":4,"start":14,"end":15,"weight":"1.00"}],"summarised":[]}`
	if string(r.Params) != want {
		t.Errorf("params\n%s\nwant\n%s", r.Params, want)
	}
	var back Plan
	if err := json.Unmarshal(r.Params, &back); err != nil || !reflect.DeepEqual(back, a) {
		t.Errorf("read back: %+v, %v", back, err)
	}
}

// TestScaleLarge checks that the budgets of tiers add up also where their product with the total has more than 64 bits.
func TestScaleLarge(t *testing.T) {
	t.Parallel()
	const total = 1_000_000_000_000
	p, _, err := Resolve(Settings{Preset: "standard", Tokens: total}, conversation(100, 10_000_000), nil)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	for _, part := range p.Tiers {
		if part.Budget < total/100 {
			t.Errorf("messages %d to %d have %d tokens of %d", part.From, part.To, part.Budget, total)
		}
		sum += part.Budget
	}
	if sum != total || p.Budget != total {
		t.Errorf("tiers have %d tokens, the plan %d, want %d", sum, p.Budget, total)
	}
}

func TestStatsAfter(t *testing.T) {
	t.Parallel()
	st := Stats{Messages: []Message{{First: 1, Last: 1, Raw: 10}, {First: 2, Last: 5, Raw: 40}, {First: 6, Last: 6, Raw: 7}}}
	for _, c := range []struct{ after, messages, raw, first int }{{0, 3, 57, 1}, {1, 2, 47, 2}, {3, 2, 27, 4}, {5, 1, 7, 6}, {6, 0, 0, 0}} {
		got := st.After(c.after)
		if len(got.Messages) != c.messages || got.Raw() != c.raw || c.messages > 0 && got.Messages[0].First != c.first {
			t.Errorf("After(%d) = %+v, want %d messages from %d, %d tokens", c.after, got, c.messages, c.first, c.raw)
		}
	}
}

// FuzzRecall makes versions of whatever can be read as a version: within the budget, all kept texts in it, and the same
// again.
