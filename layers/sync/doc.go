// Package sync pushes to remotes and fetches from them.
package sync
