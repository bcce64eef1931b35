package term

import (
	"testing"
	"time"
)

func TestParseTime(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 31, 14, 30, 0, 0, time.UTC)
	for in, want := range map[string]string{
		"2026-01-15": "2026-01-15T00:00:00Z", "2026-01-15T10:00:00Z": "2026-01-15T10:00:00Z", "2026-01-15t10:00:00+02:00": "2026-01-15T10:00:00+02:00",
		"2h": "2026-03-31T12:30:00Z", "90m": "2026-03-31T13:00:00Z", "30s": "2026-03-31T14:29:30Z", "3d": "2026-03-28T14:30:00Z", "2w": "2026-03-17T14:30:00Z",
		"6mo": "2025-10-01T14:30:00Z", "1y": "2025-03-31T14:30:00Z",
		"3 days ago": "2026-03-28T14:30:00Z", "1 day ago": "2026-03-30T14:30:00Z", "2.weeks": "2026-03-17T14:30:00Z", "2.weeks.ago": "2026-03-17T14:30:00Z", " 3 Days Ago ": "2026-03-28T14:30:00Z",
		"now": "2026-03-31T14:30:00Z", "today": "2026-03-31T00:00:00Z", "yesterday": "2026-03-30T00:00:00Z",
		"": "", "3": "", "d": "", "-3d": "", "3 d 2 h": "", "garbage xyz": "", "2026-13-01": "", "2026-02-30": "", "15.1.2026": "", "99999d": "", "tomorrow": "", "1.5h": "",
		"2026-01-15T10:00:00": "", "3 days": "2026-03-28T14:30:00Z", "3 daysago": "", "monday": "",
	} {
		got, err := ParseTime(in, now)
		if want == "" && err == nil || want != "" && (err != nil || got.Format(time.RFC3339) != want) {
			t.Errorf("parseTime(%q) = %v, %v; want %q", in, got, err, want)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("3 days ago")
	f.Add("2026-01-15")
	now := time.Date(2026, 3, 31, 14, 30, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, s string) {
		got, err := ParseTime(s, now)
		if err == nil && got.IsZero() && s[:4] != "0001" {
			t.Errorf("parseTime(%q) is no time", s)
		}
	})
}
