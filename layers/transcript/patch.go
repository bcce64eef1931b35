package transcript

import (
	"fmt"
	"slices"
	"strings"
)

// patchCalls returns the changes of a patch in Codex's format as edits, one per file. The first has the id of the
// call, which its result refers to. A renamed file is an edit of the new name.
func patchCalls(id, patch string) (out []agentBlock) {
	var path string
	var before, after []string
	add := false
	flush := func() {
		if path == "" {
			return
		}
		at := patchID(id, len(out))
		if add {
			out = append(out, call(at, "Write", map[string]string{"file_path": path, "content": strings.Join(after, "\n")}))
		} else {
			out = append(out, call(at, "Edit", map[string]string{"file_path": path, "old_string": strings.Join(before, "\n"),
				"new_string": strings.Join(after, "\n")}))
		}
		path, before, after, add = "", nil, nil, false
	}
	for line := range strings.SplitSeq(patch, "\n") {
		line = strings.TrimSuffix(line, "\r")
		if moved, ok := strings.CutPrefix(line, "*** Move to: "); ok && path != "" {
			path = strings.TrimSpace(moved)
			continue
		}
		if name, ok := fileOf(line); ok {
			flush()
			path, add = name, strings.HasPrefix(line, "*** Add File: ")
			continue
		}
		before, after = patchLine(line, before, after)
	}
	flush()
	if len(out) == 0 {
		return []agentBlock{call(id, "apply_patch", map[string]string{"patch": patch})}
	}
	return out
}

// patchID returns the id of the change with that index in a patch.
func patchID(id string, i int) string {
	if i == 0 {
		return id
	}
	return fmt.Sprintf("%s#%d", id, i+1)
}

// patchLine adds a line of a patch to the text before it and to the text after it.
func patchLine(line string, before, after []string) (_, _ []string) {
	switch {
	case strings.HasPrefix(line, "*** ") || strings.HasPrefix(line, "@@"):
	case strings.HasPrefix(line, "+"):
		after = append(after, line[1:])
	case strings.HasPrefix(line, "-"):
		before = append(before, line[1:])
	case strings.HasPrefix(line, " "):
		before, after = append(before, line[1:]), append(after, line[1:])
	}
	return before, after
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

// patchOf returns the patch that a command passes to apply_patch, as an argument or a here-document; "" if it does
// not.
func patchOf(argv []string) string {
	const begin, end = "*** Begin Patch", "*** End Patch"
	i := slices.IndexFunc(argv, func(s string) bool { return strings.Contains(s, begin) })
	if i < 0 || !strings.Contains(argv[0], "apply_patch") && !strings.Contains(argv[i], "apply_patch") {
		return ""
	}
	patch := argv[i][strings.Index(argv[i], begin):]
	if j := strings.Index(patch, end); j >= 0 {
		patch = patch[:j+len(end)]
	}
	return patch
}
