package state

import (
	"context"
	"maps"
	"slices"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/refs"
)

// What projects are called stands in their outlines, which are megabytes to decode in a large memory. Who asks
// for all projects mostly wants no more than the names: they are cached in a file of their own.

// Names are the projects of a memory with their names.
type Names struct {
	version int
	Of      map[refs.Project]StoredName
	Changed bool
}

const namesVersion = 2

func (m *DB) ReadNames() *Names {
	n := &Names{}
	if DecodeCache(m.CachePath("names"), n.code) {
		return n
	}
	return &Names{version: namesVersion, Of: map[refs.Project]StoredName{}}
}

func (m *DB) WriteNames(n *Names) {
	if n.Changed {
		m.WriteCacheBytes(m.CachePath("names"), Encode(n.code))
	}
}

func (n *Names) code(c *records.Codec) {
	records.Number(c, &n.version)
	if n.version != namesVersion {
		c.Failed = true
		return
	}
	if c.Reading {
		n.Of = map[refs.Project]StoredName{}
	}
	ids := slices.Sorted(maps.Keys(n.Of))
	records.List(c, &ids, func(id *refs.Project) {
		records.Word(c, id)
		x := n.Of[*id]
		CodeTips(c, &x.Tips)
		records.Word(c, &x.Name)
		records.Word(c, &x.Identity)
		c.Words(&x.PurgeDevices)
		c.Words(&x.IgnoredPurgeDevices)
		c.Words(&x.Untrusted)
		n.Of[*id] = x
	})
}

// PathsOf returns what a device says of its directories, later records last. The same path on another
// device is another directory.
func (st *State) PathsOf(device string) []records.PathBody {
	var out []records.PathBody
	for _, p := range st.Paths {
		if p.Stamp.Device == device {
			out = append(out, p.PathBody)
		}
	}
	return out
}

// nameProject lets this device's lane say from its first commit on what the project is called, as the lanes of
// others do: alone on a remote, it can be asked for by name there.
func (m *DB) nameProject(ctx context.Context, tx *refs.Tx) (kind string, body any, err error) {
	if tx.Project() == refs.Home {
		return "", nil, nil
	}
	st, err := m.Fold(ctx, tx, tx.Project())
	if err != nil || st.Name == "" {
		return "", nil, err
	}
	return records.KindProject, records.ProjectBody{Identity: st.Identity, Name: st.Name}, nil
}
