// Package mcpcmd has mem mcp, which serves memory to a model over the Model Context Protocol.
//
// Its tools answer as the commands of the same names do. Every answer is structured, with a schema that the SDK infers
// from its Go type.
//
// A tool serves less than its command. No user reads the answer before the model does, so removed, forgotten and
// revoked data is never served, and other projects are searched only on request.
package mcpcmd
