package sync

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// An archive is a remote in one file: a push writes it, a fetch reads it. It is a git bundle of the lanes of memory.git and, if the
// exact bytes are included, a second one of those of originals.git. The first ref of each is no branch: its name has the version
// of the archive, the size of the pack and a hash of the lines after it. docs/formats.md describes it.

const (
	bundleStart  = "# v2 git bundle\n"
	archiveRef   = "refs/mem-archive/" // and the version, the size and the hash
	archiveMajor = 1

	maxArchiveLanes = 40_000 // as on a remote
)

var (
	// ErrArchive reports that an archive was changed after it was written. Nothing is imported from such an archive.
	ErrArchive = errors.New("the archive is damaged or cut short")
	// ErrNewerArchive reports an archive written by a later version of mem.
	ErrNewerArchive = errors.New("a later version of mem wrote the archive")
)

func damaged(what string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", what, ErrArchive)
	}
	return fmt.Errorf("%s: %w: %w", what, ErrArchive, err)
}

// IsArchive reports whether path is a regular file that starts like an archive.
func IsArchive(path string) (bool, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, err
	}
	defer f.Close()
	head := make([]byte, len(bundleStart))
	if _, err := io.ReadFull(f, head); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return string(head) == bundleStart, nil
}

// ArchiveOptions select the content of an archive.
type ArchiveOptions struct {
	Projects  []state.Project
	Originals bool // include the exact bytes, secrets included
	DryRun    bool
	Progress  func(n int64)
}

// WriteArchive writes an archive of all local lanes of projects: what a push would send to an empty repository. If that is
// nothing, nothing is written and Pushed says why. Write is called with the function that writes the archive.
func WriteArchive(ctx context.Context, db *state.DB, write func(func(io.Writer) error) error,
	o ArchiveOptions) (Pushed, error) {
	a := &archiveWriter{}
	out, err := Push(ctx, db, PushOptions{Remote: refs.Remote{Originals: o.Originals}, to: a, Projects: o.Projects,
		DryRun: o.DryRun, Others: true, Progress: o.Progress,
		Consent: func(state.Project, refs.Remote) (bool, error) { return true, nil }})
	if err == nil && len(a.batches[0])+len(a.batches[1]) > 0 {
		err = write(a.writeTo)
	}
	return out, err
}

// An archiveWriter is the connection of a push to an archive. It only notes what to write.
type archiveWriter struct {
	batches [2][]remote.Batch // of memory.git and of originals.git
}

func (a *archiveWriter) Public(context.Context) (bool, error)                         { return false, nil }
func (a *archiveWriter) Close() error                                                 { return nil }
func (a *archiveWriter) Refs() []gitstore.Ref                                         { return nil }
func (a *archiveWriter) Open(context.Context, remote.Service) (remote.Session, error) { return a, nil }

func (a *archiveWriter) Fetch(context.Context, []pack.ID, []pack.ID, *pack.Writer, pack.Limits) (pack.Receipt, error) {
	return pack.Receipt{}, errors.ErrUnsupported
}

func (a *archiveWriter) Push(_ context.Context, b remote.Batch) error {
	i := 0
	if l, _ := lane.ParseRemoteRef(b.Updates[0].Ref); l.Originals {
		i = 1
	}
	a.batches[i] = append(a.batches[i], b)
	return nil
}

