package layers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/layers/forget"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/layers/trust"
	"github.com/memvcs/mem/refs"
)

// branches returns where the branches of a hub are.
func (h *hub) branches(t testing.TB) string {
	t.Helper()
	return gitRun(t, h.dir, "for-each-ref")
}

// TestForgetOverServers forgets over every kind of remote: the next push replaces the lane there, exactly as it was known, and a server
// that cleans up has nothing of it; a new clone, and a device that syncs, have nothing of it either.
func TestForgetOverServers(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"dir", "http", "ssh", "sealed dir", "sealed ssh"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			h := newHub(t, kind)
			a, b := h.memory(t, "laptop"), h.memory(t, "desk")
			add(t, a, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), userLine(1, "call me zaphod")+userLine(2, "and go on")), session(t, "bbbb0002", "/home/dev/shop", 5))
			pushAll(t, a)
			fetchAll(t, b)
			trustAll(t, b)
			add(t, b, session(t, "cccc0003", "/home/dev/shop", 5))
			pushAll(t, b)
			was := h.branches(t)
			forgetText(t, a, forget.ForgetOptions{Match: regexp.MustCompile("zaphod")})
			if now := h.branches(t); now != was {
				t.Errorf("forgetting reached the remote by itself:\n%s\n%s", was, now)
			}
			forced := 0
			for _, l := range pushAll(t, a).Lanes {
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
			if out := pushAll(t, a); out.Objects != 0 {
				t.Errorf("a second push sent %d objects", out.Objects)
			}
			gitRun(t, h.dir, "-c", "gc.reflogExpire=now", "gc", "-q", "--prune=now") // as servers do some time
			replaced := 0
			for line := range strings.Lines(was) {
				if tip, _, _ := strings.Cut(line, " "); !strings.Contains(h.branches(t), tip) {
					replaced++
					if all := gitRun(t, h.dir, "cat-file", "--batch-all-objects", "--batch-check"); strings.Contains(all, tip) {
						t.Errorf("the remote has %s still", tip)
					}
				}
			}
			if replaced != 1 {
				t.Errorf("%d branches were replaced, want one", replaced)
			}
			fetchAll(t, b)
			pushAll(t, b)
			fetchAll(t, a)
			c := h.memory(t, "new")
			fetchAll(t, c)
			if found := stays(t, "zaphod", []*Memory{a, b, c}, h.dir); len(found) > 0 {
				t.Errorf("it stays in %v", found)
			}
			if ra, rb, rc := roots(t, a), roots(t, b), roots(t, c); ra != rb || ra != rc {
				t.Errorf("other roots:\n%s\n%s\n%s", ra, rb, rc)
			}
			gitRun(t, h.dir, "fsck", "--strict", "--full")
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
				h := newHub(t, kind)
				a := h.memory(t, "laptop")
				p := add(t, a, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), userLine(1, "call me zaphod")), session(t, "bbbb0002", "/home/dev/shop", 5))[0].Project
				pushAll(t, a)
				copied := h.copyOf(t, a)
				add(t, copied, session(t, "cccc0003", "/home/dev/shop", 5))
				forgetText(t, a, forget.ForgetOptions{Revs: []state.Rev{revOf(t, a, "aaaa0001")}})
				other := func() { pushAll(t, copied) }
				if !between {
					other()
				}
				after := ""
				err := pushForced(t, a, p, func() {
					if between {
						other()
					}
					after = h.branches(t)
				})
				var twin *sync.DivergedError
				if !between {
					after = h.branches(t)
				}
				if diverged := errors.As(err, &twin); diverged == between || between && err == nil {
					t.Errorf("push: %v", err)
				}
				if now := h.branches(t); now != after {
					t.Errorf("the remote was changed:\n%s\n%s", after, now)
				}
				settle(t, a)
				fetchAll(t, a)
				fetchAll(t, copied)
				pushAll(t, copied)
				fetchAll(t, a)
				for _, m := range []*Memory{a, copied} {
					st, err := trust.Outline(context.Background(), m.DB, p.ID)
					if err != nil {
						t.Fatal(err)
					}
					if st.Session("bbbb0002") == nil || st.Session("cccc0003") == nil {
						t.Errorf("%s has not all sessions", m.Refs.Device().Name)
					}
				}
				roots(t, a)
				roots(t, copied)
			})
		}
	}
}

// pushForced pushes one project, and calls seen when the remote has said what it has. The error is that of the push, or says that the
// remote rejected the lane.
func pushForced(t testing.TB, m *Memory, p state.Project, seen func()) error {
	t.Helper()
	r := origin(t, m)
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
	h := newHub(t, "dir")
	a, b := h.memory(t, "laptop"), h.memory(t, "desk")
	text := userLine(1, "call me zaphod") + userLine(2, "and go on")
	p := add(t, a, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text))[0].Project.ID
	pushAll(t, a)
	fetchAll(t, b)
	trustAll(t, b)
	add(t, b, write(t, filepath.Join(t.TempDir(), "aaaa0001.jsonl"), text+userLine(3, "more")))
	pushAll(t, b)
	fetchAll(t, a)
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
	pushAll(t, a)
	for range 3 {
		fetchAll(t, b)
	}
	all, err := b.Upper(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	var answers []string
	for _, r := range all {
		if r.Kind == records.KindPurge && r.Stamp.Device == b.Refs.Device().ID {
			answers = append(answers, string(r.Body))
		}
	}
	if len(answers) != 1 || answers[0] != string(purge) {
		t.Errorf("answers %q, want one: %s", answers, purge)
	}
}
