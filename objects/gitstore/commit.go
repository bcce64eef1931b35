package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/object"

	"github.com/memvcs/mem/objects/pack"
)

// A Commit is a commit with at most one parent, by one person at one time in UTC.
type Commit struct {
	Tree        pack.ID
	Parent      pack.ID // zero for the first commit
	Name, Email string
	Time        time.Time // whole seconds count
	Message     string
	Signature   string // empty, or lines each ending in "\n"
}

// ErrCommit means that bytes are not a commit that this package writes, or that a Commit cannot be written.
var ErrCommit = errors.New("malformed commit")

// EncodeCommit returns the content of a commit. It refuses fields that git would read differently.
func EncodeCommit(c Commit) ([]byte, error) {
	sig := c.Signature
	if sig != "" && !strings.HasSuffix(sig, "\n") {
		sig += "\n"
	}
	switch {
	case c.Tree.IsZero():
		return nil, fmt.Errorf("no tree: %w", ErrCommit)
	case c.Name == "" || c.Name != strings.TrimSpace(c.Name) || strings.ContainsAny(c.Name, "<>\n\x00"):
		return nil, fmt.Errorf("name %.60q: %w", c.Name, ErrCommit)
	case c.Email != strings.TrimSpace(c.Email) || strings.ContainsAny(c.Email, "<>\n\x00"):
		return nil, fmt.Errorf("email %.60q: %w", c.Email, ErrCommit)
	case c.Time.Unix() < 0 || c.Time.Unix() > maxTime:
		return nil, fmt.Errorf("time %v: %w", c.Time, ErrCommit)
	case strings.Contains(c.Message, "\x00"):
		return nil, fmt.Errorf("message contains a NUL: %w", ErrCommit)
	case strings.Contains(sig, "\x00") || strings.HasPrefix(sig, "\n"):
		return nil, fmt.Errorf("signature contains a NUL or begins with an empty line: %w", ErrCommit)
	}
	return c.encode(sig), nil
}

// Payload returns the signed text of c: the content of the commit without the signature.
func (c Commit) Payload() []byte { return c.encode("") }

func (c Commit) encode(sig string) []byte {
	who := object.Signature{Name: c.Name, Email: c.Email, When: c.Time.UTC()}
	o := object.Commit{Author: who, Committer: who, Message: c.Message, TreeHash: c.Tree, PGPSignature: sig}
	if !c.Parent.IsZero() {
		o.ParentHashes = []pack.ID{c.Parent}
	}
	b, err := encode(o.Encode)
	if err != nil {
		panic(err) // memory takes everything
	}
	return b
}

// encode returns what go-git's encoder of an object writes.
func encode(encoder func(plumbing.EncodedObject) error) ([]byte, error) {
	var m plumbing.MemoryObject
	if err := encoder(&m); err != nil {
		return nil, err
	}
	r, err := m.Reader()
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

// decode calls go-git's decoder of an object with its content.
func decode(k pack.Kind, b []byte, decoder func(plumbing.EncodedObject) error) error {
	var m plumbing.MemoryObject
	m.SetType(k)
	if _, err := m.Write(b); err != nil {
		return err
	}
	return decoder(&m)
}

// DecodeCommit decodes a commit. The error wraps [ErrCommit] unless [EncodeCommit] returns the same bytes: a lane has
// only commits of this package, so there is one reading of what is signed.
func DecodeCommit(b []byte) (Commit, error) {
	var o object.Commit
	if err := decode(pack.Commit, b, o.Decode); err != nil {
		return Commit{}, fmt.Errorf("%v: %w", err, ErrCommit)
	}
	c := Commit{Tree: o.TreeHash, Name: o.Author.Name, Email: o.Author.Email, Time: o.Author.When.UTC(), Message: o.Message,
		Signature: o.PGPSignature}
	if len(o.ParentHashes) > 0 {
		c.Parent = o.ParentHashes[0]
	}
	again, err := EncodeCommit(c)
	if err == nil && !bytes.Equal(again, b) {
		err = fmt.Errorf("not in the form that mem writes: %w", ErrCommit)
	}
	if err != nil {
		return Commit{}, err
	}
	return c, nil
}

// maxTime is the end of the year 9999. Later times are refused.
const maxTime = 253402300799
