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

	// signedText is the signed text if it differs from the encoding of the fields: other programs write more headers, time
	// zones, and committers that are not the author.
	signedText string
}

// ErrCommit means that bytes are not a commit that this package can read, or that a Commit cannot be written.
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
	case strings.Contains(sig, "\x00"):
		return nil, fmt.Errorf("signature contains a NUL: %w", ErrCommit)
	}
	return c.encode(sig), nil
}

// Payload returns the signed text of c: the content of the commit without the signature.
func (c Commit) Payload() []byte {
	if c.signedText != "" {
		return []byte(c.signedText)
	}
	return c.encode("")
}

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

// DecodeCommit decodes a commit. Unknown headers are only in [Commit.Payload]; name, email and time are those of the
// author. The error wraps [ErrCommit] if b is not a commit or has several parents.
func DecodeCommit(b []byte) (Commit, error) {
	var c Commit
	p := commitParser{rest: string(b)}
	if err := p.headers(&c); err != nil {
		return Commit{}, err
	}
	c.Message = p.rest
	p.payload.WriteString("\n")
	p.payload.WriteString(p.rest)
	if s := p.payload.String(); s != string(c.encode("")) || !bytes.Equal(b, c.encode(c.Signature)) {
		c.signedText = s
	}
	return c, nil
}

type commitParser struct {
	rest    string
	payload strings.Builder // the headers so far, without the signature
}

// headers reads the headers and the empty line before the message.
func (p *commitParser) headers(c *Commit) error {
	seen := map[string]bool{}
	for {
		header, ok := p.header()
		if !ok {
			return fmt.Errorf("headers do not end: %w", ErrCommit)
		}
		if header == "" {
			break
		}
		key, value, ok := strings.Cut(strings.TrimSuffix(header, "\n"), " ")
		if !ok || key == "" {
			return fmt.Errorf("header %.60q: %w", header, ErrCommit)
		}
		if key != "gpgsig" {
			p.payload.WriteString(header)
		}
		known, err := c.set(key, value)
		if err != nil {
			return fmt.Errorf("header %s: %w", key, err)
		}
		if known && seen[key] {
			return fmt.Errorf("duplicate header %s: %w", key, ErrCommit)
		}
		seen[key] = true
	}
	for _, key := range []string{"tree", "author", "committer"} {
		if !seen[key] {
			return fmt.Errorf("no header %s: %w", key, ErrCommit)
		}
	}
	return nil
}

// header returns the next header with its continuation lines and final newline, and "" at the
// empty line.
func (p *commitParser) header() (string, bool) {
	end := strings.IndexByte(p.rest, '\n')
	if end < 0 {
		return "", false
	}
	if end == 0 {
		p.rest = p.rest[1:]
		return "", true
	}
	end++
	for end < len(p.rest) && p.rest[end] == ' ' {
		n := strings.IndexByte(p.rest[end:], '\n')
		if n < 0 {
			return "", false
		}
		end += n + 1
	}
	h := p.rest[:end]
	p.rest = p.rest[end:]
	return h, true
}

// set sets the field of c for a header. It reports whether it knows the header.
func (c *Commit) set(key, value string) (known bool, err error) {
	switch key {
	case "tree":
		c.Tree, err = parseID(value)
	case "parent":
		c.Parent, err = parseID(value)
	case "author":
		c.Name, c.Email, c.Time, err = parseIdent(value)
	case "committer":
		_, _, _, err = parseIdent(value)
	case "gpgsig":
		c.Signature = strings.ReplaceAll(value, "\n ", "\n") + "\n"
	default:
		return false, nil
	}
	return true, err
}

func parseID(s string) (pack.ID, error) {
	id, err := pack.ParseID(s)
	if err != nil {
		return id, fmt.Errorf("%w: %w", err, ErrCommit)
	}
	if id.IsZero() {
		return id, fmt.Errorf("names no object: %w", ErrCommit)
	}
	return id, nil
}

// parseIdent parses "NAME <EMAIL> SECONDS ZONE". The zone is only checked for its form: the time does not depend on it.
func parseIdent(s string) (name, email string, at time.Time, err error) {
	bad := fmt.Errorf("%.200q: %w", s, ErrCommit)
	name, rest, ok := strings.Cut(s, "<")
	if !ok {
		return "", "", at, bad
	}
	email, rest, ok = strings.Cut(rest, "> ")
	if !ok || strings.ContainsAny(name+email, "<>\n\x00") {
		return "", "", at, bad
	}
	secs, zone, ok := strings.Cut(rest, " ")
	n, nerr := strconv.ParseInt(secs, 10, 64)
	if _, zerr := strconv.Atoi(zone); !ok || nerr != nil || zerr != nil || n < 0 || n > maxTime {
		return "", "", at, bad
	}
	return strings.TrimSpace(name), strings.TrimSpace(email), time.Unix(n, 0).UTC(), nil
}

// maxTime is the end of the year 9999. Later times are refused.
const maxTime = 253402300799
