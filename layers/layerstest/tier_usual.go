//go:build !torture

package layerstest

// UsualTier is how much tests do when MEM_TORTURE does not say.
const UsualTier = ""
