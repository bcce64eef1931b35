// Package names resolves what the user calls projects, sessions and versions, and completes such names.
package names
