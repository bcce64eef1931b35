package incoming

import (
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/refstest"
)

// audit audits a lane of a store and returns the faults.
func audit(t *testing.T, r *refs.Repo, g *gitstore.Repo, l refs.Lane, full bool) (n Counts, faults []string) {
	t.Helper()
	key, err := Audit(t.Context(), r, g, l, "", full, &n, func(path string, err error) { faults = append(faults, path+": "+err.Error()) })
	if err != nil || len(faults) == 0 && key != r.Device().PublicKey() {
		t.Errorf("audit: the key %q, %v", key, err)
	}
	return n, faults
}

// TestAudit audits a lane with all of its content and without: the counts are the same. [TestHostileLanes] audits bad ones.
func TestAudit(t *testing.T) {
	t.Parallel()
	r := refstest.New(t)
	refstest.Populate(t, r)
	own := refstest.OwnLane(t, r)
	light, faults := audit(t, r, r.Git(), own, false)
	all, more := audit(t, r, r.Git(), own, true)
	if len(faults)+len(more) > 0 {
		t.Errorf("faults of a good lane: %q, %q", faults, more)
	}
	if all.Bytes == 0 || light.Bytes != 0 {
		t.Errorf("%d and %d bytes are hashed", light.Bytes, all.Bytes)
	}
	if all.Bytes, light.Bytes = 0, 0; light != all {
		t.Errorf("light: %+v, full: %+v", light, all)
	}
}
