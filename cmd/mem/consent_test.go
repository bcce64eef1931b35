package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/remotecmd"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/refs"
)

// TestConsentOnce pushes three projects to a remote that has one of them: one question lists the other two with their ids.
func TestConsentOnce(t *testing.T) {
	t.Parallel()
	for _, answer := range []bool{true, false} {
		typed := map[bool]string{true: "y\n", false: "n\n"}[answer]
		var said strings.Builder
		e := &app.Env{Stdin: strings.NewReader(typed), Stderr: &said}
		e.Term.Stdin, e.Term.Stderr = true, true
		list := []state.Project{{ID: "aaaa", Name: "shop"}, {ID: "bbbb", Name: "shop"}, {ID: "cccc", Name: "blog"}}
		r := refs.Remote{Name: "origin", URL: "host:me/memory.git", Projects: map[refs.Project]refs.Pushed{"cccc": {}}}
		consent := remotecmd.ConsentTo(e, list, list)
		for _, p := range list[:2] {
			if got, err := consent(p, r); err != nil || got != answer {
				t.Errorf("consent to %s is %v, %v, want %v", p.ID, got, err, answer)
			}
		}
		if want := "send the memory of 2 projects (shop aaaa, shop bbbb) to origin (host:me/memory.git)? [y/N] "; said.String() != want {
			t.Errorf("asked %q, want %q", said.String(), want)
		}
	}
}

// TestTrustAsks trusts a device on a terminal: the question shows whose data waits, with the whole fingerprint, and so
// does the list.
func TestTrustAsks(t *testing.T) {
	t.Parallel()
	hub := filepath.Join(t.TempDir(), "hub.git")
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(hub, "objects", "info"), 0o700), os.MkdirAll(filepath.Join(hub, "objects", "pack"), 0o700),
			os.MkdirAll(filepath.Join(hub, "refs", "heads"), 0o700), os.WriteFile(filepath.Join(hub, name), []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	store, cloned := copyStoreV1(t), filepath.Join(t.TempDir(), "clone")
	mem := func(store, typed string, terminal bool, args ...string) (string, int) {
		var out bytes.Buffer
		env := testEnv(t, store, &out, &out)
		env.Stdin = strings.NewReader(typed)
		env.Term = app.Term{Stdin: terminal, Stdout: terminal, Stderr: terminal, Width: func() int { return 60 }}
		code := run(t.Context(), env, append([]string{"--color=never"}, args...))
		return out.String(), code
	}
	for _, args := range [][]string{{"remote", "add", "origin", hub}, {"push", "--all", "--yes"}} {
		if out, code := mem(store, "", false, args...); code != 0 {
			t.Fatal(args, out)
		}
	}
	out, code := mem(cloned, "", false, "clone", hub, "--device", "desk")
	print := regexp.MustCompile(`SHA256:\S{43}`).FindString(out)
	if code != 0 || print == "" {
		t.Fatal(out)
	}
	if out, code := mem(cloned, "", false, "device", "rename", regexp.MustCompile(`new device (\S+)`).FindStringSubmatch(out)[1],
		"old"); code != 0 {
		t.Fatal(out)
	}
	if out, _ := mem(cloned, "", true, "device", "list"); !strings.Contains(out, print) || !strings.Contains(out, "calls itself ") {
		t.Errorf("mem device list at 60 columns prints\n%swant %s whole, and the device's name for itself", out, print)
	}
	for _, tt := range []struct {
		typed string
		args  []string
		want  []string
	}{
		{"n\n", nil, []string{print, "old, calls itself ", " sessions in ", "trust device old? [y/N]", "nothing changed"}},
		{"", nil, []string{"nothing changed"}},
		{"", []string{"-n"}, []string{"would be trusted"}},
		{"y\n", nil, []string{print, "is trusted"}},
		{"", nil, []string{"is trusted"}}, // already
	} {
		out, _ := mem(cloned, tt.typed, true, append([]string{"device", "trust", "old"}, tt.args...)...)
		for _, want := range tt.want {
			if !strings.Contains(out, want) {
				t.Errorf("mem device trust old %v, answered %q, prints\n%swant %q", tt.args, tt.typed, out, want)
			}
		}
	}
	if out, code := mem(cloned, "", true, "device", "trust", "old", "-y"); code != 0 || strings.Contains(out, "[y/N]") {
		t.Errorf("mem device trust -y exits with %d and prints\n%s", code, out)
	}
}
