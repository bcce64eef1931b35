//go:build !torture

package layers

// usualTier is how much tests do when MEM_TORTURE does not say.
const usualTier = ""
