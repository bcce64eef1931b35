package compress

import (
	"context"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/tokens"
)

// TestSmallRoomsAreFull makes versions of every small budget: at least nine tenths of it are used, by either form, and three quarters
// where the room is for one or two sentences, which are not cut.
func TestSmallRoomsAreFull(t *testing.T) {
	notShort(t)
	t.Parallel()
	for seed := range int64(2) {
		items, st, _ := session(seed, 90)
		in := Input{Items: withDiffs(items)}
		for _, model := range []string{"", "claude-opus-4-1"} {
			c := tokens.For(model)
			for n := 16; n < 300; n += 1 + n/16 {
				p, _, err := Resolve(Settings{Tokens: n, Counter: c, Keepit: Ignore}, st, nil)
				if err != nil {
					t.Fatal(err)
				}
				r, err := Run(context.Background(), in, p, Extract{})
				if err != nil {
					t.Fatalf("seed %d, %d tokens: %v", seed, n, err)
				}
				text, page := c.Count(Text(r.Segments)), c.Count(Markdown(r.Segments))
				least := n * 9 / 10
				if n < 40 {
					least = n * 3 / 4
				}
				if max(text, page) > n || min(text, page) < least {
					t.Errorf("seed %d, %d tokens asked, %d and %d used", seed, n, text, page)
				}
				checkSegments(t, r, len(items))
			}
		}
	}
}

// TestBeginnings makes versions that not one line fits into: they hold the beginning of one, between words, with a
// sign that it is one, in languages with spaces and without.
func TestBeginnings(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"Please round the sum of the basket to whole cents before the tax is added, not after it, and keep the old prices in the ledger; nobody may change them afterwards",
		"장바구니의 합계를 세금을 더하기 전에 센트 단위로 반올림하고 이전 가격은 원장에 그대로 보관해 주세요. 그 뒤에는 아무도 바꿀 수 없습니다",
		"请在加税之前把购物篮的总额四舍五入到整数分而不是在加税之后并且把旧价格保留在账本里任何人以后都不得更改",
	} {
		st := Stats{Messages: []Message{{First: 1, Last: 1, Raw: 400}}}
		for n := 14; n < 32; n++ {
			p, _, err := Resolve(Settings{Tokens: n}, st, nil)
			if err != nil {
				t.Fatal(err)
			}
			r, err := Run(context.Background(), Input{Items: []Item{{N: 1, Kind: User, Text: text}}}, p, Extract{})
			if err != nil || len(r.Segments) != 1 || r.Tokens > n {
				t.Fatalf("%d tokens: %+v, %v", n, r, err)
			}
			got, begun := strings.CutSuffix(r.Segments[0].Text, sign)
			if begun && (!strings.HasPrefix(text, got) || r.Tokens*10 < n*6) || !begun && !strings.HasSuffix(text, got) {
				t.Errorf("%d tokens: %q is no beginning and no sentence of %q", n, r.Segments[0].Text, text)
			}
		}
		p, _, err := Resolve(Settings{Tokens: 1}, st, nil)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := Run(context.Background(), Input{Items: []Item{{N: 1, Kind: User, Text: text}}}, p, Extract{}); err != nil || len(r.Segments) > 0 {
			t.Errorf("1 token: %+v, %v", r, err)
		}
	}
}

func TestBreaks(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"":                    "",
		"two words":           "",
		"one two three":       "one two",
		"keep the old prices": "keep the|keep the old",
		"合計を反転":               "合計|合計を|合計を反",
	} {
		var got []string
		for _, k := range breaks(in) {
			got = append(got, in[:k])
		}
		if strings.Join(got, "|") != want {
			t.Errorf("breaks(%q) = %q, want %q", in, got, want)
		}
	}
}
