package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/transcript"
)

var outputMark = []byte("<output-file>")

// outputs returns the files with the output of commands in the background that the client announces in the file after
// the offset from. They are in its temporary directory, and nowhere else.
func (c *Capture) outputs(from, end int64) (paths []string, err error) {
	if c.src.Parent != "" || c.src.Origin != "" || !c.mentionsOutput(from, end) {
		return nil, nil
	}
	dir := filepath.Base(filepath.Dir(c.src.Path))
	for v, err := range transcript.Whole(io.NewSectionReader(c.File, from, end-from)) {
		if err != nil {
			return nil, err
		}
		if !bytes.Contains(v.Raw, outputMark) {
			continue
		}
		m, err := transcript.Decode(v)
		if err != nil {
			continue // no record of the client
		}
		text := m.Content // of the queue
		if m.Type == "user" && len(m.Blocks) == 1 && m.Blocks[0].Kind == transcript.Text {
			text = m.Blocks[0].Text
		}
		if path := announced(text); isOutput(path, dir) {
			paths = append(paths, path)
		}
	}
	return paths, nil
}

// mentionsOutput reports whether the bytes of an announcement are in a part of the file. Few sessions have any.
func (c *Capture) mentionsOutput(from, end int64) bool {
	buf := make([]byte, min(256<<10, end-from))
	kept := 0
	for at := from; at < end; {
		n, err := c.File.ReadAt(buf[kept:kept+int(min(end-at, int64(len(buf)-kept)))], at)
		if n == 0 && err != nil {
			return false // capturing the file reports the error
		}
		at += int64(n)
		if bytes.Contains(buf[:kept+n], outputMark) {
			return true
		}
		all := buf[:kept+n]
		kept = copy(buf, all[max(0, len(all)-len(outputMark)):])
	}
	return false
}

// announced returns the file that the client names when a command in the background ends, "" if the text is nothing of
// that kind.
func announced(text string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(text), "<task-notification>")
	if !ok {
		return ""
	}
	_, rest, _ = strings.Cut(rest, string(outputMark))
	path, _, ok := strings.Cut(rest, "</output-file>")
	if !ok {
		return ""
	}
	return path
}

// isOutput reports whether a path is where the client writes the output of a command for the sessions in its directory
// dir: a session that names another file gets nothing of it.
func isOutput(path, dir string) bool {
	name, ok := strings.CutSuffix(filepath.Base(path), ".output")
	if _, err := records.ParseFileName(name); err != nil || !ok || !filepath.IsAbs(path) || filepath.Clean(path) != path {
		return false
	}
	tasks := filepath.Dir(path)
	at := filepath.Dir(tasks)
	if filepath.Base(at) != dir { // the directory of the session
		at = filepath.Dir(at)
	}
	if filepath.Base(tasks) != "tasks" || filepath.Base(at) != dir || !strings.HasPrefix(filepath.Base(filepath.Dir(at)), "claude") {
		return false
	}
	fi, err := os.Lstat(path) // the output of an agent is a link to its session
	return err == nil && fi.Mode().IsRegular()
}
