package search

import (
	"io"
	"slices"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/search/index"
	"golang.org/x/text/unicode/norm"
)

// Transcript calls add with the documents of the session that is read from r, in order: one for each message of which
// L1 has something. Last sentences that only announce the call after them ("Let me run the tests:") are in the document
// of the call. Messages that hidden reports are left out; those of rewound, which the user withdrew, and of same,
// which another session has too, are marked.
func Transcript(r io.Reader, rewound, same [][2]int, hidden func(n int) bool, add func(index.Doc)) error {
	t := transcript{add: func(d index.Doc) {
		if !originals.Outside(d.N, same) {
			d.Flags |= index.Copy
		}
		add(d)
	}}
	_, err := refine.Each(r, refine.Full, rewound, nil, func(e *refine.Entry) (int, error) {
		if e.Role != "opaque" && (hidden == nil || !hidden(e.N)) {
			t.open.Add(e)
			if e.Role != "summary" || e.Name != "boundary" { // nobody said the place of a compaction
				t.entry(e)
			}
		}
		return 0, nil
	})
	t.flushMessage()
	t.flush()
	t.opened()
	return err
}

// opened adds what the session left open, or the user rejected. Todos that were written together are one document.
func (t *transcript) opened() {
	var todos index.Doc
	flush := func() {
		if todos.N > 0 {
			t.add(todos)
		}
		todos = index.Doc{}
	}
	list := t.open.List()
	for _, o := range list {
		d := openDoc(o)
		switch {
		case o.Kind == exchange.AcceptedPlan:
		case o.Kind == exchange.Interrupted && slices.ContainsFunc(list, func(p exchange.Open) bool {
			return p.Kind == exchange.RefusedPlan && p.N > o.N
		}): // the plan of the request says it
		case o.Kind != exchange.Todo:
			t.add(d)
		case todos.N == 0 || d.N-todos.N > togetherTodos:
			flush()
			todos = d
		default:
			todos.To, todos.Text = d.N, todos.Text+"; "+strings.TrimPrefix(d.Text, o.Lead())
		}
	}
	flush()
}

// togetherTodos is the number of messages within which todos are one document.
const togetherTodos = 8

// because precedes the reason that the user gave.
const because = ", because: "

// openDoc returns the document of what a session left open, or the user rejected.
func openDoc(o exchange.Open) index.Doc {
	text := o.Lead() + quoted(o.Text)
	if o.Kind == exchange.RefusedCall {
		text = o.Lead() + strings.Join(strings.Fields(o.Text), " ")
	}
	if o.Reason != "" {
		text += because + quoted(o.Reason)
	}
	return index.Doc{N: o.N, Class: index.Pending, Time: seconds(o.Time), Name: string(o.Kind), Text: norm.NFC.String(text)}
}

// openSize is the size of a text that is quoted as open, in bytes. The rest is in its message.
const openSize = 600

// quoted returns a text on one line in quotes, cut if it is long.
func quoted(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if cut := cutText(text, openSize); cut != text {
		text = cut + " …"
	}
	return "“" + text + "”"
}

// A transcript makes documents of entries.
type transcript struct {
	add     func(index.Doc)
	message message
	begin   int         // first message of the current exchange
	docs    []index.Doc // of the current exchange, until all of it is known
	edits   []edit      // of docs
	size    int         // bytes of text in docs
	open    exchange.Pending
}

// heldLimit is how much text of an exchange is kept until its end. Documents before that are not compared with later ones.
const heldLimit = 16 << 20

// An edit is a change of one file by a document.
type edit struct {
	doc            int // in docs
	file           string
	added, removed []string
}

