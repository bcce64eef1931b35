package layerstest

import (
	"fmt"
)

// toolLine is a call of a tool with what it returned, as two lines of a transcript.
func ToolLines(id, session, tool, input, result string) string {
	return fmt.Sprintf(`{"type":"assistant","sessionId":%q,"timestamp":"2026-01-15T10:00:10Z","message":{"id":"m%s","role":"assistant","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}]}}
{"type":"user","sessionId":%q,"timestamp":"2026-01-15T10:00:20Z","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}}
`, session, id, id, tool, input, session, id, result)
}

// Says returns a line of a transcript: a text of the user or the assistant.
func Says(role, session, text string) string {
	return fmt.Sprintf(`{"type":%q,"sessionId":%q,"cwd":"/home/dev/shop","timestamp":"2026-01-15T10:00:00Z","message":{"id":%q,"role":%q,"content":[{"type":"text","text":%q}]}}`+"\n", role, session, text, role, text)
}
