package sync

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/lane"
	"github.com/memvcs/mem/refs/remote"
)

// An archive is a remote in one file: a push writes it, a fetch reads it. It is a compressed tar of what the push sent: the
// packs and, as the last file, the branches. docs/formats.md describes it.

const (
	archiveStart = "mem archive 1\n"
	formatName   = "format" // the first file, with archiveStart
	branchesName = "branches.json"

	memoryPacks, originalPacks = "memory/", "originals/"
)

// Limits of an archive.
const (
	maxBranchesFile = 64 << 20
	maxArchiveLanes = 40_000    // as on a remote
	minUnpacked     = 64 << 20  // bytes that may always be unpacked
	unpackRatio     = 100       // bytes that may be unpacked in addition for each byte of the archive
	maxWindow       = 128 << 20 // memory of a decoder
)

var (
	// ErrArchive reports that an archive was changed after it was written. Nothing is imported from such an archive.
	ErrArchive = errors.New("the archive is damaged or cut short")
	// ErrNewerArchive reports an archive written by a later version of mem.
	ErrNewerArchive = errors.New("a later version of mem wrote the archive")

	errBomb = errors.New("it unpacks to too many bytes")
)

func damaged(what string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", what, ErrArchive)
	}
	return fmt.Errorf("%s: %w: %w", what, ErrArchive, err)
}

// zstdMagic is the start of a zstd frame (RFC 8878, 3.1.1).
var zstdMagic = []byte{0x28, 0xb5, 0x2f, 0xfd}

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
	head := make([]byte, len(zstdMagic))
	if _, err := io.ReadFull(f, head); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("read %s: %w", path, err)
	}
	return bytes.Equal(head, zstdMagic), nil
}

// Branches is the last file of an archive.
type Branches struct {
	Created time.Time         `json:"created"`
	Device  string            `json:"device"` // name of the device that wrote it
	Lanes   map[string]string `json:"lanes"`  // commits by branch
}

// originals reports whether an archive has exact bytes, secrets included.
func (b Branches) originals() bool {
	for ref := range b.Lanes {
		if l, _ := lane.ParseRemoteRef(ref); l.Originals {
			return true
		}
	}
	return false
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
	a := &archiveWriter{write: write, branches: Branches{Created: db.Opts.Now().UTC(), Device: db.Refs.Device().Name,
		Lanes: map[string]string{}}}
	out, err := Push(ctx, db, PushOptions{Remote: refs.Remote{Originals: o.Originals}, to: a, Projects: o.Projects,
		DryRun: o.DryRun, Others: true, Progress: o.Progress,
		Consent: func(state.Project, refs.Remote) (bool, error) { return true, nil }})
	return out, a.finish(err)
}

// An archiveWriter is the connection of a push to an archive. The file is created when the first data arrives.
type archiveWriter struct {
	write    func(func(io.Writer) error) error
	branches Branches
	packs    int

	pipe *io.PipeWriter // nil before the first data
	z    *zstd.Encoder
	tar  *tar.Writer
	done chan error // the result of write
}

func (a *archiveWriter) Public(context.Context) (bool, error) { return false, nil }
func (a *archiveWriter) Close() error                         { return nil }

func (a *archiveWriter) Open(context.Context, remote.Service) (remote.Session, error) {
	return archiveWriting{a}, nil
}

// start creates the file.
func (a *archiveWriter) start() (err error) {
	var r *io.PipeReader
	r, a.pipe = io.Pipe()
	a.done = make(chan error, 1)
	go func() {
		err := a.write(func(w io.Writer) error { _, err := io.Copy(w, r); return err })
		r.CloseWithError(err)
		a.done <- err
	}()
	if a.z, err = zstd.NewWriter(a.pipe, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true)); err != nil {
		return err
	}
	a.tar = tar.NewWriter(a.z)
	return a.put(formatName, int64(len(archiveStart)), func(w io.Writer) error {
		_, err := io.WriteString(w, archiveStart)
		return err
	})
}

// put writes one file. Its header has only name and size, so that the same memory gives the same bytes.
func (a *archiveWriter) put(name string, size int64, content func(io.Writer) error) error {
	h := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatUSTAR}
	if size > 1<<33-1 { // the limit of a ustar header
		h.Format = tar.FormatPAX
	}
	if err := a.tar.WriteHeader(&h); err != nil {
		return err
	}
	return content(a.tar)
}

