package hooks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// blockInterval is how many tokens of L1 without facts must be added before Stop blocks again.
const blockInterval = 20_000

// stop is Stop: it captures, and blocks if the settings ask for facts that are missing. Stop does not run after an
// interrupt, a kill or an error; the next SessionStart captures then.
func (r *run) stop(ctx context.Context) error {
	if err := r.capture(ctx); err != nil {
		return err
	}
	if err := r.noteIncomplete(); err != nil {
		return err
	}
	s, err := r.Settings()
	interactive := transcript.Interactive(r.Getenv("CLAUDE_CODE_ENTRYPOINT"))
	if err != nil || s.Blocking == "off" || !interactive || !r.hasTranscript {
		return err
	}
	if off, err := r.captureOff(); off || err != nil {
		return err
	}
	t := r.turn()
	size, little := r.grewLittle(s, t)
	if little && s.Blocking == "once" || r.busy {
		return nil
	}
	left, err := r.pending(ctx)
	if err != nil || left.To == 0 {
		return err // the session is not captured
	}
	if err := r.changeTurn(func(t *turn) { t.Size, t.Tokens = size, left.Tokens }); err != nil {
		return err
	}
	if !blocks(s, left, t, r.p.StopActive) {
		return nil
	}
	err = r.changeTurn(func(t *turn) { t.Blocks, t.BlockedAt, t.BlockedBy = t.Blocks+1, left.Total, gaps(left) })
	if err != nil {
		return err // without the count, Stop could block for ever
	}
	return r.writeAnswer(map[string]any{"decision": "block", "reason": r.reason(s, left)})
}

// noteIncomplete writes a note if the transcript lacks the model's last message. The client writes that a moment later
// and may run no hook for long. The next drain captures the file again.
func (r *run) noteIncomplete() error {
	words := longestPlain(r.p.LastMessage)
	if words == "" || !r.hasTranscript {
		return nil
	}
	if off, err := r.captureOff(); off || err != nil {
		return err
	}
	if tail, err := readTail(r.p.Transcript); err != nil || bytes.Contains(tail, []byte(words)) {
		return nil // the capture has written a note for an unreadable file
	}
	durable, err := r.noteSession()
	if err != nil || durable == nil {
		return err
	}
	return durable()
}

// tailSize is how much of the end of a transcript is searched for the last message.
const tailSize = 256 << 10

func readTail(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-tailSize)
	return io.ReadAll(io.NewSectionReader(f, from, fi.Size()-from))
}

// longestPlain returns the longest part of a text that JSON does not escape, or "" if it is too short to be
// distinctive.
func longestPlain(s string) string {
	const least, most = 12, 200
	best := ""
	for run := range strings.FieldsFuncSeq(s, func(c rune) bool {
		return c < ' ' || c > '~' || strings.ContainsRune("\"\\<>&/", c)
	}) {
		if len(run) > len(best) {
			best = run
		}
	}
	if len(best) < least {
		return ""
	}
	return best[:min(len(best), most)]
}

// blocks decides whether Stop blocks. "once" blocks if much has no facts, and again only after another rearm tokens.
// "strict" blocks until nothing is missing, but gives up if the last block changed nothing.
func blocks(s Settings, left knowledge.Pending, t turn, active bool) bool {
	much := left.Tokens > s.AskAfterTokens
	switch s.Blocking {
	case "once":
		since := left.Total - t.BlockedAt
		if since < 0 {
			since = left.Total // the file was rewritten
		}
		return much && !active && (t.Blocks == 0 || min(since, left.Tokens) >= blockInterval)
	case "strict":
		if active && t.Blocks > 0 && t.BlockedBy == gaps(left) {
			return false
		}
		return much || left.Unassigned > 0 || left.Reflect && left.Facts > 0
	}
	return false
}

// gaps summarises what is missing, to compare two states. Messages added meanwhile do not change it.
func gaps(left knowledge.Pending) string {
	return fmt.Sprintf("%d %d %d %v", left.From, left.Facts, left.Unassigned, left.Reflect)
}

// reason lists what is missing and the commands that add it.
func (r *run) reason(s Settings, left knowledge.Pending) string {
	var parts []string
	program := r.Program()
	if left.Tokens > s.AskAfterTokens {
		parts = append(parts, r.undistilled(left))
	}
	if left.Unassigned > 0 {
		parts = append(parts, fmt.Sprintf("%d of its exchanges belong to no concept; `%s concepts candidates %s` prints "+
			"the task, `%s concepts assign` answers it.", left.Unassigned, program, records.ShortID(r.p.Session), program))
	}
	if left.Reflect && left.Facts > 0 {
		parts = append(parts, fmt.Sprintf(
			"No reflection has seen the newest facts; `%s reflect` prints what may be worth keeping for good.", program))
	}
	parts = append(parts, fmt.Sprintf("`%s config set hooks.blocking off` ends these checks.", program))
	return "Memory of this session is not complete: " + strings.Join(parts, " ")
}

// end is SessionEnd: it writes one durable note and starts a worker for the rest, because the client waits at most 1.5
// seconds.
func (r *run) end(ctx context.Context) error {
	durable, err := r.noteSession()
	if err != nil || durable == nil {
		return err
	}
	if err := durable(); err != nil {
		return err
	}
	if s, serr := r.Settings(); serr == nil && s.Distill != "" && (s.Register || r.isStored(ctx)) {
		err = r.requestDistill()
	}
	return errors.Join(err, r.Detach("hook", Work))
}
