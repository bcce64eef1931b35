package search

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search/index"
)

// Transcript calls add with the documents of the session that is read from r: one for each message of which L1
// has something. Messages that hidden reports are left out.
func Transcript(r io.Reader, hidden func(n int) bool, add func(index.Doc)) error {
	var d index.Doc
	flush := func() {
		if d.N > 0 && strings.TrimSpace(d.Text) != "" {
			add(d)
		}
		d = index.Doc{}
	}
	_, err := refine.Each(r, refine.Full, func(e *refine.Entry) (int, error) {
		if e.Role == "opaque" || hidden != nil && hidden(e.N) {
			return 0, nil
		}
		if e.N != d.N {
			flush()
		}
		merge(&d, e)
		return 0, nil
	})
	flush()
	return err
}

// merge adds an entry to the document of its message.
func merge(d *index.Doc, e *refine.Entry) {
	class, text := classOf(e)
	if d.N == 0 {
		*d = index.Doc{N: e.N, Class: class, Time: seconds(e.TS), ID: e.UUID}
	}
	d.Class = min(d.Class, class)
	if class == index.Tool && d.Name == "" {
		d.Name = e.Name
	}
	if file := fileOf(e); d.File == "" {
		d.File = file
	} else if file != "" && !slices.Contains(strings.Split(d.File, "\n"), file) {
		d.File += "\n" + file // a patch may change several
	}
	if d.Text != "" && text != "" {
		d.Text += "\n"
	}
	d.Text += text
}

func classOf(e *refine.Entry) (index.Class, string) {
	switch e.Role {
	case "user":
		if e.Side || e.Script { // a script is not the user
			return index.Note, e.Said
		}
		return index.User, e.Said
	case "assistant":
		return index.Assistant, e.Said
	case "tool":
		return index.Tool, e.Text()
	case "summary":
		return index.Summary, e.Text()
	}
	return index.Note, e.Text()
}

// fileOf returns the file that a call is about.
func fileOf(e *refine.Entry) string {
	switch e.Name {
	case "Read", "Edit", "MultiEdit", "Write", "NotebookEdit", "file", "edited text file", "compact file reference":
	default:
		return ""
	}
	file := e.Target
	if i := strings.LastIndexByte(file, ':'); i > 0 && strings.Trim(file[i+1:], "0123456789") == "" {
		file = file[:i]
	}
	return file
}

func seconds(ts string) int64 {
	t, err := time.Parse(time.RFC3339, ts)
	if err != nil {
		return 0
	}
	return t.Unix()
}

// About returns the document that a session itself is found by.
func About(s index.Session) index.Doc {
	t := time.Unix(s.First, 0).UTC()
	text := s.Title + "\n" + s.Branch + "\n" + t.Format("Monday 2 January 2006")
	for _, topic := range s.Topics {
		text += "\n" + topic
	}
	return index.Doc{Class: index.About, Time: s.Last, Text: text}
}
