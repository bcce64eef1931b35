// Package statscmd has mem stats, which prints figures, and the commands for two of its parts: cost and count.
package statscmd
