// Package layers is the facade over the packages below it: [Memory] has an accessor for each of them.
package layers

import (
	"context"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/checkout"
	"github.com/memvcs/mem/layers/derive"
	"github.com/memvcs/mem/layers/export"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/handover"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/knowledge"
	"github.com/memvcs/mem/layers/ledger"
	"github.com/memvcs/mem/layers/markers"
	"github.com/memvcs/mem/layers/migration"
	"github.com/memvcs/mem/layers/naming"
	"github.com/memvcs/mem/layers/notes"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/projects"
	"github.com/memvcs/mem/layers/provenance"
	"github.com/memvcs/mem/layers/repair"
	"github.com/memvcs/mem/layers/revision"
	"github.com/memvcs/mem/layers/revocation"
	"github.com/memvcs/mem/layers/search"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/stats"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
)

// A Memory is an open store with the operations of all packages below layers. It is safe for concurrent use.
type Memory struct{ *state.DB }

// Init creates a store in dir for a device and opens it. It may be repeated.
func Init(ctx context.Context, dir, device string, o state.Options) (*Memory, error) {
	db, err := state.Init(ctx, dir, device, o)
	return wrap(db, err)
}

// Open opens the store in dir. The error wraps [refs.ErrNotRepo] if there is none.
func Open(dir string, o state.Options) (*Memory, error) {
	db, err := state.Open(dir, o)
	return wrap(db, err)
}

// OpenObjects is [Open] without a cache, only to read objects by name.
func OpenObjects(dir string, o state.Options) (*Memory, error) {
	db, err := state.OpenObjects(dir, o)
	return wrap(db, err)
}

func wrap(db *state.DB, err error) (*Memory, error) {
	if err != nil {
		return nil, err
	}
	return &Memory{db}, nil
}

// Close writes token counts to the cache and closes the store.
func (m *Memory) Close() error {
	m.Capture().WriteTokens()
	m.EvictSometimes()
	if m.CacheDir != nil {
		m.CacheDir.Close() // nothing was written to it
	}
	return m.Refs.Close()
}

// Capture returns the operations of package capture.
func (m *Memory) Capture() capture.Ops { return capture.On(m.DB) }

// Checkout returns the operations of package checkout.
func (m *Memory) Checkout() checkout.Ops { return checkout.On(m.DB) }

// Derive returns the operations of package derive.
func (m *Memory) Derive() derive.Ops { return derive.On(m.DB) }

// Export returns the operations of package export.
func (m *Memory) Export() export.Ops { return export.On(m.DB) }

// Forget returns the operations of package forget.
func (m *Memory) Forget() forget.Ops { return forget.On(m.DB) }

// Handover returns the operations of package handover.
func (m *Memory) Handover() handover.Ops { return handover.On(m.DB) }

// History returns the operations of package history.
func (m *Memory) History() history.Ops { return history.On(m.DB) }

// Knowledge returns the operations of package knowledge.
func (m *Memory) Knowledge() knowledge.Ops { return knowledge.On(m.DB) }

// Ledger returns the operations of package ledger.
func (m *Memory) Ledger() ledger.Ops { return ledger.On(m.DB) }

// Naming returns the operations of package naming.
func (m *Memory) Naming() naming.Ops { return naming.On(m.DB) }

// Markers returns the operations of package markers.
func (m *Memory) Markers() markers.Ops { return markers.On(m.DB) }

// Migration returns the operations of package migration.
func (m *Memory) Migration() migration.Ops { return migration.On(m.DB) }

// ClaudeNotes returns the operations of package notes.
func (m *Memory) ClaudeNotes() notes.Ops { return notes.On(m.DB) }

// Originals returns the operations of package originals.
func (m *Memory) Originals() originals.Ops { return originals.On(m.DB) }

// Projects returns the operations of package projects.
func (m *Memory) Projects() projects.Ops { return projects.On(m.DB) }

// Provenance returns the operations of package provenance.
func (m *Memory) Provenance() provenance.Ops { return provenance.On(m.DB) }

// Repair returns the operations of package repair.
func (m *Memory) Repair() repair.Ops { return repair.On(m.DB) }

// Revision returns the operations of package revision.
func (m *Memory) Revision() revision.Ops { return revision.On(m.DB) }

// Revocation returns the operations of package revocation.
func (m *Memory) Revocation() revocation.Ops { return revocation.On(m.DB) }

// Search returns the operations of package search.
func (m *Memory) Search() search.Ops { return search.On(m.DB) }

// Secrets returns the operations of package secrets.
func (m *Memory) Secrets() secrets.Ops { return secrets.On(m.DB) }

// Sessions returns the operations of package sessions.
func (m *Memory) Sessions() sessions.Ops { return sessions.On(m.DB) }

// Stats returns the operations of package stats.
func (m *Memory) Stats() stats.Ops { return stats.On(m.DB) }

// Sync returns the operations of package sync.
func (m *Memory) Sync() sync.Ops { return sync.On(m.DB) }

// Trusted returns the operations of package trust.
func (m *Memory) Trusted() trust.Ops { return trust.On(m.DB) }
