package interchange

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/version"
)

// unchecked is why a dry run does not check the markers of a new session.
const unchecked = "it is checked when its session is in memory"

// sessionParts imports the titles, tags and markers of sessions.
func (w *projectImport) sessionParts(ctx context.Context) error {
	for _, h := range w.targets {
		if h.change == "" || h.change == "conflict" {
			why := "its session is not in memory"
			if h.change != "" {
				why = "memory has its session with other content"
			}
			w.recordMarkers(h, NotMapped, why)
			continue
		}
		s, err := w.session(ctx, h)
		if err != nil {
			return err
		}
		if s == nil { // of a dry run
			w.recordMarkers(h, New, unchecked)
			continue
		}
		rev := state.Rev{Kind: state.IsSession, Project: h.project, Session: s, Hash: s.Now().Original}
		for _, step := range []func(context.Context, *target, state.Rev) error{w.names, w.markers} {
			if err := step(ctx, h, rev); err != nil {
				return err
			}
		}
	}
	return nil
}

// recordMarkers records all markers of a session with one status.
func (w *projectImport) recordMarkers(h *target, status, why string) {
	for _, k := range h.Markers {
		w.record(Item{Status: status, Kind: "marker", Name: markerName(h, k), Project: h.project.Name, Why: why})
	}
}

func markerName(h *target, k storeMarker) string {
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

// A sessionText is what markers of a session are looked up in.
type sessionText struct {
	rev      state.Rev
	typed    map[int]string // text that the user typed, by message
	messages map[string]int // that the store names, by UUID
	numbers  redact.Numbers // of the session's secrets
	markers  []state.Keepit // before the import
}

// markers imports the markers of a session.
func (w *projectImport) markers(ctx context.Context, h *target, rev state.Rev) error {
	if len(h.Markers) == 0 {
		return nil
	}
	text, err := w.readText(ctx, rev)
	if err != nil {
		return w.reject(Item{Kind: "session", Name: h.name()}, err)
	}
	if text.markers, err = markers.AllKeepits(ctx, w.m, rev); err != nil {
		return err
	}
	for _, k := range h.Markers {
		if err := w.marker(ctx, h, text, k); err != nil {
			return err
		}
	}
	return nil
}

// readText reads the text of a session.
func (w *projectImport) readText(ctx context.Context, rev state.Rev) (*sessionText, error) {
	p := rev.Session.Now()
	t := &sessionText{rev: rev, typed: map[int]string{}, messages: map[string]int{}}
	items, err := markers.Items(ctx, w.m, rev.Project.ID, rev.Session, p)
	if err != nil {
		return nil, err
	}
	for _, it := range items {
		if it.Kind == version.User {
			t.typed[it.N] = it.Text
		}
	}
	for msg, err := range markers.Messages(ctx, w.m, rev.Project.ID, p, [2]int{1, p.Scan.Values}, nil) {
		if err != nil {
			return nil, err
		}
		if _, twice := t.messages[msg.UUID]; !twice && msg.UUID != "" {
			t.messages[msg.UUID] = msg.N
		}
	}
	if !p.Withheld {
		return t, nil
	}
	patches, err := originals.Patches(ctx, w.m, rev.Project.ID, rev.Session, p)
	if errors.Is(err, originals.ErrWithheld) {
		err = nil // captured on another device: the numbers of the secrets are unknown
	}
	for _, patch := range patches {
		t.numbers.Learn(patch.Cuts)
	}
	return t, err
}

// marker imports a marker. If the user typed it in the session, only a different weight is imported; otherwise the
// marker is added.
func (w *projectImport) marker(ctx context.Context, h *target, text *sessionText, k storeMarker) error {
	it := Item{Kind: "marker", Name: markerName(h, k), Project: h.project.Name}
	n, ok := text.messages[k.UUID]
	if !ok {
		return w.reject(it, errors.New("the session has no such message"))
	}
	weight, how := keepit.Weight(k.Weight), markers.Edit{DryRun: w.o.DryRun, Tool: w.store.Tool}
	for _, x := range text.markers {
		if x.Mark.Message != n || !sameStart(markedText(text, x), k.Text) {
			continue
		}
		it.As = fmt.Sprintf("%s#%d %s", records.ShortID(h.id), n, x.ID)
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
			if _, err := markers.SetKeepit(ctx, w.m, text.rev, x.ID, weight, how); err != nil {
				return w.reject(it, err)
			}
			it.Status, it.Why = New, "its weight in the store is not the typed one"
		}
		w.record(it)
		return nil
	}
	at := text.rev
	at.Kind, at.From, at.To = state.IsMessages, n, n
	x, err := markers.AddKeepit(ctx, w.m, at, w.redacted(k.Text, &text.numbers), weight, how)
	if err != nil {
		return w.reject(it, err)
	}
	it.Status, it.As = New, fmt.Sprintf("%s#%d %s", records.ShortID(h.id), n, x.ID)
	w.record(it)
	return nil
}

// markedText returns the text of a marker.
func markedText(text *sessionText, x state.Keepit) string {
	typed := text.typed[x.Mark.Message]
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
