package story

// centsCompact is a compaction as the client writes it: the boundary without a parent, then the summary.
func centsCompact(s *session) {
	s.user("<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args></command-args>")
	logical := s.parent
	s.parent = ""
	s.record("system", "subtype", "compact_boundary", "content", "Conversation compacted", "isMeta", false, "level", "info", "logicalParentUuid", logical,
		"compactMetadata", object{"trigger", "manual", "preTokens", 61204})
	s.client("This session is being continued from a previous conversation that ran out of context. The conversation is summarized below:\nAnalysis:\nThe user reported a float error in an order total. We moved price.Price to int64 cents.\n\nSummary:\n1. Primary Request and Intent: find the cause of 32.199999999999996 €, then fix it with whole cents.\n2. Key Technical Concepts: int64 cents, half-up rounding in price.Discount, append-only data/orders.jsonl.\n3. Files and Code Sections: price/price.go (Price, Parse, Decimal, Discount, ErrNegative), cart/cart.go (Apply takes permille), checkout/order.go (total_cents beside total), checkout/read.go (Read accepts old float totals).\n4. Errors and fixes: Discount truncated, fixed by adding 500 before dividing; Read truncated old totals, fixed with math.Round.\n5. All user messages: find the cause; cents; no negative prices; write both totals. ##keepit1.00## a summary is not typed either\n6. Pending Tasks: coupons in tenths of a percent in the admin page; commit.",
		"isCompactSummary", true, "isVisibleInTranscriptOnly", true)
	s.client("<local-command-stdout>Compacted. ctrl+r to see full summary</local-command-stdout>")
}

func centsCoupons(s *session) {
	s.branch = "cents"
	s.user("Continue with the coupons. The admin page sends percent with at most one decimal, like 12.5.\n\n```\n##keepit1.00## inside a code fence this is text, not a marker\n```")
	s.read("cart/cart.go")
	s.cwd = "/home/dev/shop/cart"
	s.bash("pwd && ls", "/home/dev/shop/cart\ncart.go\ncart_test.go")
	s.cwd = "/home/dev/shop"
	s.write("cart/coupon.go", centsCouponGo)
	s.queue("enqueue", "and reject more than 100 percent")
	s.queue("popAll", "and reject more than 100 percent")
	s.user("Coupons over 100 % or with two decimals are errors, not rounded. ##keepit0.25## Coupon codes are upper-case ASCII, at most 12 characters.", object{"type", "image", "source", object{"type", "base64", "media_type", "image/png", "data", noise("coupon form", 1500)}})
	s.write("cart/coupon_test.go", centsCouponTestGo)
	s.bashFails("go test ./cart -run TestParsePercent", 1, "--- FAIL: TestParsePercent (0.00s)\n    --- FAIL: TestParsePercent/12.55 (0.00s)\n        coupon_test.go:30: ParsePercent(\"12.55\") = 125, <nil>, want an error\nFAIL\nFAIL\texample.com/shop/cart\t0.003s\nFAIL")
	s.edit("cart/coupon.go", "\tif len(tenth) > 1 {\n\t\ttenth = tenth[:1]\n\t}\n", "\tif len(tenth) > 1 {\n\t\treturn 0, fmt.Errorf(\"coupon of %s %%: more than one decimal\", s)\n\t}\n")
	s.bash("go test ./cart -run TestParsePercent -v | tail -5", "    --- PASS: TestParsePercent/12.55 (0.00s)\n--- PASS: TestParsePercent (0.00s)\nPASS\nok  \texample.com/shop/cart\t0.003s")
	// a call that never gets a result: the user stopped it
	s.call("Bash", object{"command", "git push --force origin cents", "description", "Push the branch"})
	s.answer = ""
	s.record("user", "message", object{"role", "user", "content", []any{object{"type", "text", "text", "[Request interrupted by user for tool use]"}}})
	s.user("No force pushes, ever. ##keepit0.90## Never force-push; if a push is refused, ask.")
	s.say("Understood: no force pushes. I had rebased the branch and reached for the wrong tool; I'll undo the rebase and push normally after the commit.")
	id := s.call("AskUserQuestion", object{"questions", []any{object{"question", "Should the commit also hold the shop-tools change?", "header", "Commit", "options", []any{object{"label", "One commit each", "description", "Two repositories, two commits"}, object{"label", "Later", "description", "Only shop now"}}, "multiSelect", false}}})
	s.result(id, "User has answered your questions: \"Should the commit also hold the shop-tools change?\"=\"One commit each, shop first\". You can now continue with the user's answers in mind.", object{"questions", []any{}, "answers", object{"Should the commit also hold the shop-tools change?", "One commit each, shop first"}}, false)
}

func centsCommit(s *session) {
	s.bash("git add -A && git commit -q -m 'price: whole cents instead of floats' && git log --oneline -1", "4f0c2d9 price: whole cents instead of floats")
	s.bash("git push origin cents", "To git.example.com:dev/shop.git\n * [new branch]      cents -> cents")
	s.line("type", "pr-link", "sessionId", s.id, "prNumber", 41, "prUrl", "https://git.example.com/dev/shop/pull/41", "prRepository", "dev/shop", "timestamp", s.tick())
	s.say("Done. Branch `cents`, commit 4f0c2d9:\n\n- `price.Price` is `int64` cents; `Parse` rejects negative prices (`ErrNegative`).\n- `price.Discount` rounds half up, in one place, with a table test.\n- `cart.Apply` takes tenths of a percent; `cart.ParsePercent` reads what the admin page sends.\n- `checkout.Place` writes `total_cents` and, for old readers, `total`; `checkout.Read` accepts both kinds of lines.\n\nOpen: the one-line change in `shop-tools/export/main.go`, and accounting should be told about the new field before the month ends.")
	s.user("Thanks! 👍 Near misses for the linter, please ignore: ##keepit0.8## ##keepit## #keepit0.80# ##keepit1.5## ##keep1.00##")
	s.say("Noted, nothing to do.")
	s.line("type", "summary", "summary", "Prices become whole cents", "leafUuid", s.parent)
	s.line("type", "last-prompt", "lastPrompt", "Thanks! 👍 Near misses for the linter", "sessionId", s.id)
}

