// Package repair verifies a store and restores lost data from remotes and session files.
package repair
