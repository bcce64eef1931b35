// Package exportcmd has the commands that write memory to files: checkout and resume for Claude Code, export for other
// readers (archives, pages and JSON).
package exportcmd
