// Package storecmd has the commands that check, repair, shrink and configure the store, and the plumbing commands.
package storecmd
