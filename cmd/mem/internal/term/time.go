package term

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// wantTime is the error of [ParseTime], which does not guess: a misread time gives wrong answers.
const wantTime = "want a time such as 2026-01-15, 2026-01-15T10:00:00Z, 3d, \"3 days ago\", 2.weeks or yesterday"

// ParseTime parses a point in time: RFC 3339, a day, a distance from now such as 2h, 3d, 2w or 6mo, "3 days ago",
// 3.days, today and yesterday. Days begin at midnight in the time zone of now.
func ParseTime(s string, now time.Time) (time.Time, error) {
	s = strings.ToLower(strings.TrimSpace(s))
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "now":
		return now, nil
	case "today":
		return midnight, nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1), nil
	}
	if t, err := time.Parse(time.RFC3339, strings.ToUpper(s)); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, now.Location()); err == nil {
		return t, nil
	}
	words := strings.Fields(s)
	if len(words) == 2 && (words[0] == "last" || words[0] == "this") {
		switch words[1] {
		case "week":
			monday := midnight.AddDate(0, 0, -(int(midnight.Weekday())+6)%7)
			return monday.AddDate(0, 0, map[string]int{"last": -7}[words[0]]), nil
		case "month":
			first := midnight.AddDate(0, 0, 1-midnight.Day())
			return first.AddDate(0, map[string]int{"last": -1}[words[0]], 0), nil
		case "year":
			return time.Date(now.Year()+map[string]int{"last": -1}[words[0]], 1, 1, 0, 0, 0, 0, now.Location()), nil
		}
	}
	return parseDistance(s, now)
}

var timeSpan = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(
		`^(\d{1,4})(?:[ .]?)(s|m|min|h|d|w|mo|y|(?:second|minute|hour|day|week|month|year)s?)(?:[ .]ago)?$`)
})

func parseDistance(s string, now time.Time) (time.Time, error) {
	parts := timeSpan().FindStringSubmatch(s)
	if parts == nil {
		return time.Time{}, errors.New(wantTime)
	}
	n, err := strconv.Atoi(parts[1])
	if err != nil {
		return time.Time{}, errors.New(wantTime)
	}
	unit := parts[2]
	if len(unit) > 3 {
		unit = strings.TrimSuffix(unit, "s")
	}
	switch unit {
	case "mo", "month":
		return now.AddDate(0, -n, 0), nil
	case "y", "year":
		return now.AddDate(-n, 0, 0), nil
	case "w", "week":
		return now.AddDate(0, 0, -7*n), nil
	case "d", "day":
		return now.AddDate(0, 0, -n), nil
	case "h", "hour":
		return now.Add(-time.Duration(n) * time.Hour), nil
	case "m", "min", "minute":
		return now.Add(-time.Duration(n) * time.Minute), nil
	}
	return now.Add(-time.Duration(n) * time.Second), nil
}

// ParseMonth parses a month such as 2026-01.
func ParseMonth(s string) (time.Time, error) {
	t, err := time.Parse("2006-01", s)
	if err != nil {
		return t, fmt.Errorf("want a month such as 2026-01")
	}
	return t, nil
}

// TimeText returns t in UTC as RFC 3339, "" for the zero time.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
