package exchange_test

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/exchange"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"roundPrice in lib/price_parser.go": "round price lib price parser",
		"HTTPServer XMLs classes boss is":   "httpserver xmls classe boss",
		"Größen ändern: 가격표를 v2":            "größen ändern 가격표를",
		strings.Repeat("a", 200):            strings.Repeat("a", 200),
		"":                                  "",
	} {
		if got := strings.Join(exchange.Words(in), " "); got != want {
			t.Errorf("Words(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestSettles has requests that deal with an open plan, and others that share a part of a name with it or paste its words.
func TestSettles(t *testing.T) {
	t.Parallel()
	topic := exchange.Topic("Use ComputeTotal in Price Restoration")
	for request, want := range map[string]bool{
		"restore the prices with ComputeTotal":     true,
		"use the price in restoration, and commit": true,
		"make use of it in the tests":              false,
		"commit and push":                          false,
		"why is it red?\n--- FAIL: TestA (0.1s)\n    a.go:3: compute total\n    a.go:4: price restoration\n    a.go:5: at 0xc000\nFAIL\texample/a\t0.1s\n": false,
		strings.Repeat("Look at all of them again. ", 20) + "ComputeTotal":                                                                                 false,
	} {
		if got := exchange.Settles(topic, exchange.AskedFor(request)); got != want {
			t.Errorf("%q settles it: %t, want %t", request, got, want)
		}
	}
	if exchange.Settles(exchange.Topic("Want me to commit this?"), "commit this") {
		t.Error("a text without a topic is settled by any request")
	}
}
