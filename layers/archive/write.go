package archive

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/gitstore"
)

// Write writes an archive of the packs and branches of a bare repository. It fills in Format, Version, Lanes and
// Files of the manifest.
func Write(w io.Writer, git *gitstore.Repo, m Manifest) (err error) {
	m.Format, m.Version = Format, Version
	if m.Lanes, err = lanes(git); err != nil {
		return err
	}
	if m.Files, err = files(git.PackDir()); err != nil {
		return err
	}
	z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(true))
	if err != nil {
		return err
	}
	t := tar.NewWriter(z)
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := put(t, manifestName, int64(len(b)+1), strings.NewReader(string(b)+"\n")); err != nil {
		return err
	}
	for _, f := range m.Files {
		if err := putFile(t, filepath.Join(git.PackDir(), filepath.Base(f.Name)), f); err != nil {
			return err
		}
	}
	return errors.Join(t.Close(), z.Close())
}

func lanes(git *gitstore.Repo) ([]Lane, error) {
	all, err := git.Refs("refs/heads/")
	if err != nil {
		return nil, fmt.Errorf("list lanes: %w", err)
	}
	out := []Lane{}
	for _, r := range all {
		out = append(out, Lane{r.Name, r.ID.String()})
	}
	return out, nil
}

// files lists the packs of a directory with their sums, sorted.
func files(dir string) ([]File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	out := []File{}
	for _, e := range entries {
		f := File{Name: packDir + e.Name()}
		if !isPackName(f.Name) {
			continue
		}
		if f.Size, f.Hash, err = sum(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return out, nil
}

func sum(path string) (n int64, h objects.Hash, err error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, h, err
	}
	defer f.Close()
	hash := objects.NewHasher()
	if n, err = io.Copy(hash, f); err != nil {
		return 0, h, fmt.Errorf("read %s: %w", path, err)
	}
	return n, hash.Sum(), nil
}

func putFile(t *tar.Writer, path string, f File) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	return put(t, f.Name, f.Size, file)
}

// put writes one file of the tar. Its header has only name and size, so that the same memory gives the same bytes.
func put(t *tar.Writer, name string, size int64, r io.Reader) error {
	h := tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o600, Format: tar.FormatUSTAR}
	if size > 1<<33-1 { // the limit of a ustar header
		h.Format = tar.FormatPAX
	}
	if err := t.WriteHeader(&h); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if _, err := io.Copy(t, r); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
