package knowledge

import (
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/knowledge/facts"
	"github.com/memvcs/mem/layers/refine"
)

// TestShortTopic: a topic of one or two words is asked back, in scripts that separate words.
func TestShortTopic(t *testing.T) {
	t.Parallel()
	for topic, want := range map[string]bool{"": false, "coupons": true, "coupon codes": true, "codes of coupons": false, "content-aware carry-forward": false, "優惠券": false} {
		if got := shortTopic(topic); got != want {
			t.Errorf("shortTopic(%q) = %v", topic, got)
		}
	}
	err := shortTopics(facts.Input{Exchanges: []facts.InputExchange{{Topic: "whole cents in prices"}, {Topic: "cents"}}})
	if err == nil || !strings.HasPrefix(err.Error(), "exchanges[1].topic: `cents` says little") {
		t.Errorf("%v", err)
	}
}

// TestAround: a question shows what was said before and after a quote, its request, the user's next words and what a call came to.
func TestAround(t *testing.T) {
	t.Parallel()
	entries := []refine.Entry{
		{N: 1, Role: "user", Said: "first"}, {N: 2, Role: "assistant", Said: "hm"}, {N: 3, Role: "user", Said: "build it"},
		{N: 4, Role: "assistant", Said: "I build it."}, {N: 5, Role: "tool", Cmd: "go build", Exit: 1}, {N: 6, Role: "tool", Name: "Read"},
		{N: 7, Role: "tool", Name: "Read"}, {N: 8, Role: "assistant", Said: "It fails."}, {N: 9, Role: "user", Said: "mend it"},
		{N: 10, Role: "assistant", Said: "done"},
	}
	x := Question{fact: &facts.Fact{}, Quotes: []facts.Evidence{{Message: 4, Quote: "I build it."}}}
	var got []int
	for _, i := range around(entries, x) {
		got = append(got, entries[i].N)
	}
	if want := "[3 4 5 6 8 9]"; fmt.Sprint(got) != want {
		t.Errorf("around #4: %v, want %s", got, want)
	}
	x = Question{fact: &facts.Fact{}, Quotes: []facts.Evidence{{Message: 8, Quote: "It fails."}}}
	got = nil
	for _, i := range around(entries, x) {
		got = append(got, entries[i].N)
	}
	if want := "[3 4 5 8 9]"; fmt.Sprint(got) != want {
		t.Errorf("around #8: %v, want %s: the call before it, without the reads", got, want)
	}
	x = Question{exchange: &facts.Exchange{From: 3, To: 8}}
	got = nil
	for _, i := range around(entries, x) {
		got = append(got, entries[i].N)
	}
	if want := "[3 8]"; fmt.Sprint(got) != want {
		t.Errorf("around the exchange: %v, want %s", got, want)
	}
}
