package hooks

import (
	"sync/atomic"

	"github.com/memvcs/mem/hooks/settings"
	"github.com/memvcs/mem/objects"
)

// A run is one run of a hook.
type run struct {
	*World
	event         settings.Event
	p             Payload
	hasTranscript bool // the session's file exists
	phase         atomic.Int32
	reads         atomic.Int64 // reads of the payload begun or ended: odd while the hook waits for its input
	failed        bool         // the log has the error
}

// The phases of a run, for the time limit.
const (
	beforeNote    int32 = iota // the note is not durable yet: do not end the process
	interruptible              // the process may be ended at any point
	done
)

// maxAnswer is the maximal length of an answer in UTF-16 units. Claude Code shows the model only the start of a longer
// one.
const maxAnswer = 9500

// writeAnswer writes the answer in one piece.
func (r *run) writeAnswer(answer map[string]any) error {
	b, err := objects.JSONLine(answer)
	if err != nil {
		return err
	}
	_, err = r.Stdout.Write(b)
	return err
}

// addContext answers with a text that is added to the model's context.
func (r *run) addContext(text string) error {
	return r.writeAnswer(map[string]any{
		"hookSpecificOutput": map[string]any{"hookEventName": r.event, "additionalContext": text},
	})
}
