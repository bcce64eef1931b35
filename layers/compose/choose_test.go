package compose

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
)

func offered(label string, tokens, kept, summarised int) Version {
	return Version{Label: label, Hash: objects.Sum([]byte(label)), Tokens: tokens, Kept: kept, Summarised: summarised}
}

func TestChoose(t *testing.T) {
	t.Parallel()
	v := offered
	tests := []struct {
		name string
		req  Request
		want string // label tokens, one a source
		why  string // of the first pick
	}{
		{"original fits", Request{Budget: 100, Sources: []Source{{Session: "a", Original: 90, Versions: []Version{v("v001", 80, 0, 0)}}}},
			"original 90", "fits whole"},
		{"no version", Request{Budget: 5000, Sources: []Source{{Session: "a", Original: 78_000}}},
			"(new) 5000", "no version yet: would compress 78.0k at 16:1"},
		{"no markers is no loss", Request{Budget: 100, Sources: []Source{{Session: "a", Original: 999, Versions: []Version{v("v001", 90, 0, 0)}}}},
			"v001 90", "fits"},
		{"over budget is never taken", Request{Budget: 100, Sources: []Source{{Session: "a", Original: 999, Versions: []Version{v("v001", 101, 1, 0)}}}},
			"(new) 100", "no version fits: would compress 999 at 10:1"},
		{"score too low", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, Versions: []Version{v("v001", 100, 0, 4)}}}},
			"(new) 1000", "v001 scores only 0.27: would compress 9.0k at 9:1"},
		{"a score of 0.5 is enough", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, Versions: []Version{v("v001", 10, 4, 0)}}}},
			"v001 10", "fits, 4/4 pinned texts kept"},
		{"a score below 0.5 is not", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, Versions: []Version{v("v001", 300, 2, 2)}}}},
			"(new) 1000", "v001 scores only 0.48: would compress 9.0k at 9:1"},
		{"the freshest that is wanted", Request{Budget: 100, MaxDistance: 3, Sources: []Source{{Session: "a", Original: 999, Versions: []Version{
			{Label: "v001", Tokens: 90, Freshness: 4}, {Label: "v002", Tokens: 60, Freshness: 3}, {Label: "v003", Tokens: 120, Freshness: 10}}}}},
			"v002 60", "fits"},
		{"none is fresh enough", Request{Budget: 100, MaxDistance: 1, Sources: []Source{{Session: "a", Original: 999, Versions: []Version{{Label: "v001", Tokens: 90, Freshness: 2}}}}},
			"(new) 100", "no version is fresh enough: would compress 999 at 10:1"},
		{"what is pinned may be stale", Request{Budget: 100, MaxDistance: 1, Sources: []Source{{Session: "a", Original: 999, Pin: "v001", Versions: []Version{{Label: "v001", Tokens: 90, Freshness: 2}}}}},
			"v001 90", "pinned"},
		{"kept markers count", Request{Budget: 100, Sources: []Source{{Session: "a", Original: 999,
			Versions: []Version{v("v001", 90, 0, 7), v("v002", 80, 7, 0), v("v003", 120, 7, 0)}}}},
			"v002 80", "fits, 7/7 pinned texts kept; v003 is 20 tokens too large"},
		{"preferred ratio", Request{Budget: 100, Ratio: 30, Sources: []Source{{Session: "a", Original: 999, Versions: []Version{
			{Label: "v001", Tokens: 90, Ratio: 5}, {Label: "v002", Tokens: 80, Ratio: 30}}}}},
			"v002 80", "fits"},
		{"recompress", Request{Budget: 100, Sources: []Source{{Session: "a", Original: 999, Recompress: true, Versions: []Version{v("v001", 90, 1, 0)}}}},
			"(new) 100", "asked for: would compress 999 at 10:1"},
		{"pinned", Request{Budget: 100, Sources: []Source{
			{Session: "a", Original: 999, Pin: "v001", Versions: []Version{v("v001", 40, 1, 1), v("v002", 90, 0, 0)}},
			{Session: "b", Original: 50, Pin: Original}}},
			"v001 40, original 50", "pinned, 1/2 pinned texts kept"},
		{"fixed share", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 5000, Share: 100}, {Session: "b", Original: 5000}}},
			"(new) 100, (new) 900", "no version yet: would compress 5.0k at 50:1"},
		{"a fixed share leaves over", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 30, Share: 500}, {Session: "b", Original: 5000}}},
			"original 30, (new) 970", "fits whole"},
		{"leftover lets a version fit", Request{Budget: 16_000, Sources: []Source{
			{Session: "a", Original: 100_234, Versions: []Version{v("v001", 10_234, 7, 0), v("v002", 3_012, 7, 0)}},
			{Session: "b", Original: 45_000, Versions: []Version{v("v001", 6_500, 0, 0)}},
			{Session: "c", Original: 78_000}}},
			"v002 3012, v001 6500, (new) 6488", "fits, 7/7 pinned texts kept; v001 is 4,900 tokens too large"},
		{"leftover lets the original fit", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 800}, {Session: "b", Original: 100}}},
			"original 800, original 100", "fits whole; with what others left"},
		{"overhead", Request{Budget: 1000, Overhead: 200, Sources: []Source{{Session: "a", Original: 5000}}}, "(new) 800", ""},
		{"proportional", Request{Budget: 1000, Strategy: Proportional, Sources: []Source{{Session: "a", Original: 9000}, {Session: "b", Original: 1000}}},
			"(new) 900, (new) 100", ""},
		{"recency", Request{Budget: 900, Strategy: Recency, Sources: []Source{{Session: "a", Original: 9000, Distance: 9}, {Session: "b", Original: 9000, Distance: 2}}},
			"(new) 300, (new) 600", ""},
		{"inverse recency", Request{Budget: 900, Strategy: InverseRecency, Sources: []Source{{Session: "a", Original: 9000, Distance: 9}, {Session: "b", Original: 9000, Distance: 2}}},
			"(new) 600, (new) 300", ""},
		{"odd tokens", Request{Budget: 201, Sources: []Source{{Session: "a", Original: 9000}, {Session: "b", Original: 9000}}}, "(new) 101, (new) 100", ""},
		{"nobody asked for it, and it is small", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, Versions: []Version{{Label: "v001", Tokens: 400, Auto: true}}}}},
			"(new) 1000", "v001 uses only 40% of the share: would compress 9.0k at 9:1"},
		{"nobody asked for it, and it fills half", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, Versions: []Version{{Label: "v001", Tokens: 500, Auto: true}}}}},
			"v001 500", "fits"},
		{"nothing more to say", Request{Budget: 2000, Sources: []Source{{Session: "a", Original: 9000, Most: 300}, {Session: "b", Original: 9000},
			{Session: "c", Original: 9000, Versions: []Version{v("v001", 600, 0, 0), v("v002", 800, 0, 0)}}}},
			"(new) 300, (new) 900, v002 800", "no version yet: would compress 9.0k at 30:1"},
		{"least", Request{Budget: 1000, Sources: []Source{{Session: "a", Original: 9000, MinTokens: 700}, {Session: "b", Original: 9000}}},
			"(new) 700, (new) 300", ""},
		{"nothing", Request{Budget: 10}, "", ""},
	}
	for _, tt := range tests {
		plan, err := Choose(tt.req)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var got []string
		for _, p := range plan.Picks {
			got = append(got, fmt.Sprintf("%s %d", p.Label(), p.Tokens))
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: Choose = %s, want %s", tt.name, s, tt.want)
		}
		if tt.why != "" && plan.Picks[0].Why != tt.why {
			t.Errorf("%s: why = %q, want %q", tt.name, plan.Picks[0].Why, tt.why)
		}
	}
}

