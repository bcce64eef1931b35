// Package sealed implements encrypted remotes: repositories that nobody can read without a key.
//
// For git it is an ordinary repository, reached like any other (package remote). For [remote.Session], and so for
// push and fetch, it looks like a plain remote with lanes and their tips. In between each lane is a branch with an
// opaque name, and each push of a lane is one commit with one segment: a pack of the new objects and a header that
// names the lane, its old and new tip and the previous commit, padded, and encrypted with age. A segment counts only
// in its position, so none can be swapped, omitted in the middle or moved to another branch. The content is verified
// like all fetched data, in the quarantine.
//
// Segments are encrypted to an epoch, a key made for that purpose. The [Keyring] contains the keys of all epochs and
// is encrypted to its members: devices, and a recovery key on paper. So a new device can read old data; when a
// member leaves, a new epoch begins that it never sees. Only a reader of the newest epoch can write the next
// keyring. This is the only proof of membership, and it is sufficient because content is signed inside.
package sealed

import (
	"errors"
	"slices"

	"github.com/memvcs/mem/objects/gitstore"
)

var (
	// ErrNoKey means that no key of this device decrypts the remote.
	ErrNoKey = errors.New("no key of this device opens the encrypted remote")
	// ErrKeyring means that the keyring of a remote is not a valid successor of the known one.
	ErrKeyring = errors.New("the keyring of the remote is not valid")
	// ErrRecovery means that a text is not a valid key of age.
	ErrRecovery = errors.New("not a recovery key")
	// ErrTampered means that a segment is damaged or in the wrong position.
	ErrTampered = errors.New("tampered with")
	// ErrPlain means that a remote contains an unencrypted memory.
	ErrPlain = errors.New("the remote contains a memory that is not encrypted")
)

// A NotMemberError means that no key of this device decrypts the remote. It contains the request for access, and wraps
// [ErrNoKey].
type NotMemberError struct{ Request Request }

func (e *NotMemberError) Error() string { return ErrNoKey.Error() }

// Unwrap returns [ErrNoKey].
func (e *NotMemberError) Unwrap() error { return ErrNoKey }

// keysRef is the branch of the keyring.
const keysRef = "refs/heads/keys"

// IsEncrypted reports whether branches are those of an encrypted remote.
func IsEncrypted(refs []gitstore.Ref) bool {
	return slices.ContainsFunc(refs, func(r gitstore.Ref) bool { return r.Name == keysRef })
}
