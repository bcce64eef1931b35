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

// TestWaits has an answer, and after a notice a text that says only that the model waits: the answer stays.
func TestWaits(t *testing.T) {
	t.Parallel()
	for status, stays := range map[string]bool{
		"Still waiting for the checks.":                           true,
		"The checks are still running. I'll wait for the next.":   true,
		"Routine pass, nothing to do.":                            true,
		"The checks fail on main as well.":                        false,
		"Still waiting for one. The others fail on main as well.": false,
	} {
		d := summarized(t, refine.Entry{Role: "user", Said: "Mend the price parser"}, bash("make", "ok"), refine.Entry{Role: "assistant", Said: "It rounds once now."},
			refine.Entry{Role: "note", Name: "notice", Said: "the checks"}, bash("gh run list", "ok"), bash("gh run view", "ok"), bash("gh pr checks", "ok"),
			refine.Entry{Role: "assistant", Said: status})
		if got := d.Turns[0].Answered.Text == "It rounds once now."; got != stays {
			t.Errorf("after %q the answer is %q", status, d.Turns[0].Answered.Text)
		}
	}
}

// TestGreeting gives a session that is only a greeting, with the offer of help that answers it: nothing of it is told.
func TestGreeting(t *testing.T) {
	t.Parallel()
	d := summarized(t, refine.Entry{Role: "user", Said: "hi"}, refine.Entry{Role: "assistant", Said: "Hi! How can I help you today?"})
	for _, s := range Start([]Digest{d}, 0) {
		if len(s.Items) > 0 {
			t.Errorf("%s: %+v", s.Title, s.Items)
		}
	}
}
