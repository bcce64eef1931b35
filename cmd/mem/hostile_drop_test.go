//go:build unix

package main

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/memvcs/mem/refs"
)

// TestTrustedForger trusts a device that makes wrong statements. fsck and doctor name the device and the way out, fsck succeeds because the
// store is sound, and so are the user's own commands. When the device is dropped, nothing of it remains and no fetch restores it.
func TestTrustedForger(t *testing.T) {
	t.Parallel()
	forge := func(kind string, change func(body map[string]any)) func(*stranger) {
		return func(s *stranger) { s.forge(kind, func(_ *refs.Tx, body map[string]any) { change(body) }) }
	}
	absent := strings.Repeat("ab", 32)
	wrong := map[string]func(*stranger){
		"the output of a version":     forge("version", func(b map[string]any) { b["derivation"].(map[string]any)["output"] = absent }),
		"the output of a composition": forge("composition", func(b map[string]any) { b["derivation"].(map[string]any)["output"] = absent }),
		"the original of a session":   forge("session", func(b map[string]any) { b["session"], b["original"] = "other000", absent }),
	}
	for _, name := range slices.Sorted(maps.Keys(wrong)) {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			_, victim, s := newMeeting(t, false)
			want := victim.ok("-p", "shop", "checkout", "-o", "-", "ctx")
			wrong[name](s)
			s.push()
			victim.ok("fetch")
			victim.ok("fsck", "--full") // it is outside
			victim.ok("device", "trust", s.id, "--yes")
			hint := regexp.MustCompile(`mem (device drop [0-9a-f]+)`)
			var typed string
			for _, command := range []string{"fsck", "doctor"} {
				out, code, _ := victim.mem(command)
				found := hint.FindStringSubmatch(out)
				if code != 0 || found == nil || !strings.Contains(out, "wrong, ") {
					t.Fatalf("mem %s: %d: %s", command, code, out)
				}
				typed = found[1]
			}
			victim.ok(append(strings.Fields(typed), "--yes")...)
			for _, command := range []string{"fsck", "fetch", "fsck", "doctor"} {
				if out, code, _ := victim.mem(command); code != 0 || strings.Contains(out, "wrong, ") || strings.Contains(out, "stranger") {
					t.Errorf("mem %s: %d: %s", command, code, out)
				}
			}
			victim.ok("fsck", "--full")
			if got := victim.ok("-p", "shop", "checkout", "-o", "-", "ctx"); got != want {
				t.Errorf("ctx: %q, want %q", got, want)
			}
		})
	}
}

// TestDroppedComesBack trusts a dropped device: the next fetch brings its data.
func TestDroppedComesBack(t *testing.T) {
	t.Parallel()
	_, victim, s := newMeeting(t, true)
	victim.ok("device", "drop", s.id)
	victim.ok("fetch")
	victim.ok("device", "trust", s.id, "--yes")
	victim.ok("fetch")
	if list := victim.ok("ls", "-1", "--all-projects"); !strings.Contains(list, "guest") {
		t.Errorf("ls after mem device trust: %s", list)
	}
}
