package agents

import (
	"fmt"
	"strings"
)

// patchCalls returns the changes of a patch in Codex's format as edits, one a file. The first has the id of the
// call, which its result names.
func patchCalls(id, patch string) (out []Block) {
	var path string
	var before, after []string
	add := false
	flush := func() {
		if path == "" {
			return
		}
		at := id
		if len(out) > 0 {
			at = fmt.Sprintf("%s#%d", id, len(out)+1)
		}
		if add {
			out = append(out, call(at, "Write", map[string]string{"file_path": path, "content": strings.Join(after, "\n")}))
		} else {
			out = append(out, call(at, "Edit", map[string]string{"file_path": path, "old_string": strings.Join(before, "\n"),
				"new_string": strings.Join(after, "\n")}))
		}
		path, before, after, add = "", nil, nil, false
	}
	for line := range strings.SplitSeq(patch, "\n") {
		name, marked := fileOf(line)
		switch {
		case marked:
			flush()
			path, add = name, strings.HasPrefix(line, "*** Add File: ")
		case strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "@@"):
		case strings.HasPrefix(line, "+"):
			after = append(after, line[1:])
		case strings.HasPrefix(line, "-"):
			before = append(before, line[1:])
		case strings.HasPrefix(line, " "):
			before, after = append(before, line[1:]), append(after, line[1:])
		}
	}
	flush()
	if len(out) == 0 {
		return []Block{call(id, "apply_patch", map[string]string{"patch": patch})}
	}
	return out
}

// fileOf returns the file that a line of a patch names.
func fileOf(line string) (string, bool) {
	for _, mark := range []string{"*** Add File: ", "*** Update File: ", "*** Delete File: "} {
		if name, ok := strings.CutPrefix(line, mark); ok {
			return strings.TrimSpace(name), true
		}
	}
	return "", false
}