// finish completes the file, or discards it after an error of the push.
func (a *archiveWriter) finish(err error) error {
	if a.pipe == nil {
		return err
	}
	if err == nil {
		var b []byte
		if b, err = json.MarshalIndent(a.branches, "", "  "); err == nil {
			err = a.put(branchesName, int64(len(b)), func(w io.Writer) error { _, err := w.Write(b); return err })
		}
		if err == nil {
			err = errors.Join(a.tar.Close(), a.z.Close())
		}
	}
	a.pipe.CloseWithError(err)
	if werr := <-a.done; werr != nil {
		return werr
	}
	return err
}

// archiveWriting is a session of a push.
type archiveWriting struct{ a *archiveWriter }

func (archiveWriting) Refs() []gitstore.Ref { return nil }
func (archiveWriting) Close() error         { return nil }

func (archiveWriting) Fetch(context.Context, []pack.ID, []pack.ID, *pack.Writer, pack.Limits) (pack.Receipt, error) {
	return pack.Receipt{}, errors.ErrUnsupported
}

func (s archiveWriting) Push(_ context.Context, b remote.Batch) error {
	if s.a.pipe == nil {
		if err := s.a.start(); err != nil {
			return err
		}
	}
	name := fmt.Sprintf("%s%06d.pack", packsOf(b.Updates[0].Ref), s.a.packs)
	s.a.packs++
	for _, u := range b.Updates {
		s.a.branches.Lanes[u.Ref] = u.New.String()
	}
	return s.a.put(name, pack.StreamSize(b.Size), func(w io.Writer) error {
		return pack.Stream(w, b.Objects, b.Size, b.Entries)
	})
}

// packsOf returns the directory of the packs with a lane.
func packsOf(ref string) string {
	if l, _ := lane.ParseRemoteRef(ref); l.Originals {
		return originalPacks
	}
	return memoryPacks
}

// ReadArchiveOptions select what is imported from an archive.
type ReadArchiveOptions struct {
	Projects []refs.Project // nil: all
	DryRun   bool
	Progress func(n int64) // receives the bytes of packs while they are checked
}

// ReadArchive imports the lanes of an archive of size bytes like a fetch: existing data stays, forgotten data does not
// return, and new devices are untrusted. The error wraps [ErrArchive] or [ErrNewerArchive] if the archive is the cause;
// then nothing is imported.
func ReadArchive(ctx context.Context, db *state.DB, from io.ReadSeeker, size int64,
	o ReadArchiveOptions) (b Branches, out Fetched, err error) {
	a := &archiveReader{file: from, size: size}
	if err = a.check(ctx, o.Progress); err != nil {
		return b, out, err
	}
	fo := FetchOptions{Remote: refs.Remote{Originals: a.branches.originals()}, from: a, Projects: o.Projects, DryRun: o.DryRun}
	out, err = Fetch(ctx, db, fo)
	if err != nil || !out.Twin || o.DryRun {
		return a.branches, out, err
	}
	if err := db.Refs.NewDeviceID(ctx); err != nil { // the store is a copy or an old backup
		return a.branches, out, fmt.Errorf("become a new device: %w", err)
	}
	again, err := Fetch(ctx, db, fo)
	again.Twin = true
	return a.branches, again, err
}

// An archiveReader is the connection of a fetch from an archive.
type archiveReader struct {
	file     io.ReadSeeker
	size     int64
	branches Branches
}

func (a *archiveReader) Public(context.Context) (bool, error) { return false, nil }
func (a *archiveReader) Close() error                         { return nil }

func (a *archiveReader) Open(context.Context, remote.Service) (remote.Session, error) {
	return archiveReading{a}, nil
}

// check reads the whole file, so that nothing is imported from a damaged one, and the branches.
func (a *archiveReader) check(ctx context.Context, progress func(int64)) error {
	return a.each(func(name string, r io.Reader) error {
		n, err := io.Copy(io.Discard, readerFunc(func(p []byte) (int, error) {
			if err := ctx.Err(); err != nil {
				return 0, err
			}
			return r.Read(p)
		}))
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return damaged(name, err)
		}
		progress(n)
		return nil
	})
}

