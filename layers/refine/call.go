package refine

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// limit cuts s in Lean mode.
func (r *refiner) limit(s string) string {
	if r.mode == Lean {
		return cut(s, 300)
	}
	return s
}

// otherLimit is the size of the input of an unknown tool that is kept.
const otherLimit = 2000

// call returns the entry of a tool call.
func (r *refiner) call(b transcript.Block) Entry {
	e := Entry{Role: "tool", Name: b.Name}
	in := gjson.ParseBytes(b.Input) // anything but an object has no members
	get := func(name string) string { return in.Get(name).String() }
	switch b.Name {
	case "Bash", "PowerShell":
		e.Cmd = r.limit(get("command"))
	case "Read":
		e.Target = r.path(get("file_path"))
		e.Lines = lines(in.Get("offset").Int(), in.Get("limit").Int())
	case "Edit", "MultiEdit", "Write", "NotebookEdit":
		r.edit(&e, in)
	case "Grep", "Glob":
		e.Target = get("pattern")
		where := get("path")
		if where = r.path(where); where == r.root {
			where = ""
		}
		if where = strings.TrimSpace(where + " " + get("glob")); where != "" {
			e.Target += " in " + where
		}
	case "Task", "Agent":
		e.Target = get("description")
		if kind := get("subagent_type"); kind != "" {
			e.Target = kind + ": " + e.Target
		}
	case "TodoWrite":
		e.Target = r.limit(r.todos(in.Get("todos")))
	case "TaskCreate":
		e.Target = get("subject")
	case "TaskUpdate":
		e.Target = strings.TrimSpace("#" + get("taskId") + " " + get("status"))
	case "ExitPlanMode":
		e.Said = r.limit(get("plan")) // also if a file has it: it is what the model says
	case "AskUserQuestion":
		var questions []string
		for _, q := range in.Get("questions.#.question").Array() {
			questions = append(questions, q.String())
		}
		e.Target = strings.TrimSpace(strings.Join(questions, "\n"))
	case "WebSearch":
		e.Target = get("query")
	case "WebFetch":
		e.Target = get("url")
	case "Skill":
		e.Target = strings.TrimSpace(get("skill") + get("command") + " " + get("args"))
	default:
		e.Target = r.other(b.Input, in)
	}
	if r.mode == Lean {
		e.Target = cut(e.Target, 300)
	}
	return e
}

// other returns the input of an unknown tool: its only string, or all of it.
func (r *refiner) other(raw []byte, in gjson.Result) string {
	n, only := 0, ""
	in.ForEach(func(_, v gjson.Result) bool {
		n++
		only = v.String()
		return true
	})
	switch n {
	case 0:
		return ""
	case 1:
		return cut(only, otherLimit)
	}
	return cut(string(raw), otherLimit)
}

func lines(offset, limit int64) string {
	if offset <= 0 && limit <= 0 {
		return ""
	}
	offset = max(offset, 1)
	if limit <= 0 {
		return strconv.FormatInt(offset, 10) + "-"
	}
	return strconv.FormatInt(offset, 10) + "-" + strconv.FormatInt(offset+limit-1, 10)
}

// edit fills the entry of a call that changes a file.
func (r *refiner) edit(e *Entry, in gjson.Result) {
	e.Target = r.path(in.Get("file_path").String() + in.Get("notebook_path").String())
	var d differ
	switch edits := in.Get("edits"); {
	case edits.IsArray():
		edits.ForEach(func(_, v gjson.Result) bool {
			d.add(v.Get("old_string").String(), v.Get("new_string").String())
			return true
		})
	case in.Get("content").Exists():
		d.add("", in.Get("content").String())
	case in.Get("new_source").Exists():
		d.add("", in.Get("new_source").String())
	default:
		d.add(in.Get("old_string").String(), in.Get("new_string").String())
	}
	e.Symbols = symbols(&d, e.Target)
	e.Diff = r.limit(d.String())
}

// todos returns the changes of the model's todo list. An item that was not completed and is not in the list any more, because
// it was reworded or given up, is dropped.
func (r *refiner) todos(list gjson.Result) string {
	if r.todoSize > heldLimit {
		clear(r.todo)
		r.todoSize = 0
	}
	var changed []string
	here := map[string]bool{}
	list.ForEach(func(_, v gjson.Result) bool {
		item, state := v.Get("content").String(), v.Get("status").String()
		here[item] = true
		if r.todo[item] != state {
			r.todo[strings.Clone(item)] = strings.Clone(state) // not the whole call
			r.todoSize += len(item) + len(state)
			changed = append(changed, state+": "+item)
		}
		return true
	})
	if !list.IsArray() {
		return strings.Join(changed, "\n")
	}
	for _, item := range slices.Sorted(maps.Keys(r.todo)) {
		if state := r.todo[item]; !here[item] {
			delete(r.todo, item)
			r.todoSize -= len(item) + len(state)
			if state == "pending" || state == "in_progress" {
				changed = append(changed, "dropped: "+item)
			}
		}
	}
	return strings.Join(changed, "\n")
}
