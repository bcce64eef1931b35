package search

import (
	"io"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search/index"
)

// Transcript calls add with the documents of the session that is read from r: one for each message of which L1
// has something. Messages that hidden reports are left out, and so are the rewound ones.
func Transcript(r io.Reader, rewound [][2]int, hidden func(n int) bool, add func(index.Doc)) error {
	var m message
	_, err := refine.Each(r, refine.Full, rewound, nil, func(e *refine.Entry) (int, error) {
		if e.Role == "opaque" || e.Rewound || hidden != nil && hidden(e.N) {
			return 0, nil
		}
		if e.N != m.doc.N {
			m.flush(add)
		}
		m.merge(e)
		return 0, nil
	})
	m.flush(add)
	return err
}

// A message collects the entries of a message for its document. There can be hundreds of thousands.
type message struct {
	doc   index.Doc // without Text and File
	texts []string
	files []string
	known map[string]bool // files
}

// flush adds the document, unless it has no text, and begins another one.
func (m *message) flush(add func(index.Doc)) {
	m.doc.Text, m.doc.File = strings.Join(m.texts, "\n"), strings.Join(m.files, "\n")
	if m.doc.N > 0 && strings.TrimSpace(m.doc.Text) != "" {
		add(m.doc)
	}
	*m = message{}
}

// merge adds an entry.
func (m *message) merge(e *refine.Entry) {
	class, text := classOf(e)
	if m.doc.N == 0 {
		m.doc = index.Doc{N: e.N, Class: class, Time: seconds(e.TS), ID: e.UUID}
	}
	m.doc.Class = min(m.doc.Class, class)
	if class == index.Tool && m.doc.Name == "" {
		m.doc.Name = e.Name
	}
	if file := fileOf(e); file != "" && !m.known[file] { // a patch may change several
		if m.known == nil {
			m.known = map[string]bool{}
		}
		m.known[file] = true
		m.files = append(m.files, file)
	}
	if text != "" {
		m.texts = append(m.texts, text)
	}
}

func classOf(e *refine.Entry) (index.Class, string) {
	switch e.Role {
	case "user":
		if e.Side || e.Script { // a script is not the user
			return index.Note, e.Said
		}
		if len(e.Dialog) > 0 { // with the questions
			e := *e
			e.Name = ""
			return index.User, e.Text()
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
