package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"

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
	building sync.Mutex // one index after the other, for the memory it takes
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
	s.corpora = make([]Corpus, len(s.projects))
	errs := make([]error, len(s.projects))
	state.Parallel(len(errs), runtime.GOMAXPROCS(0), func(i int) {
		s.corpora[i], errs[i] = s.corpusOf(ctx, s.projects[i], tips)
	})
	s.corpora = slices.DeleteFunc(s.corpora, func(c Corpus) bool { return c.Reader == nil })
	err := cmp.Or(errs...)
	if err != nil {
		s.Close()
	}
	return err
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

// corpusOf opens the index of a project, which it brings up to date unless another process does. If the index cannot be
// written, it is built in a temporary directory.
func (s *Searcher) corpusOf(ctx context.Context, p refs.Project, tips tipsOf) (Corpus, error) {
	c, dir := Corpus{Project: string(p)}, searchDir(s.m, p)
	if head, err := index.ReadHead(dir); err == nil {
		if fresh, err := searchFresh(p, head.Key, tips); err != nil {
			return c, err
		} else if fresh {
			if c.Reader, err = index.Open(dir, head); err == nil {
				return c, nil
			}
		}
	}
	s.building.Lock()
	defer s.building.Unlock()
	for try := 0; ; try++ {
		plan, err := newSearchPlan(ctx, s.m, p)
		if err != nil {
			return c, err
		}
		err = index.Update(dir, plan, s.m.SameCache)
		damaged, busy := errors.Is(err, index.ErrDamaged) || errors.Is(err, fs.ErrNotExist), errors.Is(err, index.ErrBusy)
		if err == nil || busy { // its previous state can be searched
			c.Reader, err = index.Open(dir, nil)
			damaged = errors.Is(err, index.ErrDamaged) && !busy // there may be none
		}
		switch {
		case err == nil || ctx.Err() != nil:
			return c, err
		case damaged && try == 0:
			os.RemoveAll(dir) // it is built again
		default:
			c.Reader, err = index.Temporary(plan)
			return c, err
		}
	}
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
