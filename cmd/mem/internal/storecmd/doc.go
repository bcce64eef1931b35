// Package storecmd has the commands that check, repair, shrink and configure the store.
package storecmd
