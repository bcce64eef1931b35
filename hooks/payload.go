package hooks

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// A Payload has the members that mem uses of the JSON that Claude Code sends to a hook.
type Payload struct {
	Session         string // session_id
	Transcript      string // transcript_path
	Cwd             string
	Prompt          string // prompt_id
	Text            string // the start of prompt
	Source          string // of SessionStart
	AgentID         string // of events inside a subagent
	AgentTranscript string // of SubagentStop
	LastMessage     string // the start of last_assistant_message
	StopActive      bool   // stop_hook_active
	Trigger         string // of PreCompact: manual or auto

	// of PreToolUse, the start of each: the command, the edited file, its lines before and after
	Command, File, Before, After string
}

// Limits of the parts of a payload that are kept. The payload itself may be of any size.
const (
	maxField = 4096
	maxHint  = 512
	maxText  = 16 << 10
)

var (
	errEmpty    = errors.New("empty")
	errNoObject = errors.New("no JSON object")
)

// field returns where the value of a member goes. Of a hint only the start is kept; any other value must not be too
// long.
func (p *Payload) field(key string) (to *string, hint bool) {
	switch key {
	case "session_id":
		return &p.Session, false
	case "transcript_path":
		return &p.Transcript, false
	case "cwd":
		return &p.Cwd, false
	case "prompt_id":
		return &p.Prompt, false
	case "prompt":
		return &p.Text, true
	case "source":
		return &p.Source, false
	case "trigger":
		return &p.Trigger, false
	case "agent_id":
		return &p.AgentID, false
	case "agent_transcript_path":
		return &p.AgentTranscript, false
	case "last_assistant_message":
		return &p.LastMessage, true
	}
	return nil, false
}

// ReadPayload reads the JSON of an event from r. With brief it stops as soon as session, transcript and directory are
// known: they come first, and megabytes of a tool's output may follow. Unknown members are skipped and never kept.
func ReadPayload(r io.Reader, brief bool) (Payload, error) {
	var p Payload
	err := eachMember(json.NewDecoder(r), func(key string, value json.RawMessage) (more bool, err error) {
		err = p.member(key, value)
		return !brief || p.Session == "" || p.Transcript == "" || p.Cwd == "", err
	})
	if err != nil {
		return Payload{}, fmt.Errorf("payload: %w", err)
	}
	return p, nil
}

// eachMember calls f with each member of an object until it reports that there is enough.
func eachMember(d *json.Decoder, f func(key string, value json.RawMessage) (more bool, err error)) error {
	switch t, err := d.Token(); {
	case err == io.EOF:
		return errEmpty
	case err != nil:
		return err
	case t != json.Delim('{'):
		return errNoObject
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := t.(string) // it is the key of a member
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("member %.64q: %w", key, err)
		}
		if more, err := f(key, value); err != nil {
			return fmt.Errorf("member %.64q: %w", key, err)
		} else if !more {
			return nil
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("ends in the middle: %w", err)
	}
	return nil
}

// member keeps the value of one member.
func (p *Payload) member(key string, value json.RawMessage) error {
	if key == "tool_input" && value[0] == '{' {
		return eachMember(json.NewDecoder(strings.NewReader(string(value))), p.input)
	}
	if key == "stop_hook_active" {
		p.StopActive = string(value) == "true"
	}
	to, hint := p.field(key)
	if to == nil || *to != "" || value[0] != '"' {
		return nil
	}
	limit := maxField
	switch {
	case to == &p.Text:
		limit = maxText
	case hint:
		limit = maxHint
	case !utf8.Valid(value):
		return errors.New("invalid UTF-8")
	}
	text, err := start(value, limit)
	if err == nil && !hint && len(text) == limit {
		err = errors.New("too long")
	}
	*to = text
	return err
}

// start returns the start of a text, of at most limit bytes.
func start(value json.RawMessage, limit int) (text string, err error) {
	err = json.Unmarshal(value, &text)
	return strings.ToValidUTF8(text[:min(len(text), limit)], ""), err
}

// input keeps the value of one member of the input of a tool.
func (p *Payload) input(key string, value json.RawMessage) (more bool, err error) {
	var to *string
	switch key {
	case "command":
		to = &p.Command
	case "file_path", "notebook_path":
		to = &p.File
	case "old_string":
		to = &p.Before
	case "new_string", "content", "new_source":
		to = &p.After
	}
	if to != nil && *to == "" && value[0] == '"' {
		*to, err = start(value, maxText)
	}
	return true, err
}
