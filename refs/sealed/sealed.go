// Package sealed lets memory travel through a repository that nobody can read who has no key: an encrypted remote.
//
// To git it is a plain repository, reached as any other (package remote). To [remote.Session], and so to those
// who push and fetch, it looks as a plain remote does: lanes and where they are. In between each lane is a
// branch with an opaque name, and each push of a lane is one commit with one segment: a pack of what is new,
// with a head that says of which lane, from where to where and behind which commit, padded, and encrypted by
// age. A segment counts only in its place, so nothing can be swapped, left out in the middle or moved to
// another branch. Whether what is inside is to be believed is decided as for everything that is fetched: it
// goes to the quarantine.
//
// Segments are encrypted to an epoch, a key made for that. The [Keyring] holds the keys of all epochs and is
// encrypted to its members: devices, and a recovery key on paper. So a new device reads what is old; when a
// member leaves, a new epoch begins that it never sees. Who cannot name the newest epoch cannot write the next
// keyring: that is the only proof of membership there is, and the only one needed, because content is signed
// inside.
package sealed

import (
	"errors"

	"github.com/memvcs/mem/objects/gitstore"
)

var (
	// ErrNoKey says that no key of this device opens the remote.
	ErrNoKey = errors.New("no key of this device opens the encrypted remote")
	// ErrKeyring says that the keyring of a remote is not what it should be after the one that was seen before.
	ErrKeyring = errors.New("the keyring of the remote is not to be believed")
	// ErrRecovery says that a text is no key that age could have made.
	ErrRecovery = errors.New("not a recovery key")
	// ErrTampered says that a segment is broken, or not where it belongs.
	ErrTampered = errors.New("tampered with")
	// ErrPlain says that a remote holds memory that is not encrypted.
	ErrPlain = errors.New("the remote contains a memory that is not encrypted")
)

// A WaitingError says that no key of this device opens the remote, and what would let it in. It wraps [ErrNoKey].
type WaitingError struct{ Request Request }

func (e *WaitingError) Error() string { return ErrNoKey.Error() }

// Unwrap returns [ErrNoKey].
func (e *WaitingError) Unwrap() error { return ErrNoKey }

// keysRef is the branch of the keyring.
const keysRef = "refs/heads/keys"

// Is reports whether branches are those of an encrypted remote.
func Is(refs []gitstore.Ref) bool {
	for _, ref := range refs {
		if ref.Name == keysRef {
			return true
		}
	}
	return false
}
