package sync_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers"
	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/layerstest"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// TestForgetOverServers forgets over every kind of remote: the next push replaces the lane there, exactly as it was known, and a server
// that cleans up has nothing of it; a new clone, and a device that syncs, have nothing of it either.
func TestForgetOverServers(t *testing.T) {
	t.Parallel()
	kinds := []string{"dir", "http", "ssh", "sealed dir", "sealed ssh"} // the last with MEM_TORTURE=full
	for _, kind := range kinds[:layerstest.Tiered(t, 4, 5, 5)] {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := layerstest.NewHub(t, kind)
			a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
			layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "call me zaphod")+layerstest.UserLine(2, "and go on")), layerstest.Session(t, "bbbb0002", "/home/dev/shop", 5))
			layerstest.PushAll(t, a)
			layerstest.FetchAll(t, b)
			layerstest.TrustAll(t, b)
			layerstest.Add(t, b, layerstest.Session(t, "cccc0003", "/home/dev/shop", 5))
			layerstest.PushAll(t, b)
			was := h.Branches(t)
			layerstest.ForgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
			if now := h.Branches(t); now != was {
				t.Errorf("forgetting reached the remote by itself:\n%s\n%s", was, now)
			}
			forced := 0
			for _, l := range layerstest.PushAll(t, a).Lanes {
				if l.Forced {
					forced++
				}
				if dropped := strings.HasSuffix(kind, "dir"); l.Forced && l.Dropped != dropped {
					t.Errorf("dropped from the remote at once: %t, want %t", l.Dropped, dropped)
				}
			}
			if forced != 1 {
				t.Errorf("%d lanes were replaced, want that of the forgotten message alone", forced)
			}
			if out := layerstest.PushAll(t, a); out.Objects != 0 {
				t.Errorf("a second push sent %d objects", out.Objects)
			}
			layerstest.GitRun(t, h.Dir, "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now") // as servers do some time
			replaced := 0
			for line := range strings.Lines(was) {
				if tip, _, _ := strings.Cut(line, " "); !strings.Contains(h.Branches(t), tip) {
					replaced++
					if all := layerstest.GitRun(t, h.Dir, "cat-file", "--batch-all-objects", "--batch-check"); strings.Contains(all, tip) {
						t.Errorf("the remote has %s still", tip)
					}
				}
			}
			if replaced != 1 {
				t.Errorf("%d branches were replaced, want one", replaced)
			}
			layerstest.FetchAll(t, b)
			layerstest.PushAll(t, b)
			layerstest.FetchAll(t, a)
			c := h.Memory(t, "new")
			layerstest.FetchAll(t, c)
			if found := layerstest.Stays(t, "zaphod", []*layers.Memory{a, b, c}, h.Dir); len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
			if ra, rb, rc := layerstest.Roots(t, a), layerstest.Roots(t, b), layerstest.Roots(t, c); ra != rb || ra != rc {
				t.Errorf("other roots:\n%s\n%s\n%s", ra, rb, rc)
			}
			layerstest.GitRun(t, h.Dir, "fsck", "--strict", "--full")
		})
	}
}

