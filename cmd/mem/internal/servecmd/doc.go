// Package servecmd has the commands that serve memory: the browser, the tokens of its API, and MCP.
package servecmd
