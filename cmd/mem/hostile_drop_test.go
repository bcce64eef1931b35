//go:build unix

package main

import (
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/refs"
)

// TestDropHint types the fix that fsck and doctor suggest for a malformed statement of another device. Afterwards they report nothing,
// a fetch restores nothing, and the user's own data is unchanged.
func TestDropHint(t *testing.T) {
	t.Parallel()
	for kind, encrypted := range map[string]bool{"plain": false, "encrypted": true} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, victim, s := newMeeting(t, encrypted)
			s.forge("version", func(_ *refs.Tx, body map[string]any) {
				body["derivation"].(map[string]any)["output"] = strings.Repeat("ab", 32)
			})
			s.push()
			victim.ok("fetch")
			want := victim.ok("-p", "shop", "checkout", "-o", "-", "ctx")
			hint := regexp.MustCompile(`mem (device \w+ [0-9a-f]+)`)
			ignored := regexp.MustCompile(`ignored, (such as|the first of device)`)
			var typed string
			for _, command := range []string{"fsck", "doctor"} {
				out, _, _ := victim.mem(command)
				found := hint.FindStringSubmatch(out)
				if found == nil || !ignored.MatchString(out) {
					t.Fatalf("mem %s: %s", command, out)
				}
				typed = found[1]
			}
			victim.ok(strings.Fields(typed)...)
			for _, command := range []string{"fsck", "fetch", "fsck", "doctor"} {
				if out, code, _ := victim.mem(command); command != "doctor" && code != 0 || ignored.MatchString(out) || strings.Contains(out, "stranger") {
					t.Errorf("mem %s: %d: %s", command, code, out)
				}
			}
			victim.ok("fsck", "--full")
			if got := victim.ok("-p", "shop", "checkout", "-o", "-", "ctx"); got != want {
				t.Errorf("ctx: %q, want %q", got, want)
			}
			victim.ok("device", "trust", s.id, "--yes")
			victim.ok("fetch")
			if list := victim.ok("ls", "-1", "--all-projects"); !strings.Contains(list, "guest") {
				t.Errorf("ls after mem device trust: %s", list)
			}
		})
	}
}
