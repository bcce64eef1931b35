package stats

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/transcript"
)

func TestCostOf(t *testing.T) {
	t.Parallel()
	const m = 1_000_000
	for _, tt := range []struct {
		model string
		usage transcript.Usage
		want  int64 // millionths of a dollar; -1: unknown
	}{
		{"claude-opus-4-6", transcript.Usage{Input: m}, 5 * m},
		{"claude-opus-4-6", transcript.Usage{Output: m}, 25 * m},
		{"claude-opus-4-6", transcript.Usage{CacheRead: m}, m / 2},
		{"claude-opus-4-6", transcript.Usage{CacheWrite: m}, 6_250_000},
		{"claude-opus-4-6", transcript.Usage{CacheWrite: m, CacheHour: m}, 10 * m},
		{"claude-opus-4-6", transcript.Usage{Searches: 3}, 30_000},
		{"claude-opus-4-6", transcript.Usage{Input: 1}, 5},
		{"claude-opus-4-1-20250805", transcript.Usage{Output: m}, 75 * m},
		{"claude-opus-4-20250514", transcript.Usage{Output: m}, 75 * m},
		{"claude-3-opus-20240229", transcript.Usage{Output: m}, 75 * m},
		{"claude-sonnet-4-5-20250929", transcript.Usage{Output: m}, 15 * m},
		{"claude-3-7-sonnet-20250219", transcript.Usage{Output: m}, 15 * m},
		{"claude-sonnet-5", transcript.Usage{Output: m}, 10 * m},
		{"claude-3-5-haiku-20241022", transcript.Usage{Output: m}, 4 * m},
		{"claude-3-haiku-20240307", transcript.Usage{Output: m}, 1_250_000},
		{"claude-haiku-4-5-20251001", transcript.Usage{Output: m}, 5 * m},
		{"us.anthropic.claude-opus-4-5-20251101-v1:0", transcript.Usage{Output: m}, 25 * m},
		{"claude-opus-9", transcript.Usage{Output: m}, -1},
		{"claude-sonnet-6", transcript.Usage{Output: m}, -1},
		{"glm-4-5", transcript.Usage{Output: m}, -1},
		{"gpt-5-opus-4", transcript.Usage{Output: m}, -1},
		{"", transcript.Usage{Output: m}, -1},
	} {
		got, ok := costOf(answer{Model: tt.model, Usage: tt.usage})
		if !ok {
			got = -1
		}
		if got != tt.want {
			t.Errorf("costOf(%s, %+v) = %d, want %d", tt.model, tt.usage, got, tt.want)
		}
	}
}

// TestReadAnswers holds that the last record of an answer counts, that answers without an id are told apart, and that
// records of other kinds do not count.
func TestReadAnswers(t *testing.T) {
	t.Parallel()
	record := func(kind, id, uuid, output string) string {
		return `{"type":"` + kind + `","uuid":"` + uuid + `","timestamp":"2026-01-15T10:00:00Z","message":{"id":"` + id +
			`","role":"assistant","model":"claude-opus-4-6","content":[],"usage":{"output_tokens":` + output + `}}}` + "\n"
	}
	got, err := readAnswers(strings.NewReader(record("assistant", "m1", "a", "1") + record("assistant", "m2", "b", "7") +
		record("assistant", "m1", "c", "5") + record("assistant", "", "d", "3") + record("assistant", "", "e", "3") +
		record("api-request-blob", "m9", "f", "1000") + record("assistant", "m3", "g", "0") + "not json\n"))
	if err != nil {
		t.Fatal(err)
	}
	var out []int64
	for _, a := range got {
		out = append(out, a.Usage.Output)
	}
	if len(got) != 4 || out[0] != 5 || out[1] != 7 || out[2] != 3 || out[3] != 3 {
		t.Errorf("%v", out)
	}
}
