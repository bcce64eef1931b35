package lane

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects"
)

// TestPaths makes the paths of every kind: the pattern accepts them, and their hash is found again.
func TestPaths(t *testing.T) {
	t.Parallel()
	h := objects.Sum([]byte("x"))
	for name, path := range map[string][]string{
		"object": ObjectPath(h), "point": PointPath(h), "record": RecordPath(h), "patch": PatchPath(h),
		"segment": SegmentPath(h, 0), "another segment": SegmentPath(h, 159_999),
	} {
		joined := strings.Join(path, "/")
		if !PathPattern().MatchString(joined) || len(path) > MaxPath {
			t.Errorf("%s: %s is no path of a lane", name, joined)
		}
		if got, err := PathHash(path); err != nil || got != h {
			t.Errorf("%s: PathHash(%s) = %v, %v; want %v", name, joined, got, err, h)
		}
	}
	if got, err := PathHash(StreamPath(h)); err != nil || got != h {
		t.Errorf("PathHash of the directory of a stream = %v, %v", got, err)
	}
	for _, path := range [][]string{{"format"}, {"streams", "a"}, {"records", "a", "b"}} {
		if got, err := PathHash(path); err == nil {
			t.Errorf("PathHash(%v) = %v, want an error", path, got)
		}
	}
}

// TestPathPattern refuses what no device writes, among it what would be a path out of a directory.
func TestPathPattern(t *testing.T) {
	t.Parallel()
	object := strings.Join(ObjectPath(objects.Sum(nil)), "/")
	segment := strings.Join(SegmentPath(objects.Sum(nil), 17), "/")
	if !strings.HasSuffix(segment, "/s0001/000017") {
		t.Errorf("segment 17 is %s", segment)
	}
	for _, path := range []string{
		"", "Format", "format/", "format\n", object + "\n", object + "0", object[1:], "/" + object, strings.ToUpper(object), object + ".json",
		strings.Replace(object, "objects", "records", 1), strings.Replace(object, "objects", "trees", 1),
		strings.Replace(object, "objects/", "objects//", 1), "objects/../../../../" + strings.Repeat("a", 60),
		segment + "0", segment[:len(segment)-1], strings.Replace(segment, "/s0", "/0", 1), object + "/a", "a/" + object,
	} {
		if PathPattern().MatchString(path) {
			t.Errorf("%q is accepted as a path of a lane", path)
		}
	}
}

func TestPointBlob(t *testing.T) {
	t.Parallel()
	h := objects.Sum([]byte("x"))
	var p Point
	if err := json.Unmarshal(PointBlob(h, 17), &p); err != nil || p != (Point{h, 17}) {
		t.Errorf("PointBlob decodes to %+v, %v", p, err)
	}
}
