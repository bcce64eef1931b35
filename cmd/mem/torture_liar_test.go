package main_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tortureLiar gives the rig programs that break a promise now and then: it must find each of them out.
func tortureLiar(t *testing.T, bin string) {
	for _, tt := range []struct {
		name, script string
		run          func(*Rig) ([]Promise, error)
	}{
		{"acknowledges and does not add", `case $1 in add) COUNT; [ $((n % 4)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 40) }},
		{"adds what nobody asked for", `case $1 in push) MEM add OTHER >/dev/null;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 60) }},
		{"pushes nothing", `case $1 in push) exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 20) }},
		{"is open to others", `MEM "$@"; s=$?; chmod 644 "$MEM_DIR/device.json"; exit $s`,
			func(r *Rig) ([]Promise, error) { return r.Kills(t.Context(), 20) }},
		{"takes a hook for done", `case $1 in hook) COUNT; [ $((n % 3)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Storm(t.Context(), 12) }},
		{"loses an update", `case $1 in add) COUNT; [ $((n % 5)) = 0 ] && exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.Writers(t.Context(), 4, 12) }},
		{"loses a version in a power cut", `case $1 in compress) echo '{"version":"v900"}'; exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 8) }},
		{"loses a composition in a power cut", `case $1 in compose) exit 0;; esac; exec MEM "$@"`,
			func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 8) }},
	} {
		t.Run(tt.name, func(t *testing.T) { caught(t, bin, tt.script, tt.run) })
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Log("SKIPPED: a program whose fsync does nothing is made with strace: apt-get install strace")
		return
	}
	t.Run("does not sync", func(t *testing.T) {
		script := `exec strace -f -qq -o /dev/null -e trace=fsync,fdatasync -e inject=fsync,fdatasync:retval=0 MEM "$@"`
		caught(t, bin, script, func(r *Rig) ([]Promise, error) { return r.PowerCuts(t.Context(), 40) })
	})
}

// count gives a script the number of its earlier runs, also of concurrent ones.
const count = `n=0; until mkdir "$0.$n" 2>/dev/null; do n=$((n + 1)); done`

// caught runs a rig on a program that is not to be trusted.
func caught(t *testing.T, bin, script string, run func(*Rig) ([]Promise, error)) {
	t.Helper()
	r := newProof(t, "")
	r.Bin = filepath.Join(t.TempDir(), "mem")
	w := NewGenerator(99, "/home/user/other")
	other := filepath.Join(t.TempDir(), w.ID+".jsonl")
	text := "#!/bin/sh\n" + strings.NewReplacer("MEM ", bin+" ", "OTHER", other, "COUNT", count).Replace(script) + "\n"
	if err := errors.Join(os.WriteFile(other, w.More(3), 0o600), os.WriteFile(r.Bin, []byte(text), 0o700)); err != nil {
		t.Fatal(err)
	}
	_, err := run(r)
	var broken *Broken
	var skipped *Skipped
	switch {
	case errors.As(err, &skipped):
		t.Skip("SKIPPED: " + skipped.Why)
	case !errors.As(err, &broken):
		t.Errorf("the rig has not found it out: %v", err)
	default:
		t.Logf("found out: %.160s", fmt.Sprint(err))
	}
}
