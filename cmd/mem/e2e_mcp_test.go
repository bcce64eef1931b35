//go:build e2e

package main_test

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/mcpcmd"
)

// served is how the client names a tool of the MCP server of the plugin.
func served(tool string) string { return "mcp__plugin_mem_mem__" + tool }

// insideMCP lets the client start the MCP server that the plugin's .mcp.json names, and call its tools.
func insideMCP(t *testing.T) {
	d := newDesk(t)
	first := d.print(decision)
	d.captured(first.SessionID, "a session to search")

	results := d.calls([]block{{tool: served("search"), in: map[string]any{"query": "heron-4711"}}})
	var found mcpcmd.SearchOut
	if err := json.Unmarshal([]byte(results[0].text()), &found); err != nil || results[0].IsError || len(found.Hits) == 0 {
		t.Fatalf("search answers %+v, %v", results[0], err)
	}
	hit := found.Hits[0]
	if !strings.HasPrefix(hit.Ref, first.SessionID[:8]+"#") || !strings.Contains(hit.Request+hit.Line, "heron-4711") {
		t.Errorf("the first hit is %+v, want what was decided in %s", hit, first.SessionID)
	}

	results = d.calls([]block{{tool: served("show"), in: map[string]any{"ref": hit.Ref}}},
		[]block{{tool: served("show"), in: map[string]any{"ref": "0000000f"}}})
	var page mcpcmd.ShowOut
	if err := json.Unmarshal([]byte(results[0].text()), &page); err != nil || !strings.Contains(page.Text, decision) {
		t.Errorf("show %s answers %+v, %v", hit.Ref, results[0], err)
	}
	if !results[1].IsError || !strings.Contains(results[1].text(), "no session") {
		t.Errorf("show of a session that does not exist answers %+v", results[1])
	}

	d.ok("revoke", first.SessionID, "--reason", "wrong", "--yes")
	results = d.calls([]block{{tool: served("show"), in: map[string]any{"ref": hit.Ref}}})
	if !results[0].IsError || strings.Contains(results[0].text(), "heron-4711") {
		t.Errorf("show of a revoked session answers %+v", results[0])
	}
	d.waitFor("the servers to end", func() bool {
		out, err := exec.Command("pgrep", "-f", d.Bin+" mcp").Output()
		return err != nil || len(bytes.TrimSpace(out)) == 0
	})
}

// calls lets a session load the tools of mem and call some, and returns the results that the client sends back. The
// client offers the tools of servers by name; the model loads them with the tool ToolSearch.
func (d *desk) calls(turns ...[]block) (results []apiBlock) {
	d.t.Helper()
	load := map[string]any{"query": "select:" + served("search") + "," + served("show")}
	d.api.script(append(append([][]block{{{tool: "ToolSearch", in: load}}}, turns...), []block{{text: "Done."}})...)
	if a := d.print("Look it up."); a.Result != "Done." {
		d.t.Fatalf("the session ends with %+v", a)
	}
	asked := d.api.asked()
	for _, m := range asked[len(asked)-1].Messages {
		for _, c := range m.Content {
			if c.Type == "tool_result" {
				results = append(results, c)
			}
		}
	}
	if len(results) != len(turns)+1 {
		d.t.Fatalf("the client sends %d results, want that of ToolSearch and %d: %+v", len(results), len(turns), results)
	}
	return results[1:]
}

// text returns the text of a result.
func (b apiBlock) text() string { return apiMessage{Content: b.Content}.text() }
