package textdiff

import (
	"io"
	"slices"
	"sync"
)

// A File is a temporary file for texts that do not fit into memory.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// A Spill stores texts in memory up to a limit, and then in a file. If the file cannot be created or written, all texts
// are in memory. The zero value and nil have no file. Only one goroutine may add texts; any number may read them.
type Spill struct {
	Open func() (File, error) // creates the file when it is needed; nil for none
	Held int64                // the limit of bytes in memory; 0 means 16 MB

	file   File
	used   int64 // bytes in memory
	end    int64 // of the file
	broken bool  // the file cannot be created or written
	texts  *textList
	mu     sync.Mutex
	err    error // of reading
}

// held is the default limit in memory, enough for a session of tens of megabytes unless most of it was typed.
const held = 16 << 20

// Keep stores a text and returns its number if the limit is reached; otherwise ok is false and the caller keeps it.
func (a *Spill) Keep(text string) (n int, ok bool) {
	if a == nil || a.Open == nil {
		return 0, false
	}
	if a.used += int64(len(text)); a.used <= a.memoryLimit() || text == "" {
		return 0, false
	}
	return a.Put(text), true
}

// Put stores a text and returns its number, from 0.
func (a *Spill) Put(text string) int {
	if a.texts == nil {
		a.texts = newTextList(a, 2)
	}
	a.texts.put(text)
	return a.texts.len() - 1
}

// At returns the text with a number from [Spill.Put].
func (a *Spill) At(i int) string { return a.texts.text(i) }

func (a *Spill) memoryLimit() int64 {
	if a.Held == 0 {
		return held
	}
	return a.Held
}

// spill takes the bytes of a row out of memory, and returns where they are, if there is a file and a reason.
func (a *Spill) spill(b []byte) (at int64, ok bool) {
	if a.used+int64(len(b)) <= a.memoryLimit() || a.Open == nil || a.broken || len(b) == 0 {
		a.used += int64(len(b))
		return 0, false
	}
	var err error
	if a.file == nil {
		a.file, err = a.Open()
	}
	if err == nil {
		_, err = a.file.WriteAt(b, a.end)
	}
	if err != nil {
		a.broken = true
		a.used += int64(len(b))
		return 0, false
	}
	at = a.end
	a.end += int64(len(b))
	return at, true
}

// read returns n bytes of the file. After an error it returns zeros, and [Spill.Err] the error.
func (a *Spill) read(at int64, n int) string {
	b := make([]byte, n)
	if _, err := a.file.ReadAt(b, at); err != nil {
		a.mu.Lock()
		a.err = err
		a.mu.Unlock()
	}
	return string(b)
}

// Err returns the first error of reading the file. Results made from its texts are not valid then.
func (a *Spill) Err() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// A textList is a list of texts, which are put in order and stored in rows, in memory or in the spill file.
type textList struct {
	spill *Spill
	shift uint     // a row has 1<<shift texts
	rows  []row    // that are complete
	last  []byte   // the texts of the row that is not complete
	ends  []uint32 // of each of them
	bytes int64    // of all others
}

// row is a number of texts, one behind the other.
type row struct {
	held string
	at   int64    // in the file; -1: held
	ends []uint32 // of each text
}

func newTextList(a *Spill, shift uint) *textList { return &textList{spill: a, shift: shift} }

func (s *textList) len() int { return len(s.rows)<<s.shift + len(s.ends) }

// put appends a text.
func (s *textList) put(text string) {
	s.last = append(s.last, text...)
	s.end()
}

// end marks the end of a text.
func (s *textList) end() {
	s.ends = append(s.ends, uint32(len(s.last)))
	if len(s.ends) == 1<<s.shift {
		s.close()
	}
}

// close completes the last row. Nothing may be put afterwards, unless it was full.
func (s *textList) close() {
	if len(s.ends) == 0 {
		return
	}
	r := row{at: -1, ends: slices.Clone(s.ends)}
	if at, ok := s.spill.spill(s.last); ok {
		r.at = at
	} else {
		r.held = string(s.last)
	}
	s.bytes += int64(len(s.last))
	s.rows, s.last, s.ends = append(s.rows, r), s.last[:0], s.ends[:0]
}

// span returns where text i lies in its row.
func (s *textList) span(i int) (from, to uint32) {
	ends := s.ends
	if n := i >> s.shift; n < len(s.rows) {
		ends = s.rows[n].ends
	}
	if i &= 1<<s.shift - 1; i > 0 {
		from = ends[i-1]
	}
	return from, ends[i]
}

// text returns text i.
func (s *textList) text(i int) string {
	from, to := s.span(i)
	if i>>s.shift == len(s.rows) {
		return string(s.last[from:to])
	}
	r := &s.rows[i>>s.shift]
	if r.at < 0 {
		return r.held[from:to]
	}
	if from == to {
		return ""
	}
	return s.spill.read(r.at+int64(from), int(to-from))
}
