package layerstest

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// TalkMemory is a memory with a session of n requests, one of them pinned.
func TalkMemory(t *testing.T, n int, caps state.Caps, clock ...func() time.Time) (*layers.Memory, state.Rev) {
	t.Helper()
	o := TestOptions()
	if len(clock) > 0 {
		o.Now = clock[0]
	}
	o.Caps = caps
	m := NewMemory(t, o)
	var b strings.Builder
	for i := 1; i <= n; i++ {
		text := fmt.Sprintf("Request%d wants function doThing%d in pkg/part%d/file.go to be faster, please and thank you very much.", i, i, i)
		if i == 3 {
			text = "##keepit1.00##Never use channels in pkg/hot.##/keepit##"
		}
		b.WriteString(UserLine(i, text))
	}
	Add(t, m, Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), b.String()))
	ctx := context.Background()
	ids, err := m.Repo().Projects()
	if err != nil || len(ids) != 1 {
		t.Fatalf("%v, %v", ids, err)
	}
	st, err := trust.State(ctx, m.DB, ids[0])
	if err != nil {
		t.Fatal(err)
	}
	return m, state.Rev{Kind: state.IsSession, Project: state.Project{ID: ids[0], Name: "shop"}, Session: st.Sessions[0]}
}

var NoCaps = state.Caps{Tokens: -1, Micros: -1}
