package checkout

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// A relocation replaces the beginnings of paths in a transcript, and in a fork the session's ID, in the fields that the client
// and the tools fill: the working directory, the inputs and the results of tools. What anybody said, and what a model thought and signed, stays.
type relocation [][2]string // old and new directory, absolute

// relocationOf returns how the directories of a session become those of this machine. The working directory cwd of the
// session was root, or a directory in one of that name; files is the client's directory with its file.
func relocationOf(cwd, root, files, filesHere string) (r relocation) {
	old, here := cwd, root
	for d := cwd; ; {
		up, name := splitPath(d)
		if name == filepath.Base(root) {
			old = d
			break
		}
		if up == "" || up == d {
			break
		}
		d = up
	}
	for _, pair := range [][2]string{{files, filesHere}, {old, here}} {
		if pair[0] != "" && pair[0] != pair[1] {
			r = append(r, pair)
		}
	}
	return r
}

// splitPath returns the parent and the last element of a path of any operating system.
func splitPath(p string) (up, name string) {
	i := strings.LastIndexAny(p, `/\`)
	if i <= 0 {
		return "", p[i+1:]
	}
	return p[:i], p[i+1:]
}

// apply copies a transcript line by line and returns the number of lines that it changed. The last line is closed.
func (r relocation) apply(w io.Writer, in io.Reader) (changed int, err error) {
	lines := bufio.NewReaderSize(in, 1<<16)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return changed, err
		}
		end := err != nil
		if out := r.line(line); !bytes.Equal(out, line) {
			changed++
			line = out
		}
		if end && len(line) > 0 {
			line = append(line, '\n')
		}
		if _, err := w.Write(line); err != nil || end {
			return changed, err
		}
	}
}

// line returns a line with the paths of this machine. A line that is not JSON stays.
func (r relocation) line(line []byte) []byte {
	for _, pair := range r {
		if old := quotedPath(pair[0]); bytes.Contains(line, old) {
			line = relocateFields(line, old, quotedPath(pair[1]))
		}
	}
	return line
}

// quotedPath returns a path as it stands in a JSON string.
func quotedPath(p string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(p) // a string can be encoded
	return bytes.Trim(bytes.TrimSpace(b.Bytes()), `"`)
}

// relocateFields replaces a path in the strings of a record that [isPlace] accepts.
func relocateFields(line, old, now []byte) []byte {
	type frame struct {
		object, named bool // named: a member's name was read, its value follows
		name          string
	}
	var stack []frame
	var out []byte
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.UseNumber()
	copied, before := 0, 0 // offsets in line
	for {
		token, err := dec.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) {
				return line
			}
			return append(out, line[copied:]...)
		}
		end := int(dec.InputOffset())
		top := len(stack) - 1
		if text, ok := token.(string); ok && top >= 0 && stack[top].object && !stack[top].named {
			stack[top].named, stack[top].name, before = true, text, end
			continue
		}
		switch t := token.(type) {
		case json.Delim:
			if t == '{' || t == '[' {
				stack, before = append(stack, frame{object: t == '{'}), end
				continue
			}
			stack = stack[:top]
			top--
		case string:
			var keys []string
			for _, f := range stack {
				keys = append(keys, f.name)
			}
			if isPlace(keys) {
				start := before + bytes.IndexByte(line[before:end], '"')
				out = append(append(out, line[copied:start]...), replacePath(line[start:end], old, now)...)
				copied = end
			}
		}
		if top >= 0 {
			stack[top].named = false
		}
		before = end
	}
}

// isPlace reports whether the value of a field, named by the members around it ("" is an element of a list), is filled by
// the client or a tool.
func isPlace(keys []string) bool {
	switch {
	case len(keys) == 1 && (keys[0] == "cwd" || keys[0] == "sessionId"), len(keys) > 0 && keys[0] == "toolUseResult":
		return true
	}
	return len(keys) >= 4 && slices.Equal(keys[:3], []string{"message", "content", ""}) && (keys[3] == "input" || keys[3] == "content")
}

// replacePath replaces a directory in a quoted string, where it is the whole beginning of a path.
func replacePath(s, old, now []byte) []byte {
	var out []byte
	for {
		i := bytes.Index(s, old)
		if i < 0 {
			return append(out, s...)
		}
		end := i + len(old)
		out = append(out, s[:i]...)
		if (i == 0 || !inName(s[i-1]) && s[i-1] != '.' && s[i-1] != '/') && !continuesName(s[end:]) {
			out = append(out, now...)
		} else {
			out = append(out, old...)
		}
		s = s[end:]
	}
}

func inName(b byte) bool {
	return b == '_' || b == '-' || b >= 0x80 || '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'z'
}

// continuesName reports whether what follows a directory belongs to its last name.
func continuesName(rest []byte) bool {
	if len(rest) == 0 {
		return false
	}
	return inName(rest[0]) || rest[0] == '.' && len(rest) > 1 && inName(rest[1])
}
