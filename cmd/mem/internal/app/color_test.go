package app_test

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
)

func TestColored(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		option, ui, vars string
		tty, want        bool
	}{
		{"", "auto", "", true, true},
		{"", "auto", "", false, false},
		{"", "auto", "TERM=dumb", true, false},
		{"", "auto", "CLICOLOR=0", true, false},
		{"", "always", "CLICOLOR=0", false, true},
		{"", "never", "", true, false},
		{"", "never", "FORCE_COLOR=1", false, true},
		{"", "never", "CLICOLOR_FORCE=1", false, true},
		{"", "auto", "CLICOLOR_FORCE=0", false, false},
		{"", "auto", "FORCE_COLOR=false", false, false},
		{"", "always", "NO_COLOR=yes", true, false},
		{"", "auto", "NO_COLOR=1 FORCE_COLOR=1", true, false},
		{"always", "never", "NO_COLOR=1", false, true},
		{"never", "always", "FORCE_COLOR=1", true, false},
		{"auto", "always", "NO_COLOR=1", true, true},
		{"auto", "always", "FORCE_COLOR=1", false, false},
	} {
		vars := map[string]string{}
		for _, kv := range strings.Fields(tt.vars) {
			k, v, _ := strings.Cut(kv, "=")
			vars[k] = v
		}
		if got := app.Colored(tt.option, tt.ui, func(k string) string { return vars[k] }, tt.tty); got != tt.want {
			t.Errorf("colored(%q, %q, %s, %v) = %v, want %v", tt.option, tt.ui, tt.vars, tt.tty, got, tt.want)
		}
	}
}
