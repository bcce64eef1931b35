package export

import (
	"context"
	"encoding/json"
	"io"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/compose"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs"
)

// A Manifest is manifest.json: a view of a project, computed when requested.
type Manifest struct {
	Version      string                         `json:"version"`
	ProjectID    refs.Project                   `json:"projectId"`
	OriginalPath string                         `json:"originalPath"`
	DisplayName  string                         `json:"displayName"`
	CreatedAt    string                         `json:"createdAt"`
	LastModified string                         `json:"lastModified"`
	LastAccessed string                         `json:"lastAccessed"` // when a session was last captured or used
	Sessions     map[string]ManifestSession     `json:"sessions"`     // encoding/json sorts the keys
	Compositions map[string]ManifestComposition `json:"compositions"`
	Settings     ManifestSettings               `json:"settings"`
}

// ManifestSettings are the settings in a manifest.
type ManifestSettings struct {
	Preset       string `json:"defaultCompressionPreset"`
	AutoRegister bool   `json:"autoRegisterNewSessions"`
	Decay        bool   `json:"keepitDecayEnabled"`
}

// A ManifestSession is a session in a manifest.
type ManifestSession struct {
	SessionID        string            `json:"sessionId"`
	OriginalFile     string            `json:"originalFile"`
	OriginalTokens   int               `json:"originalTokens"`
	OriginalMessages int               `json:"originalMessages"`
	First            string            `json:"firstTimestamp"`
	Last             string            `json:"lastTimestamp"`
	RegisteredAt     string            `json:"registeredAt"`
	LastAccessed     string            `json:"lastAccessed"`
	Metadata         ManifestMetadata  `json:"metadata"`
	Markers          []ManifestMarker  `json:"keepitMarkers"`
	Compressions     []ManifestVersion `json:"compressions"`
}

// ManifestMetadata describes a session in a manifest.
type ManifestMetadata struct {
	Branch  string   `json:"gitBranch,omitempty"`
	Project string   `json:"projectName,omitempty"`
	Client  string   `json:"claudeVersion,omitempty"`
	Topics  []string `json:"primaryTopics,omitempty"` // of its facts, the most frequent first
}

// A ManifestMarker is a marker in a manifest.
type ManifestMarker struct {
	ID         string           `json:"markerId"`
	UUID       string           `json:"messageUuid"`
	Message    int              `json:"message"`
	Weight     json.Number      `json:"weight"`
	Content    string           `json:"content"`
	Position   ManifestPosition `json:"position"`
	Context    string           `json:"context"`
	CreatedAt  string           `json:"createdAt"` // when it was typed
	Survived   []string         `json:"survivedIn"`
	Summarised []string         `json:"summarizedIn"`
}

// A ManifestPosition is the position of a marker in the text of its message, in bytes.
type ManifestPosition struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// A ManifestVersion is a version in a manifest.
type ManifestVersion struct {
	VersionID string                 `json:"versionId"`
	File      string                 `json:"file"`
	CreatedAt string                 `json:"createdAt"`
	Settings  records.RecipeSettings `json:"settings"`
	Tokens    int                    `json:"outputTokens"`
	Messages  int                    `json:"outputMessages"`
	Ratio     float64                `json:"compressionRatio"`
	Keepit    records.KeepitStats    `json:"keepitStats"`
	Source    string                 `json:"sourceVersion,omitempty"`
}

// ManifestVersions is versions.json of a session.
type ManifestVersions struct {
	SessionID        string            `json:"sessionId"`
	OriginalFile     string            `json:"originalFile"`
	OriginalTokens   int               `json:"originalTokens"`
	OriginalMessages int               `json:"originalMessages"`
	Versions         []ManifestVersion `json:"versions"`
}

// Versions returns versions.json of s.
func (s ManifestSession) Versions() ManifestVersions {
	return ManifestVersions{s.SessionID, s.OriginalFile, s.OriginalTokens, s.OriginalMessages, s.Compressions}
}

// A ManifestComposition is a composition in a manifest.
type ManifestComposition struct {
	ID         string              `json:"compositionId"`
	Name       string              `json:"name"`
	CreatedAt  string              `json:"createdAt"`
	Components []ManifestComponent `json:"components"`
	OutputFile string              `json:"outputFile"` // below where it is checked out
	Tokens     int                 `json:"totalTokens"`
	Messages   int                 `json:"totalMessages"`
	UsedIn     []string            `json:"usedInSessions"`
}

// A ManifestComponent is a part of a composition in a manifest.
type ManifestComponent struct {
	SessionID  string                 `json:"sessionId"`
	VersionID  string                 `json:"versionId"`
	Order      int                    `json:"order"`
	Tokens     int                    `json:"tokenContribution"`
	Recompress *records.Recompression `json:"recompress,omitempty"`
}