func TestChooseFails(t *testing.T) {
	t.Parallel()
	pinned := Source{Session: "abc", Original: 900, Pin: "v002", Versions: []Version{offered("v002", 600, 0, 0)}}
	for _, tt := range []struct {
		name, want string
		req        Request
	}{
		{"pins", "a budget of 1000 tokens is too small: 1550 are enough, with abc (v002) 600, def (original) 900, headings 50",
			Request{Budget: 1000, Overhead: 50, Sources: []Source{pinned, {Session: "def", Original: 900, Pin: Original}}}},
		{"shares", "a budget of 1000 tokens is too small: 1364 are enough, with abc (v002) 600, def (share) 700, ghi (least) 64",
			Request{Budget: 1000, Sources: []Source{pinned, {Session: "def", Original: 900, Share: 700}, {Session: "ghi", Original: 900}}}},
		{"markers", "a budget of 100 tokens is too small: 140 are enough, with abc (markers) 140",
			Request{Budget: 100, Sources: []Source{{Session: "abc", Original: 900, MinTokens: 140}}}},
		{"pin over its share", "a budget of 500 tokens is too small: 600 are enough, with abc (v002) 600",
			Request{Budget: 1000, Sources: []Source{{Session: "abc", Original: 900, Pin: "v002", Share: 500, Versions: pinned.Versions}}}},
	} {
		_, err := Choose(tt.req)
		var short *BudgetError
		if !errors.As(err, &short) || err.Error() != tt.want {
			t.Errorf("%s: Choose = %v, want %s", tt.name, err, tt.want)
		}
	}
	_, err := Choose(Request{Budget: 10, Sources: []Source{{Session: "a", Pin: "v009"}}})
	if !errors.Is(err, ErrNoVersion) {
		t.Errorf("pin of a version that is not there: %v, want %v", err, ErrNoVersion)
	}
	if _, err := Choose(Request{Budget: -5}); err == nil {
		t.Error("a budget below zero is accepted")
	}
}