func (t *transcript) entry(e *refine.Entry) {
	by, begins := exchange.Begins(e, t.begin == 0)
	if e.N != t.message.doc.N {
		lead := t.message.announcement(e)
		if lead.doc.N == 0 || len(t.message.said) > 0 {
			t.flushMessage()
		}
		if lead.doc.N > 0 {
			t.message = lead
		}
	}
	if begins || t.begin == 0 {
		t.flushMessage()
		t.flush()
		t.begin = e.N
	}
	t.message.merge(e)
	t.message.doc.Exchange = t.begin
	if begins && by <= exchange.Slash && by != exchange.Agent {
		t.message.doc.Flags |= index.Begins
	}
}

// flushMessage adds the document of a message to those of its exchange, unless it has no text.
func (t *transcript) flushMessage() {
	m := &t.message
	d := m.document()
	if d.N > 0 && strings.TrimSpace(d.Text) != "" {
		for _, e := range m.edits {
			e.doc = len(t.docs)
			t.edits = append(t.edits, e)
		}
		t.docs = append(t.docs, d)
		if t.size += len(d.Text); t.size > heldLimit {
			t.flush()
		}
	}
	*m = message{}
}

// flush ends an exchange: the last text of the assistant is its outcome, and an edit that later ones undo is weak.
func (t *transcript) flush() {
	for i, d := range slices.Backward(t.docs) {
		if d.Class == index.Assistant && d.Flags&index.Rewound == 0 {
			t.docs[i].Flags |= index.Outcome
			break
		}
	}
	for i, e := range t.edits {
		if superseded(e, t.edits[i+1:]) {
			t.docs[e.doc].Flags |= index.Weak
		}
	}
	for _, d := range t.docs {
		t.add(d)
	}
	t.docs, t.edits, t.size = t.docs[:0], t.edits[:0], 0
}

// superseded reports whether later edits of its file removed most of the lines that e added.
func superseded(e edit, later []edit) bool {
	left := map[string]bool{}
	for _, line := range e.added {
		left[line] = true
	}
	most := len(left)
	for _, x := range later {
		if x.file == e.file {
			for _, line := range x.removed {
				delete(left, line)
			}
		}
	}
	return most > 0 && 5*len(left) <= most
}

// A message collects the entries of a document. There can be hundreds of thousands.
type message struct {
	doc     index.Doc // without Text and File
	said    []string  // by the user, the assistant or the client, or given to a tool
	printed []string  // by tools
	files   []string
	known   map[string]bool // files
	edits   []edit
	looks   bool // all calls are reads and searches, or only delete
	calls   int
}

// document returns the document.
func (m *message) document() index.Doc {
	d := m.doc
	d.Text, d.File = strings.Join(m.said, "\n"), strings.Join(m.files, "\n")
	if m.calls > 0 {
		d.Said = len(d.Text)
	}
	if len(m.printed) > 0 {
		d.Text += strings.Join(m.printed, "")
	}
	if d.Class == index.Tool && m.looks {
		d.Flags |= index.Weak
	}
	return d
}

// announcement removes from a text of the assistant the last sentences if they only say that the call e comes. It
// returns a message with them, the zero message if there is none.
func (m *message) announcement(e *refine.Entry) (lead message) {
	if m.doc.Class != index.Assistant || m.calls > 0 || e.Role != "tool" || e.Name == "result" || len(m.said) != 1 ||
		(m.doc.Flags&index.Rewound != 0) != e.Rewound {
		return lead
	}
	before, last := cutLeadIn(m.said[0])
	if last == "" {
		return lead
	}
	lead.doc, lead.said = m.doc, []string{last}
	if m.said[0] = before; before == "" {
		m.said = nil
	}
	return lead
}

// merge adds an entry.
func (m *message) merge(e *refine.Entry) {
	class := classOf(e)
	if m.doc.N == 0 {
		m.doc = index.Doc{N: e.N, Class: class, Time: seconds(e.TS), ID: e.UUID}
	}
	if e.Rewound {
		m.doc.Flags |= index.Rewound
	}
	m.doc.To = max(m.doc.To, e.N, e.To)
	switch {
	case class != index.Tool:
		m.doc.Class = min(m.doc.Class, class)
	case e.N != m.doc.N:
		m.doc.Class = index.Tool // announced
	}
	if class == index.Tool {
		m.call(e)
		return
	}
	if text := saidOf(e); text != "" {
		m.said = append(m.said, norm.NFC.String(text))
	}
	m.file(fileOf(e))
}

