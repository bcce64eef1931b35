//go:build !torture

package main_test

// usualTier is how much [TestTorture] does when MEM_TORTURE does not say.
const usualTier = ""
