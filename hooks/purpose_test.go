package hooks

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/hooks/settings"
)

// TestPurposes: every event is described, and what costs tokens of a model is described only when it is on.
func TestPurposes(t *testing.T) {
	t.Parallel()
	text := func(s Settings) string {
		var b strings.Builder
		for i, p := range Purposes(s) {
			if p.Event != settings.Events()[i] || p.Does == "" || p.Costs == "" {
				t.Errorf("%+v at the place of %s", p, settings.Events()[i])
			}
			b.WriteString(p.Does + ": " + p.Costs + "\n")
		}
		return b.String()
	}
	for _, tt := range []struct {
		s    Settings
		want string
	}{
		{Settings{Blocking: "off", Ask: true}, "names messages without facts"}, {Settings{Blocking: "once"}, "one more turn of the model"},
		{Settings{Blocking: "strict"}, "until nothing is missing"}, {Settings{Blocking: "off", Distill: "claude"}, "llm.maxTokensPerDay"},
	} {
		if got := text(tt.s); !strings.Contains(got, tt.want) {
			t.Errorf("%+v: %s\nwant %q", tt.s, got, tt.want)
		}
		if got := text(Settings{Blocking: "off"}); strings.Contains(got, tt.want) {
			t.Errorf("by default: %s\nwithout %q", got, tt.want)
		}
	}
}
