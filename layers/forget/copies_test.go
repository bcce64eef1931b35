package forget

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
)

// TestDeletedText finds the copies of a deleted message: by what it is, in another session, and by its words, in another
// message; not by words that many messages have.
func TestDeletedText(t *testing.T) {
	t.Parallel()
	value := func(uuid, text string) transcript.Value {
		line := `{"type":"user","uuid":"` + uuid + `","sessionId":"s1","message":{"role":"user","content":"` + text + `"}}`
		for v := range transcript.Values([]byte(line)) {
			return v
		}
		t.Fatalf("no value in %s", line)
		return transcript.Value{}
	}
	const words = "the name of the customer is Zaphod"
	d := deletedText{}
	d.add(value("u1", words))
	d.add(value("u2", "go on"))
	for _, c := range []struct {
		name string
		v    transcript.Value
		want bool
	}{
		{"the message", value("u1", words), true},
		{"a fork's copy with other words", value("u1", "masked"), true},
		{"the words in another message", value("u9", words), true},
		{"a part of the words", value("u9", strings.TrimSuffix(words, " is Zaphod")), false},
		{"a short text", value("u9", "go on"), false},
		{"the short message itself", value("u2", "go on"), true},
		{"another message", value("u9", "something else that is longer"), false},
	} {
		if got := d.has(c.v); got != c.want {
			t.Errorf("%s: has = %v", c.name, got)
		}
	}
}
