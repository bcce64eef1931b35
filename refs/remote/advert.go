package remote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

const (
	// maxLines is the maximum number of refs that a remote may list, including tags.
	maxLines = 200_000
	// maxBranches bounds the branches of a remote. A memory has one for each device and project. One that is new
	// takes 5 KB of memory and 0.2 ms to be refused, so that all of them take less than 256 MB and 10 s.
	maxBranches = 40_000
)

// An advert is the advertisement of a remote: its branches and capabilities.
type advert struct {
	refs  []gitstore.Ref
	caps  map[string]bool
	lines int
}

func (a *advert) Refs() []gitstore.Ref { return a.refs }

// readAdvert reads an advertisement up to its flush packet.
func readAdvert(l *lines) (*advert, error) {
	a := &advert{caps: map[string]bool{}}
	for first := true; ; {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line == nil {
			return a, nil
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if msg, ok := bytes.CutPrefix(line, []byte("ERR ")); ok {
			return nil, refusal(string(msg))
		}
		if first && string(line) == "version 1" {
			continue
		}
		if first {
			name, caps, _ := bytes.Cut(line, []byte{0})
			for _, c := range strings.Fields(string(caps)) {
				a.caps[c] = true
			}
			line, first = name, false
		}
		if err := a.line(string(line)); err != nil {
			return nil, err
		}
	}
}

// line adds one branch. HEAD, tags and other refs are ignored; a shallow repository is an error.
func (a *advert) line(s string) error {
	hex, name, ok := strings.Cut(s, " ")
	if hex == "shallow" {
		return fmt.Errorf("%w: it is a shallow copy", ErrProtocol)
	}
	id, err := pack.ParseID(hex)
	if !ok || err != nil {
		return fmt.Errorf("%w: %.100q in the list of branches", ErrProtocol, s)
	}
	if a.lines++; a.lines > maxLines {
		return fmt.Errorf("%w: more than %d lines in its list", ErrProtocol, maxLines)
	}
	if !id.IsZero() && gitstore.CheckRef(name) == nil {
		if len(a.refs) == maxBranches {
			return fmt.Errorf("%w: more than %d", ErrTooMany, maxBranches)
		}
		a.refs = append(a.refs, gitstore.Ref{Name: name, ID: id})
	}
	return nil
}

// refusal returns the error for a message that a server sends instead of an advertisement.
func refusal(msg string) error {
	low := strings.ToLower(msg)
	switch {
	case lacks(msg):
		return fmt.Errorf("%w: %.300s", ErrLacking, msg)
	case strings.Contains(low, "not found"), strings.Contains(low, "not exist"),
		strings.Contains(low, "not a git repository"):
		return fmt.Errorf("%w: %.300s", ErrAbsent, msg)
	case strings.Contains(low, "denied"), strings.Contains(low, "access"):
		return fmt.Errorf("%w: %.300s", ErrAuth, msg)
	}
	return fmt.Errorf("the remote says: %.300s", msg)
}

// wants returns the request of a fetch: "want" lines, "have" lines and "done".
func (a *advert) wants(want, have []pack.ID, agent string) []byte {
	caps := "ofs-delta no-progress"
	if a.caps["side-band-64k"] {
		caps += " side-band-64k"
	}
	if agent != "" {
		caps += " agent=" + agent
	}
	var b []byte
	for i, id := range want {
		if i == 0 {
			b = pkt(b, "want %s %s\n", id, caps)
		} else {
			b = pkt(b, "want %s\n", id)
		}
	}
	b = append(b, flush...)
	for _, id := range have {
		b = pkt(b, "have %s\n", id)
	}
	return pkt(b, "done\n")
}

// receive reads the response to wants: acknowledgements, then the pack.
func (a *advert) receive(l *lines, w *pack.Writer, lim pack.Limits, say func(string)) (pack.Receipt, error) {
	for {
		head, err := l.rest().Peek(8)
		if err != nil {
			return pack.Receipt{}, early(err)
		}
		if s := string(head[4:]); s != "NAK\n" && s != "ACK " && s != "ERR " {
			break
		}
		line, err := l.next()
		if err != nil {
			return pack.Receipt{}, early(err)
		}
		if msg, ok := strings.CutPrefix(string(line), "ERR "); ok {
			return pack.Receipt{}, refusal(msg)
		}
	}
	if !a.caps["side-band-64k"] {
		return w.Receive(l.rest(), lim)
	}
	b := &band{l: l, print: say}
	got, err := w.Receive(b, lim)
	if err != nil {
		return got, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(b, maxPkt))
	return got, err
}

// commands returns the head of a push: the updates of branches.
func (a *advert) commands(b Batch, agent string) []byte {
	caps := "report-status"
	for _, c := range []string{"side-band-64k", "atomic"} {
		if a.caps[c] {
			caps += " " + c
		}
	}
	if agent != "" {
		caps += " agent=" + agent
	}
	var out []byte
	for i, u := range b.Updates {
		if i == 0 {
			out = pkt(out, "%s %s %s\x00%s", u.Old, u.New, u.Ref, caps)
		} else {
			out = pkt(out, "%s %s %s", u.Old, u.New, u.Ref)
		}
	}
	return append(out, flush...)
}

// report reads the status report of a push.
func (a *advert) report(r io.Reader, b Batch, say func(string)) error {
	l, outer := newLines(r), io.Reader(nil)
	if a.caps["side-band-64k"] {
		outer = &band{l: l, print: say}
		l = newLines(outer)
	}
	if !a.caps["report-status"] {
		return fmt.Errorf("%w: it does not report the result of a push", ErrProtocol)
	}
	rejected := &RejectedError{}
	moved := map[string]bool{}
	for {
		line, err := l.next()
		if errors.Is(err, io.EOF) || err == nil && line == nil {
			break
		}
		if err != nil {
			return err
		}
		s := strings.TrimSuffix(string(line), "\n")
		if why, ok := strings.CutPrefix(s, "unpack "); ok && why != "ok" {
			rejected.Unpack = why
		}
		if ref, ok := strings.CutPrefix(s, "ok "); ok {
			moved[ref] = true
		}
		if rest, ok := strings.CutPrefix(s, "ng "); ok {
			ref, why, _ := strings.Cut(rest, " ")
			rejected.Refs, rejected.Why = append(rejected.Refs, ref), append(rejected.Why, why)
		}
	}
	if outer != nil { // progress messages may follow
		if _, err := io.Copy(io.Discard, io.LimitReader(outer, maxPkt)); err != nil {
			return err
		}
	}
	if rejected.Unpack != "" || len(rejected.Refs) > 0 {
		return rejected
	}
	for _, u := range b.Updates {
		if !moved[u.Ref] {
			return fmt.Errorf("%w: it does not report the result for %s", ErrProtocol, u.Ref)
		}
	}
	return nil
}
