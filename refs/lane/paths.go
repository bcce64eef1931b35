package lane

import (
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/memvcs/mem/objects"
)

func ObjectPath(h objects.Hash) []string { return hashPath("objects", 4, h, "") }

func PointPath(h objects.Hash) []string { return hashPath("points", 4, h, "") }

func RecordPath(h objects.Hash) []string { return hashPath("records", 4, h, ".json") }

func StreamPath(h objects.Hash) []string { return hashPath("streams", 3, h, "") }

func PatchPath(h objects.Hash) []string { return hashPath("patches", 4, h, "") }

// hashPath returns where a thing with the name h lies under dir: depth levels of one hexadecimal digit,
// so that a commit rewrites small directories only, and the rest of the digits.
func hashPath(dir string, depth int, h objects.Hash, suffix string) []string {
	s := h.String()
	path := append(make([]string, 0, depth+2), dir)
	for i := range depth {
		path = append(path, s[i:i+1])
	}
	return append(path, s[depth:]+suffix)
}

func SegmentPath(name objects.Hash, i int) []string {
	return append(StreamPath(name), fmt.Sprintf("s%04d", i/SegmentsPerDir), fmt.Sprintf("%06d", i))
}

// SegmentsPerDir is how many segments one directory of a stream holds.
const SegmentsPerDir = 16

// PointBlob is what a lane holds under the name of a growth point.
func PointBlob(name objects.Hash, segments int) []byte {
	return fmt.Appendf(nil, "{\"stream\":\"%s\",\"segments\":%d}\n", name, segments)
}

// PathGrammar is the closed grammar of a lane's tree; anything else is refused. H is a hexadecimal digit.
var PathGrammar = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(strings.ReplaceAll(
		`^(?:(format)|(objects|points|patches)/(H)/(H)/(H)/(H)/(H{60})|(records)/(H)/(H)/(H)/(H)/(H{60})\.json|(streams)/(H)/(H)/(H)/(H{61})/s(\d{4})/(\d{6}))$`,
		"H", "[0-9a-f]"))
})
