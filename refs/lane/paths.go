package lane

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
)

// ObjectPath returns the path of an object in a lane.
func ObjectPath(h objects.Hash) []string { return hashPath("objects", 4, h, "") }

// PointPath returns the path of the growth point of an object.
func PointPath(h objects.Hash) []string { return hashPath("points", 4, h, "") }

// RecordPath returns the path of a record.
func RecordPath(h objects.Hash) []string { return hashPath("records", 4, h, ".json") }

// StreamPath returns the path of the directory of a stream.
func StreamPath(h objects.Hash) []string { return hashPath("streams", 3, h, "") }

// PatchPath returns the path of the patch of a record, in originals.git.
func PatchPath(h objects.Hash) []string { return hashPath("patches", 4, h, "") }

// hashPath returns the path of the hash h under dir: depth levels of one hexadecimal digit, so that a commit rewrites
// only small directories, then the rest of the digits.
func hashPath(dir string, depth int, h objects.Hash, suffix string) []string {
	s := h.String()
	path := append(make([]string, 0, depth+2), dir)
	for i := range depth {
		path = append(path, s[i:i+1])
	}
	return append(path, s[depth:]+suffix)
}

// PathHash returns the hash in a path of an object, growth point, record, patch, stream or segment.
func PathHash(path []string) (objects.Hash, error) {
	digits := path[1:]
	if path[0] == "streams" {
		digits = path[1:min(5, len(path))]
	}
	return objects.ParseHash(strings.TrimSuffix(strings.Join(digits, ""), ".json"))
}

// SegmentPath returns the path of a segment of a stream.
func SegmentPath(name objects.Hash, i int) []string {
	return append(StreamPath(name), fmt.Sprintf("s%04d", i/SegmentsPerDir), fmt.Sprintf("%06d", i))
}

// SegmentsPerDir is the maximum number of segments in one directory of a stream.
const SegmentsPerDir = 16

// PointBlob returns the file of a growth point; see [Point].
func PointBlob(name objects.Hash, segments int) []byte {
	return fmt.Appendf(nil, "{\"stream\":\"%s\",\"segments\":%d}\n", name, segments)
}

// PathPattern matches every valid path of a lane. All other paths are refused. H is a hexadecimal digit.
var PathPattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(
		`^(?:format|(?:objects|points|patches)/H/H/H/H/H{60}|records/H/H/H/H/H{60}\.json|streams/H/H/H/H{61}/s\d{4}/\d{6})$`,
		"H", "[0-9a-f]"))
})
