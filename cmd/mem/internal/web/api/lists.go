package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/sessions"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Lists of sessions are cached until the store changes. A project of 10,000 sessions has as many session files, and
// checking all of them takes longer than rendering the page. The files are checked again in the background, and
// listeners are notified of changes.
const (
	listFresh = time.Second     // an older list is refreshed in the background
	listStale = 5 * time.Second // an older list is not shown: the page waits for a new one
	maxLists  = 2               // size of the cache
)

// A listKey identifies a list.
type listKey struct {
	project            refs.Project
	subagents, removed bool
}

// A list contains the sessions of a project at one time.
type list struct {
	key         listKey
	fingerprint string // of the store
	checked     time.Time
	items       []sessions.Item
	state       *state.State
	refreshing  bool
}

// lists is the cache, the last used list first.
type lists struct {
	mu     sync.Mutex
	cached []*list
	work   sync.WaitGroup
}

func (l *lists) find(key listKey, fingerprint string) *list {
	i := slices.IndexFunc(l.cached, func(x *list) bool { return x.key == key })
	if i < 0 {
		return nil
	}
	x := l.cached[i]
	l.cached = slices.Delete(l.cached, i, i+1)
	if x.fingerprint != fingerprint {
		return nil
	}
	l.cached = slices.Insert(l.cached, 0, x)
	return x
}

func (l *lists) put(x *list) {
	l.cached = slices.DeleteFunc(l.cached, func(y *list) bool { return y.key == x.key })
	l.cached = slices.Insert(l.cached, 0, x)
	l.cached = l.cached[:min(len(l.cached), maxLists)]
}

func (l *lists) drop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := len(l.cached) > 0
	l.cached = nil
	return some
}

// Listed is [API.List] from a cache, for pages. The session files are as they were at most five seconds ago. The items
// are shared: the caller must not change them.
func (s *API) Listed(ctx context.Context, p state.Project, o capture.ListOptions) ([]sessions.Item, *state.State,
	error) {
	key, fp := listKey{p.ID, o.Subagents, o.Removed}, s.Events.fingerprint()
	defer s.restartIdle()
	s.lists.mu.Lock()
	known := s.lists.find(key, fp)
	if known != nil {
		age := s.Now().Sub(known.checked)
		if age >= 0 && age < listStale {
			if age > listFresh && !known.refreshing {
				known.refreshing = true
				s.lists.work.Go(func() { s.refresh(p, o, known) })
			}
			s.lists.mu.Unlock()
			return known.items, known.state, nil
		}
	}
	s.lists.mu.Unlock()
	x := &list{key: key, fingerprint: fp, checked: s.Now()}
	var err error
	if x.items, x.state, err = s.List(ctx, p, o); err != nil {
		return nil, nil, err
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	s.lists.put(x)
	return x.items, x.state, nil
}

// refresh lists the sessions in the background and notifies listeners if they differ from the last list.
func (s *API) refresh(p state.Project, o capture.ListOptions, last *list) {
	x := &list{key: last.key, fingerprint: s.Events.fingerprint(), checked: s.Now()}
	var err error
	x.items, x.state, err = s.List(s.Jobs.ctx, p, o)
	s.lists.mu.Lock()
	last.refreshing = false
	if err == nil {
		s.lists.put(x)
	}
	s.lists.mu.Unlock()
	if err == nil && !slices.EqualFunc(last.items, x.items, sameRow) {
		s.Events.send("memory", struct{}{})
	}
}

// sameRow reports whether a list shows two sessions identically.
func sameRow(a, b sessions.Item) bool {
	return a.ID == b.ID && a.Status == b.Status && a.Extra == b.Extra && a.Bytes == b.Bytes && a.Tokens == b.Tokens
}
