package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// initialize is the first message of a client.
const initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`

// barMCP measures mem mcp from its start until it has answered "initialize" and ended, and mem without the SDK.
func (b *bench) barMCP() ([]row, error) {
	input := filepath.Join(b.tmp, "initialize.jsonl")
	if err := os.WriteFile(input, []byte(initialize+"\n"), 0o600); err != nil {
		return nil, err
	}
	version := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	serve := &probe{name: "mem mcp", argv: []string{b.mem, "mcp"}, in: input, keep: true}
	if err := b.repeat(5, version, serve); err != nil {
		return nil, err
	}
	if !strings.Contains(string(serve.stdout), `"serverInfo":{"name":"mem"`) {
		return nil, fmt.Errorf("mem mcp answers %q", serve.stdout)
	}
	bare, err := b.withoutSDK()
	if err != nil {
		return nil, err
	}
	with := &probe{name: "mem version", argv: []string{b.mem, "version"}}
	without := &probe{name: "mem version without the SDK", argv: []string{bare, "version"}}
	if err := b.repeat(40, with, without); err != nil { // some tenths of a millisecond are looked for
		return nil, err
	}
	return []row{
		more("start of `mem mcp` up to its answer to `initialize`, more than `mem version`", serve, version, 10),
		more("start of the binary (`mem version`), more than without the MCP SDK", with, without, .3),
	}, nil
}

// more makes the row "how much longer than q p takes".
func more(what string, p, q *probe, most float64) row {
	d, least := atMost(most)
	return row{
		Bar: "mcp", What: what, Unit: "ms", Demand: d, Least: least, Value: p.median() - q.median(),
		Detail: fmt.Sprintf("%v, %v, %d runs", p, q, len(p.wall)),
	}
}

// withoutSDK builds mem with an MCP server that does nothing.
func (b *bench) withoutSDK() (string, error) {
	stub := filepath.Join(b.tmp, "server.go")
	text := `package mcp

import (
	"context"
	"io"
)

func Serve(context.Context, Memory, io.ReadCloser, io.WriteCloser, Options) error { return nil }
`
	if err := os.WriteFile(stub, []byte(text), 0o600); err != nil {
		return "", err
	}
	dir := filepath.Join(b.root, "cmd", "mem", "internal", "mcp")
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{
		filepath.Join(dir, "server.go"): stub, filepath.Join(dir, "drain.go"): "",
	}})
	if err != nil {
		return "", err
	}
	name, bin := filepath.Join(b.tmp, "overlay.json"), filepath.Join(b.tmp, "mem-without-sdk")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		return "", err
	}
	return bin, compile(bin, "cmd/mem", "-overlay", name)
}
