//go:build unix && torture

package main

// lanesTier is how much [TestTortureLanes] does when MEM_TORTURE does not say.
const lanesTier = "commit"
