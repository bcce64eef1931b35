//go:build unix

package main_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestAttacks fetches validly signed lanes of untrusted devices that break the rules of a lane or contradict the user.
func TestAttacks(t *testing.T) {
	t.Parallel()
	mem, err := exec.LookPath("mem")
	if err != nil {
		t.Fatal(err)
	}
	all, err := newProof(t, mem).Attacks(t.Context())
	proved(t, all, err)
	if len(all) == 0 {
		t.Error("no attack was made")
	}
}

// TestAttacksAreNoticed runs the attacks of [TestAttacks] against programs whose guards are off: one that trusts every device, and one that fetches
// with git, which checks nothing of what a lane says. The attacks on each guard succeed.
func TestAttacksAreNoticed(t *testing.T) {
	t.Parallel()
	mem, err := exec.LookPath("mem")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fetch string // instead of "mem fetch"
		want  []string
	}{
		"every device is trusted": {
			`"$REAL" fetch; for lane in "$MEM_DIR"/memory.git/refs/untrusted/*/*; do "$REAL" device trust "${lane##*/}" --yes; done >/dev/null 2>&1`,
			[]string{"a newer session", "a removed session", "a forgotten session", "a project's name", "a rule of the user"},
		},
		"no lane is checked": {
			`git -C "$MEM_DIR/memory.git" fetch -q "$HOME/hub.git" '+refs/heads/p/*:refs/heads/p/*'`,
			[]string{"a session id that is a path", "a weight that is not a number", "an array as a body", "a clock far ahead", "a file mode that lanes do not use"},
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath("git"); err != nil {
				t.Skip("SKIPPED: no git")
			}
			bin := filepath.Join(t.TempDir(), "mem")
			script := fmt.Sprintf("#!/bin/sh\nREAL='%s'\n[ \"$1\" = fetch ] || exec \"$REAL\" \"$@\"\n%s\nexit 0\n", mem, c.fetch)
			if err := os.WriteFile(bin, []byte(script), 0o700); err != nil {
				t.Fatal(err)
			}
			all, err := newProof(t, bin).Attacks(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			why := map[string]string{}
			for _, p := range all {
				_, what, _ := strings.Cut(p.What, ": ")
				why[what] = p.Why
				t.Logf("%s: %.300s", p.What, p.Why)
			}
			for _, what := range c.want {
				if why[what] == "" {
					t.Errorf("the attack %q is not noticed", what)
				}
			}
		})
	}
}
