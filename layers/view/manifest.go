package view

import (
	"context"
	"encoding/json"
	"io"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Manifest is manifest.json: a view of a project, computed when requested.
type Manifest struct {
	Version      string                    `json:"version"`
	ProjectID    refs.Project              `json:"projectId"`
	OriginalPath string                    `json:"originalPath"`
	DisplayName  string                    `json:"displayName"`
	CreatedAt    Time                      `json:"createdAt"`
	LastModified Time                      `json:"lastModified"`
	LastAccessed Time                      `json:"lastAccessed"` // when a session was last captured or used
	Sessions     map[string]SessionDetails `json:"sessions"`     // encoding/json sorts the keys
	Compositions map[string]Composition    `json:"compositions"`
	Settings     ManifestSettings          `json:"settings"`
}

// ManifestSettings are the settings in a manifest.
type ManifestSettings struct {
	Preset       string `json:"defaultCompressionPreset"`
	AutoRegister bool   `json:"autoRegisterNewSessions"`
	Decay        bool   `json:"keepitDecayEnabled"`
}

// NewManifest returns the manifest of a project.
func NewManifest(ctx context.Context, db *state.DB, p state.Project, settings ManifestSettings) (Manifest, error) {
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return Manifest{}, err
	}
	out := Manifest{
		Version: "1.0.0", ProjectID: p.ID, DisplayName: st.Name, Settings: settings,
		Sessions: map[string]SessionDetails{}, Compositions: map[string]Composition{},
	}
	known := capture.KnownTokens(db, p.ID)
	topics, err := topics(ctx, db, p.ID, st)
	if err != nil {
		return out, err
	}
	var first, last, accessed time.Time
	for _, s := range st.Sessions {
		if s.Deleted {
			continue
		}
		entry, err := detailsOf(ctx, db, state.Rev{Kind: state.IsSession, Project: p, Session: s}, st, known, topics)
		if err != nil {
			return out, err
		}
		out.Sessions[s.ID] = entry
		if t := s.Points[0].Time; first.IsZero() || t.Before(first) {
			first = t
		}
		last = later(last, s.Now().Time)
		accessed = later(accessed, s.LastAccess())
		if out.OriginalPath == "" {
			out.OriginalPath = s.Now().Scan.Cwd
		}
	}
	compositions, err := CompositionsOf(ctx, db, p, st.Named())
	if err != nil {
		return out, err
	}
	for _, c := range compositions {
		out.Compositions[c.Name] = c
		last = later(last, c.CreatedAt.Time)
	}
	for _, v := range st.Versions {
		last = later(last, v.Time)
	}
	out.CreatedAt, out.LastModified, out.LastAccessed = Time{first}, Time{last}, Time{accessed}
	return out, nil
}

// DetailsOf returns one session as in the manifest of its project.
func DetailsOf(ctx context.Context, db *state.DB, rev state.Rev) (SessionDetails, error) {
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return SessionDetails{}, err
	}
	topics, err := topics(ctx, db, rev.Project.ID, st)
	if err != nil {
		return SessionDetails{}, err
	}
	return detailsOf(ctx, db, state.Rev{Kind: state.IsSession, Project: rev.Project, Session: rev.Session}, st,
		capture.KnownTokens(db, rev.Project.ID), topics)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func detailsOf(ctx context.Context, db *state.DB, rev state.Rev, st *state.State, known map[objects.Hash]int,
	topics map[string][]string) (SessionDetails, error) {
	s, now := rev.Session, rev.Session.Now()
	tokens, _ := markers.Tokens(db, now, known)
	out := SessionDetails{
		ID: s.ID, OriginalFile: s.Source(), OriginalTokens: tokens, OriginalMessages: now.Scan.Messages,
		First: Time{now.Scan.First}, Last: Time{now.Scan.Last}, RegisteredAt: Time{s.Points[0].Time},
		LastAccessed: Time{s.LastAccess()}, Metadata: Metadata{now.Scan.Branch, st.Name, now.Scan.Version, topics[s.ID]},
		Markers: []Marker{}, Compressions: []Version{},
	}
	for _, v := range st.VersionsOf(s.ID) {
		mv, err := VersionOf(v, st.UsedBy(v))
		if err != nil {
			return out, err
		}
		out.Compressions = append(out.Compressions, mv)
	}
	if len(s.Markers()) == 0 {
		return out, nil
	}
	marks, err := markers.KeepitsIn(ctx, db, st, rev)
	if err != nil || len(marks) == 0 {
		return out, err
	}
	said, err := saidIn(ctx, db, rev, marks)
	for _, k := range marks {
		msg := said[k.Mark.Message]
		m := MarkerOf(s, k)
		m.UUID, m.CreatedAt = msg.UUID, msg.Timestamp
		out.Markers = append(out.Markers, m)
	}
	return out, err
}

// An envelope contains the metadata of a message with a marker.
type envelope struct {
	UUID      string
	Timestamp string
}

// saidIn returns the envelopes of the messages with markers, by number.
func saidIn(ctx context.Context, db *state.DB, rev state.Rev, marks []state.Keepit) (map[int]envelope, error) {
	out := map[int]envelope{}
	for _, k := range marks {
		out[k.Mark.Message] = envelope{}
	}
	err := originals.Stream(ctx, db, rev.Project.ID, rev.Session.Now().Original, func(r io.Reader) error {
		for v, err := range transcript.Stream(r, originals.HugeValue) {
			if err != nil {
				return err
			}
			if _, ok := out[v.N]; !ok {
				continue
			}
			var e envelope
			if err := json.Unmarshal(v.Raw, &e); err != nil {
				continue // not an object: no metadata
			}
			out[v.N] = e
		}
		return nil
	})
	return out, err
}