// TestForgetLease lets a copy of a store push after this one last saw the remote, or between what the remote says it has and what is
// sent: the push that would replace the lane fails, and nothing that the copy pushed is overwritten. When the memories have become two
// devices, everything is there but what was forgotten.
func TestForgetLease(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"dir", "http", "ssh", "sealed http"} {
		for _, between := range []bool{false, true} {
			if !between && kind != "dir" {
				continue // what is seen before anything is sent is the same everywhere
			}
			t.Run(fmt.Sprintf("%s, in between: %t", kind, between), func(t *testing.T) {
				t.Parallel()
				h := layerstest.NewHub(t, kind)
				a := h.Memory(t, "laptop")
				p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), layerstest.UserLine(1, "call me zaphod")), layerstest.Session(t, "bbbb0002", "/home/dev/shop", 5))[0].Project
				layerstest.PushAll(t, a)
				copied := h.CopyOf(t, a)
				layerstest.Add(t, copied, layerstest.Session(t, "cccc0003", "/home/dev/shop", 5))
				layerstest.ForgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{layerstest.RevOf(t, a, "aaaa0001")}})
				other := func() { layerstest.PushAll(t, copied) }
				if !between {
					other()
				}
				after := ""
				err := pushForced(t, a, p, func() {
					if between {
						other()
					}
					after = h.Branches(t)
				})
				var twin *sync.DivergedError
				if !between {
					after = h.Branches(t)
				}
				if diverged := errors.As(err, &twin); diverged == between || between && err == nil {
					t.Errorf("push: %v", err)
				}
				if now := h.Branches(t); now != after {
					t.Errorf("the remote was changed:\n%s\n%s", after, now)
				}
				settle(t, a)
				layerstest.FetchAll(t, a)
				layerstest.FetchAll(t, copied)
				layerstest.PushAll(t, copied)
				layerstest.FetchAll(t, a)
				for _, m := range []*layers.Memory{a, copied} {
					st, err := trust.Outline(context.Background(), m.DB, p.ID)
					if err != nil {
						t.Fatal(err)
					}
					if st.Session("bbbb0002") == nil || st.Session("cccc0003") == nil {
						t.Errorf("%s has not all sessions", m.Refs.Device().Name)
					}
				}
				layerstest.Roots(t, a)
				layerstest.Roots(t, copied)
			})
		}
	}
}

// pushForced pushes one project, and calls seen when the remote has said what it has. The error is that of the push, or says that the
// remote rejected the lane.
func pushForced(t testing.TB, m *layers.Memory, p state.Project, seen func()) error {
	t.Helper()
	r := layerstest.Origin(t, m)
	r.Projects = nil // so that it asks
	out, err := sync.Push(context.Background(), m.DB, sync.PushOptions{Remote: r, Projects: []state.Project{p}, Consent: func(state.Project, refs.Remote) (bool, error) {
		seen()
		return true, nil
	}})
	for _, l := range out.Lanes {
		if l.Status == "rejected" {
			err = errors.Join(err, errors.New(l.Why))
		}
	}
	return err
}

// TestForgetNewerPurge receives a purge with a member that this version does not know: the answer repeats it, so that
// every device knows which purge was applied, and is given once.
func TestForgetNewerPurge(t *testing.T) {
	t.Parallel()
	h := layerstest.NewHub(t, "dir")
	a, b := h.Memory(t, "laptop"), h.Memory(t, "desk")
	text := layerstest.UserLine(1, "call me zaphod") + layerstest.UserLine(2, "and go on")
	p := layerstest.Add(t, a, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text))[0].Project.ID
	layerstest.PushAll(t, a)
	layerstest.FetchAll(t, b)
	layerstest.TrustAll(t, b)
	layerstest.Add(t, b, layerstest.Write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text+layerstest.UserLine(3, "more")))
	layerstest.PushAll(t, b)
	layerstest.FetchAll(t, a)
	purge := json.RawMessage(fmt.Sprintf(`{"cause":"match","passages":[{"session":%q,"generation":0,"n":1,"id":%q}],"why":"x"}`,
		state.PurgeKey("aaaa0001"), state.PurgeKey("u1")))
	err := a.Refs.Update(t.Context(), p, "forget", func(tx *refs.Tx) error {
		tx.Trailer("Op", "forget")
		_, err := tx.Add(records.KindPurge, purge)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	layerstest.PushAll(t, a)
	for range 3 {
		layerstest.FetchAll(t, b)
	}
	all, err := b.Upper(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, r := range all {
		// The device has not deleted the message from its own lane: a purge of this device says so.
		if r.Kind == records.KindPurge && r.Device == b.Refs.Device().ID && strings.Contains(string(r.Body), `"match"`) {
			answers = append(answers, string(r.Body))
		}
	}
	if len(answers) != 1 || answers[0] != string(purge) {
		t.Errorf("answers %q, want one: %s", answers, purge)
	}
}
