// Package history lists, undoes and redoes the operations of projects.
package history
