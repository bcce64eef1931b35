package app

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
)

const day = 24 * time.Hour

// ages returns the units of [Ago].
func ages() []humanize.RelTimeMagnitude {
	return []humanize.RelTimeMagnitude{
		{D: time.Second, Format: "%d seconds %s", DivBy: time.Second}, {D: 2 * time.Second, Format: "1 second %s", DivBy: 1},
		{D: time.Minute, Format: "%d seconds %s", DivBy: time.Second}, {D: 2 * time.Minute, Format: "1 minute %s", DivBy: 1},
		{D: time.Hour, Format: "%d minutes %s", DivBy: time.Minute}, {D: 2 * time.Hour, Format: "1 hour %s", DivBy: 1},
		{D: day, Format: "%d hours %s", DivBy: time.Hour}, {D: 2 * day, Format: "1 day %s", DivBy: 1},
		{D: 14 * day, Format: "%d days %s", DivBy: day}, {D: 60 * day, Format: "%d weeks %s", DivBy: 7 * day},
		{D: 730 * day, Format: "%d months %s", DivBy: 30 * day}, {D: 1 << 62, Format: "%d years %s", DivBy: 365 * day},
	}
}

// Ago returns the age of t at now for people, such as "3 days ago". Scripts get RFC 3339 in UTC.
func Ago(now, t time.Time) string {
	if now.Before(t) {
		return "in the future"
	}
	return humanize.CustomRelTime(t, now, "ago", "", ages())
}

// TimeCell is a time in a table.
func (e *Env) TimeCell(t time.Time) Cell {
	if t.IsZero() {
		return Cell{Full: "-"}
	}
	return Cell{Full: t.UTC().Format(time.RFC3339), Short: Ago(e.Now(), t)}
}

// Local returns t in the user's time zone. Times for people are local, times for scripts are in UTC.
func (e *Env) Local(t time.Time) time.Time { return t.In(e.Now().Location()) }

// DateText returns t in local time for people, as git prints dates; "" for none.
func (e *Env) DateText(t time.Time) string {
	return If(!t.IsZero(), e.Local(t).Format("Mon Jan 2 15:04:05 2006 -0700"))
}

// SpanText returns the period from first to last for people, "" for none.
func (e *Env) SpanText(first, last time.Time) string {
	if first.IsZero() {
		return ""
	}
	first, last = e.Local(first), e.Local(last)
	const date, minute = "2 Jan 2006", "15:04"
	if first.Format(date) == last.Format(date) {
		return first.Format(date+" "+minute) + " - " + last.Format(minute)
	}
	return first.Format(date+" "+minute) + " - " + last.Format(date+" "+minute)
}

// BytesText returns a number of bytes for people, such as "82.9 MB".
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
