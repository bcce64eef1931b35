package revision_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/planning"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// FuzzResolve gives names to a memory with sessions, versions and a composition: each stands for something that is there, or
// the error says what is not.
func FuzzResolve(f *testing.F) {
	ctx := context.Background()
	o := layerstest.TestOptions()
	m, err := layers.Init(ctx, filepath.Join(f.TempDir(), "memory"), "desk", o)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { m.Close() })
	sources, err := capture.Sources(filepath.Join("..", "..", "testdata", "transcripts"))
	if err != nil {
		f.Fatal(err)
	}
	added, err := capture.Add(ctx, m.DB, sources, capture.AddOptions{})
	if err != nil {
		f.Fatal(err)
	}
	sc := state.Scope{Project: added[0].Project}
	rev, err := revision.Resolve(ctx, m.DB, sc, added[0].Session)
	if err != nil {
		f.Fatal(err)
	}
	for _, ratio := range []int{2, 3} {
		if _, err := derive.Compress(ctx, m.DB, rev, planning.Settings{Ratio: ratio}, false); err != nil {
			f.Fatal(err)
		}
	}
	if _, err := derive.Compose(ctx, m.DB, derive.ComposeRequest{Project: rev.Project, Name: "feature-x", Parts: []derive.ComposePart{{Rev: rev}}, Budget: 4000}); err != nil {
		f.Fatal(err)
	}
	id := rev.Session.ID
	for _, s := range []string{
		"@", "@~1", "@~-1", "@~99999999999999999999", id, id[:4], id[:4] + ":v001", "v002", "v2", "v0", "v+1", "v002~ab", id[:4] + ":latest", id[:4] + ":original",
		id[:4] + ":L1", id[:4] + ":l2", id[:4] + "#1", id[:4] + "#1..3", id[:4] + "#3..1", id[:4] + "#0", id[:4] + "#1..999999999999999999999", "feature-x",
		"feature-x@{0}", "feature-x@{1}", "feature-x@{", "b3:", "b3:" + rev.Hash.String()[:8], "b3:zz", "HEAD", "HEAD~1", "HEAD~x", "", ":", "#", "::", "@:v001", "@#1",
		"f:", "c:", "r:12345678", "\xff:v001",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, scope := range []state.Scope{sc, {Project: sc.Project, Last: rev.Session, Strict: true}, {Project: projects.ProjectOf("path /home/dev/none", "/home/dev/none")}} {
			got, err := revision.Resolve(ctx, m.DB, scope, s)
			var missing *state.NotFoundError
			var ambiguous *state.AmbiguousError
			switch {
			case err == nil:
				checkRev(t, s, got)
			case errors.As(err, &missing), errors.As(err, &ambiguous), errors.Is(err, revision.ErrLayer), errors.Is(err, objects.ErrNotFound):
			default:
				t.Errorf("%q: %v", s, err)
			}
		}
	})
}

// checkRev checks that what a kind of revision needs is there.
func checkRev(t *testing.T, s string, r state.Rev) {
	t.Helper()
	ok := r.Name() != ""
	switch r.Kind {
	case state.IsSession, state.IsOriginal, state.IsL1:
		ok = ok && r.Session != nil
	case state.IsMessages:
		ok = ok && r.Session != nil && 1 <= r.From && r.From <= r.To && r.To <= r.Session.Now().Scan.Values
	case state.IsVersion:
		ok = ok && r.Session != nil && r.Version != nil && r.Hash == r.Version.Derivation.Output && r.Version.Session == r.Session.ID
	case state.IsComposition:
		ok = ok && r.Composition != nil && r.Hash == r.Composition.Derivation.Output
	case state.IsObject:
		ok = ok && !r.Hash.IsZero()
	case state.IsCommit:
		ok = ok && r.Commit != ""
	}
	if !ok || r.Kind == "" {
		t.Errorf("%q is %+v", s, r)
	}
}