// escapes are those of texts in JSON.
var escapes = strings.NewReplacer(`\n`, "\n", `\t`, "\t", `\"`, `"`)

// call adds a call of a tool.
func (m *message) call(e *refine.Entry) {
	if m.doc.Name == "" {
		m.doc.Name = e.Name
	}
	m.looks = (m.calls == 0 || m.looks) && looks(e)
	m.calls++
	text := e.Input()
	if strings.Contains(text, `\n`) && strings.Contains(text, "{\"") { // the input of a tool of another program is JSON
		text = escapes.Replace(text)
	}
	if text != "" {
		m.said = append(m.said, norm.NFC.String(text))
	}
	if text := e.Output(); text != "" {
		m.printed = append(m.printed, "\n"+norm.NFC.String(text))
	}
	if len(e.Symbols) > 0 {
		m.doc.Symbols = strings.TrimSpace(m.doc.Symbols + " " + norm.NFC.String(strings.Join(e.Symbols, " ")))
	}
	file := fileOf(e)
	m.file(file)
	if e.Diff != "" && file != "" {
		m.doc.Flags |= index.Edit
		added, removed := changes(e.Diff)
		m.edits = append(m.edits, edit{file: file, added: added, removed: removed})
	}
}

// file adds a file; a patch may change several.
func (m *message) file(file string) {
	if file == "" || m.known[file] {
		return
	}
	if m.known == nil {
		m.known = map[string]bool{}
	}
	m.known[file] = true
	m.files = append(m.files, norm.NFC.String(file))
}

// changes returns the added and the removed lines of a diff that are long enough to be told apart.
func changes(diff string) (added, removed []string) {
	for line := range strings.SplitSeq(diff, "\n") {
		text := strings.TrimSpace(line[min(1, len(line)):])
		if len(text) < 4 {
			continue
		}
		switch line[0] {
		case '+':
			added = append(added, text)
		case '-':
			removed = append(removed, text)
		}
	}
	return added, removed
}

// looks reports whether a call only reads or searches, or deletes without adding.
func looks(e *refine.Entry) bool {
	switch e.Name {
	case "Read", "Grep", "Glob", "LS", "NotebookRead", "ToolSearch", "TodoWrite", "TaskUpdate", "TaskList":
		return true
	case "Bash":
		program, _, _ := strings.Cut(strings.TrimSpace(e.Cmd), " ")
		switch program {
		case "cat", "ls", "grep", "rg", "find", "head", "tail", "wc":
			return true
		}
	}
	return e.Diff != "" && !strings.HasPrefix(e.Diff, "+") && !strings.Contains(e.Diff, "\n+")
}

func classOf(e *refine.Entry) index.Class {
	switch e.Author() {
	case "user":
		return index.User
	case "script":
		return index.Script
	case "assistant":
		return index.Assistant
	case "plan":
		return index.PlanSent
	case "agent":
		return index.Agent
	case "tool":
		return index.Tool
	case "summary":
		return index.Summary
	}
	return index.Note
}

// saidOf returns the text of an entry that is not a call.
func saidOf(e *refine.Entry) string {
	if (e.Role == "user" || e.Role == "assistant") && (e.Name == "" || e.Name == "refusal") { // the refused call is the model's
		return e.Said
	}
	if len(e.Dialog) > 0 {
		e := *e
		e.Name = ""
		return e.Text()
	}
	return e.Text()
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
	return index.Doc{Class: index.About, Time: s.Last, Text: norm.NFC.String(text)}
}
