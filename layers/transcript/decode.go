package transcript

import (
	"fmt"
	"time"

	"github.com/tidwall/gjson"
)

// Decode decodes the record v. The error wraps [ErrOpaque] for an opaque value. A field of an unexpected type is
// treated as missing.
func Decode(v Value) (Message, error) { return decode(v, true) }

// Skim is [Decode] without the text of tool results and of thinking, which is most of a transcript. [Block.Result]
// returns the text of a result.
func Skim(v Value) (Message, error) { return decode(v, false) }

// Result returns the text parts of a tool_result, one per line.
func (b Block) Result() string { return resultText(b.Content) }

func decode(v Value, whole bool) (Message, error) {
	m := Message{N: v.N, Raw: v.Raw}
	if v.Opaque {
		return m, fmt.Errorf("message %d: %w", v.N, ErrOpaque)
	}
	var message, attachment []byte
	agent := ""
	err := members(v.Raw, func(key, value []byte) bool {
		switch string(key) {
		case "message":
			message = value
		case "attachment":
			attachment = value
		case "agent":
			agent = quoted(value)
		default:
			m.set(key, value)
		}
		return true
	})
	if err != nil || v.cut() {
		return m, fmt.Errorf("message %d: %w", v.N, errSyntax)
	}
	if message == nil {
		if rec := agentRecord(v.Raw, m.Type, agent); rec != nil {
			own, err := decode(Value{N: v.N, Raw: rec}, whole)
			r := gjson.ParseBytes(rec)
			own.Raw, own.Rewind = v.Raw, Rewind{int(min(r.Get("rewindTurns").Int(), 1<<30)), r.Get("rewindTo").String()}
			return own, err
		}
	}
	if m.TS != "" {
		if t, ok := timeOf(m.TS); ok {
			m.Time = t
		}
	}
	if attachment != nil && m.Type == "attachment" {
		m.attach(attachment)
	}
	switch m.Type {
	case "user", "assistant", "progress":
		if message != nil {
			m.Message = message
			m.fill(message, whole)
		}
	}
	return m, nil
}

// timeOf parses a timestamp. ok is false if it is malformed, or if a record of mem cannot contain it: years outside 1
// to 9998 have no form in some zone.
func timeOf(s string) (t time.Time, ok bool) {
	t, err := time.Parse(time.RFC3339, s)
	year := t.UTC().Year()
	return t, err == nil && year >= 1 && year <= 9998
}

// set decodes a member of the record itself.
func (m *Message) set(key, value []byte) {
	switch string(key) {
	case "type":
		m.Type = quoted(value)
	case "subtype":
		m.Subtype = quoted(value)
	case "timestamp":
		m.TS = quoted(value)
	case "uuid":
		m.UUID = quoted(value)
	case "parentUuid":
		m.ParentUUID = quoted(value)
	case "logicalParentUuid":
		m.LogicalParent = quoted(value)
	case "promptSource", "source":
		if s := quoted(value); s != "" {
			m.PromptSource = s
		}
	case "turnOrigin":
		m.TurnOrigin = quoted(value)
	case "agentName":
		m.AgentName = quoted(value)
	case "userFeedback":
		m.Feedback = quoted(value)
	case "planContent":
		m.Plan = quoted(value) != ""
	case "isVisibleInTranscriptOnly", "turnCompanion", "isVirtual":
		m.Inserted = m.Inserted || string(value) == "true"
	case "sourceToolUseID", "scheduledTaskId":
		m.Inserted = m.Inserted || quoted(value) != ""
	case "sessionId":
		m.SessionID = quoted(value)
	case "cwd":
		m.Cwd = quoted(value)
	case "gitBranch":
		m.Branch = quoted(value)
	case "version":
		m.Version = quoted(value)
	case "entrypoint":
		m.Entrypoint = quoted(value)
	case "agentId":
		m.AgentID = quoted(value)
	case "isSidechain":
		m.Sidechain = string(value) == "true"
	case "isMeta":
		m.Meta = string(value) == "true"
	case "isCompactSummary":
		m.CompactSummary = string(value) == "true"
	case "toolUseResult":
		m.ToolUseResult = value
	case "summary", "customTitle":
		m.Title = quoted(value)
	case "leafUuid":
		m.LeafUUID = quoted(value)
	case "operation":
		m.Operation = quoted(value)
	case "content":
		m.Content = contentText(value)
	case "origin":
		m.Origin = member(value, "kind")
	}
}

// attach decodes an attachment: its type and, for a queued command, its text.
func (m *Message) attach(raw []byte) {
	m.Subtype = member(raw, "type")
	if m.Subtype != "queued_command" {
		return
	}
	m.Content = contentText([]byte(gjson.GetBytes(raw, "prompt").Raw))
	m.Mode, m.Origin = member(raw, "commandMode"), member(raw, "origin.kind")
}

// fill decodes the message of a user or assistant record.
func (m *Message) fill(raw []byte, whole bool) {
	_ = members(raw, func(key, value []byte) bool { // anything else has no fields
		switch string(key) {
		case "role":
			m.Role = quoted(value)
		case "id":
			m.ID = quoted(value)
		case "model":
			m.Model = quoted(value)
		case "content":
			m.Blocks = blocks(value, whole)
		case "usage":
			m.Usage = usage(value)
		}
		return true
	})
}

// Foreign reports whether a value may be a record of an agent other than Claude Code.
func Foreign(raw []byte) bool {
	return !gjson.GetBytes(raw, "message").Exists() && agentOf(member(raw, "type"), member(raw, "agent")) != nil
}
