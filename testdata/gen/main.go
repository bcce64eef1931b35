// Command gen writes testdata/transcripts: sessions of a made-up user as Claude Code lays them out, the same bytes
// every time. Run it from the root of the repository with "go run ./testdata/gen" after a change of the
// story; a test of layers/transcript compares what is committed with what it would write.
//
// With -corpus it writes sessions to measure with instead: "go run ./testdata/gen -corpus DIR -mb 20 -sessions 8".
package main

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/memvcs/mem/testdata/gen/story"
)

func main() {
	out := flag.String("out", "testdata/transcripts", "write to this `directory`")
	corpus := flag.String("corpus", "", "write generated sessions to measure with to this `directory` instead")
	mb := flag.Int64("mb", 20, "their size together, in `megabytes`")
	sessions := flag.Int("sessions", 8, "their `number`")
	seed := flag.Uint64("seed", 1, "what makes them differ")
	flag.Parse()
	err := error(nil)
	if *corpus != "" {
		err = story.Corpus(*corpus, *mb*1_000_000, *sessions, *seed)
	} else {
		err = write(*out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	if err := os.RemoveAll(filepath.Join(dir, "projects")); err != nil {
		return err
	}
	files := story.Files()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}