// NewManifest returns the manifest of a project.
func NewManifest(ctx context.Context, db *state.DB, p state.Project, settings ManifestSettings) (Manifest, error) {
	st, err := trust.State(ctx, db, p.ID)
	if err != nil {
		return Manifest{}, err
	}
	out := Manifest{
		Version: "1.0.0", ProjectID: p.ID, DisplayName: st.Name, Settings: settings,
		Sessions: map[string]ManifestSession{}, Compositions: map[string]ManifestComposition{},
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
		entry, err := manifestSession(ctx, db, state.Rev{Kind: state.IsSession, Project: p, Session: s}, st, known, topics)
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
	for _, c := range st.Compositions {
		if !c.Deleted {
			out.Compositions[c.Name] = ManifestCompositionOf(st, c)
			last = later(last, c.Time)
		}
	}
	for _, v := range st.Versions {
		last = later(last, v.Time)
	}
	out.CreatedAt, out.LastModified, out.LastAccessed = stampText(first), stampText(last), stampText(accessed)
	return out, nil
}

// ManifestOf returns the entry of one session in the manifest of its project.
func ManifestOf(ctx context.Context, db *state.DB, rev state.Rev) (ManifestSession, error) {
	st, err := trust.State(ctx, db, rev.Project.ID)
	if err != nil {
		return ManifestSession{}, err
	}
	topics, err := topics(ctx, db, rev.Project.ID, st)
	if err != nil {
		return ManifestSession{}, err
	}
	return manifestSession(ctx, db, state.Rev{Kind: state.IsSession, Project: rev.Project, Session: rev.Session}, st,
		capture.KnownTokens(db, rev.Project.ID), topics)
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func stampText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func manifestSession(ctx context.Context, db *state.DB, rev state.Rev, st *state.State, known map[objects.Hash]int,
	topics map[string][]string) (ManifestSession, error) {
	s, now := rev.Session, rev.Session.Now()
	tokens, _ := markers.Tokens(db, now, known)
	out := ManifestSession{
		SessionID: s.ID, OriginalFile: s.Source(), OriginalTokens: tokens, OriginalMessages: now.Scan.Messages,
		First: stampText(now.Scan.First), Last: stampText(now.Scan.Last),
		RegisteredAt: stampText(s.Points[0].Time), LastAccessed: stampText(s.LastAccess()),
		Metadata: ManifestMetadata{now.Scan.Branch, st.Name, now.Scan.Version, topics[s.ID]},
		Markers:  []ManifestMarker{}, Compressions: []ManifestVersion{},
	}
	for _, v := range st.VersionsOf(s.ID) {
		mv, err := ManifestVersionOf(v)
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
		out.Markers = append(out.Markers, ManifestMarker{
			ID: k.ID, UUID: msg.UUID, Message: k.Mark.Message, Weight: json.Number(k.Mark.Weight.String()),
			Content:  strings.TrimSpace(k.Mark.Text),
			Position: ManifestPosition{k.Mark.Start, k.Mark.End}, Context: k.Context, CreatedAt: msg.Timestamp,
			Survived: append([]string{}, k.Kept...), Summarised: append([]string{}, k.Lost...),
		})
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

// ManifestVersionOf returns a version in the form of a manifest.
func ManifestVersionOf(v *records.Version) (ManifestVersion, error) {
	stats, err := v.KeepitStats()
	if err != nil {
		return ManifestVersion{}, err
	}
	settings, err := v.Compression()
	if err != nil {
		return ManifestVersion{}, err
	}
	return ManifestVersion{
		VersionID: v.Label, File: v.FileName(), CreatedAt: stampText(v.Time), Settings: settings, Tokens: v.TokensOut,
		Messages: v.MessagesOut, Ratio: v.Ratio, Keepit: stats, Source: v.Source,
	}, nil
}

// ManifestCompositionOf returns a composition of the project of st in the form of a manifest.
func ManifestCompositionOf(st *state.State, c *records.Composition) ManifestComposition {
	out := ManifestComposition{
		ID: compose.ID(c.Derivation.Output), Name: c.Name, CreatedAt: stampText(c.Time), Components: []ManifestComponent{},
		OutputFile: c.Name + "/composed.md", Tokens: c.Tokens, Messages: c.Messages, UsedIn: append([]string{}, c.Used.By...),
	}
	for i, p := range c.Parts {
		out.Components = append(out.Components, ManifestComponent{p.Session, p.Label, i, p.Tokens, st.Recompression(p)})
	}
	return out
}