// randomRequest makes a request with every option set now and then.
func randomRequest(rnd *rand.Rand) Request {
	req := Request{Budget: rnd.IntN(20_000), Overhead: rnd.IntN(300), Strategy: Strategy(rnd.IntN(4))}
	if rnd.IntN(3) == 0 {
		req.Ratio = 1 + rnd.IntN(60)
	}
	for i := range rnd.IntN(6) {
		s := Source{Session: fmt.Sprint("s", i), Original: rnd.IntN(40_000), Distance: rnd.IntN(4)}
		for k := range rnd.IntN(5) {
			v := offered(fmt.Sprintf("v%03d", k), rnd.IntN(9000), rnd.IntN(4), rnd.IntN(4))
			v.Ratio = 1 + rnd.IntN(60)
			s.Versions = append(s.Versions, v)
		}
		switch rnd.IntN(8) {
		case 0:
			s.Share = rnd.IntN(5000)
		case 1:
			s.Recompress = true
		case 2:
			s.MinTokens = rnd.IntN(3000)
		case 3:
			s.Pin = Original
		case 4:
			if len(s.Versions) > 0 {
				s.Pin = s.Versions[rnd.IntN(len(s.Versions))].Label
			}
		}
		req.Sources = append(req.Sources, s)
	}
	return req
}

func TestChooseKeepsItsPromises(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20_000) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		req := randomRequest(rnd)
		plan, err := Choose(req)
		if err != nil {
			checkFailure(t, seed, req, err)
			continue
		}
		sum := req.Overhead
		for i, p := range plan.Picks {
			sum += p.Tokens
			checkPick(t, seed, req.Sources[i], p)
		}
		if sum != plan.Total || sum > req.Budget || plan.Left != req.Budget-sum {
			t.Fatalf("seed %d: picks cost %d, total %d, left %d, budget %d", seed, sum, plan.Total, plan.Left, req.Budget)
		}
		checkLeftovers(t, seed, req, plan)
		checkShuffled(t, seed, rnd, req, plan)
		more := req
		more.Budget += 1 + rnd.IntN(9000)
		if _, err := Choose(more); err != nil {
			t.Fatalf("seed %d: fits in %d, but not in %d: %v", seed, req.Budget, more.Budget, err)
		}
	}
}

