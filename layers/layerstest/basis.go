package layerstest

import (
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/state"
)

// VersionRev returns the revision of a version that was made.
func VersionRev(rev state.Rev, c derive.CompressResult) state.Rev {
	rev.Kind, rev.Version, rev.Hash = state.IsVersion, c.Version, c.Version.Derivation.Output
	return rev
}
