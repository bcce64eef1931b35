package transcript

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// codexEvent sets what only events contain: the title, how many turns the user withdrew, and the tools that a script of the model called. The IDs of such
// calls start with "exec-". All other events repeat items.
func codexEvent(ev gjson.Result, rec *agentRec) {
	var blocks []agentBlock
	switch item := ev.Get("item"); ev.Get("type").Str {
	case "thread_name_updated":
		if name := ev.Get("thread_name").Str; name != "" {
			rec.Type, rec.Title = "custom-title", name
		}
	case "thread_rolled_back":
		rec.RewindTurns = max(int(ev.Get("num_turns").Int()), 0)
	case "patch_apply_end":
		blocks = codexDone("FileChange", ev.Get("call_id").Str, ev)
	case "item_completed":
		blocks = codexDone(item.Get("type").Str, item.Get("id").Str, item)
	}
	if len(blocks) > 0 {
		rec.Type, rec.Message = "assistant", &agentMessage{Role: "assistant", Content: blocks}
	}
}

// codexDone returns the calls of a finished tool, and their results.
func codexDone(kind, id string, d gjson.Result) (out []agentBlock) {
	status, success := d.Get("status").Str, d.Get("success") // success is of patch_apply_end
	switch {
	case !strings.HasPrefix(id, "exec-"):
	case kind == "CommandExecution":
		return []agentBlock{shellCall(id, textsOf(d.Get("command"))),
			result(id, d.Get("aggregated_output").Str, status == "failed", int(d.Get("exit_code").Int()))}
	case kind == "FileChange":
		changes := d.Get("changes").Map()
		for i, path := range slices.Sorted(maps.Keys(changes)) {
			id := patchID(id, i)
			out = append(out, codexChange(id, path, changes[path]),
				result(id, "", success.Type == gjson.False || status == "failed" || status == "declined", 0))
		}
	}
	return out
}

// codexChange returns the change of one file by a patch as an edit.
func codexChange(id, path string, c gjson.Result) agentBlock {
	kind, content := c.Get("type").Str, c.Get("content").Str
	if kind == "add" {
		return call(id, "Write", map[string]string{"file_path": path, "content": content})
	}
	var before, after []string
	for line := range strings.SplitSeq(strings.TrimSuffix(c.Get("unified_diff").Str, "\n"), "\n") {
		before, after = patchLine(line, before, after)
	}
	if kind == "delete" {
		before = []string{content}
	}
	return call(id, "Edit", map[string]string{"file_path": cmp.Or(c.Get("move_path").Str, path),
		"old_string": strings.Join(before, "\n"), "new_string": strings.Join(after, "\n")})
}
