package repair

import (
	"strings"
	"testing"

	"github.com/memvcs/mem/refs/repair"
)

// TestDescribeLoss describes losses at all depths of a lane, also under names that no lane of mem has.
func TestDescribeLoss(t *testing.T) {
	t.Parallel()
	hex := strings.Repeat("ab", 30)
	for _, tt := range []struct {
		path string
		want string
	}{
		{"", "the commit or directory 0000000000"},
		{"format", "the file format"},
		{"objects", "the directory objects"},
		{"objects/1/2", "the directory objects/1/2"},
		{"objects/1/2/3/4/" + hex, "object 1234ababab"},
		{"records/1/2/3/4/" + hex + ".json", "record 1234ababab"},
		{"patches/1/2/3/4/" + hex, "patch 1234ababab"},
		{"streams/1/2/3/" + hex + "/s0000", "the directory streams/1/2/3/" + hex + "/s0000"},
		{"streams/1/2/3/" + hex + "/s0000/000000", "stream 123abababa"},
		{"objects/1/2/3/4/x", "object 1234x"},
	} {
		l := repair.Loss{}
		if tt.path != "" {
			l.Path = strings.Split(tt.path, "/")
		}
		if got := describeLoss(l); got != tt.want {
			t.Errorf("describeLoss(%s) = %q, want %q", tt.path, got, tt.want)
		}
	}
}
