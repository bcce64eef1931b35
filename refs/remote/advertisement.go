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
	// maxList is the maximum size in bytes of the list of refs of a remote, including tags.
	maxList = 32 << 20
	// maxBranches is the maximum number of branches of a remote. A memory has one for each device and project. Refusing
	// an unknown branch costs 5 KB of memory and 0.2 ms, so all of them cost less than 256 MB and 10 s.
	maxBranches = 40_000
)

// An advertisement contains the branches and the capabilities of a remote.
type advertisement struct {
	refs []gitstore.Ref
	caps map[string]bool
}

func (a *advertisement) Refs() []gitstore.Ref { return a.refs }

// readAdvertisement reads an advertisement up to its flush packet.
func readAdvertisement(l *pktReader) (*advertisement, error) {
	a := &advertisement{caps: map[string]bool{}}
	first, size := true, 0
	for {
		line, err := l.next()
		if err != nil {
			return nil, err
		}
		if line == nil {
			return a, nil
		}
		if size += len(line); size > maxList {
			return nil, fmt.Errorf("%w: its list of branches has more than %d bytes", ErrProtocol, maxList)
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if msg, ok := bytes.CutPrefix(line, []byte("ERR ")); ok {
			return nil, serverError(string(msg))
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
		if err := a.addLine(string(line)); err != nil {
			return nil, err
		}
	}
}

// addLine adds one branch. HEAD, tags and other refs are ignored; a shallow repository is an error.
func (a *advertisement) addLine(s string) error {
	hex, name, ok := strings.Cut(s, " ")
	if hex == "shallow" {
		return fmt.Errorf("%w: it is a shallow copy", ErrProtocol)
	}
	id, err := pack.ParseID(hex)
	if !ok || err != nil {
		return fmt.Errorf("%w: %.100q in the list of branches", ErrProtocol, s)
	}
	if !id.IsZero() && gitstore.CheckRef(name) == nil {
		if len(a.refs) == maxBranches {
			return fmt.Errorf("%w: more than %d", ErrTooMany, maxBranches)
		}
		a.refs = append(a.refs, gitstore.Ref{Name: name, ID: id})
	}
	return nil
}

// serverError returns the error for a message that a server sends instead of an advertisement.
func serverError(msg string) error {
	low := strings.ToLower(msg)
	switch {
	case reportsMissing(msg):
		return fmt.Errorf("%w: %.300s", ErrMissing, msg)
	case strings.Contains(low, "not found"), strings.Contains(low, "not exist"),
		strings.Contains(low, "not a git repository"):
		return fmt.Errorf("%w: %.300s", ErrAbsent, msg)
	case strings.Contains(low, "denied"), strings.Contains(low, "access"):
		return fmt.Errorf("%w: %.300s", ErrAuth, msg)
	}
	return fmt.Errorf("the remote says: %.300s", msg)
}

// fetchRequest returns the request of a fetch: "want" lines, "have" lines and "done".
func (a *advertisement) fetchRequest(want, have []pack.ID, agent string) []byte {
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

// receivePack reads the response to fetchRequest: acknowledgements, then the pack.
func (a *advertisement) receivePack(l *pktReader, w *pack.Writer, lim pack.Limits, print func(string)) (pack.Receipt,
	error) {
	for {
		head, err := l.rest().Peek(8)
		if err != nil {
			return pack.Receipt{}, unexpectedEnd(err)
		}
		if s := string(head[4:]); s != "NAK\n" && s != "ACK " && s != "ERR " {
			break
		}
		line, err := l.next()
		if err != nil {
			return pack.Receipt{}, unexpectedEnd(err)
		}
		if msg, ok := strings.CutPrefix(string(line), "ERR "); ok {
			return pack.Receipt{}, serverError(msg)
		}
	}
	if !a.caps["side-band-64k"] {
		return w.Receive(l.rest(), lim)
	}
	b := newSideBand(l, print)
	got, err := w.Receive(b, lim)
	if err != nil {
		return got, err
	}
	_, err = io.Copy(io.Discard, io.LimitReader(b, maxPkt))
	return got, err
}

// pushRequest returns the head of a push: the updates of branches.
func (a *advertisement) pushRequest(b Batch, agent string) []byte {
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

// maxReport is the maximum size in bytes of the report of a push.
const maxReport = 8 << 20

// readReport reads the status report of a push.
func (a *advertisement) readReport(r io.Reader, b Batch, print func(string)) error {
	if !a.caps["report-status"] {
		return fmt.Errorf("%w: it does not report the result of a push", ErrProtocol)
	}
	if !a.caps["side-band-64k"] {
		return parseReport(r, b.Updates)
	}
	r = newSideBand(newPktReader(r), print)
	err := parseReport(r, b.Updates)
	if err == nil || errors.Is(err, ErrRejected) { // progress messages may follow
		if _, err := io.Copy(io.Discard, io.LimitReader(r, maxPkt)); err != nil {
			return err
		}
	}
	return err
}

// parseReport reads a report up to its flush packet. It returns an error unless all updates were made.
func parseReport(r io.Reader, updates []Update) error {
	results := make(map[string]string, len(updates)) // "ok" or "ng REASON", by ref
	for _, u := range updates {
		results[u.Ref] = ""
	}
	rejected := &RejectedError{}
	for l := newPktReader(io.LimitReader(r, maxReport)); ; {
		line, err := l.next()
		if errors.Is(err, io.EOF) || err == nil && line == nil {
			break
		}
		if err != nil {
			return err
		}
		status, rest, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), " ")
		if status == "unpack" && rest != "ok" {
			rejected.Unpack = rest
		}
		ref, why, _ := strings.Cut(rest, " ")
		if _, ok := results[ref]; ok && (status == "ok" || status == "ng") {
			results[ref] = status + " " + why
		}
	}
	missing := ""
	for _, u := range updates {
		status, why, _ := strings.Cut(results[u.Ref], " ")
		switch status {
		case "ng":
			rejected.Refs, rejected.Why = append(rejected.Refs, u.Ref), append(rejected.Why, why)
		case "":
			missing = u.Ref
		}
	}
	if rejected.Unpack != "" || len(rejected.Refs) > 0 {
		return rejected
	}
	if missing != "" {
		return fmt.Errorf("%w: it does not report the result for %s", ErrProtocol, missing)
	}
	return nil
}
