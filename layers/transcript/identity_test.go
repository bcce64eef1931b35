package transcript

import (
	"bytes"
	"strings"
	"testing"
)

func TestIdentity(t *testing.T) {
	of := func(raw string) string { return string(Identity(Value{Raw: []byte(raw)})) }
	const first = `{"type":"user","uuid":"u1","sessionId":"a","cwd":"/w","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"hi"}}`
	for _, c := range []struct {
		raw  string
		same bool
	}{
		{`{"forkedFrom":{"sessionId":"a"},"type":"user","uuid":"u1","sessionId":"b","cwd":"/x","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"hi"}}`, true},
		{`{"type":"user","uuid":"u2","sessionId":"a","cwd":"/w","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"hi"}}`, false},
		{`{"type":"user","uuid":"u1","sessionId":"a","cwd":"/w","timestamp":"2026-01-15T10:00:01Z","message":{"role":"user","content":"hi"}}`, false},
		{`{"type":"user","uuid":"u1","sessionId":"a","cwd":"/w","timestamp":"2026-01-15T10:00:00Z","message":{"role":"user","content":"no"}}`, false},
	} {
		if got := of(c.raw) == of(first); got != c.same {
			t.Errorf("Identity(%s) is that of the first: %v, want %v", c.raw, got, c.same)
		}
	}
	for _, raw := range []string{`{"type":"custom-title","customTitle":"x"}`, `{"type":"user","uuid":"u1"}`, `[1]`, `{`} {
		if got := of(raw); got != "" {
			t.Errorf("Identity(%s) = %q, want none", raw, got)
		}
	}
	if of(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-15T10:00:00Z","content":"later"}`) == "" {
		t.Error("a queued prompt has no identity")
	}
}

// TestPlace compares a record with itself after a resume on another machine, and with another one.
func TestPlace(t *testing.T) {
	t.Parallel()
	const record = `{"type":"user","uuid":"u1","timestamp":"2026-01-15T10:00:00Z","cwd":"/a","message":{"role":"user","content":"see /a/guide.md"}}`
	value := func(s string) Value { return Value{Raw: []byte(s)} }
	moved := value(strings.ReplaceAll(record, "/a", "/b"))
	if bytes.Equal(Identity(value(record)), Identity(moved)) || !bytes.Equal(Place(value(record)), Place(moved)) {
		t.Error("a record with other paths has another place, or the same identity")
	}
	if other := value(strings.Replace(record, "u1", "u2", 1)); bytes.Equal(Place(value(record)), Place(other)) {
		t.Error("two records have one place")
	}
	if Place(value(`{"type":"queue-operation","operation":"enqueue","timestamp":"2026-01-15T10:00:00Z","content":"x"}`)) == nil {
		t.Error("a queued prompt has no place")
	}
	if Place(value(`{"type":"ai-title","aiTitle":"x","timestamp":"2026-01-15T10:00:00Z"}`)) != nil {
		t.Error("a title has a place")
	}
}
