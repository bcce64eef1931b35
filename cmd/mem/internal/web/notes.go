package web

import (
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
)

// A notesBody is the list of Claude's notes and, if one is chosen, its history with the difference that a state made.
type notesBody struct {
	Files  []noteRow
	File   string
	States []noteRow
	At     int // the shown state
	Text   string
	Diff   []string
	From   string // what the state is compared with
}

// A noteRow is a state of a note.
type noteRow struct {
	*notes.State
	N              int
	Added, Removed int
	Device         string // "" for this device
	Title          string // of the session that wrote it
	Both           bool   // another newest state of the file exists: two machines changed it
}

func (s *Server) notesScreen(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	files, err := notes.Files(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	st, err := trust.Outline(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	row := func(f *notes.File, n int) (noteRow, error) {
		x := noteRow{State: f.States[n], N: n}
		x.Added, x.Removed = notes.Stat(f.Before(x.State), x.Text)
		if x.Stamp.Device != s.Memory.Refs.Device().ID {
			if x.Device, err = trust.DeviceName(ctx, s.Memory.DB, x.Stamp.Device); err != nil {
				return x, err
			}
		}
		if of := st.Session(x.Session); of != nil {
			x.Title = of.Title()
		}
		heads := f.Heads()
		x.Both = len(heads) > 1 && slices.Contains(heads, x.State)
		return x, nil
	}
	b := notesBody{File: r.FormValue("file")}
	for _, f := range files {
		for _, h := range f.Heads() {
			x, err := row(f, slices.Index(f.States, h))
			if err != nil {
				return "", page{}, err
			}
			b.Files = append(b.Files, x)
		}
	}
	if b.File != "" {
		f, err := notes.Find(files, b.File)
		if errors.Is(err, notes.ErrNone) {
			return "", page{}, &state.NotFoundError{What: "note", Name: b.File}
		} else if err != nil {
			return "", page{}, err
		}
		for n := range f.States {
			x, err := row(f, n)
			if err != nil {
				return "", page{}, err
			}
			b.States = append(b.States, x)
		}
		if at := r.FormValue("at"); at != "" {
			if b.At, err = strconv.Atoi(at); err != nil || b.At < 0 || b.At >= len(f.States) {
				return "", page{}, api.BadRequest("at is the number of a state")
			}
		}
		now := f.States[b.At]
		b.File, b.Text, b.From = f.Name, now.Text, "what it replaced"
		before := f.Before(now)
		if heads := f.Heads(); len(heads) > 1 && r.FormValue("at") == "" {
			before, b.From = heads[1].Text, "the state of the other machine"
		}
		b.Diff = notes.Diff(b.From, f.Name, before, now.Text)
	}
	return projectPage("notes", "notes", "Claude's notes", p, b, nil)
}

// By says who made the state.
func (n noteRow) By() string {
	switch {
	case n.Deleted:
		return "deleted"
	case n.Restored:
		return "restored"
	case n.Session == "":
		return "by hand"
	case n.Title != "":
		return n.Title
	}
	return records.ShortID(n.Session)
}