// writeTo writes the archive.
func (a *archiveWriter) writeTo(w io.Writer) error {
	for _, batches := range a.batches {
		if len(batches) == 0 {
			continue
		}
		tips, n, size := map[string]pack.ID{}, 0, int64(0)
		for _, b := range batches {
			n, size = n+b.Objects, size+b.Size
			for _, u := range b.Updates {
				tips[u.Ref] = u.New
			}
		}
		var lanes []string
		for _, ref := range slices.Sorted(maps.Keys(tips)) {
			lanes = append(lanes, tips[ref].String()+" "+ref)
		}
		head := headLine(pack.StreamSize(size), lanes)
		if _, err := fmt.Fprintf(w, "%s%s\n%s\n\n", bundleStart, head, strings.Join(lanes, "\n")); err != nil {
			return err
		}
		err := pack.Stream(w, n, size, func(yield func(pack.Entry) error) error {
			for _, b := range batches {
				if err := b.Entries(yield); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// headLine returns the line of the first ref of a bundle with a pack of size bytes. The ref is at the commit of the first lane.
func headLine(size int64, lanes []string) string {
	commit, _, _ := strings.Cut(lanes[0], " ")
	sum := objects.Sum(fmt.Appendf(nil, "%d\n%s\n", size, strings.Join(lanes, "\n")))
	return fmt.Sprintf("%s %s%d/%d/%s", commit, archiveRef, archiveMajor, size, sum)
}

// ReadArchiveOptions select what is imported from an archive.
type ReadArchiveOptions struct {
	Projects []refs.Project // nil: all
	DryRun   bool
	Progress func(n int64) // receives the bytes of packs while they are checked
}

// ReadArchive imports the lanes of an archive of size bytes like a fetch: existing data stays, forgotten data does not
// return, and new devices are untrusted. It returns the lanes of the archive. The error wraps [ErrArchive] or [ErrNewerArchive] if the
// archive is the cause; then nothing is imported.
func ReadArchive(ctx context.Context, db *state.DB, from io.ReaderAt, size int64,
	o ReadArchiveOptions) (lanes []refs.Lane, out Fetched, err error) {
	a := &archiveReader{file: from}
	if err = a.read(ctx, size, o.Progress); err != nil {
		return nil, out, err
	}
	fo := FetchOptions{from: a, Projects: o.Projects, DryRun: o.DryRun}
	for _, ref := range a.Refs() {
		l, _ := lane.ParseRemoteRef(ref.Name) // checked when it was read
		lanes, fo.Remote.Originals = append(lanes, l), fo.Remote.Originals || l.Originals
	}
	out, err = Fetch(ctx, db, fo)
	if err != nil || !out.Twin || o.DryRun {
		return lanes, out, err
	}
	if err := db.Refs.NewDeviceID(ctx); err != nil { // the store is a copy or an old backup
		return lanes, out, fmt.Errorf("become a new device: %w", err)
	}
	again, err := Fetch(ctx, db, fo)
	again.Twin = true
	return lanes, again, err
}

// An archiveReader is the connection of a fetch from an archive.
type archiveReader struct {
	file    io.ReaderAt
	bundles []bundle
}

// A bundle is a part of an archive.
type bundle struct {
	lanes []gitstore.Ref
	pack  *io.SectionReader
}

func (a *archiveReader) Public(context.Context) (bool, error)                         { return false, nil }
func (a *archiveReader) Close() error                                                 { return nil }
func (a *archiveReader) Open(context.Context, remote.Service) (remote.Session, error) { return a, nil }
func (a *archiveReader) Push(context.Context, remote.Batch) error                     { return errors.ErrUnsupported }

func (a *archiveReader) Refs() (out []gitstore.Ref) {
	for _, b := range a.bundles {
		out = append(out, b.lanes...)
	}
	return out
}

// read reads the whole file, so that nothing is imported from a damaged one.
func (a *archiveReader) read(ctx context.Context, size int64, progress func(int64)) error {
	for at := int64(0); at < size || at == 0; {
		b, start, err := a.readHead(at, size)
		if err != nil {
			return err
		}
		sum, body, n := sha1.New(), io.NewSectionReader(b.pack, 0, b.pack.Size()-sha1.Size), int64(0)
		for err == nil {
			n, err = io.CopyN(sum, body, 1<<20)
			if progress(n); ctx.Err() != nil {
				return ctx.Err()
			}
		}
		end := make([]byte, sha1.Size)
		if errors.Is(err, io.EOF) {
			_, err = io.ReadFull(io.NewSectionReader(b.pack, body.Size(), sha1.Size), end)
		}
		if err != nil || !bytes.Equal(sum.Sum(nil), end) {
			return damaged("its pack", err)
		}
		at, a.bundles = start+b.pack.Size(), append(a.bundles, b)
	}
	return nil
}

// readHead reads the head of the bundle at an offset, and returns the offset of its pack.
func (a *archiveReader) readHead(at, size int64) (b bundle, start int64, err error) {
	r := bufio.NewReader(io.NewSectionReader(a.file, at, size-at))
	var head []string
	for start = at; ; {
		s, err := r.ReadSlice('\n') // a longer line is damage
		if err != nil || len(head) > maxArchiveLanes+2 || start == at && string(s) != bundleStart {
			return b, 0, damaged("it does not begin like an archive of mem", err)
		}
		if start += int64(len(s)); len(s) == 1 {
			break
		}
		head = append(head, string(s[:len(s)-1]))
	}
	if len(head) < 3 {
		return b, 0, damaged("it has no lanes", nil)
	}
	var major, packSize int64
	_, name, _ := strings.Cut(head[1], " ")
	if _, err := fmt.Sscanf(name, archiveRef+"%d/%d/", &major, &packSize); err == nil && major > archiveMajor {
		return b, 0, fmt.Errorf("version %d: %w", major, ErrNewerArchive)
	}
	if head[1] != headLine(packSize, head[2:]) || packSize < sha1.Size || packSize > size-start || len(a.bundles) == 2 {
		return b, 0, damaged("its head", nil)
	}
	for _, s := range head[2:] {
		hex, name, _ := strings.Cut(s, " ")
		id, err := pack.ParseID(hex)
		l, ok := lane.ParseRemoteRef(name)
		if err != nil || !ok || id.IsZero() || l.Originals != (len(a.bundles) == 1) {
			return b, 0, damaged(fmt.Sprintf("it lists a lane %.200q at %.80q", name, hex), nil)
		}
		b.lanes = append(b.lanes, gitstore.Ref{Name: name, ID: id})
	}
	b.pack = io.NewSectionReader(a.file, start, packSize)
	return b, start, nil
}

// Fetch receives the pack with the wanted lanes.
func (a *archiveReader) Fetch(_ context.Context, want, _ []pack.ID, w *pack.Writer, l pack.Limits) (got pack.Receipt,
	err error) {
	for _, b := range a.bundles {
		if slices.ContainsFunc(b.lanes, func(r gitstore.Ref) bool { return r.ID == want[0] }) {
			got, err = w.Receive(io.NewSectionReader(b.pack, 0, b.pack.Size()), l)
		}
	}
	if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrTooLarge) {
		err = damaged("its pack", err)
	}
	return got, err
}
