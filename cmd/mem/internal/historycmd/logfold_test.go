package historycmd_test

import (
	"testing"
	"time"

	"github.com/memvcs/mem/cmd/mem/internal/historycmd"
	"github.com/memvcs/mem/refs"
)

// TestFolded folds the captures of a session on a day into one line and leaves everything else alone.
func TestFolded(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 1, 20, 23, 0, 0, 0, time.UTC)
	capture := func(hours int, device, session, subject string) refs.Entry {
		return refs.Entry{
			Project: "p", Device: device, Time: day.Add(time.Duration(-hours) * time.Hour), Subject: subject,
			Trailers: []string{"Mem-Op: capture", "Mem-Session: " + session},
		}
	}
	made := refs.Entry{Project: "p", Device: "d", Time: day.Add(-2 * time.Hour), Subject: "compress a:v001",
		Trailers: []string{"Mem-Op: compress", "Mem-Session: a"}}
	list := []refs.Entry{
		capture(0, "d", "a", "capture a  +3 lines"),
		capture(1, "d", "b", "capture b  +1 line"),
		made,
		capture(3, "d", "a", "capture a  +1 line, 2 turns rewound"),
		capture(4, "e", "a", "capture a  +7 lines"),
		capture(5, "d", "a", `capture a "Title"`),
		capture(24, "d", "a", "capture a  +2 lines"),
		{Project: "p", Device: "d", Time: day.Add(-25 * time.Hour), Subject: "import 8 sessions", Trailers: []string{"Mem-Op: import"}},
		{Project: "p", Device: "d", Time: day.Add(-25 * time.Hour), Subject: "import 8 sessions", Trailers: []string{"Mem-Op: import"}},
	}
	want := []string{
		`capture a "Title"  +4 lines, 2 turns rewound (3 captures)`, "capture b  +1 line", "compress a:v001", "capture a  +7 lines",
		"capture a  +2 lines", "import 8 sessions", "import 8 sessions",
	}
	var got []string
	for _, en := range historycmd.Folded(list) {
		got = append(got, en.Subject)
	}
	if len(got) != len(want) {
		t.Fatalf("folded = %q, want %q", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("line %d is %q, want %q", i, got[i], want[i])
		}
	}
}
