package hooks

import (
	"context"
	"fmt"

	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/records"
)

// pending returns what the upper layers lack of the session.
func (r *run) pending(ctx context.Context) (knowledge.Pending, error) {
	m, p, _, err := r.locate(ctx, r.p.Cwd)
	if err != nil {
		return knowledge.Pending{}, err
	}
	return knowledge.FindPending(ctx, m.DB, p.ID, r.p.Session)
}

// undistilled names the messages without facts, and the commands that save facts.
func (r *run) undistilled(left knowledge.Pending) string {
	return fmt.Sprintf("messages %d to %d of this session, about %d tokens of conversation, have no facts in "+
		"memory yet. `%s facts draft %s` prints them with the form that `%s facts save` takes.",
		left.From, left.To, left.Tokens, r.Program(), records.ShortID(r.p.Session), r.Program())
}

// grewLittle reports whether the transcript has grown too little since the last check for much to be pending. A token
// is at least two bytes.
func (r *run) grewLittle(s Settings, t turn) (size int64, little bool) {
	at, ok := stat(r.p.Transcript)
	grown := at.size - t.Size
	return at.size, ok && t.Size > 0 && grown >= 0 && int64(t.Tokens)+grown/2 <= int64(s.AskAfterTokens)
}
