package archive

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/lane"
)

// Unpack makes a bare repository of the archive that r reads, in a directory that must not exist. It checks every
// file against its sum in the manifest; the fetch from the repository checks objects and lanes. The error wraps
// [ErrDamaged] or [ErrNewer] if the archive is the cause. Progress receives the number of bytes of packs that were
// read.
func Unpack(ctx context.Context, r io.Reader, dir string, progress func(int64)) (m Manifest, err error) {
	in := &counter{r: r}
	z, err := zstd.NewReader(in, zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderConcurrency(1))
	if err != nil {
		return m, err
	}
	defer z.Close()
	t := tar.NewReader(z)
	if m, err = readManifest(t); err != nil {
		return m, err
	}
	if err := gitstore.InitTemporary(dir); err != nil {
		return m, err
	}
	var unpacked int64
	for _, f := range m.Files {
		if err := unpackFile(&source{ctx: ctx, r: t, in: in, n: &unpacked}, t, dir, f); err != nil {
			return m, err
		}
		progress(f.Size)
	}
	if _, err := t.Next(); !errors.Is(err, io.EOF) {
		return m, damaged("it has data that its manifest does not list", err)
	}
	rest := &source{ctx: ctx, r: z, in: in, n: &unpacked}
	if _, err := io.Copy(io.Discard, rest); rest.err != nil { // reads the checksum at the end of the frame
		return m, damaged("its end", rest.err)
	} else if err != nil {
		return m, err
	}
	return m, setLanes(ctx, dir, m.Lanes)
}

func readManifest(t *tar.Reader) (m Manifest, err error) {
	h, err := t.Next()
	if err != nil {
		return m, damaged("its beginning", err)
	}
	if h.Name != manifestName || h.Typeflag != tar.TypeReg || h.Size > maxManifest {
		return m, damaged("it does not begin with "+manifestName, nil)
	}
	b, err := io.ReadAll(t)
	if err != nil {
		return m, damaged(manifestName, err)
	}
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(b, &head); err != nil || head.Format != Format || head.Version < 1 {
		return m, damaged(manifestName+" is not one of mem", err)
	}
	if head.Version > Version {
		return m, fmt.Errorf("version %d: %w", head.Version, ErrNewer)
	}
	if err := json.Unmarshal(b, &m); err != nil {
		return m, damaged(manifestName, err)
	}
	if len(m.Files) > maxFiles {
		return m, damaged(fmt.Sprintf("it lists %d files", len(m.Files)), nil)
	}
	if len(m.Lanes) > maxLanes {
		return m, damaged(fmt.Sprintf("it lists %d lanes", len(m.Lanes)), nil)
	}
	for _, f := range m.Files {
		if !isPackName(f.Name) || f.Size < 0 {
			return m, damaged(fmt.Sprintf("it lists a file %.200q", f.Name), nil)
		}
	}
	return m, nil
}

// unpackFile writes the next file of the tar, which must be the one that the manifest lists.
func unpackFile(in *source, t *tar.Reader, dir string, f File) (err error) {
	h, err := t.Next()
	if err != nil {
		return damaged(f.Name, err)
	}
	if h.Name != f.Name || h.Typeflag != tar.TypeReg || h.Size != f.Size {
		return damaged(fmt.Sprintf("it has %.200q in place of %s", h.Name, f.Name), nil)
	}
	path := filepath.Join(dir, filepath.FromSlash(f.Name))
	out, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return damaged(f.Name+" is listed twice", nil)
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	hash := objects.NewHasher()
	if _, err := io.Copy(io.MultiWriter(out, hash), in); in.err != nil {
		return damaged(f.Name, in.err)
	} else if err != nil {
		return fmt.Errorf("unpack %s: %w", f.Name, err)
	}
	if hash.Sum() != f.Hash {
		return damaged(f.Name+" does not have the sum in the manifest", nil)
	}
	return nil
}

// A counter counts the bytes that are read.
type counter struct {
	r io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

// A source stores the error of a reader, to distinguish a damaged archive from a full disk. It fails if the archive
// unpacks to too many bytes.
type source struct {
	ctx context.Context
	r   io.Reader
	in  *counter // of the archive
	n   *int64   // unpacked bytes, of all files
	err error
}

var errBomb = errors.New("it unpacks to too many bytes")

func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := s.r.Read(p)
	if *s.n += int64(n); *s.n > minUnpacked+unpackRatio*s.in.n {
		n, err = 0, errBomb
	}
	if err != nil && err != io.EOF {
		s.err = err
	}
	return n, err
}

// setLanes creates the branches of the lanes.
func setLanes(ctx context.Context, dir string, lanes []Lane) (err error) {
	git, err := gitstore.Open(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, git.Close()) }()
	for _, l := range lanes {
		id, err := pack.ParseID(l.Commit)
		if _, ok := lane.ParseRemoteRef(l.Ref); !ok || err != nil || id.IsZero() {
			return damaged(fmt.Sprintf("it lists a lane %.200q at %.80q", l.Ref, l.Commit), nil)
		}
		err = git.Update(ctx, l.Ref, pack.ID{}, id)
		if errors.Is(err, gitstore.ErrMoved) {
			return damaged("lane "+l.Ref+" is listed twice", nil)
		}
		if err != nil {
			return fmt.Errorf("unpack lane %s: %w", l.Ref, err)
		}
	}
	return nil
}

func damaged(what string, err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: %w", what, ErrDamaged)
	}
	return fmt.Errorf("%s: %w: %w", what, ErrDamaged, err)
}
