// Package stats computes statistics: the size and growth of a store, the results of compressions, the cost of models
// and the runs of hooks. It changes nothing. The figures of a store come from one walk over its commits; those of
// sessions, versions and markers from the state of each project.
package stats