func checkFailure(t *testing.T, seed uint64, req Request, err error) {
	t.Helper()
	var short *BudgetError
	if !errors.As(err, &short) || short.Need <= short.Budget {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if short.Budget != req.Budget {
		return // a version pinned over its own share
	}
	req.Budget = short.Need
	if _, err := Choose(req); err != nil {
		t.Fatalf("seed %d: what was needed does not do: %v", seed, err)
	}
}

func checkPick(t *testing.T, seed uint64, s Source, p Pick) {
	t.Helper()
	switch {
	case p.Kind == PickOriginal && p.Tokens != s.Original,
		p.Kind == PickVersion && p.Tokens != p.Version.Tokens,
		p.Kind == PickNew && (p.Tokens >= s.Original || p.Tokens < s.MinTokens || p.Ratio < 2 || p.Distance < 1),
		p.Kind == PickVersion && s.Pin == "" && p.Score < minScore,
		s.Share > 0 && p.Tokens > s.Share,
		s.Pin != "" && p.Label() != s.Pin,
		p.Why == "":
		t.Fatalf("seed %d: bad pick %+v of %+v", seed, p, s)
	}
}

// checkLeftovers checks that nothing which is left over could have been used.
func checkLeftovers(t *testing.T, seed uint64, req Request, plan Plan) {
	t.Helper()
	for i, p := range plan.Picks {
		s := req.Sources[i]
		if s.Pin != "" || s.Share > 0 || p.Kind == PickOriginal {
			continue
		}
		if s.Original <= p.Tokens+plan.Left {
			t.Fatalf("seed %d: %d tokens are left, %s could be whole: %+v", seed, plan.Left, s.Session, p)
		}
		if p.Kind == PickNew && plan.Left > 0 {
			t.Fatalf("seed %d: %d tokens are left, %s could be wider", seed, plan.Left, s.Session)
		}
	}
}

func checkShuffled(t *testing.T, seed uint64, rnd *rand.Rand, req Request, plan Plan) {
	t.Helper()
	for _, s := range req.Sources {
		rnd.Shuffle(len(s.Versions), func(i, k int) { s.Versions[i], s.Versions[k] = s.Versions[k], s.Versions[i] })
	}
	if again, err := Choose(req); err != nil || !reflect.DeepEqual(again, plan) {
		t.Fatalf("seed %d: with versions in another order %+v, %v, want %+v", seed, again, err, plan)
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for seed := range uint64(2000) {
		rnd := rand.New(rand.NewPCG(seed, 4))
		n, total := 1+rnd.IntN(6), rnd.IntN(1000)
		weights, floors := make([]int, n), make([]int, n)
		for i := range weights {
			weights[i], floors[i] = 1+rnd.IntN(1<<40), rnd.IntN(100)
			total += floors[i]
		}
		sum := 0
		for i, s := range split(total, weights, floors) {
			if s < floors[i] {
				t.Fatalf("seed %d: share %d below its floor %d", seed, s, floors[i])
			}
			sum += s
		}
		if sum != total {
			t.Fatalf("seed %d: shares sum to %d, want %d", seed, sum, total)
		}
	}
}

func TestStrategyNames(t *testing.T) {
	t.Parallel()
	for _, s := range []Strategy{Equal, Proportional, Recency, InverseRecency} {
		if got, err := ParseStrategy(s.String()); got != s || err != nil {
			t.Errorf("ParseStrategy(%s) = %v, %v", s, got, err)
		}
	}
	if _, err := ParseStrategy("fair"); err == nil {
		t.Error(`ParseStrategy("fair") has no error`)
	}
}
