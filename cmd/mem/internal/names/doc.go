// Package names resolves and completes the names of projects, sessions and versions on the command line.
package names
