package refine

import (
	"strconv"
	"strings"

	"github.com/memvcs/mem/layers/transcript"
	"github.com/tidwall/gjson"
)

// Readable returns a call as people read it: its name, and below each member of its input with its lines as lines.
func Readable(b transcript.Block) string {
	in := gjson.ParseBytes(b.Input)
	if !gjson.ValidBytes(b.Input) || !in.IsObject() {
		return b.Name + " " + string(b.Input)
	}
	var out strings.Builder
	out.WriteString(b.Name)
	writeMembers(&out, in)
	return out.String()
}

// writeMembers writes the members of an object or the elements of a list, each from a new line on. Objects in it follow
// each other without an indent, since their texts are to stand as they were written.
func writeMembers(out *strings.Builder, in gjson.Result) {
	list := in.IsArray()
	in.ForEach(func(key, v gjson.Result) bool {
		name := key.String() + ":"
		if list {
			name = "-"
		}
		out.WriteString("\n" + name)
		switch {
		case v.IsObject() || v.IsArray():
			if first := strings.TrimSpace(v.Raw[1:]); first == "}" || first == "]" {
				out.WriteString(" " + v.Raw)
				break
			}
			writeMembers(out, v)
		case v.Type == gjson.String && strings.Contains(v.Str, "\n"):
			out.WriteString("\n" + v.Str)
		case v.Type == gjson.String:
			out.WriteString(" " + v.Str)
		default:
			out.WriteString(" " + v.Raw)
		}
		return true
	})
}

// Place returns where an edit changed its file first, as FILE:LINE, from the client's copy of its result; "" if that does
// not say it.
func Place(toolUseResult []byte) string {
	in := gjson.ParseBytes(toolUseResult)
	line := firstChange(in.Get("structuredPatch.0"))
	if line <= 0 {
		return ""
	}
	return in.Get("filePath").String() + ":" + strconv.FormatInt(line, 10)
}
