package refs

import (
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
)

// A Blob is one file of a lane's tree with the room that it takes in the packs.
type Blob struct {
	Dir   string       // objects, points, records or streams
	Name  objects.Hash // of the object, point or record; for a segment, that of its stream
	Bytes int64        // as stored, compressed
}

// Stored calls f for each blob of the lanes of tx. A blob that several lanes have is stored once and reported once.
func (tx *Tx) Stored(f func(Blob)) error {
	seen := map[pack.ID]bool{}
	for _, l := range tx.lanes {
		for _, dir := range []string{"objects", "points", "records", "streams"} {
			e, ok, err := l.find(dir)
			if err != nil {
				return err
			}
			if !ok || e.dir == nil {
				continue
			}
			err = e.dir.walk(l.git, nil, func(path []string, id pack.ID) error {
				if seen[id] {
					return nil
				}
				seen[id] = true
				if dir == "streams" {
					path = path[:len(path)-2] // the directory and the file of the segment
				}
				h, err := objects.ParseHash(strings.TrimSuffix(strings.Join(path, ""), ".json"))
				if err != nil {
					return err
				}
				n, err := l.git.Packs().EntrySize(id)
				f(Blob{dir, h, int64(n)})
				return err
			})
			if err != nil {
				return fmt.Errorf("measure %s of %s: %w", dir, l.device, err)
			}
		}
	}
	return nil
}
