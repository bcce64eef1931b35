package api

import "time"

// TimeText writes a time as RFC 3339 in UTC, "" for the zero time.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
