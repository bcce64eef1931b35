package hooks

import (
	"encoding/json"
	"fmt"
	"os"
)

// A turn is the state that the hooks of one session share. It is only a cache: if it is lost, a message is repeated.
type turn struct {
	Prompt string `json:"prompt"` // the prompt that began the exchange
	Asked  bool   `json:"asked"`  // the model was told in this exchange which messages have no facts

	Size   int64 `json:"size"`   // of the transcript at the last check for messages without facts
	Tokens int   `json:"tokens"` // without facts at that check

	Blocks    int    `json:"blocks"`     // how often Stop blocked
	BlockedAt int    `json:"blocked_at"` // tokens of L1 at the last block
	BlockedBy string `json:"blocked_by"` // what was missing then, see gaps
}

func (r *run) turnFile() string { return r.sessionFile(r.p.Session, ".turn") }

func (r *run) turn() (t turn) {
	b, err := os.ReadFile(r.turnFile())
	if err != nil || json.Unmarshal(b, &t) != nil {
		return turn{}
	}
	return t
}

// changeTurn changes the turn. If two hooks change it at the same time, one change is lost.
func (r *run) changeTurn(change func(*turn)) error {
	t := r.turn()
	change(&t)
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file := r.turnFile()
	if err := withDir(file, func() error { return overwrite(file, append(b, '\n')) }); err != nil {
		return fmt.Errorf("turn: %w", withoutPath(err))
	}
	return nil
}
