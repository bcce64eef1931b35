package trust

// HiddenBy is hiddenBy for tests that import packages above this one.
var HiddenBy = hiddenBy
