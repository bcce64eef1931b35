package secrets_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
)

// TestLeaksInSession counts the values of a session, not its lines: the number of a message is what "mem show" prints.
func TestLeaksInSession(t *testing.T) {
	const (
		plain  = `{"type":"user","message":{"content":"hello"}}`
		secret = `{"type":"user","message":{"content":"use ghp_4kTz9QmWv2XyB7nLc5RdH8sJf3PgA6uE1oKi"}}`
	)
	for name, c := range map[string]struct {
		text string
		skip int
		want []int
	}{
		"lines":      {plain + "\n" + secret + "\n" + secret + "\n", 0, []int{2, 3}},
		"blank line": {plain + "\n\n\n" + secret + "\n", 0, []int{2}},
		"one line":   {plain + " " + plain + secret + "\n" + secret, 0, []int{3, 4}},
		"torn":       {`{"type":"user","torn ` + secret + "\n" + secret + "\n", 0, []int{2, 3}},
		"skipped":    {secret + "\n\n" + secret + "\n", len(secret) + 1, []int{2}},
		"after":      {plain + "\n" + plain + "\n" + secret + "\n", len(plain) + 1, []int{3}},
	} {
		leaks, err := secrets.LeaksIn(strings.NewReader(c.text), int64(c.skip), rulesOf(t),
			secrets.Leak{Kind: "session", Session: "s1"})
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, l := range leaks {
			got = append(got, l.Message)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: messages %v, want %v", name, got, c.want)
		}
	}
}

func rulesOf(t *testing.T) redact.Rules {
	t.Helper()
	rules, err := redact.New(redact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}
