// Package textdiff finds the differences of two texts, by words ([Words]) or by lines ([Unified]).
//
// Lists are split at elements that occur once on both sides, which gives readable results for prose in almost linear
// time.
package textdiff
