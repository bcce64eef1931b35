package sealed

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"

	"filippo.io/age"

	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
)

// stateFormat is the version of the state format.
const stateFormat = "mem keys 1"

// A state is this device's knowledge of an encrypted remote: its own keys, the last keyring, and the positions of
// branches. It is a secret of the store and is never pushed.
type state struct {
	Format    string            `json:"format"`
	Keys      []string          `json:"keys"` // secret keys of age, the newest first
	Keyring   Keyring           `json:"keyring,omitzero"`
	KeyringAt string            `json:"keyring_at,omitempty"` // commit of the remote
	Branches  map[string]branch `json:"branches,omitempty"`   // by name
}

// A branch is the position of a lane on the remote up to which the store has it.
type branch struct {
	At   string `json:"at"`   // commit of the remote
	Lane string `json:"lane"` // branch of the lane
	Tip  string `json:"tip"`  // commit of the lane
}

func (b branch) at() pack.ID  { return knownID(b.At) }
func (b branch) tip() pack.ID { return knownID(b.Tip) }

// knownID parses the id of a commit. The zero ID means that it is unknown, so the branch is read from its start.
func knownID(s string) pack.ID {
	id, err := pack.ParseID(s)
	if err != nil {
		return pack.ID{}
	}
	return id
}

func parseState(b []byte) (st state, err error) {
	if b == nil {
		return st, ErrNoKey
	}
	if err := json.Unmarshal(b, &st); err != nil {
		return st, fmt.Errorf("read keys: %w", err)
	}
	if st.Format != stateFormat {
		return st, fmt.Errorf("read keys: format %.40q, perhaps of a newer mem", st.Format)
	}
	return st, nil
}

// editState changes the stored state. Other processes may have changed it meanwhile.
func (v *Vault) editState(ctx context.Context, fn func(*state)) error {
	return v.repo.EditSecret(ctx, v.id, func(b []byte) ([]byte, error) {
		st := state{Format: stateFormat}
		if b != nil {
			var err error
			if st, err = parseState(b); err != nil {
				return nil, err
			}
		}
		fn(&st)
		v.st = st
		b, err := json.MarshalIndent(st, "", "  ")
		return append(b, '\n'), err
	})
}

// saveKeyring stores the last keyring, unless another process has stored a later one.
func (v *Vault) saveKeyring(ctx context.Context, k Keyring, at pack.ID) error {
	return v.editState(ctx, func(st *state) {
		if st.Keyring.Number > k.Number {
			return
		}
		st.Keyring, st.KeyringAt = k, at.String()
	})
}

// newID returns a random name for the secrets of a remote.
func newID(rand io.Reader) (string, error) {
	b := make([]byte, 8)
	_, err := io.ReadFull(rand, b)
	return hex.EncodeToString(b), err
}

// addKey gives this device another key.
func (v *Vault) addKey(ctx context.Context) error {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return err
	}
	return v.editState(ctx, func(st *state) { st.Keys = append([]string{id.String()}, st.Keys...) })
}

// key returns the public half of this device's key.
func (v *Vault) key() (string, error) {
	if len(v.st.Keys) == 0 {
		return "", ErrNoKey
	}
	id, err := age.ParseX25519Identity(v.st.Keys[0])
	if err != nil {
		return "", fmt.Errorf("a key of this device: %w", err)
	}
	return id.Recipient().String(), nil
}

// Check returns the problem of the secret of an encrypted remote: it is missing or broken, or has no key.
func Check(r *refs.Repo, id string) error {
	b, err := r.Secret(id)
	if err != nil {
		return err
	}
	st, err := parseState(b)
	if err != nil {
		return err
	}
	v := Vault{st: st}
	_, err = v.key()
	return err
}
