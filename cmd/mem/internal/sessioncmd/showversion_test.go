package sessioncmd

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/records"
)

// TestSourceOf: a version of another device may have no input.
func TestSourceOf(t *testing.T) {
	t.Parallel()
	v := &records.Version{Session: "a1aaaaaa", Label: "v002", Source: "v001"}
	if got := sourceOf(&app.Env{}, v, 0, 0); !strings.HasPrefix(got, "a1aaaaaa, ") {
		t.Errorf("the source is %q", got)
	}
}
