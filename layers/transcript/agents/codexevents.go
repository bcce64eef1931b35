package agents

import (
	"encoding/json"
	"slices"
	"strings"
)

// A codexChange is the change of one file by a patch.
type codexChange struct {
	Type    string `json:"type"` // add, delete, update
	Content string `json:"content"`
	Diff    string `json:"unified_diff"`
	Moved   string `json:"move_path"`
}

// A codexDone is a finished tool call, as an event reports it.
type codexDone struct {
	Type    string                 `json:"type"`
	ID      string                 `json:"id"`
	CallID  string                 `json:"call_id"` // of patch_apply_end
	Success *bool                  `json:"success"` // of patch_apply_end
	Status  string                 `json:"status"`
	Changes map[string]codexChange `json:"changes"`
	Command []string               `json:"command"`
	Output  string                 `json:"aggregated_output"`
	Exit    int                    `json:"exit_code"`
}

// codexEvent sets what only events contain: the title, how many turns the user withdrew, and the tools that a script of the model called. The IDs of such
// calls start with "exec-". All other events repeat items.
func codexEvent(payload json.RawMessage, rec *Rec) {
	var ev struct {
		Type  string    `json:"type"`
		Name  string    `json:"thread_name"`
		Turns int       `json:"num_turns"`
		Item  codexDone `json:"item"`
	}
	if json.Unmarshal(payload, &ev) != nil {
		return
	}
	var done codexDone
	switch ev.Type {
	case "thread_name_updated":
		if ev.Name != "" {
			rec.Type, rec.Title = "custom-title", ev.Name
		}
		return
	case "thread_rolled_back":
		rec.RewindTurns = max(ev.Turns, 0)
		return
	case "patch_apply_end":
		if json.Unmarshal(payload, &done) != nil {
			return
		}
		done.Type, done.ID = "FileChange", done.CallID
	case "item_completed":
		done = ev.Item
	}
	if !strings.HasPrefix(done.ID, "exec-") {
		return
	}
	if blocks := done.blocks(); len(blocks) > 0 {
		rec.Type, rec.Message = "assistant", &Message{Role: "assistant", Content: blocks}
	}
}

// blocks returns the calls of a finished tool, and their results.
func (d codexDone) blocks() (out []Block) {
	switch d.Type {
	case "CommandExecution":
		return []Block{shellCall(d.ID, d.Command), result(d.ID, d.Output, d.Status == "failed", d.Exit)}
	case "FileChange":
		paths := make([]string, 0, len(d.Changes))
		for path := range d.Changes {
			paths = append(paths, path)
		}
		slices.Sort(paths)
		failed := d.Success != nil && !*d.Success || d.Status == "failed" || d.Status == "declined"
		for i, path := range paths {
			id := patchID(d.ID, i)
			out = append(out, d.Changes[path].call(id, path), result(id, "", failed, 0))
		}
	}
	return out
}

// call returns a change as an edit.
func (c codexChange) call(id, path string) Block {
	if c.Type == "add" {
		return call(id, "Write", map[string]string{"file_path": path, "content": c.Content})
	}
	var before, after []string
	for line := range strings.SplitSeq(strings.TrimSuffix(c.Diff, "\n"), "\n") {
		before, after = patchLine(line, before, after)
	}
	if c.Type == "delete" {
		before = []string{c.Content}
	}
	if c.Moved != "" {
		path = c.Moved
	}
	return call(id, "Edit", map[string]string{"file_path": path, "old_string": strings.Join(before, "\n"),
		"new_string": strings.Join(after, "\n")})
}
