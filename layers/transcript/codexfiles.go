package transcript

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// Sessions lists the rollout files under dir, which is ~/.codex, a directory in it or a rollout file. The rollout of
// a subagent has the session that started it as its parent. A second file with the same id is a session with its file
// name as id.
func (Codex) Sessions(dir string) (out []AgentSession, err error) {
	known := map[string]bool{}
	err = walk(dir, func(path string) error {
		id := RolloutID(path)
		if id == "" {
			return nil
		}
		s := AgentSession{ID: id, Path: path}
		if plain, ok := strings.CutSuffix(path, ".zst"); ok {
			if _, err := os.Stat(plain); err == nil {
				return nil // Codex is about to delete one of the two
			}
			s.Packed = true
		}
		if known[id] {
			s.ID = strings.TrimSuffix(filepath.Base(strings.TrimSuffix(path, ".zst")), ".jsonl")
		}
		known[id] = true
		s.Parent, s.Cwd = rolloutMeta(s)
		s.Parent = parentID(s.Parent)
		out = append(out, s)
		return nil
	})
	return out, err
}

// walk calls fn with each regular file under dir, or with dir if it is one.
func walk(dir string, fn func(path string) error) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && path == dir:
			return err
		case errors.Is(err, fs.ErrNotExist):
			return nil // gone meanwhile
		case err != nil:
			return err
		case !d.Type().IsRegular():
			return nil
		}
		return fn(path)
	})
}

// RolloutID returns the id in the name of a rollout file: the 36 characters after the time; "" for any other name.
func RolloutID(path string) string {
	name, ok := strings.CutSuffix(strings.TrimSuffix(filepath.Base(path), ".zst"), ".jsonl")
	rest, rollout := strings.CutPrefix(name, "rollout-")
	if !ok || !rollout || len(rest) <= 36 {
		return ""
	}
	id := rest[len(rest)-36:]
	for i, c := range []byte(id) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (c == '-') || !dash && !strings.ContainsRune("0123456789abcdef", rune(c)) {
			return ""
		}
	}
	return id
}

// rolloutMeta returns the session that started the subagent of the rollout s, "" if it is not a subagent's, and its
// working directory. Both are in the first line.
func rolloutMeta(s AgentSession) (parent, cwd string) {
	for line, err := range (Codex{}).Values(s) {
		if err != nil {
			return "", "" // the capture of the file reports the error
		}
		meta := parse(line).Get("payload")
		parent, cwd = meta.Get("source.subagent.thread_spawn.parent_thread_id").Str, meta.Get("cwd").Str
		if parent == "" && meta.Get("thread_source").Str == "subagent" {
			parent = meta.Get("parent_thread_id").Str
		}
		return parent, cwd
	}
	return "", ""
}

// Values yields the lines of the file.
func (Codex) Values(s AgentSession) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(s.Path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		var in io.Reader = f
		if s.Packed {
			d, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1))
			if err != nil {
				yield(nil, err)
				return
			}
			defer d.Close()
			in = d
		}
		for r := bufio.NewReader(in); ; {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 && !yield(line, nil) {
				return
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
		}
	}
}