type readerFunc func(p []byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// each calls f with each pack of the file, and reads the branches after the last one. The compressed stream has a checksum of
// everything at its end.
func (a *archiveReader) each(f func(name string, r io.Reader) error) error {
	if _, err := a.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	z, err := zstd.NewReader(a.file, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer z.Close()
	t := tar.NewReader(z)
	var unpacked int64
	for i := 0; ; i++ {
		h, err := t.Next()
		if err != nil {
			return damaged("its files", err)
		}
		if unpacked += h.Size; h.Typeflag != tar.TypeReg || unpacked > minUnpacked+unpackRatio*a.size {
			return damaged(fmt.Sprintf("%.200q", h.Name), errBomb)
		}
		switch {
		case i == 0:
			err = checkStart(h, t)
		case isArchivePack(h.Name):
			err = f(h.Name, t)
		case h.Name == branchesName && h.Size <= maxBranchesFile:
			if a.branches, err = readBranches(t); err != nil {
				return err
			}
			if _, err := t.Next(); !errors.Is(err, io.EOF) {
				return damaged("it has data after its branches", err)
			}
			if _, err := io.Copy(io.Discard, z); err != nil {
				return damaged("its end", err)
			}
			return nil
		default:
			err = damaged(fmt.Sprintf("it has a file %.200q", h.Name), nil)
		}
		if err != nil {
			return err
		}
	}
}

// isArchivePack reports whether a file of an archive is a pack.
func isArchivePack(name string) bool {
	dir, file, _ := strings.Cut(name, "/")
	digits, ok := strings.CutSuffix(file, ".pack")
	return ok && (dir+"/" == memoryPacks || dir+"/" == originalPacks) && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// checkStart checks the first file.
func checkStart(h *tar.Header, r io.Reader) error {
	b, err := io.ReadAll(io.LimitReader(r, 100))
	switch start := string(b); {
	case err != nil || h.Name != formatName || !strings.HasPrefix(start, archiveStart[:len("mem archive ")]):
		return damaged("it does not begin like an archive of mem", err)
	case start != archiveStart:
		return fmt.Errorf("%.40q: %w", start, ErrNewerArchive)
	}
	return nil
}

func readBranches(r io.Reader) (b Branches, err error) {
	text, err := io.ReadAll(r)
	if err == nil {
		err = json.Unmarshal(text, &b)
	}
	if err != nil {
		return b, damaged(branchesName, err)
	}
	if len(b.Lanes) > maxArchiveLanes {
		return b, damaged(fmt.Sprintf("it lists %d lanes", len(b.Lanes)), nil)
	}
	for ref, commit := range b.Lanes {
		id, err := pack.ParseID(commit)
		if _, ok := lane.ParseRemoteRef(ref); !ok || err != nil || id.IsZero() {
			return b, damaged(fmt.Sprintf("it lists a lane %.200q at %.80q", ref, commit), nil)
		}
	}
	return b, nil
}

// archiveReading is a session of a fetch.
type archiveReading struct{ a *archiveReader }

func (archiveReading) Close() error                             { return nil }
func (archiveReading) Push(context.Context, remote.Batch) error { return errors.ErrUnsupported }

func (s archiveReading) Refs() (out []gitstore.Ref) {
	for _, ref := range slices.Sorted(maps.Keys(s.a.branches.Lanes)) {
		id, _ := pack.ParseID(s.a.branches.Lanes[ref]) // checked when it was read
		out = append(out, gitstore.Ref{Name: ref, ID: id})
	}
	return out
}

// Fetch receives all packs with lanes of the wanted kind.
func (s archiveReading) Fetch(ctx context.Context, want, _ []pack.ID, w *pack.Writer, l pack.Limits) (got pack.Receipt,
	err error) {
	packs := ""
	for ref, commit := range s.a.branches.Lanes {
		if commit == want[0].String() {
			packs = packsOf(ref)
		}
	}
	err = s.a.each(func(name string, r io.Reader) error {
		if err := ctx.Err(); err != nil || !strings.HasPrefix(name, packs) {
			return err
		}
		one, err := w.Receive(r, l)
		got.Objects, got.Deltas, got.Bytes = got.Objects+one.Objects, got.Deltas+one.Deltas, got.Bytes+one.Bytes
		l.Objects, l.Bytes = l.Objects-one.Objects, l.Bytes-one.Bytes
		if errors.Is(err, pack.ErrCorrupt) || errors.Is(err, pack.ErrTooLarge) {
			return damaged(name, err)
		}
		return err
	})
	return got, err
}
