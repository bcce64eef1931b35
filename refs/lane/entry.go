package lane

import (
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
)

// An Entry is one operation: a commit of a lane.
type Entry struct {
	Commit   string
	Parent   string // empty for the first commit of an epoch
	Project  Project
	Device   string
	Name     string // of the device, for people
	Time     time.Time
	Lamport  uint64
	Subject  string
	Trailers []string // "Mem-Key: value"
}

// Trailer returns the value of the first trailer "Mem-<key>", "" if there is none.
func (e Entry) Trailer(key string) string {
	v, _ := trailer(e.Trailers, key)
	return v
}

// NewEntry returns the operation of a commit.
func NewEntry(p Project, id pack.ID, device string, c gitstore.Commit) (Entry, error) {
	n, err := LamportOf(c)
	if err != nil {
		return Entry{}, fmt.Errorf("commit %s: %w", id, err)
	}
	subject, _, _ := strings.Cut(c.Message, "\n")
	e := Entry{Commit: id.String(), Project: p, Device: device, Name: c.Name, Time: c.Time, Lamport: n, Subject: subject,
		Trailers: Trailers(c.Message)}
	if !c.Parent.IsZero() {
		e.Parent = c.Parent.String()
	}
	return e, nil
}
