package hooks

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

// rearm is after how many tokens of L1 that are not distilled a session that was kept going once may be kept
// going again.
const rearm = 20_000

// stop is Stop: capture, and perhaps keep the session going until what it established is saved. Nothing depends
// on it: it does not run after an interrupt, a kill or an error, and memory catches up at the next start.
func (r *run) stop(ctx context.Context) error {
	if err := r.capture(ctx); err != nil {
		return err
	}
	if err := r.comeAgain(); err != nil {
		return err
	}
	s, err := r.Settings()
	if err != nil || s.Blocking == "off" || !transcript.Interactive(r.Getenv("CLAUDE_CODE_ENTRYPOINT")) || !r.there {
		return err
	}
	if off, err := r.off(); off || err != nil {
		return err
	}
	t := r.turn()
	size, little := r.little(s, t)
	if little && s.Blocking == "once" || r.busy {
		return nil
	}
	left, err := r.pending(ctx)
	if err != nil || left.To == 0 {
		return err // memory does not have the session, and is not to have it
	}
	if err := r.changeTurn(func(t *turn) { t.Size, t.Tokens = size, left.Tokens }); err != nil {
		return err
	}
	if !blocks(s, left, t, r.p.StopActive) {
		return nil
	}
	err = r.changeTurn(func(t *turn) { t.Blocks, t.BlockedAt, t.BlockedBy = t.Blocks+1, left.Total, lacking(left) })
	if err != nil {
		return err // unless it is known that this was said it could be said for ever
	}
	return r.say(map[string]any{"decision": "block", "reason": r.reason(s, left)})
}

// comeAgain leaves a note if the transcript does not hold yet what the model said last: the client writes it a
// moment later, and may have no hook to run for long. Whoever folds the spool next looks at the file again.
func (r *run) comeAgain() error {
	words := plainRun(r.p.LastMessage)
	if words == "" || !r.there {
		return nil
	}
	if off, err := r.off(); off || err != nil {
		return err
	}
	if tail, err := tailOf(r.p.Transcript); err != nil || bytes.Contains(tail, []byte(words)) {
		return nil // a file that cannot be read now is noted by the capture
	}
	durable, err := r.leaveNote()
	if err != nil || durable == nil {
		return err
	}
	return durable()
}

// lastTail is how much of the end of a transcript is looked through for what was said last.
const lastTail = 256 << 10

func tailOf(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|noFollow, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, fi.Size()-lastTail)
	return io.ReadAll(io.NewSectionReader(f, from, fi.Size()-from))
}

// plainRun returns the longest run of a text that JSON writes as it is, "" if there is none of any length that
// tells it apart.
func plainRun(s string) string {
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

// little reports whether the transcript has grown too little since the last look for there to be much left to
// say: no byte of it is half a token.
func (r *run) little(s Settings, t turn) (size int64, little bool) {
	at, ok := stampOf(r.p.Transcript)
	grown := at.size - t.Size
	return at.size, ok && t.Size > 0 && grown >= 0 && int64(t.Tokens)+grown/2 <= int64(s.AskAfterTokens)
}

// blocks decides whether the session is kept going. Once: if much is left to say, and again only after much
// more was said that is not distilled either. Strict: until nothing is lacking, but it gives up when the last
// time changed nothing.
func blocks(s Settings, left knowledge.Pending, t turn, active bool) bool {
	much := left.Tokens > s.AskAfterTokens
	switch s.Blocking {
	case "once":
		since := left.Total - t.BlockedAt
		if since < 0 {
			since = left.Total // the file was written anew
		}
		return much && !active && (t.Blocks == 0 || min(since, left.Tokens) >= rearm)
	case "strict":
		if active && t.Blocks > 0 && t.BlockedBy == lacking(left) {
			return false
		}
		return much || left.Unassigned > 0 || left.Reflect && left.Facts > 0
	}
	return false
}

// lacking names what is lacking, so that two states can be compared: the messages that were said meanwhile are
// no change.
func lacking(left knowledge.Pending) string {
	return fmt.Sprintf("%d %d %d %v", left.From, left.Facts, left.Unassigned, left.Reflect)
}

// reason says what is lacking and the commands for it.
func (r *run) reason(s Settings, left knowledge.Pending) string {
	var parts []string
	id := records.ShortID(r.p.Session)
	if left.Tokens > s.AskAfterTokens {
		parts = append(parts, r.undistilled(left))
	}
	if left.Unassigned > 0 {
		parts = append(parts,
			fmt.Sprintf(
				"%d of its exchanges belong to no concept; `%s concepts candidates %s` prints the task, `%s concepts assign` answers it.", left.Unassigned, r.Program(), id, r.Program()))
	}
	if left.Reflect && left.Facts > 0 {
		parts = append(parts,
			fmt.Sprintf("No reflection has seen the newest facts; `%s reflect` prints what may be worth keeping for good.",
				r.Program()))
	}
	parts = append(parts, fmt.Sprintf("`%s config set hooks.blocking off` ends these checks.", r.Program()))
	return "Memory of this session is not complete: " + strings.Join(parts, " ")
}
