package answers

import (
	"strings"
	"testing"
	"time"
)

// TestFence encloses a long text in a key that is not in it, in linear time.
func TestFence(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("#7 user: "+strings.Repeat("x", 200)+"\n", 60_000)
	start := time.Now()
	key := FenceKey(text)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("Key took %v", took)
	}
	if text += key; FenceKey(text) == key || strings.Contains(text, FenceKey(text)) {
		t.Error("the key is in the text")
	}
}

// TestCheck: an id is answered once, and "partly" has a better wording.
func TestCheck(t *testing.T) {
	t.Parallel()
	var c Problems
	list := []Answer{{ID: "a", Answer: Supported}, {ID: "b", Answer: Partly, Text: " "}, {ID: "a", Answer: Not, Why: " so\n it  is "}}
	CheckAnswers(list, "answers", &c)
	want := "answers[1].text: missing: say what the messages support; answers[2].id: a is answered twice"
	if err := c.Err(); err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	if list[2].Why != "so it is" {
		t.Errorf("why %q", list[2].Why)
	}
}
