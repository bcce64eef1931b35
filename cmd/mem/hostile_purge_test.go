//go:build unix

package main

import (
	"strings"
	"testing"
)

// TestForgedPurge fetches a purge of one's own session from another device. A device that is not trusted forgets nothing, nor does one whose trust
// ended before the purge came. A trusted one does, for good: the fetch drops the bytes, so that ending the trust afterwards brings nothing back.
func TestForgedPurge(t *testing.T) {
	t.Parallel()
	purge := func(s *stranger) {
		s.body("purge", map[string]any{"cause": "revision", "sessions": []string{purgeKey("victim")}})
		s.push()
	}
	for name, c := range map[string]struct {
		do   func(victim *target, s *stranger)
		gone bool
	}{
		"untrusted": {do: func(victim *target, s *stranger) {
			purge(s)
			victim.ok("fetch")
		}},
		"revoked before": {do: func(victim *target, s *stranger) {
			victim.ok("device", "trust", s.id, "--yes")
			victim.ok("device", "revoke", s.id, "--yes")
			purge(s)
			victim.ok("fetch")
		}},
		"revoked afterwards": {gone: true, do: func(victim *target, s *stranger) {
			victim.ok("device", "trust", s.id, "--yes")
			purge(s)
			victim.ok("fetch")
			victim.ok("device", "revoke", s.id, "--yes")
		}},
		"trusted": {gone: true, do: func(victim *target, s *stranger) {
			victim.ok("device", "trust", s.id, "--yes")
			purge(s)
			victim.ok("fetch")
		}},
	} {
		for _, encrypted := range []bool{false, true} {
			t.Run(strings.ReplaceAll(name, " ", "-")+map[bool]string{true: "-encrypted"}[encrypted], func(t *testing.T) {
				t.Parallel()
				_, victim, s := newMeeting(t, encrypted)
				want := victim.ok("-p", "shop", "checkout", "-o", "-", "victim:original")
				c.do(victim, s)
				for _, command := range []string{"gc", "pull", "fsck"} { // whatever drops bytes had its turn
					if out, code, _ := victim.mem(command); code != 0 {
						t.Errorf("mem %s: %d: %s", command, code, out)
					}
				}
				got, code, _ := victim.mem("-p", "shop", "checkout", "-o", "-", "victim:original")
				if gone := code != 0; gone != c.gone || !gone && got != want {
					t.Errorf("checkout: %d: %.300s", code, got)
				}
				if list := victim.ok("ls", "-1", "--all-projects"); strings.Contains(list, "victim") == c.gone {
					t.Errorf("ls: %s", list)
				}
			})
		}
	}
}
