package migration

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/compress"
	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// unchecked is why a dry run does not check the parts of a new session.
const unchecked = "it is checked when its session is in memory"

// errUnchecked reports a part that a dry run cannot check.
var errUnchecked = errors.New(unchecked)

// sessionParts imports the titles, tags, markers and versions of sessions.
func (w *projectImport) sessionParts(ctx context.Context) error {
	for _, h := range w.targets {
		if h.change == "" || h.change == "conflict" {
			why := "its session is not in memory"
			if h.change != "" {
				why = "memory has its session with other content"
			}
			w.recordParts(h, NotMapped, why)
			continue
		}
		_, s, err := w.session(ctx, h)
		if err != nil {
			return err
		}
		if s == nil { // of a dry run
			w.recordParts(h, New, unchecked)
			continue
		}
		rev := state.Rev{Kind: state.IsSession, Project: h.project, Session: s, Hash: s.Now().Original}
		for _, step := range []func(context.Context, *target, state.Rev) error{w.names, w.markersAndVersions} {
			if err := step(ctx, h, rev); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordParts records all versions and markers of a session with one status.
func (w *projectImport) recordParts(h *target, status, why string) {
	for _, v := range h.Versions {
		w.record(Item{Status: status, Kind: "version", Name: h.name() + " " + v.ID, Project: h.project.Name, Why: why})
	}
	for _, k := range h.Markers {
		w.record(Item{Status: status, Kind: "marker", Name: markerName(h, k), Project: h.project.Name, Why: why})
	}
}

func markerName(h *target, k Marker) string {
	return fmt.Sprintf("%s %s %s", h.name(), cmp.Or(k.ID, k.UUID), keepit.Weight(k.Weight))
}

// names imports the title and the tags of a session.
func (w *projectImport) names(ctx context.Context, h *target, rev state.Rev) error {
	if h.Title != "" {
		it := Item{Kind: "title", Name: h.name() + " " + h.Title, As: records.ShortID(h.id), Project: h.project.Name}
		title := string(records.CleanTitle(w.redacted(h.Title, &redact.Numbers{})))
		switch {
		case w.forgotten(h.Title):
			it.Status, it.Why = NotMapped, errForgotten.Error()
		case title == rev.Session.Title():
			it.Status = Unchanged
		case rev.Session.Renamed != "":
			it.Status, it.Why = Conflict, fmt.Sprintf("it is called %q", rev.Session.Renamed)
		default:
			it.Status = New
			if err := w.retitle(ctx, rev, title); err != nil {
				return w.reject(it, err)
			}
		}
		w.record(it)
	}
	for _, tag := range h.Tags {
		if err := w.tag(ctx, h, rev, tag); err != nil {
			return err
		}
	}
	return nil
}

func (w *projectImport) retitle(ctx context.Context, rev state.Rev, title string) error {
	if w.o.DryRun {
		_, err := records.ParseTitle(title)
		return err
	}
	return sessions.Retitle(ctx, w.m, rev, title, sessions.Edit{Tool: w.store.Tool})
}

func (w *projectImport) tag(ctx context.Context, h *target, rev state.Rev, tag string) error {
	it := Item{Kind: "tag", Name: h.name() + " " + tag, Project: h.project.Name}
	switch {
	case w.forgotten(tag):
		return w.reject(it, errForgotten)
	case w.redacted(tag, &redact.Numbers{}) != tag:
		return w.reject(it, errors.New("it contains a secret"))
	}
	tags, err := sessions.Tags(ctx, w.m, h.project.ID)
	if err != nil {
		return err
	}
	for _, t := range tags {
		if t.Name == tag && t.Version == nil && t.Session.ID == h.id {
			it.Status, it.As = Unchanged, tag
			w.record(it)
			return nil
		}
	}
	err = sessions.Tag(ctx, w.m, rev, tag, sessions.Edit{DryRun: w.o.DryRun, Tool: w.store.Tool})
	switch {
	case errors.Is(err, sessions.ErrTaken):
		it.Status, it.Why = Conflict, err.Error()
	case err != nil:
		return w.reject(it, err)
	default:
		it.Status, it.As = New, tag
	}
	w.record(it)
	return nil
}

// A sessionText is the text of a session, to look up markers and versions in.
type sessionText struct {
	rev      state.Rev
	items    []compress.Item
	listed   map[int]bool       // messages in items
	typed    map[int]string     // text that the user typed, by message
	messages map[string]message // that the store names, by UUID
	cuts     []redact.Cut       // the secrets of the session
	markers  []state.Keepit     // before the import
}

// A message is a record of a session.
type message struct {
	n    int
	text string
	own  bool // the client wrote it as the user
}

// contains reports whether L1 has a text in a message.
func (m *sessionText) contains(n int, text string) bool {
	return slices.ContainsFunc(m.items, func(it compress.Item) bool {
		return it.N <= n && n <= max(it.N, it.To) && strings.Contains(flat(it.Text), flat(text))
	})
}

// numbers returns the numbers of the session's secrets.
func (m *sessionText) numbers() *redact.Numbers {
	n := &redact.Numbers{}
	n.Learn(m.cuts)
	return n
}

// markersAndVersions imports the markers and versions of a session.
func (w *projectImport) markersAndVersions(ctx context.Context, h *target, rev state.Rev) error {
	if len(h.Markers)+len(h.Versions) == 0 {
		return nil
	}
	named := map[string]bool{}
	for _, k := range h.Markers {
		named[k.UUID] = true
	}
	messages := make([][]Message, len(h.Versions))
	for i, v := range h.Versions {
		why := "its JSONL file is missing, and no other form names the messages that it replaces"
		if v.File != "" {
			var err error
			if messages[i], err = w.store.Version(v); err == nil {
				for _, x := range messages[i] {
					named[x.UUID] = true
					for _, id := range x.From {
						named[id] = true
					}
				}
				continue
			}
			why = err.Error()
		}
		w.record(Item{Status: NotMapped, Kind: "version", Name: h.name() + " " + v.ID, Project: h.project.Name, Why: why})
	}
	mat, err := w.readText(ctx, rev, named)
	if err != nil {
		return w.reject(Item{Kind: "session", Name: h.name()}, err)
	}
	if mat.markers, err = markers.AllKeepits(ctx, w.m, rev); err != nil {
		return err
	}
	for _, k := range h.Markers {
		if err := w.marker(ctx, h, mat, k); err != nil {
			return err
		}
	}
	for i, v := range h.Versions {
		if messages[i] == nil {
			continue
		}
		if err := w.version(ctx, h, mat, v, messages[i]); err != nil {
			return err
		}
	}
	return nil
}

// readText reads the text of a session, and the messages with the given UUIDs.
func (w *projectImport) readText(ctx context.Context, rev state.Rev, named map[string]bool) (*sessionText, error) {
	p := rev.Session.Now()
	m := &sessionText{rev: rev, listed: map[int]bool{}, typed: map[int]string{}, messages: map[string]message{}}
	var err error
	if m.items, err = markers.Items(ctx, w.m, rev.Project.ID, rev.Session, p); err != nil {
		return nil, err
	}
	for _, it := range m.items {
		for n := it.N; n <= max(it.N, it.To); n++ {
			m.listed[n] = true
		}
		if it.Kind == compress.User {
			m.typed[it.N] = it.Text
		}
	}
	for msg, err := range markers.Messages(ctx, w.m, rev.Project.ID, p, [2]int{1, p.Scan.Values}, nil) {
		if err != nil {
			return nil, err
		}
		if _, twice := m.messages[msg.UUID]; named[msg.UUID] && !twice && msg.UUID != "" {
			_, typed := transcript.Typed(msg)
			m.messages[msg.UUID] = message{msg.N, textOf(msg), msg.Type == "user" && !typed}
		}
	}
	if !p.Withheld {
		return m, nil
	}
	patches, err := originals.Patches(ctx, w.m, rev.Project.ID, rev.Session, p)
	if errors.Is(err, originals.ErrWithheld) {
		err = nil // captured on another device: the numbers of the secrets are unknown
	}
	for _, patch := range patches {
		m.cuts = append(m.cuts, patch.Cuts...)
	}
	return m, err
}

// textOf returns the text blocks of a record.
func textOf(msg transcript.Message) string {
	var parts []string
	for _, b := range msg.Blocks {
		if b.Kind == transcript.Text {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}

// marker imports a marker. If the user typed it in the session, only a different weight is imported; otherwise the
// marker is added.
func (w *projectImport) marker(ctx context.Context, h *target, mat *sessionText, k Marker) error {
	it := Item{Kind: "marker", Name: markerName(h, k), Project: h.project.Name}
	msg, ok := mat.messages[k.UUID]
	if !ok {
		return w.reject(it, errors.New("the session has no such message"))
	}
	weight, how := keepit.Weight(k.Weight), markers.Edit{DryRun: w.o.DryRun, Tool: w.store.Tool}
	for _, x := range mat.markers {
		if x.Mark.Message != msg.n || !sameStart(markedText(mat, x), k.Text) {
			continue
		}
		it.As = fmt.Sprintf("%s#%d %s", records.ShortID(h.id), msg.n, x.ID)
		switch {
		case !x.Removed && x.Mark.Weight == weight && h.change == "unchanged":
			it.Status = Unchanged
		case !x.Removed && x.Mark.Weight == weight:
			it.Status = New
		case x.Removed || x.Set || x.Added:
			it.Status, it.Why = Conflict, "it was set to "+x.Mark.Weight.String()
			if x.Removed {
				it.Why = "it was removed"
			}
		default:
			if _, err := markers.SetKeepit(ctx, w.m, mat.rev, x.ID, weight, how); err != nil {
				return w.reject(it, err)
			}
			it.Status, it.Why = New, "its weight in the store is not the typed one"
		}
		w.record(it)
		return nil
	}
	at := mat.rev
	at.Kind, at.From, at.To = state.IsMessages, msg.n, msg.n
	x, err := markers.AddKeepit(ctx, w.m, at, w.redacted(k.Text, mat.numbers()), weight, how)
	if err != nil {
		return w.reject(it, err)
	}
	it.Status, it.As = New, fmt.Sprintf("%s#%d %s", records.ShortID(h.id), msg.n, x.ID)
	w.record(it)
	return nil
}

// markedText returns the text of a marker.
func markedText(mat *sessionText, x state.Keepit) string {
	typed := mat.typed[x.Mark.Message]
	if x.Mark.TextStart > x.Mark.TextEnd || x.Mark.TextEnd > len(typed) {
		return ""
	}
	return typed[x.Mark.TextStart:x.Mark.TextEnd]
}

// sameStart reports whether one text is a prefix of the other: tools end the text of a marker at different places.
func sameStart(a, b string) bool {
	a, b = flat(a), flat(b)
	return a != "" && b != "" && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a))
}

// flat returns a text with single spaces.
func flat(s string) string { return strings.Join(strings.Fields(s), " ") }
