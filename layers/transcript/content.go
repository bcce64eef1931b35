package transcript

import (
	"encoding/json"
	"iter"
	"strings"
	"sync"

	"github.com/tidwall/gjson"
)

// Content yields what was said or done in a record: typed text, answers, thinking, tool calls with their input,
// results, attachments, summaries, titles, todo items and queued prompts. It omits what the client writes into every
// record, for example its directory, branch, version, model and IDs, the commands of hooks, which come from its
// settings, and the names of its members. A damaged record is one text. A member that Content does not know is content.
func Content(raw []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		var c content
		if json.Valid(raw) && tooDeep(raw) < 0 {
			c.record(raw)
		} else {
			c.text(string(raw))
		}
		for _, s := range c.texts {
			if !yield(s) {
				return
			}
		}
	}
}

// clientFields are the members of a record that contain nothing said or done.
var clientFields = words(`type subtype uuid parentUuid logicalParentUuid leafUuid timestamp sessionId session_id cwd
	version gitBranch userType entrypoint isSidechain isMeta isCompactSummary isSnapshotUpdate requestId messageId
	promptId promptSource permissionMode mode level slug agentId toolUseID parentToolUseID sourceToolUseID
	sourceToolAssistantUUID origin effort thinkingMetadata compactMetadata microcompactMetadata imagePasteIds operation
	toolDenialKind hookEvent hookName hookCount hookInfos processId taskId role id model agent tokens usage`)

// messageFields are the same of the member message.
var messageFields = words(`id type role model stop_reason stop_sequence stop_details usage container context_management
	diagnostics`)

// blockFields are the same of a block of a message.
var blockFields = words(`type id tool_use_id caller signature cache_control is_error media_type`)

// resultFields are the same of the client's copy of a tool result.
var resultFields = words(`type usage agentId base64`)

// snapshotFields are the same of a snapshot of files.
var snapshotFields = words(`messageId timestamp backupFileName backupTime version`)

// stateAttachments are the attachments that describe the client.
var stateAttachments = words(`environment model date`)

// toolFields are the names of members in the input and the results of the client's tools. They are not content, nor are
// numbers under them.
var toolFields = words(`command description file_path filePath path pattern content contents text stdout stderr
	interrupted isImage noOutputExpected file filename filenames durationMs durationSeconds numFiles numLines startLine
	totalLines truncated old_string new_string oldString newString originalFile structuredPatch oldStart oldLines newStart
	newLines lines userModified replaceAll replace_all mode task tasks success taskId task_id updatedFields statusChange
	from to status appliedLimit query results bytes code codeText result url prompt message totalDurationMs totalTokens
	totalToolUseCount plan isAgent returnCodeInterpretation oldTodos newTodos todos id activeForm priority commandName
	numMatches backgroundTaskId questions question header options label multiSelect answers isAsync outputFile matches
	total_deferred_tools limit offset timeout run_in_background output_mode glob type head_limit subagent_type
	trackedFileBackups subject model edits title allowed_domains blocked_domains`)

func words(s string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(s) {
		set[w] = true
	}
	return set
}

// A content collects the texts of a record.
type content struct{ texts []string }

func (c *content) text(s string) {
	if s != "" {
		c.texts = append(c.texts, s)
	}
}

func (c *content) elements(raw []byte, fn func(value []byte)) {
	elements(raw, func(value []byte) bool {
		fn(value)
		return true
	})
}

// object calls fn for the members of an object that are not in omit. Other values are content.
func (c *content) object(raw []byte, omit map[string]bool, fn func(key string, value []byte)) {
	if len(raw) == 0 || raw[0] != '{' {
		c.any(raw, omit)
		return
	}
	_ = members(raw, func(key, value []byte) bool { // the whole record is valid
		if k := string(key); !omit[k] {
			fn(k, value)
		}
		return true
	})
}

func (c *content) record(raw []byte) {
	ofHook := sync.OnceValue(func() bool { return strings.HasPrefix(member(raw, "type"), "hook_") })
	c.object(raw, clientFields, func(k string, value []byte) {
		switch {
		case k == "command" && ofHook(): // of the settings
		case k == "message":
			c.message(value)
		case k == "data" || k == "payload": // of a progress record; of a record of another agent
			c.nested(value)
		case k == "normalizedMessages":
			c.elements(value, c.nested)
		case k == "attachment" && stateAttachments[member(value, "type")]:
		case k == "attachment":
			c.nested(value)
		case k == "content":
			c.blocks(value)
		case k == "snapshot": // of files
			c.any(value, snapshotFields)
		case k == "toolUseResult":
			c.any(value, resultFields)
		default:
			c.any(value, nil)
		}
	})
}

// nested is record for a part of a record.
func (c *content) nested(raw []byte) {
	if len(raw) > 0 && raw[0] == '{' {
		c.record(raw)
	} else {
		c.any(raw, nil)
	}
}

func (c *content) message(raw []byte) {
	if gjson.GetBytes(raw, "message").Exists() { // a record in a progress record
		c.record(raw)
		return
	}
	c.object(raw, messageFields, func(key string, value []byte) {
		if key == "content" {
			c.blocks(value)
		} else {
			c.any(value, nil)
		}
	})
}

func (c *content) blocks(raw []byte) {
	if len(raw) == 0 || raw[0] != '[' {
		c.any(raw, blockFields)
		return
	}
	c.elements(raw, c.block)
}

func (c *content) block(raw []byte) {
	c.object(raw, blockFields, func(key string, value []byte) {
		switch {
		case key == "content":
			c.blocks(value)
		case key == "source" && member(value, "type") == "base64": // an image
		default:
			c.any(value, nil)
		}
	})
}

// any adds the strings, the numbers and the unknown member names of a value, without the members in omit.
func (c *content) any(raw []byte, omit map[string]bool) {
	if len(raw) == 0 {
		return
	}
	switch raw[0] {
	case '"':
		c.text(quoted(raw))
	case '{':
		c.object(raw, omit, func(key string, value []byte) {
			switch number := value[0] == '-' || '0' <= value[0] && value[0] <= '9'; {
			case !toolFields[key]:
				c.text(quoted([]byte(`"` + key + `"`)))
			case number:
				return
			}
			c.any(value, omit)
		})
	case '[':
		c.elements(raw, func(value []byte) { c.any(value, omit) })
	case 't', 'f', 'n':
	default:
		c.text(string(raw))
	}
}
