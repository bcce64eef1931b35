package compress

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/version"
)

func TestNameOf(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, want string
	}{
		{"1. **Source commit tracking** - Added a field to the metadata", "Source commit tracking - Added a field to the metadata"},
		{"- **Dedup:** the hash of all paths", "Dedup: the hash of all paths"},
		{"- `queue.go` - reads the jobs; slowly", "`queue.go` - reads the jobs, slowly"},
		{"   - `cd` to the root of the repository", "`cd` to the root of the repository"},
		{"* Redis: faster, and one more server", "Redis: faster, and one more server"},
		{"2) Parse the answer (JSON only)", "Parse the answer (JSON only)"},
		{"- Retries when the lock of the store is lost by its holder, and gives up after nine of them", "Retries when the lock of the store is lost by its holder"},
		{"| Create | `cart.go` | the cart |", "Create: `cart.go`: the cart"},
		{"| Create | `cart.go` | the cart has all that the user has put into it and not yet taken out of it |", "Create: `cart.go`"},
		{"- **Medium**: the prefix of the hash of a branch is compared with that of another one by its length", "Medium: the prefix of the hash of a branch is compared with that of another one…"},
		{"[4 more: a; b]", "a; b"},
	} {
		if got := nameOf(c.text); got != c.want {
			t.Errorf("nameOf(%q) = %q, want %q", c.text, got, c.want)
		}
	}
}

// TestNamesAgain holds that the names of what was left out stay in a version of a version, and that their number counts.
func TestNamesAgain(t *testing.T) {
	t.Parallel()
	segs := []version.Segment{
		{Role: "heading", Text: "#1 · Feb 11 15:39", Src: [][2]int{{1, 1}}},
		{Role: "user", Text: "What changed in the queue?", Src: [][2]int{{1, 1}}},
		{Role: "assistant", Src: [][2]int{{2, 2}}, Text: "These parts changed:\n\n1. **Reader** - " + strings.Repeat("it reads the jobs of a night in one piece, ", 9) +
			"\n2. **Writer** - " + strings.Repeat("it writes each of the jobs to the table once, ", 9) + "\n[3 more: Lock; Log; Table]"},
	}
	items := Recall(segs)
	const all = "[4 more: Writer - it writes each of the jobs to the table once; Lock; Log; Table]"
	seen := map[string]bool{}
	for budget := 30; budget < 520; budget += 5 {
		r, err := Run(t.Context(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: "o200k*1.60/1", Budget: budget,
			Tiers: []planning.Part{{From: 1, To: 2, Budget: budget, Level: 2}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		text := version.Text(r.Segments)
		for _, names := range []string{all, "[3 more: Lock; Log; Table]"} {
			seen[names] = seen[names] || strings.Contains(text, names)
		}
		if strings.Contains(text, "**Reader**") && !strings.Contains(text, "Lock; Log; Table]") {
			t.Errorf("%d tokens: the list looks complete:\n%s", budget, text)
		}
	}
	if !seen["[3 more: Lock; Log; Table]"] || !seen[all] {
		t.Errorf("seen %v", seen)
	}
}
