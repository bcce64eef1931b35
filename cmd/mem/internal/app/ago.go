package app

import (
	"fmt"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// Ago says how long before now t was, as a person would. The piped form of a time is RFC 3339 in UTC.
func Ago(now, t time.Time) string {
	d := now.Sub(t)
	if d < 0 {
		return "in the future"
	}
	day := 24 * time.Hour
	for _, u := range []struct {
		below, unit time.Duration
		name        string
	}{
		{time.Minute, time.Second, "second"}, {time.Hour, time.Minute, "minute"}, {day, time.Hour, "hour"},
		{14 * day, day, "day"}, {60 * day, 7 * day, "week"}, {730 * day, 30 * day, "month"}, {1 << 62, 365 * day, "year"},
	} {
		if d < u.below {
			n := int(d / u.unit)
			return fmt.Sprintf("%d %s%s ago", n, u.name, term.Plural(n))
		}
	}
	return t.UTC().Format(time.DateOnly)
}

// TimeCell is a time in a table.
func (e *Env) TimeCell(t time.Time) Cell {
	if t.IsZero() {
		return Cell{Full: "-"}
	}
	return Cell{Full: t.UTC().Format(time.RFC3339), Short: Ago(e.Now(), t)}
}

// AppendTime appends what timeCell has for scripts.
func AppendTime(b []byte, t time.Time) []byte {
	if t.IsZero() {
		return append(b, '-')
	}
	return t.UTC().AppendFormat(b, time.RFC3339)
}

// Local returns t as clocks show it where the user is: times for people are local, those for scripts in UTC.
func (e *Env) Local(t time.Time) time.Time { return t.In(e.Now().Location()) }

// DateText is when something was done, for people.
func (e *Env) DateText(t time.Time) string { return e.Local(t).Format("Mon Jan 2 15:04:05 2006 -0700") }

// SpanText is from when to when something went on, for people.
func (e *Env) SpanText(first, last time.Time) string {
	first, last = e.Local(first), e.Local(last)
	const day, minute = "2 Jan 2006", "15:04"
	if first.Format(day) == last.Format(day) {
		return first.Format(day+" "+minute) + " - " + last.Format(minute)
	}
	return first.Format(day+" "+minute) + " - " + last.Format(day+" "+minute)
}

// BytesText writes a number of bytes for people.
func BytesText(n int64) string {
	if n < 1000 {
		return fmt.Sprintf("%d B", n)
	}
	f := float64(n)
	for _, unit := range []string{"kB", "MB", "GB"} {
		f /= 1000
		if f < 999.95 {
			return fmt.Sprintf("%.1f %s", f, unit)
		}
	}
	return fmt.Sprintf("%.1f TB", f/1000)
}
