package forget_test

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/lineage"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// TestForgetManyVersions forgets a message of a session that has many versions: all are made again under their labels, and a commit
// has many of them.
func TestForgetManyVersions(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	ctx := context.Background()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	var text strings.Builder
	for i := range 60 {
		text.WriteString(layerstest.UserLine(i, fmt.Sprintf("step %d of the work on module %d, told at length so that there is something to leave out: %s", i, i*7, strings.Repeat("word ", 10))))
	}
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), text.String()))[0].Project
	rev := layerstest.RevOf(t, m, "s1")
	const versions = forget.RebuildBatch + 6
	for i := range versions {
		if _, err := derive.Compress(ctx, m.DB, rev, compress.Settings{Tokens: 400 + 5*i}, false); err != nil {
			t.Fatal(err)
		}
	}
	out := layerstest.ForgetText(t, m, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, m, "s1#50")}})
	rebuilt := 0
	for _, x := range out.Things {
		if x.Kind == "version" && x.Rebuilt {
			rebuilt++
		}
	}
	st, err := trust.State(ctx, m.DB, p.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i := range versions {
		if label := fmt.Sprintf("v%03d", i+1); st.Free(rev.Session.ID, m.Refs.Device().ID, label) {
			t.Errorf("%s is not there", label)
		}
	}
	commits := 0
	for _, err := range m.Refs.Log(ctx, p.ID, nil) {
		if err != nil {
			t.Fatal(err)
		}
		commits++
	}
	if rebuilt != versions || len(st.Versions) != versions || commits > 3 {
		t.Errorf("%d versions were to be made again, %d are there, in %d commits; want %d in 3", rebuilt, len(st.Versions), commits, versions)
	}
	layerstest.Roots(t, m)
}

// TestForgetLongChain forgets a session from which a chain of versions was derived, each from the next in the order of
// the records. It takes the same time for each version.
func TestForgetLongChain(t *testing.T) {
	layerstest.SkipShort(t)
	t.Parallel()
	m := layerstest.NewMemory(t, layerstest.TestOptions())
	p := layerstest.Add(t, m, layerstest.Write(t, filepath.Join(t.TempDir(), "s1.jsonl"), layerstest.UserLine(1, "hello")+layerstest.UserLine(2, "zaphod")))[0].Project.ID
	const versions = 2000
	output := func(i int) objects.Hash { return objects.Sum(fmt.Append(nil, "version ", i)) }
	err := m.Refs.Update(t.Context(), p, "compress", func(tx *refs.Tx) error {
		tx.Trailer("Op", "compress")
		for i := range versions {
			d := lineage.Derivation{Recipe: lineage.Recipe{Step: "compress", Version: 1, Params: []byte("{}")},
				Inputs: []objects.Hash{output(i + 1)}, Output: output(i)}
			if i == versions-1 {
				d.Inputs[0] = layerstest.RevOf(t, m, "s1").Session.Now().Original
			}
			v := records.Version{Session: "s2", Label: fmt.Sprintf("v%03d", i+1), Derivation: d, Engine: "chain/1"}
			if _, err := tx.Add(records.KindVersion, v); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	out := layerstest.ForgetText(t, m, forget.ForgetOptions{Match: regexp.MustCompile("zaphod"), DryRun: true})
	n := 0
	for _, x := range out.Things {
		if x.Kind == "version" {
			n++
		}
	}
	if n != versions {
		t.Errorf("%d versions are forgotten, want %d", n, versions)
	}
}
