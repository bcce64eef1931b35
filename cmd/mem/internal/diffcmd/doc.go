// Package diffcmd has mem diff, which compares two texts.
package diffcmd
