package hooks

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// A turn is what hooks of a session tell each other. It is only a cache: without it something is said once more.
type turn struct {
	Prompt string `json:"prompt"` // the prompt that began the exchange
	Asked  bool   `json:"asked"`  // whether the exchange was told of what is not distilled

	Size   int64 `json:"size"`   // of the transcript when it was last looked at what is not distilled
	Tokens int   `json:"tokens"` // which was that much

	Blocks    int    `json:"blocks"`     // how often Stop kept the session going
	BlockedAt int    `json:"blocked_at"` // tokens of L1 at the last of them
	BlockedBy string `json:"blocked_by"` // what was lacking then
}

func (w *World) turnFile(session string) string {
	return filepath.Join(w.Store, "cache", "hooks", session+".turn")
}

func (r *run) turn() (t turn) {
	b, err := os.ReadFile(r.turnFile(r.p.Session))
	if err != nil || json.Unmarshal(b, &t) != nil {
		return turn{}
	}
	return t
}

// changeTurn changes what is known of the session. Two hooks that do so at once cost one of the changes.
func (r *run) changeTurn(change func(*turn)) error {
	t := r.turn()
	change(&t)
	b, err := json.Marshal(t)
	if err != nil {
		return err
	}
	file := r.turnFile(r.p.Session)
	err = overwrite(file, append(b, '\n'))
	if os.IsNotExist(err) {
		if err = os.MkdirAll(filepath.Dir(file), 0o700); err == nil {
			err = overwrite(file, append(b, '\n'))
		}
	}
	if err != nil {
		return fmt.Errorf("turn: %w", cause(err))
	}
	return nil
}
