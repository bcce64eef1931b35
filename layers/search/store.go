package search

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search/index"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Find answers a query over projects. It updates their indexes first; if another process is updating one, its
// previous state is searched. A damaged index is deleted and built again.
func Find(ctx context.Context, db *state.DB, projects []refs.Project, q Query) (Results, error) {
	s, err := NewSearcher(ctx, db, projects)
	if err != nil {
		return Results{}, err
	}
	defer s.Close()
	return s.Search(ctx, q)
}

// A Searcher answers several queries over the same projects.
type Searcher struct {
	m        *state.DB
	all      bool // all projects that have a lane when they are opened
	projects []refs.Project
	corpora  []Corpus
}

// NewSearcher brings the indexes of projects up to date and opens them.
func NewSearcher(ctx context.Context, db *state.DB, projects []refs.Project) (*Searcher, error) {
	s := &Searcher{m: db, projects: projects}
	return s, s.open(ctx)
}

// SearcherOfAll is [NewSearcher] for all projects of the memory, which it lists and looks up in one pass.
func SearcherOfAll(ctx context.Context, db *state.DB) (*Searcher, error) {
	s := &Searcher{m: db, all: true}
	return s, s.open(ctx)
}

func (s *Searcher) open(ctx context.Context) error {
	tips := currentTips(ctx, s.m)
	if s.all || len(s.projects) > 1 {
		all, err := s.m.Refs.Tips()
		if err != nil {
			return err
		}
		if s.all {
			s.projects = slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(p refs.Project) bool { return p == refs.Home })
		}
		tips = func(p refs.Project) ([]refs.Tip, error) { return all[p], nil }
	}
	ready := make([]*index.Reader, len(s.projects))
	if len(s.projects) > 1 {
		state.Parallel(len(ready), runtime.GOMAXPROCS(0), func(i int) { ready[i] = openFresh(s.m, s.projects[i], tips) })
	}
	for i, p := range s.projects {
		c := Corpus{string(p), ready[i]}
		if c.Reader == nil {
			var err error
			if c, err = corpusOf(ctx, s.m, p, tips); err != nil {
				s.Close()
				return err
			}
		}
		if c.Reader != nil {
			s.corpora = append(s.corpora, c)
		}
	}
	return nil
}

// openFresh opens the index of a project if it is up to date and undamaged, else it returns nil.
func openFresh(db *state.DB, p refs.Project, tips tipsOf) *index.Reader {
	head, err := index.ReadHead(searchDir(db, p))
	if err != nil {
		return nil
	}
	if fresh, err := searchFresh(p, head.Key, tips); err != nil || !fresh {
		return nil
	}
	r, err := index.Open(searchDir(db, p), head)
	if err != nil {
		return nil // told when it is opened again
	}
	return r
}

// Close releases the indexes.
func (s *Searcher) Close() {
	for _, c := range s.corpora {
		c.Close()
	}
	s.corpora = nil
}

// Search answers a query.
func (s *Searcher) Search(ctx context.Context, q Query) (Results, error) {
	out, err := Search(s.corpora, q)
	if !errors.Is(err, index.ErrDamaged) {
		return out, err
	}
	s.Close()
	for _, p := range s.projects {
		os.RemoveAll(searchDir(s.m, p)) // it is built again
	}
	if err := s.open(ctx); err != nil {
		return Results{}, err
	}
	return Search(s.corpora, q)
}

func searchDir(db *state.DB, p refs.Project) string { return db.CachePath("search", string(p)) }

// tipsOf returns the tips of the lanes of a project.
type tipsOf func(p refs.Project) ([]refs.Tip, error)

// currentTips returns tipsOf as the lanes are when it is called.
func currentTips(ctx context.Context, db *state.DB) tipsOf {
	return func(p refs.Project) (tips []refs.Tip, err error) {
		err = db.Refs.View(ctx, p, func(tx *refs.Tx) error {
			tips = tx.Tips()
			return nil
		})
		return tips, err
	}
}

// corpusOf opens the index of a project. If the index cannot be written, it is built in a temporary directory.
func corpusOf(ctx context.Context, db *state.DB, p refs.Project, tips tipsOf) (Corpus, error) {
	c := Corpus{Project: string(p)}
	head, err := updateSearch(ctx, db, p, tips)
	if err == nil {
		c.Reader, err = index.Open(searchDir(db, p), head)
	}
	if errors.Is(err, index.ErrDamaged) {
		os.RemoveAll(searchDir(db, p)) // it is built again
		if err = buildSearch(ctx, db, p); err == nil {
			c.Reader, err = index.Open(searchDir(db, p), nil)
		}
	}
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	plan, err := newSearchPlan(ctx, db, p)
	if err == nil {
		c.Reader, err = index.Temporary(plan)
	}
	return c, err
}

// updateSearch brings the search index of a project up to date, unless another process does. The lanes have the given
// tips. It returns the head of the index if that was up to date.
func updateSearch(ctx context.Context, db *state.DB, p refs.Project, tips tipsOf) (*index.Head, error) {
	head, err := index.ReadHead(searchDir(db, p))
	if err == nil {
		if fresh, err := searchFresh(p, head.Key, tips); err != nil || fresh {
			return head, err
		}
	}
	return nil, buildSearch(ctx, db, p)
}

// buildSearch makes an index of the project as it is now.
func buildSearch(ctx context.Context, db *state.DB, p refs.Project) error {
	plan, err := newSearchPlan(ctx, db, p)
	if err != nil {
		return err
	}
	err = index.Update(searchDir(db, p), plan, db.SameCache)
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		os.RemoveAll(searchDir(db, p)) // it is built again
		err = index.Update(searchDir(db, p), plan, db.SameCache)
	}
	if errors.Is(err, index.ErrBusy) {
		return nil // its previous state can be searched
	}
	return err
}

// searchKey names the state of the projects that an index is made from: the first is its own, then that of this
// device, then those that parts of its compositions come from.
func searchKey(projects []refs.Project, tips tipsOf) (string, error) {
	var b strings.Builder
	b.WriteString(documentsVersion())
	for _, p := range projects {
		at, err := tips(p)
		if err != nil {
			return "", err
		}
		b.WriteString("\n" + string(p))
		for _, t := range at {
			b.WriteString(" " + t.Device + "@" + t.Commit)
		}
	}
	return b.String(), nil
}

// documentsVersion is the first line of the key of an index.
func documentsVersion() string { return fmt.Sprintf("%d %d", Version, refine.Version) }

// searchFresh reports whether an index with the key is one of the state with the tips.
func searchFresh(p refs.Project, key string, tips tipsOf) (bool, error) {
	lines := strings.Split(key, "\n")
	if len(lines) < 3 || lines[0] != documentsVersion() {
		return false, nil
	}
	var projects []refs.Project
	for _, l := range lines[1:] {
		id, _, _ := strings.Cut(l, " ")
		projects = append(projects, refs.Project(id))
	}
	if projects[0] != p {
		return false, nil
	}
	now, err := searchKey(projects, tips)
	return now == key, err
}
