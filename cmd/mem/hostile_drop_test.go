//go:build unix

package main

import (
	"fmt"
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
	const aCircle = "a circle of versions"
	const segment = `{"role":"assistant","text":"text %d","src":[[1,1]]}` + "\n"
	circle := func(s *stranger) { // two texts are made of each other
		var made []string
		for i := range 2 {
			s.forge("version", func(tx *refs.Tx, b map[string]any) {
				d := b["derivation"].(map[string]any)
				for len(made) < 2 {
					h, err := tx.Put(s.t.Context(), strings.NewReader(fmt.Sprintf(segment, len(made))))
					if err != nil {
						s.t.Fatal(err)
					}
					made = append(made, h.String())
				}
				d["output"], d["inputs"], b["label"] = made[i], []string{made[1-i]}, fmt.Sprintf("v90%d", i)
			})
		}
	}
	wrong := map[string]func(*stranger){
		"the output of a version":     forge("version", func(b map[string]any) { b["derivation"].(map[string]any)["output"] = absent }),
		"the output of a composition": forge("composition", func(b map[string]any) { b["derivation"].(map[string]any)["output"] = absent }),
		aCircle:                       circle,
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
				if code != 0 || found == nil || !strings.Contains(out, "wrong, ") || name == aCircle && !strings.Contains(out, "1 statement") || name == aCircle && !strings.Contains(out, "cycle") {
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

// TestForgedName fetches names that no mem writes from a device that is trusted: its lane is refused and named, the store stays sound, and
// when the device is dropped no fetch complains any more.
func TestForgedName(t *testing.T) {
	t.Parallel()
	for kind, name := range map[string]string{"composition": "../../away\n\x1b[31m", "version": "v99999999999999999999"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			_, victim, s := newMeeting(t, false)
			s.push()
			victim.ok("fetch")
			victim.ok("device", "trust", s.id, "--yes")
			s.forge(kind, func(_ *refs.Tx, b map[string]any) {
				b[map[string]string{"composition": "name", "version": "label"}[kind]] = name
			})
			s.push()
			var typed string
			for _, command := range []string{"fetch", "pull"} {
				out, code, _ := victim.mem(command)
				hint := regexp.MustCompile(`hint: .*mem (device drop [0-9a-f]+)`).FindStringSubmatch(out)
				if code != 1 || !strings.Contains(out, "the data of device stranger was not fetched") || strings.Contains(out, "\x1b") || hint == nil {
					t.Fatalf("mem %s: %d: %q", command, code, out)
				}
				typed = hint[1]
			}
			for _, command := range []string{"fsck", "doctor"} {
				if out, code, _ := victim.mem(command); code != 0 || strings.Contains(out, "wrong, ") {
					t.Errorf("mem %s: %d: %s", command, code, out)
				}
			}
			victim.ok("fsck", "--full")
			victim.ok(append(strings.Fields(typed), "--yes")...)
			victim.ok("fetch")
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
