package history

import (
	"cmp"
	"context"
	"slices"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
)

// A Storage is the room that a project takes in memory.git, as stored: compressed, each blob once.
type Storage struct {
	Kinds    []StoredKind     // the largest first
	Sessions map[string]int64 // bytes by session id
	Bytes    int64
}

// A StoredKind is the room of one kind of content.
type StoredKind struct {
	Kind  string // sessions, versions, compositions, records or other
	Blobs int
	Bytes int64
}

// Storage measures the room that a project takes.
func (m Ops) Storage(ctx context.Context, p refs.Project) (Storage, error) {
	st, err := trust.On(m.DB).State(ctx, p)
	if err != nil {
		return Storage{}, err
	}
	streams, made := storedNames(st)
	out := Storage{Sessions: map[string]int64{}}
	kinds := map[string]*StoredKind{}
	count := func(kind string, bytes int64) {
		k := kinds[kind]
		if k == nil {
			k = &StoredKind{Kind: kind}
			kinds[kind] = k
		}
		k.Blobs++
		k.Bytes += bytes
		out.Bytes += bytes
	}
	err = m.Refs.Look(ctx, p, func(tx *refs.Tx) error {
		clear(kinds)
		clear(out.Sessions)
		out.Bytes = 0
		return tx.Stored(func(b refs.Blob) {
			switch b.Dir {
			case "streams":
				count("sessions", b.Bytes)
				if id, ok := streams[b.Name]; ok {
					out.Sessions[id] += b.Bytes
				}
			case "points":
				count("sessions", b.Bytes)
			case "objects":
				count(cmp.Or(made[b.Name], "other"), b.Bytes)
			default:
				count(b.Dir, b.Bytes)
			}
		})
	})
	if err != nil {
		return Storage{}, err
	}
	for _, k := range kinds {
		out.Kinds = append(out.Kinds, *k)
	}
	slices.SortFunc(out.Kinds, func(a, b StoredKind) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Kind, b.Kind))
	})
	return out, nil
}

// storedNames returns the session of each stream, and the kind of each object that was made of sessions.
func storedNames(st *state.State) (streams map[objects.Hash]string, made map[objects.Hash]string) {
	streams, made = map[objects.Hash]string{}, map[objects.Hash]string{}
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			streams[stream.Name(s.ID, p.Generation)] = s.ID
		}
	}
	for _, v := range st.Versions {
		made[v.Derivation.Output] = "versions"
	}
	for _, c := range st.Compositions {
		made[c.Derivation.Output] = "compositions"
	}
	return streams, made
}
