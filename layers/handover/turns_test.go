package handover

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
)

// TestNotices has a long answer, and after it a shorter text on a task that ended in the background: the answer stays, unless
// that text has work of its own.
func TestNotices(t *testing.T) {
	t.Parallel()
	long := refine.Entry{Role: "assistant", Said: "The parser rounds once now. " + strings.Repeat("It rounded twice before. ", 20)}
	notice := refine.Entry{Role: "note", Name: "notice", Said: "the checks ended"}
	status := refine.Entry{Role: "assistant", Said: "The checks fail on main as well, so that nothing is to be done here. " + strings.Repeat("They always did. ", 20)}
	look := bash("gh run list", "ok")
	for calls, want := range map[int]string{0: "The parser", 1: "The parser", 3: "The checks"} {
		entries := slices.Concat([]refine.Entry{{Role: "user", Said: "Mend the price parser"}, bash("make", "ok"), long, notice}, slices.Repeat([]refine.Entry{look}, calls), []refine.Entry{status})
		if got := summarized(t, entries...).Turns[0].Answered.Text; !strings.HasPrefix(got, want) {
			t.Errorf("after %d calls the answer is %q, want %q", calls, got, want)
		}
	}
}
