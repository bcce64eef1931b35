package compress

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/refine"
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
		if it.Kind == Edit {
			shown[it.N] = it.Diff != ""
		}
	}
	for n, want := range map[int]bool{2: false, 3: true, 4: true, 6: true} {
		if shown[n] != want {
			t.Errorf("the lines of the edit in message %d are shown: %v, want %v", n, shown[n], want)
		}
	}
}
