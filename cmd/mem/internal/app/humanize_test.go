package app_test

import (
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

func TestAgo(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 20, 14, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		0: "0 seconds ago", 59 * time.Second: "59 seconds ago", time.Minute: "1 minute ago", 25 * time.Hour: "1 day ago",
		13 * 24 * time.Hour: "13 days ago", 15 * 24 * time.Hour: "2 weeks ago", 100 * 24 * time.Hour: "3 months ago",
		800 * 24 * time.Hour: "2 years ago", -time.Hour: "in the future",
	} {
		if got := app.Ago(now, now.Add(-d)); got != want {
			t.Errorf("ago(%v) = %q, want %q", d, got, want)
		}
	}
	for n, want := range map[int64]string{0: "0 B", 999: "999 B", 1000: "1.0 kB", 18_200_000: "18.2 MB", 999_960: "1.0 MB", 5e12: "5.0 TB"} {
		if got := app.BytesText(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
