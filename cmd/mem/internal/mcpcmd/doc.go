// Package mcpcmd has mem mcp, the MCP server: it answers the calls of package mcp as the commands of the same names do.
//
// A tool serves less than its command. No user reads the answer before the model does, so removed, forgotten and
// revoked data is never served, and other projects are searched only on request.
package mcpcmd
