package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A corpus is a directory of sessions, laid out as Claude Code keeps them.
type corpus struct {
	name  string
	dir   string
	files []string // absolute, sorted
	twins []string // files that are another copy of a session in files
	bytes int64
}

// generated returns the corpus of count sessions with together about total bytes, made once a run.
func (b *bench) generated(total int64, count int) (corpus, error) {
	name := fmt.Sprintf("generated, %d MB in %d", total/1e6, count)
	if c, ok := b.made[name]; ok {
		return c, nil
	}
	dir := filepath.Join(b.tmp, fmt.Sprintf("corpus-%d-%d", total, count))
	if err := b.worker("corpus", dir, strconv.FormatInt(total, 10), strconv.Itoa(count)); err != nil {
		return corpus{}, err
	}
	c, err := openCorpus(name, filepath.Join(dir, "projects"))
	if err == nil {
		if b.made == nil {
			b.made = map[string]corpus{}
		}
		b.made[name] = c
	}
	return c, err
}

// real returns the user's transcripts, or ok = false without any.
func (b *bench) real() (c corpus, ok bool, err error) {
	if b.transcripts == "" {
		return corpus{}, false, nil
	}
	dir, err := filepath.Abs(b.transcripts)
	if err != nil {
		return corpus{}, false, err
	}
	c, err = openCorpus("real", dir)
	c.name = fmt.Sprintf("real, %d MB in %d", c.bytes/1e6, len(c.files))
	return c, err == nil, err
}

// both returns the generated corpus and, where there is one, the real one.
func (b *bench) both(total int64, count int) ([]corpus, error) {
	c, err := b.generated(total, count)
	if err != nil {
		return nil, err
	}
	r, ok, err := b.real()
	if !ok || err != nil {
		return []corpus{c}, err
	}
	return []corpus{c, r}, nil
}

// openCorpus lists the sessions under dir. Of two files with the same name, which would be one
// session, the first is taken.
func openCorpus(name, dir string) (corpus, error) {
	c := corpus{name: name, dir: dir}
	seen := map[string]bool{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".jsonl" {
			return err
		}
		if seen[d.Name()] {
			c.twins = append(c.twins, path)
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		seen[d.Name()] = true
		c.files = append(c.files, path)
		c.bytes += info.Size()
		return nil
	})
	if err == nil && len(c.files) == 0 {
		err = fmt.Errorf("no session in %s", dir)
	}
	return c, err
}

// largest returns the path and size of the biggest session, of all its copies.
func (c corpus) largest() (path string, size int64) {
	for _, f := range slices.Concat(c.files, c.twins) {
		if info, err := os.Stat(f); err == nil && info.Size() > size {
			path, size = f, info.Size()
		}
	}
	return path, size
}

// one returns a corpus of nothing but the largest session, copied to dir.
func (c corpus) one(dir string) (corpus, error) {
	path, size := c.largest()
	dst := filepath.Join(dir, filepath.Base(filepath.Dir(path)), filepath.Base(path))
	if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
		return corpus{}, err
	}
	kind, _, _ := strings.Cut(c.name, ",")
	one := corpus{name: fmt.Sprintf("%s, %.1f MB", kind, float64(size)/1e6), dir: dir, files: []string{dst}, bytes: size}
	return one, copyFile(dst, path, -1)
}

// grow writes the first part/parts of every session of c to dir, cut after a line.
func (c corpus) grow(dir string, part, parts int) ([]string, error) {
	var grown []string
	for _, src := range c.files {
		rel, err := filepath.Rel(c.dir, src)
		if err != nil {
			return nil, err
		}
		dst := filepath.Join(dir, rel)
		if err := os.MkdirAll(filepath.Dir(dst), 0o700); err != nil {
			return nil, err
		}
		n, err := cut(src, part, parts)
		if err != nil {
			return nil, err
		}
		if err := copyFile(dst, src, n); err != nil {
			return nil, err
		}
		grown = append(grown, dst)
	}
	return grown, nil
}

// cut returns the length of the file up to the end of the line at part/parts of it.
func cut(path string, part, parts int) (int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || part >= parts {
		return info.Size(), err
	}
	at := info.Size() * int64(part) / int64(parts)
	buf := make([]byte, 64<<10)
	for {
		n, err := f.ReadAt(buf, at)
		if i := bytes.IndexByte(buf[:n], '\n'); i >= 0 {
			return at + int64(i) + 1, nil
		}
		at += int64(n)
		if errors.Is(err, io.EOF) {
			return info.Size(), nil
		}
		if err != nil {
			return 0, err
		}
	}
}

// worker runs this program again for what would make it big: a child starts with the resident set of
// the process that forks it, and the bench measures that.
func (b *bench) worker(argv ...string) error {
	cmd := exec.Command(b.self, append([]string{"worker"}, argv...)...)
	cmd.Env = append(os.Environ(), "MEM_DIR="+b.store())
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", argv[0], err, tail(string(out)))
	}
	return nil
}

// size adds up the files under dir, leaving out those below a directory called without.
func size(dir, without string) (n int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if d.Name() == without {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err == nil {
			n += info.Size()
		}
		return err
	})
	return n, err
}
