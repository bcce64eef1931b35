// Package tracecmd has the commands that compare texts and trace them to their sources: diff, blame, lineage,
// why.
package tracecmd
