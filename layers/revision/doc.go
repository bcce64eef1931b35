// Package revision resolves the names of revisions on the command line.
package revision
