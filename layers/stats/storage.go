package stats

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/stream"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
)

// A used is what the packs of a store take.
type used struct {
	total    int64
	kinds    map[string]KindStorage // of the selected projects
	months   map[string]int64       // as above
	names    map[objects.Hash]int64 // by object, stream or patch, as above
	projects map[refs.Project]int64
}

// kindNames returns the kinds of content in the order of the report.
func kindNames() []string {
	return []string{"sessions", "originals", "versions", "compositions", "files", "other", "records", "trees", "commits"}
}

// kindsOf adds the kinds of the objects of a project to made.
func kindsOf(st *state.State, made map[objects.Hash]string) {
	for _, s := range st.Sessions {
		for _, p := range s.Points {
			for _, f := range p.Files {
				made[f.Hash] = "files"
			}
		}
	}
	for _, c := range st.Compositions {
		made[c.Derivation.Output] = "compositions"
	}
	for _, v := range st.Versions {
		made[v.Derivation.Output] = "versions"
	}
}

// kindOf returns the kind of content of an entry in the packs.
func kindOf(x refs.Usage, made map[objects.Hash]string) string {
	switch x.Kind {
	case "stream", "point":
		return "sessions"
	case "patch":
		return "originals"
	case "record", "tree", "commit":
		return x.Kind + "s"
	}
	return cmp.Or(made[x.Name], "other")
}

// usage adds up what some projects take in the packs, whose objects are in made; if there are several, also what belongs
// to none.
func usage(ctx context.Context, db *state.DB, of []refs.Project, made map[objects.Hash]string,
	zone *time.Location) (*used, error) {
	u := &used{kinds: map[string]KindStorage{}, months: map[string]int64{}, names: map[objects.Hash]int64{},
		projects: map[refs.Project]int64{}}
	wanted := func(p refs.Project) bool { return slices.Contains(of, p) || p == refs.Home && len(of) > 1 }
	err := db.Refs.Usage(ctx, wanted, func(x refs.Usage) error {
		u.total += x.Bytes
		u.projects[x.Lane.Project] += x.Bytes
		if x.Lane.Project == refs.Home {
			return nil
		}
		kind := kindOf(x, made)
		k := u.kinds[kind]
		u.kinds[kind] = KindStorage{kind, k.Objects + 1, k.Stored + x.Bytes}
		u.months[x.Time.In(zone).Format(monthForm)] += x.Bytes
		switch x.Kind {
		case "object", "stream", "patch":
			u.names[x.Name] += x.Bytes
		}
		return nil
	})
	return u, err
}

// take returns the size of an object and counts it once: a shared object belongs to its first user.
func (u *used) take(name objects.Hash) int64 {
	n := u.names[name]
	delete(u.names, name)
	return n
}

// session returns the size of the streams, the exact bytes and the overflow files of a session.
func (u *used) session(s *state.Session) int64 {
	var n int64
	for _, p := range s.Points {
		n += u.take(stream.Name(p.Session, p.Generation)) + u.take(p.Stamp.Record)
		for _, f := range p.Files {
			n += u.take(f.Hash) + u.take(lane.FilePatch(p.Stamp.Record, f.Name))
		}
	}
	return n
}

// addStorage adds the storage by kind, month and project, and the cache.
func addStorage(db *state.DB, out *Stats, of []state.Project, u *used) error {
	for _, name := range kindNames() {
		if k, ok := u.kinds[name]; ok {
			out.Storage.Kinds = append(out.Storage.Kinds, k)
		}
	}
	for name, n := range u.months {
		out.month(name).Stored = n
	}
	out.Storage.Packs = u.total
	for id, n := range u.projects {
		name := "(this store)"
		if i := slices.IndexFunc(of, func(p state.Project) bool { return p.ID == id }); i >= 0 {
			name = of[i].Name
		}
		out.Storage.Projects = append(out.Storage.Projects, ProjectStorage{string(id), name, n})
	}
	slices.SortFunc(out.Storage.Projects, func(a, b ProjectStorage) int {
		return cmp.Or(cmp.Compare(b.Stored, a.Stored), cmp.Compare(a.Project, b.Project))
	})
	dirs, err := db.CacheDirs()
	for _, d := range dirs {
		out.Storage.Caches = append(out.Storage.Caches, CacheStorage{d.Name, d.Files, d.Bytes})
		out.Storage.Cache += d.Bytes
	}
	out.Storage.CacheMax = db.Opts.MaxCache
	return err
}

// OwnRecords joins the kinds that a user does not know into one.
func OwnRecords(all []KindStorage) (out []KindStorage) {
	if len(all) == 0 {
		return nil
	}
	own := KindStorage{Kind: "mem's own records"}
	for _, k := range all {
		switch k.Kind {
		case "records", "trees", "commits", "points", "other":
			own.Objects, own.Stored = own.Objects+k.Objects, own.Stored+k.Stored
		default:
			out = append(out, k)
		}
	}
	return append(out, own)
}
