package api

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/memvcs/mem/layers/capture"
	"github.com/memvcs/mem/layers/history"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// Lists of sessions stay in memory while the memory does not change: a project of 10,000 sessions has as many files of
// Claude Code, and looking at all of them takes longer than the page. The files are looked at again behind
// the page, and listeners hear of what has changed.
const (
	listFresh = time.Second     // until the files are looked at again
	listStale = 5 * time.Second // from when on a page waits for that
	mostLists = 2               // that stay in memory
)

// A listKey identifies a list.
type listKey struct {
	project            refs.Project
	subagents, removed bool
}

// A list contains the sessions of a project at one time.
type list struct {
	key   listKey
	print string // of the memory
	looks time.Time
	items []history.Item
	state *state.State
	again bool // somebody is looking
}

// lists are those that stay in memory, the last used first.
type lists struct {
	mu   sync.Mutex
	kept []*list
	work sync.WaitGroup
}

func (l *lists) find(key listKey, print string) *list {
	i := slices.IndexFunc(l.kept, func(x *list) bool { return x.key == key })
	if i < 0 {
		return nil
	}
	x := l.kept[i]
	l.kept = slices.Delete(l.kept, i, i+1)
	if x.print != print {
		return nil
	}
	l.kept = slices.Insert(l.kept, 0, x)
	return x
}

func (l *lists) put(x *list) {
	l.kept = slices.DeleteFunc(l.kept, func(y *list) bool { return y.key == x.key })
	l.kept = slices.Insert(l.kept, 0, x)
	l.kept = l.kept[:min(len(l.kept), mostLists)]
}

func (l *lists) drop() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	some := len(l.kept) > 0
	l.kept = nil
	return some
}

// Listed is [API.List] for pages: the files of Claude Code are as they were at most five seconds ago, and the items are
// shared: the caller must not change them.
func (s *API) Listed(ctx context.Context, p state.Project, o capture.ListOptions) ([]history.Item, *state.State,
	error) {
	key, print := listKey{p.ID, o.Subagents, o.Removed}, s.Events.fingerprint()
	defer s.keepIdle()
	s.lists.mu.Lock()
	known := s.lists.find(key, print)
	if known != nil {
		age := s.Now().Sub(known.looks)
		if age >= 0 && age < listStale {
			if age > listFresh && !known.again {
				known.again = true
				s.lists.work.Go(func() { s.lookAgain(p, o, known) })
			}
			s.lists.mu.Unlock()
			return known.items, known.state, nil
		}
	}
	s.lists.mu.Unlock()
	x := &list{key: key, print: print, looks: s.Now()}
	var err error
	if x.items, x.state, err = s.List(ctx, p, o); err != nil {
		return nil, nil, err
	}
	s.lists.mu.Lock()
	defer s.lists.mu.Unlock()
	s.lists.put(x)
	return x.items, x.state, nil
}

// lookAgain lists the sessions in the background and notifies listeners if they differ from the last list.
func (s *API) lookAgain(p state.Project, o capture.ListOptions, last *list) {
	x := &list{key: last.key, print: s.Events.fingerprint(), looks: s.Now()}
	var err error
	x.items, x.state, err = s.List(s.Jobs.ctx, p, o)
	s.lists.mu.Lock()
	last.again = false
	if err == nil {
		s.lists.put(x)
	}
	s.lists.mu.Unlock()
	if err == nil && !slices.EqualFunc(last.items, x.items, sameRow) {
		s.Events.send("memory", struct{}{})
	}
}

// sameRow reports whether a list shows two sessions identically.
func sameRow(a, b history.Item) bool {
	return a.ID == b.ID && a.Status == b.Status && a.Extra == b.Extra && a.Bytes == b.Bytes && a.Tokens == b.Tokens
}
