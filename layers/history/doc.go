// Package history undoes and redoes operations.
package history
