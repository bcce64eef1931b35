package remotecmd_test

import (
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
