// Package conceptcmd has mem concepts, which lists and edits concepts.
package conceptcmd
