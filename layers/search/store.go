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

// Search answers a query over projects. It updates their indexes first; if another process is updating one, its
// previous state is searched. A damaged index is deleted and built again.
func (m Ops) Search(ctx context.Context, projects []refs.Project, q Query) (Results, error) {
	s, err := m.Searcher(ctx, projects)
	if err != nil {
		return Results{}, err
	}
	defer s.Close()
	return s.Search(ctx, q)
}

// A Searcher answers several queries over the same projects.
type Searcher struct {
	m        Ops
	all      bool // all projects that have a lane when they are opened
	projects []refs.Project
	corpora  []Corpus
}

// Searcher brings the indexes of projects up to date and opens them.
func (m Ops) Searcher(ctx context.Context, projects []refs.Project) (*Searcher, error) {
	s := &Searcher{m: m, projects: projects}
	return s, s.open(ctx)
}

// SearcherOfAll is [Ops.Searcher] for all projects of the memory, which it lists and looks up in one pass.
func (m Ops) SearcherOfAll(ctx context.Context) (*Searcher, error) {
	s := &Searcher{m: m, all: true}
	return s, s.open(ctx)
}

func (s *Searcher) open(ctx context.Context) error {
	tips := s.m.currentTips(ctx)
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
		state.Parallel(len(ready), runtime.GOMAXPROCS(0), func(i int) { ready[i] = s.m.openFresh(s.projects[i], tips) })
	}
	for i, p := range s.projects {
		c := Corpus{string(p), ready[i]}
		if c.Reader == nil {
			var err error
			if c, err = s.m.corpus(ctx, p, tips); err != nil {
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
func (m Ops) openFresh(p refs.Project, tips tipsOf) *index.Reader {
	head, err := index.ReadHead(m.searchDir(p))
	if err != nil {
		return nil
	}
	if fresh, err := searchFresh(p, head.Key, tips); err != nil || !fresh {
		return nil
	}
	r, err := index.Open(m.searchDir(p), head)
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
		os.RemoveAll(s.m.searchDir(p)) // it is built again
	}
	if err := s.open(ctx); err != nil {
		return Results{}, err
	}
	return Search(s.corpora, q)
}

func (m Ops) searchDir(p refs.Project) string { return m.CachePath("search", string(p)) }

// tipsOf returns the tips of the lanes of a project.
type tipsOf func(p refs.Project) ([]refs.Tip, error)

// currentTips returns tipsOf as the lanes are when it is called.
func (m Ops) currentTips(ctx context.Context) tipsOf {
	return func(p refs.Project) (tips []refs.Tip, err error) {
		err = m.Refs.View(ctx, p, func(tx *refs.Tx) error {
			tips = tx.Tips()
			return nil
		})
		return tips, err
	}
}

// corpus opens the index of a project. If the index cannot be written, a part of it is in memory.
func (m Ops) corpus(ctx context.Context, p refs.Project, tips tipsOf) (Corpus, error) {
	c := Corpus{Project: string(p)}
	head, err := m.updateSearch(ctx, p, tips)
	if err == nil {
		c.Reader, err = index.Open(m.searchDir(p), head)
	}
	if errors.Is(err, index.ErrDamaged) {
		os.RemoveAll(m.searchDir(p)) // it is built again
		if err = m.buildSearch(ctx, p); err == nil {
			c.Reader, err = index.Open(m.searchDir(p), nil)
		}
	}
	if err == nil || ctx.Err() != nil {
		return c, err
	}
	plan, err := m.searchPlan(ctx, p)
	if err == nil {
		c.Reader, err = index.Overlay(m.searchDir(p), plan)
	}
	return c, err
}

// updateSearch brings the search index of a project up to date, unless another process does. The lanes have the given
// tips. It returns the head of the index if that was up to date.
func (m Ops) updateSearch(ctx context.Context, p refs.Project, tips tipsOf) (*index.Head, error) {
	head, err := index.ReadHead(m.searchDir(p))
	if err == nil {
		if fresh, err := searchFresh(p, head.Key, tips); err != nil || fresh {
			return head, err
		}
	}
	return nil, m.buildSearch(ctx, p)
}

// buildSearch makes an index of the project as it is now.
func (m Ops) buildSearch(ctx context.Context, p refs.Project) error {
	plan, err := m.searchPlan(ctx, p)
	if err != nil {
		return err
	}
	err = index.Update(m.searchDir(p), plan, m.SameCache)
	if errors.Is(err, index.ErrDamaged) || errors.Is(err, fs.ErrNotExist) {
		os.RemoveAll(m.searchDir(p)) // it is built again
		err = index.Update(m.searchDir(p), plan, m.SameCache)
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
