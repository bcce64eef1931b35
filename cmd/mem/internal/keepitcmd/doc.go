// Package keepitcmd has mem keepit, which lists, previews and edits markers.
//
// Its table of the fates of markers ([FateTable]) is also that of a compression.
package keepitcmd
