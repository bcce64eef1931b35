package view

import (
	"fmt"

	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
)

// A Session is a session in a list.
type Session struct {
	ID        string   `json:"sessionId"`
	Project   string   `json:"project"`
	ProjectID string   `json:"projectId"`
	Status    string   `json:"status"` // stored, changed, untracked or removed
	Newest    bool     `json:"newest"` // of its project
	Title     string   `json:"title"`
	Last      Time     `json:"lastTimestamp"`
	Messages  *int     `json:"messages,omitempty"` // of a session in memory
	Tokens    *int     `json:"tokens,omitempty"`   // if they have been counted
	Bytes     int64    `json:"bytes"`
	Extra     int64    `json:"extraBytes"` // of the file, beyond those in memory
	Versions  []string `json:"versions"`
	Hidden    []string `json:"hiddenVersions,omitempty"` // those of Versions that are hidden
	Markers   int      `json:"keepitMarkers"`
	Parent    string   `json:"parent,omitempty"`
	ForkOf    string   `json:"forkOf,omitempty"` // the session that it was made from
	Path      string   `json:"path,omitempty"`
	OtherOf   string   `json:"otherFileOf,omitempty"` // the session in memory whose ID the untracked file has, with other turns
	Revoked   string   `json:"revoked,omitempty"`     // why it is hidden
}

// SessionOf returns a session of a list.
func SessionOf(it sessions.Item, p state.Project, newest bool) Session {
	out := Session{ID: it.ID, Project: p.Name, ProjectID: string(p.ID), Status: string(it.Status), Newest: newest,
		Title: it.Title, Last: Time{it.Last}, Bytes: it.Bytes, Extra: it.Extra, Versions: []string{}, Markers: it.Markers,
		Parent: it.Parent, Path: it.Path, OtherOf: it.OtherOf}
	if it.Session != nil {
		out.Revoked, out.ForkOf = it.Session.Revoked, it.Session.ForkOf()
	}
	if it.Status != sessions.Untracked {
		out.Messages = &it.Messages
	}
	if it.Counted {
		out.Tokens = &it.Tokens
	}
	for _, v := range it.Versions {
		out.Versions = append(out.Versions, v.Name())
		if v.Deleted || v.Revoked != "" {
			out.Hidden = append(out.Hidden, v.Name())
		}
	}
	return out
}

// SessionDetails are a session with its versions and markers, as in manifest.json.
type SessionDetails struct {
	ID               string    `json:"sessionId"`
	OriginalFile     string    `json:"originalFile"`
	OriginalTokens   int       `json:"originalTokens"`
	OriginalMessages int       `json:"originalMessages"`
	First            Time      `json:"firstTimestamp"`
	Last             Time      `json:"lastTimestamp"`
	RegisteredAt     Time      `json:"registeredAt"`
	LastAccessed     Time      `json:"lastAccessed"`
	Metadata         Metadata  `json:"metadata"`
	Markers          []Marker  `json:"keepitMarkers"`
	Compressions     []Version `json:"compressions"`
}

// Metadata describe a session.
type Metadata struct {
	Branch  string   `json:"gitBranch,omitempty"`
	Project string   `json:"projectName,omitempty"`
	Client  string   `json:"claudeVersion,omitempty"`
	Topics  []string `json:"primaryTopics,omitempty"` // of its facts, the most frequent first
}

// Versions are versions.json of a session.
type Versions struct {
	SessionID        string    `json:"sessionId"`
	OriginalFile     string    `json:"originalFile"`
	OriginalTokens   int       `json:"originalTokens"`
	OriginalMessages int       `json:"originalMessages"`
	Versions         []Version `json:"versions"`
}

// Versions returns versions.json of s.
func (s SessionDetails) Versions() Versions {
	return Versions{s.ID, s.OriginalFile, s.OriginalTokens, s.OriginalMessages, s.Compressions}
}

// An Earlier is the state of a session before its file was rewritten.
type Earlier struct {
	Name     string `json:"name"` // original@{1}
	Hash     string `json:"hash"`
	Messages int    `json:"messages"`
	Bytes    int64  `json:"bytes"`
	Captured Time   `json:"timestamp"`
}

// EarlierOf returns the earlier states of a session, the newest first.
func EarlierOf(s *state.Session) (out []Earlier) {
	for i, p := range s.Earlier() {
		out = append(out, Earlier{fmt.Sprintf("original@{%d}", i+1), p.Original.String(), p.Scan.Messages, p.Size,
			Time{p.Time}})
	}
	return out
}
