package revision_test

import (
	"testing"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/revision"
)

// TestNormalOrigin gives hosts as people write them.
func TestNormalOrigin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ kind, name, want string }{
		{records.HostSource, "https://Evil.example:443/x?y", "host:evil.example"}, {records.HostSource, "evil.example.", "host:evil.example"}, {records.HostSource, "localhost:8080", "host:localhost:8080"},
		{records.ToolSource, "WebFetch", "tool:webfetch"}, {records.ToolSource, "", ""}, {records.HostSource, "a b", ""}, {"city", "x", ""}, {records.HostSource, "https://", ""},
	} {
		got, err := revision.NormalOrigin(tt.kind, tt.name)
		if (err != nil) != (tt.want == "") || err == nil && got.String() != tt.want {
			t.Errorf("NormalOrigin(%q, %q) = %s, %v, want %s", tt.kind, tt.name, got, err, tt.want)
		}
	}
}
