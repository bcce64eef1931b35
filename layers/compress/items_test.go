package compress

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/tokens"
	"github.com/memvcs/mem/layers/version"
)

func TestSupersededEdits(t *testing.T) {
	const l1 = `{"n":1,"role":"user","text":"Keep the names of the queues."}
{"n":2,"role":"tool","name":"Edit","target":"queue.go:3","diff":"+const mainQueueName = strategy.Queue\n+}","result":"ok"}
{"n":3,"role":"tool","name":"Edit","target":"queue.go:9","diff":"+func namesOfQueues() []string {\n+}","result":"ok"}
{"n":4,"role":"tool","name":"Edit","target":"other.go:3","diff":"+const mainQueueName = strategy.Queue","result":"ok"}
{"n":5,"role":"user","text":"The name must come from paths."}
{"n":6,"role":"tool","name":"Edit","target":"queue.go:3","diff":"-const mainQueueName = strategy.Queue\n+const mainQueueName = paths.Queue\n-}\n+}","result":"ok"}
`
	items, err := Items(refine.Entries(strings.NewReader(l1)), nil)
	if err != nil {
		t.Fatal(err)
	}
	shown := map[int]bool{}
	for _, it := range items {
		if it.Kind == version.Edit {
			shown[it.N] = it.Diff != ""
		}
	}
	for n, want := range map[int]bool{2: false, 3: true, 4: true, 6: true} {
		if shown[n] != want {
			t.Errorf("the lines of the edit in message %d are shown: %v, want %v", n, shown[n], want)
		}
	}
}

// TestCodeByLevel checks that the minimal level leaves out no change if there is room, and that the others keep code in proportion
// to what was said.
func TestCodeByLevel(t *testing.T) {
	var l1 strings.Builder
	l1.WriteString(`{"n":1,"role":"user","text":"Move the queue of the night to the table."}` + "\n")
	for n := range 6 {
		fmt.Fprintf(&l1, `{"n":%d,"role":"tool","name":"Edit","target":"queue_%d.go:3","diff":"%s","result":"ok"}`+"\n", n+2, n,
			strings.Repeat(fmt.Sprintf(`+func moveJob%d(ctx context.Context) error {\n+}\n`, n), 6))
	}
	l1.WriteString(`{"n":9,"role":"assistant","text":"The queue is in the table now."}` + "\n")
	items, err := Items(refine.Entries(strings.NewReader(l1.String())), nil)
	if err != nil {
		t.Fatal(err)
	}
	for level, most := range map[keepit.Level]int{keepit.Minimal: 6, keepit.Moderate: 1, keepit.Aggressive: 0} {
		const budget = 5000
		r, err := Run(context.Background(), Input{Items: items}, planning.Plan{Engine: Extract{}.ID(), Tokenizer: tokens.For("").ID(), Budget: budget,
			Tiers: []planning.Part{{From: 1, To: 9, Budget: budget, Level: level}}}, Extract{})
		if err != nil {
			t.Fatal(err)
		}
		shown := 0
		for n := range 6 {
			if strings.Contains(version.Text(r.Segments), fmt.Sprintf("+func moveJob%d(", n)) {
				shown++
			}
		}
		if shown > most || level == keepit.Minimal && (shown < most || !r.Whole) {
			t.Errorf("%s: %d of 6 changes, want %d; whole: %v", level, shown, most, r.Whole)
		}
	}
}
