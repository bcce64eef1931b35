package web

import (
	"cmp"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/memvcs/mem/cmd/mem/internal/web/api"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/state"

	"github.com/memvcs/mem/layers/keepit"
	"github.com/memvcs/mem/layers/trust"
)

// An editorBody is one marker in its message, with its fate at several settings.
type editorBody struct {
	state.Keepit
	Name    string
	Decay   []decayLine
	Grid    []keepit.PreviewRow
	Heads   []int
	Presets []weightPreset
}

// A decayLine is the fate of a marker at a distance and ratio.
type decayLine struct {
	Distance, Ratio int
	Fate            string
	Class           string
}

type weightPreset struct {
	Name   string
	Weight keepit.Weight
}

// weightPresets returns the named weights, the highest first.
func weightPresets() []weightPreset {
	return []weightPreset{{"Pinned", 100}, {"Critical", 90}, {"Important", 75}, {"Notable", 50}}
}

func (s *Server) editor(_ http.ResponseWriter, r *http.Request) (string, page, error) {
	ctx := r.Context()
	id := r.PathValue("marker")
	rev, p, err := s.sessionPage(ctx, r.PathValue("session"), "Pinned text "+id)
	if err != nil {
		return "", page{}, err
	}
	all, err := markers.AllKeepits(ctx, s.Memory.DB, rev)
	if err != nil {
		return "", page{}, err
	}
	i := slices.IndexFunc(all, func(k state.Keepit) bool { return k.ID == id })
	if i < 0 {
		return "", page{}, api.NoSuch("marker", id)
	}
	b := editorBody{Keepit: all[i], Name: rev.Session.ID, Presets: weightPresets(),
		Heads: keepit.PreviewDistances[:]}
	if text := r.URL.Query().Get("weight"); text != "" { // a preview of another weight
		if w, err := keepit.ParseTyped(text); err == nil {
			b.Mark.Weight = w
		}
	}
	decay, err := s.Decay()
	if err != nil {
		return "", page{}, err
	}
	b.Grid = keepit.Preview(b.Mark.Weight, decay)
	for _, at := range [][2]int{{1, 30}, {5, 30}, {10, 30}, {10, 50}} {
		pressure := keepit.Pressure{Level: keepit.LevelFor(at[1]), Ratio: at[1], Distance: at[0], Decay: decay}
		row := decayLine{at[0], at[1], "SURVIVES", "kept"}
		switch pressure.Fate(b.Mark.Weight) {
		case keepit.OnTheEdge:
			row.Fate, row.Class = "BARELY SURVIVES", "edge"
		case keepit.Summarised:
			row.Fate, row.Class = "SUMMARIZED", "lost"
		}
		b.Decay = append(b.Decay, row)
	}
	p.Body = b
	return "editor", p, nil
}

// setMarker changes the weight of a marker, or removes it.
func (s *Server) setMarker(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	var err error
	ctx := r.Context()
	id := r.PathValue("marker")
	if r.PostFormValue("remove") != "" {
		_, err = markers.RemoveKeepit(ctx, s.Memory.DB, rev, id, markers.Edit{})
	} else {
		var weight keepit.Weight
		if weight, err = keepit.ParseTyped(cmp.Or(r.PostFormValue("preset"), r.PostFormValue("weight"))); err != nil {
			return "", page{}, api.BadRequest(err.Error())
		}
		_, err = markers.SetKeepit(ctx, s.Memory.DB, rev, id, weight, markers.Edit{})
	}
	done := id + " is removed."
	if r.PostFormValue("remove") == "" {
		done = id + " has the weight " + cmp.Or(r.PostFormValue("preset"), r.PostFormValue("weight")) + " now."
	}
	return s.did(w, r, rev.Project, err, done, cmp.Or(r.PostFormValue("back"), "/s/"+rev.Session.ID+"/keepits/"+id))
}

// addMarker marks a text in a message that the user typed.
func (s *Server) addMarker(w http.ResponseWriter, r *http.Request, rev state.Rev) (string, page, error) {
	ctx := r.Context()
	n, err := strconv.Atoi(r.PostFormValue("message"))
	if err != nil || n < 1 {
		return "", page{}, api.BadRequest("a message is a number from 1")
	}
	weight, err := keepit.ParseTyped(cmp.Or(r.PostFormValue("weight"), "0.80"))
	if err != nil {
		return "", page{}, api.BadRequest(err.Error())
	}
	rev.Kind, rev.From, rev.To = state.IsMessages, n, n
	k, err := markers.AddKeepit(ctx, s.Memory.DB, rev, r.PostFormValue("text"), weight, markers.Edit{})
	if errors.Is(err, markers.ErrNotTyped) || errors.Is(err, markers.ErrNoText) || errors.Is(err, markers.ErrManyTexts) {
		err = api.BadRequest(err.Error())
	}
	return s.did(w, r, rev.Project, err, "The text is pinned as "+k.ID+".", cmp.Or(r.PostFormValue("back"), "/s/"+rev.Session.ID+"/keepits/"+k.ID))
}

// A boardBody lists the markers of a project.
type boardBody struct {
	Rows     []boardRow
	Sessions []*state.Session
	Session  string
	Least    string
	Findings []markers.NearMiss
}

type boardRow struct {
	state.Keepit
	Session  *state.Session
	Name     string
	Distance int
	Grid     []keepit.PreviewRow
}

func (s *Server) board(_ http.ResponseWriter, r *http.Request, p state.Project) (string, page, error) {
	ctx := r.Context()
	st, err := trust.State(ctx, s.Memory.DB, p.ID)
	if err != nil {
		return "", page{}, err
	}
	b := boardBody{Session: r.URL.Query().Get("session"), Least: r.URL.Query().Get("weight")}
	least := keepit.Weight(0)
	if b.Least != "" {
		if least, err = keepit.ParseTyped(b.Least); err != nil {
			return "", page{}, api.BadRequest(err.Error())
		}
	}
	decay, err := s.Decay()
	if err != nil {
		return "", page{}, err
	}
	distances := st.Distances()
	for _, one := range st.Recent() {
		rev := state.Rev{Kind: state.IsSession, Project: p, Session: one}
		if len(one.Markers()) == 0 && len(one.Overrides) == 0 {
			continue
		}
		b.Sessions = append(b.Sessions, one)
		if b.Session != "" && b.Session != one.ID {
			continue
		}
		marks, err := markers.KeepitsIn(ctx, s.Memory.DB, st, rev)
		if err != nil {
			return "", page{}, err
		}
		for _, k := range marks {
			if k.Mark.Weight >= least {
				b.Rows = append(b.Rows, boardRow{k, one, one.ID, distances[one.ID],
					keepit.Preview(k.Mark.Weight, decay)})
			}
		}
		found, err := markers.LintKeepits(ctx, s.Memory.DB, rev)
		if err != nil {
			return "", page{}, err
		}
		b.Findings = append(b.Findings, found...)
	}
	slices.SortStableFunc(b.Rows, func(x, y boardRow) int { return cmp.Compare(y.Mark.Weight, x.Mark.Weight) })
	return projectPage("board", "markers", "Pinned text", p, b, nil)
}

// Now returns the fate in a row of the preview at the current distance of the session.
func (b boardRow) Now(row keepit.PreviewRow) string {
	at := 0
	for i, d := range keepit.PreviewDistances {
		if b.Distance >= d {
			at = i
		}
	}
	return string(row.Fates[at])
}
