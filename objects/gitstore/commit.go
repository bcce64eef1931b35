package gitstore

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

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
	b := make([]byte, 0, 256+len(c.Message)+len(sig))
	b = fmt.Appendf(b, "tree %s\n", c.Tree)
	if !c.Parent.IsZero() {
		b = fmt.Appendf(b, "parent %s\n", c.Parent)
	}
	person := fmt.Sprintf("%s <%s> %d +0000\n", c.Name, c.Email, c.Time.Unix())
	b = append(append(b, "author "...), person...)
	b = append(append(b, "committer "...), person...)
	prefix := "gpgsig "
	for line := range strings.Lines(sig) {
		b = append(append(b, prefix...), line...)
		prefix = " "
	}
	b = append(b, '\n')
	return append(b, c.Message...)
}

// DecodeCommit decodes a commit. The error wraps [ErrCommit] unless [EncodeCommit] returns the same bytes: a lane has
// only commits of this package, so there is one reading of what is signed.
func DecodeCommit(b []byte) (Commit, error) {
	c, err := parseCommit(string(b))
	if err == nil {
		var again []byte
		if again, err = EncodeCommit(c); err == nil && !bytes.Equal(again, b) {
			err = fmt.Errorf("not in the form that mem writes: %w", ErrCommit)
		}
	}
	if err != nil {
		return Commit{}, err
	}
	return c, nil
}

// parseCommit reads the fields of a commit, without a check that nothing else is in it.
func parseCommit(s string) (c Commit, err error) {
	var head string
	head, c.Message, _ = strings.Cut(s, "\n\n")
	lines := strings.Split(head, "\n")
	next := func(key string) (value string) {
		if rest, ok := strings.CutPrefix(lines[0], key+" "); ok {
			value, lines = rest, append(lines[1:], "")
		}
		return value
	}
	if c.Tree, err = parseID(next("tree")); err != nil {
		return c, err
	}
	if parent := next("parent"); parent != "" {
		if c.Parent, err = parseID(parent); err != nil {
			return c, err
		}
	}
	author := next("author")
	name, rest, _ := strings.Cut(author, " <")
	email, at, ok := strings.Cut(rest, "> ")
	seconds, terr := strconv.ParseInt(strings.TrimSuffix(at, " +0000"), 10, 64)
	if !ok || terr != nil {
		return c, fmt.Errorf("author %.200q: %w", author, ErrCommit)
	}
	c.Name, c.Email, c.Time = name, email, time.Unix(seconds, 0).UTC()
	next("committer") // equal to the author
	if first := next("gpgsig"); first != "" {
		c.Signature = first + "\n"
		for strings.HasPrefix(lines[0], " ") {
			c.Signature += lines[0][1:] + "\n"
			lines = append(lines[1:], "")
		}
	}
	return c, nil
}

func parseID(s string) (pack.ID, error) {
	id, err := pack.ParseID(s)
	if err == nil && id.IsZero() {
		err = errors.New("names no object")
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", err, ErrCommit)
	}
	return id, err
}

// maxTime is the end of the year 9999. Later times are refused.
const maxTime = 253402300799
