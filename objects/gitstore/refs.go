package gitstore

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/memvcs/mem/objects/pack"
)

// A Ref is a branch and its commit.
type Ref struct {
	Name string
	ID   pack.ID
}

// ErrRef means that the file of a branch is malformed: empty, garbage, or a symbolic ref, which is not followed.
var ErrRef = errors.New("malformed branch")

// Ref returns the commit of a branch, the zero ID if there is no such branch.
func (r *Repo) Ref(name string) (pack.ID, error) {
	if err := CheckRef(name); err != nil {
		return pack.ID{}, err
	}
	id, err := r.looseRef(name)
	if err != nil || !id.IsZero() {
		return id, err
	}
	packed, err := r.packedRefs(name)
	if err != nil || len(packed) == 0 || packed[0].Name != name {
		return pack.ID{}, err
	}
	return packed[0].ID, nil
}

// ErrManyRefs means that a repository has more branches than the limit of [Repo.RefsUpTo].
var ErrManyRefs = errors.New("too many branches")

// Refs returns the branches whose names begin with prefix, sorted by name.
func (r *Repo) Refs(prefix string) ([]Ref, error) { return r.RefsUpTo(prefix, math.MaxInt) }

// RefsUpTo is [Repo.Refs] for an untrusted repository: with more than n branches, or a packed-refs file too long for n
// branches, the error wraps [ErrManyRefs].
func (r *Repo) RefsUpTo(prefix string, n int) ([]Ref, error) {
	// Loose ones first: git packs a branch before it removes the file, so none is missed.
	loose, err := r.looseRefs(prefix, n)
	if err != nil {
		return nil, err
	}
	if fi, err := os.Stat(filepath.Join(r.dir, packedFile)); err == nil && fi.Size()/maxRefLine > int64(n) {
		return nil, fmt.Errorf("packed-refs of %d bytes: %w", fi.Size(), ErrManyRefs)
	}
	packed, err := r.packedRefs(prefix)
	if err != nil {
		return nil, err
	}
	all := append(loose, packed...)
	slices.SortStableFunc(all, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	all = slices.CompactFunc(all, func(a, b Ref) bool { return a.Name == b.Name })
	if len(all) > n {
		return nil, fmt.Errorf("%d branches: %w", len(all), ErrManyRefs)
	}
	return all, nil
}

// maxRefLine is the average length of a line of packed-refs above which the file is not read.
const maxRefLine = 1 << 10

func (r *Repo) refPath(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

// looseRef reads the loose file of a branch. It returns the zero ID if there is none.
func (r *Repo) looseRef(name string) (pack.ID, error) {
	b, err := readSmall(r.refPath(name))
	if errors.Is(err, pack.ErrTooLarge) {
		return pack.ID{}, fmt.Errorf("branch %s: %w: %w", name, err, ErrRef)
	}
	if err != nil {
		if st, serr := os.Stat(r.refPath(name)); isAbsent(err) || serr == nil && st.IsDir() {
			return pack.ID{}, nil
		}
		return pack.ID{}, fmt.Errorf("read branch %s: %w", name, err)
	}
	id, err := pack.ParseID(strings.TrimRight(string(b), " \t\r\n"))
	if err != nil || id.IsZero() {
		return pack.ID{}, fmt.Errorf("branch %s is %.60q: %w", name, b, ErrRef)
	}
	return id, nil
}

// maxSmall is the maximum size of the files of a repository that have a few lines.
const maxSmall = 1 << 20

// readSmall is [pack.ReadFile] for a file of a few lines, which in an untrusted repository may be of any size. The error
// wraps [pack.ErrTooLarge] if it has more than maxSmall bytes.
func readSmall(path string) ([]byte, error) {
	f, err := pack.OpenFile(path)
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSmall+1))
	if err == nil && len(b) > maxSmall {
		err = fmt.Errorf("%s has more than %d bytes: %w", filepath.Base(path), maxSmall, pack.ErrTooLarge)
	}
	return b, errors.Join(err, f.Close())
}

