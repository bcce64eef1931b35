// Package storecmd has the commands that create, configure and shrink the store.
package storecmd