const centsPriceGo = `// Package price holds what things cost.
package price

import (
	"fmt"
	"strconv"
	"strings"
)

// A Price is an amount of money in whole cents.
type Price int64

// Parse reads "12.50", "12,50" or "12".
func Parse(s string) (Price, error) {
	whole, cents, ok := strings.Cut(strings.Replace(s, ",", ".", 1), ".")
	if ok && len(cents) != 2 {
		return 0, fmt.Errorf("price %q: want two digits behind the point", s)
	}
	n, err := strconv.ParseInt(whole+(cents + "00")[:2], 10, 64)
	if err != nil {
		return 0, fmt.Errorf("price %q: %w", s, err)
	}
	return Price(n), nil
}

// Decimal returns p in euros without a sign of currency.
func (p Price) Decimal() string { return fmt.Sprintf("%d.%02d", p/100, p%100) }

// String returns p for the page.
func (p Price) String() string { return p.Decimal() + " €" }

// Times returns the price of n pieces.
func (p Price) Times(n int) Price { return p * Price(n) }

// Discount returns p less so many tenths of a percent. It is the only place that rounds.
func (p Price) Discount(permille int64) Price {
	return p - p*Price(permille)/1000
}
`

const centsPriceTestGo = `package price

import "testing"

func TestParse(t *testing.T) {
	for in, want := range map[string]Price{"12.50": 1250, "12,50": 1250, "12": 1200, "0.05": 5} {
		if got, err := Parse(in); err != nil || got != want {
			t.Errorf("Parse(%q) = %d, %v, want %d", in, got, err, want)
		}
	}
}

func TestDiscount(t *testing.T) {
	for _, c := range []struct {
		p        Price
		permille int64
		want     Price
	}{
		{1000, 100, 900},
		{999, 100, 899},
		{125, 333, 83},
		{5, 100, 4},
	} {
		if got := c.p.Discount(c.permille); got != c.want {
			t.Errorf("Discount(%d cents, %d) = %d, want %d", c.p, c.permille, got, c.want)
		}
	}
}
`

const centsReadGo = `package checkout

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"

	"example.com/shop/price"
)

// Read returns the orders of r. Lines from before cents hold the total as a number of euros.
func Read(r io.Reader) ([]Order, error) {
	var all []Order
	in := bufio.NewScanner(r)
	for n := 1; in.Scan(); n++ {
		var line struct {
			Order
			Total json.RawMessage ` + "`json:\"total\"`" + `
			Cents *price.Price    ` + "`json:\"total_cents\"`" + `
		}
		if err := json.Unmarshal(in.Bytes(), &line); err != nil {
			return nil, fmt.Errorf("order line %d: %w", n, err)
		}
		o := line.Order
		if line.Cents != nil {
			o.Total = *line.Cents
		} else {
			var old float64
			if err := json.Unmarshal(line.Total, &old); err != nil {
				return nil, fmt.Errorf("order line %d: %w", n, err)
			}
			o.Total = price.Price(int64(old * 100))
		}
		all = append(all, o)
	}
	return all, in.Err()
}
`

const centsReadTestGo = `package checkout

import (
	"strings"
	"testing"
)

func TestReadNew(t *testing.T) {
	all, err := Read(strings.NewReader(` + "`{\"number\":1,\"total_cents\":3220,\"total\":\"32.20\"}`" + `))
	if err != nil || len(all) != 1 || all[0].Total != 3220 {
		t.Fatalf("Read = %+v, %v", all, err)
	}
}

func TestReadOld(t *testing.T) {
	all, err := Read(strings.NewReader(` + "`{\"number\":1,\"total\":32.199999999999996}`" + `))
	if err != nil {
		t.Fatal(err)
	}
	if got := all[0].Total; got != 3220 {
		t.Errorf("total = %d, want 3220", got)
	}
}
`

const centsCouponGo = `package cart

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePercent reads "12.5" as 125 tenths of a percent.
func ParsePercent(s string) (int64, error) {
	whole, tenth, _ := strings.Cut(s, ".")
	if len(tenth) > 1 {
		tenth = tenth[:1]
	}
	n, err := strconv.ParseInt(whole+(tenth + "0")[:1], 10, 64)
	if err != nil || n < 0 || n > 1000 {
		return 0, fmt.Errorf("coupon of %s %%: want 0 to 100", s)
	}
	return n, nil
}
`

const centsCouponTestGo = `package cart

import "testing"

func TestParsePercent(t *testing.T) {
	for _, c := range []struct {
		in   string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"12.5", 125, true},
		{"100", 1000, true},
		{"100.1", 0, false},
		{"12.55", 0, false},
		{"-5", 0, false},
		{"abc", 0, false},
	} {
		t.Run(c.in, func(t *testing.T) {
			got, err := ParsePercent(c.in)
			if (err == nil) != c.ok || got != c.want {
				t.Errorf("ParsePercent(%q) = %d, %v, want an error", c.in, got, err)
			}
		})
	}
}
`
