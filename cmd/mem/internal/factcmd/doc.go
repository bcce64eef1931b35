// Package factcmd has mem facts, which lists, checks and edits facts.
package factcmd
