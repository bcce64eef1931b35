package handover

import (
	"encoding/json"
	"io"

	"github.com/memvcs/mem/layers/transcript"
)

// Read tells a whole session. Everything in it that is neither typed nor written by the model counts as printed: files
// that the client attached, text of the client, messages of other sessions.
func (p *repeated) Read(r io.Reader) error {
	if len(p.rows) == 0 {
		return nil
	}
	var command transcript.Command
	for v, err := range transcript.Stream(r, transcript.Longest) {
		if err != nil {
			return err
		}
		m, err := transcript.Decode(v)
		if err != nil {
			continue // an unreadable value has no text of anybody
		}
		command.Mark(&m)
		p.message(m)
	}
	return nil
}

func (p *repeated) message(m transcript.Message) {
	if text, ok := transcript.Typed(m); ok {
		p.Written(text)
	}
	if plan, ok := transcript.PlanSentBack(m); ok { // the model wrote it, and the user accepted it
		p.Written(plan)
	}
	for _, b := range m.Blocks {
		switch {
		case b.Kind == transcript.ToolResult:
			p.Printed(b.Result())
		case b.Kind == transcript.ToolUse:
			texts(b.Input, p.Written)
		case b.Kind == transcript.Text && m.Type == "assistant":
			p.Written(b.Text)
		case b.Kind == transcript.Text:
			p.Printed(b.Text)
		}
	}
	p.Printed(m.Content)
	if m.Type == "attachment" {
		texts(m.Raw, p.Printed)
	}
}

// texts tells the strings of a JSON value. Their order does not matter, because each is told for itself.
func texts(raw []byte, tell func(string)) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return // cut off: it was never shown
	}
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			tell(v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(v)
}