// isAbsent reports whether an error means that a file does not exist, or that its directory is a file.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// looseRefs reads the files of all branches that begin with prefix, n at most.
func (r *Repo) looseRefs(prefix string, n int) ([]Ref, error) {
	start := branches
	if i := strings.LastIndexByte(prefix, '/'); strings.HasPrefix(prefix, branches) || strings.HasPrefix(prefix, outside) {
		start = prefix[:i+1]
	}
	if start != branches && start != outside {
		if err := CheckRef(strings.TrimSuffix(start, "/")); err != nil {
			return nil, err
		}
	}
	var refs []Ref
	err := r.walkLooseRefs(start, func(name string) error {
		if !strings.HasPrefix(name, prefix) {
			return nil
		}
		if err := CheckRef(name); err != nil {
			return err
		}
		id, err := r.looseRef(name)
		if err == nil && !id.IsZero() {
			refs = append(refs, Ref{name, id})
		}
		if len(refs) > n {
			err = fmt.Errorf("more than %d: %w", n, ErrManyRefs)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list branches: %w", err)
	}
	return refs, nil
}

// walkLooseRefs calls f with the names of all files of branches under start. Like git, it ignores locks and the hidden
// files that desktops create everywhere.
func (r *Repo) walkLooseRefs(start string, f func(name string) error) error {
	return filepath.WalkDir(r.refPath(start), func(path string, de fs.DirEntry, err error) error {
		if isAbsent(err) {
			return nil // git removes empty directories
		}
		if err != nil || de.IsDir() || strings.HasSuffix(path, ".lock") || strings.HasPrefix(de.Name(), ".") {
			return err
		}
		rel, err := filepath.Rel(r.dir, path)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(rel))
	})
}

// packedRefs reads the branches that begin with prefix from packed-refs, in order.
func (r *Repo) packedRefs(prefix string) ([]Ref, error) {
	b, err := pack.ReadFile(filepath.Join(r.dir, packedFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	refs, err := parsePacked(string(b), prefix)
	if err != nil {
		return nil, fmt.Errorf("packed-refs: %w", err)
	}
	return refs, nil
}

// parsePacked reads lines of an object name and a branch. Lines that begin with "#" are comments; lines that begin with
// "^" contain the target of a tag.
func parsePacked(s, prefix string) ([]Ref, error) {
	var refs []Ref
	for line := range strings.Lines(s) {
		line, ok := strings.CutSuffix(line, "\n")
		if !ok {
			return nil, fmt.Errorf("last line %.120q is cut off: %w", line, ErrRef)
		}
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, "^") {
			continue
		}
		hex, name, ok := strings.Cut(line, " ")
		id, err := pack.ParseID(hex)
		if !ok || err != nil || id.IsZero() {
			return nil, fmt.Errorf("line %.120q: %w", line, ErrRef)
		}
		if !strings.HasPrefix(name, branches) && !strings.HasPrefix(name, outside) || !strings.HasPrefix(name, prefix) {
			continue
		}
		if err := CheckRef(name); err != nil {
			return nil, err
		}
		refs = append(refs, Ref{name, id})
	}
	slices.SortFunc(refs, func(a, b Ref) int { return strings.Compare(a.Name, b.Name) })
	return refs, nil
}

// OtherRefs returns the refs that are not branches, such as tags, and a detached HEAD. They may point to anything.
// Symbolic ones are left out.
func (r *Repo) OtherRefs() (out []Ref, err error) {
	err = r.walkLooseRefs("refs/", func(name string) error {
		if strings.HasPrefix(name, branches) {
			return nil
		}
		return r.addOther(&out, name)
	})
	if err == nil {
		err = r.addOther(&out, "HEAD")
	}
	b, perr := pack.ReadFile(filepath.Join(r.dir, packedFile))
	if errors.Is(perr, fs.ErrNotExist) {
		perr = nil
	}
	for line := range strings.Lines(string(b)) {
		hex, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if id, err := pack.ParseID(hex); err == nil && !strings.HasPrefix(name, branches) {
			out = append(out, Ref{name, id})
		}
	}
	return out, errors.Join(err, perr)
}

// addOther adds a loose ref, unless it is symbolic or removed.
func (r *Repo) addOther(out *[]Ref, name string) error {
	b, err := readSmall(r.refPath(name))
	if isAbsent(err) || strings.HasPrefix(string(b), "ref:") {
		return nil
	}
	id, perr := pack.ParseID(strings.TrimSpace(string(b)))
	if err == nil {
		err = perr
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	*out = append(*out, Ref{name, id})
	return nil
}
