package compress

import (
	"io"
	"slices"
	"sync"
)

// A File is where texts are put aside that are too many to hold in memory.
type File interface {
	io.ReaderAt
	io.WriterAt
}

// An Aside holds texts: in memory up to a limit, from then on in a file. A file that cannot be made or written is no
// error, then all is in memory. The zero value has no file, as nil has none. What is put aside must not be put
// by two goroutines at once; any number may read.
type Aside struct {
	Open func() (File, error) // makes the file, when it is needed; nil: there is none
	Held int64                // bytes that stay in memory; 0 means 16 MB

	file   File
	used   int64  // bytes in memory
	end    int64  // of the file
	broken bool   // there is no file, or it cannot be written
	texts  *shelf // of items
	mu     sync.Mutex
	err    error // of reading
}

// held is how much text stays in memory: that of a session of tens of megabytes, unless most of it was typed.
const held = 16 << 20

// again returns an empty Aside like a.
func (a *Aside) again() *Aside {
	if a == nil {
		return &Aside{}
	}
	return &Aside{Open: a.Open, Held: a.Held}
}

// KeepItem returns an item with its text put aside, if too much is held already.
func (a *Aside) KeepItem(it Item) Item {
	if n, ok := a.Keep(it.Text); ok {
		it.aside, it.size, it.Text = int32(n)+1, int32(len(it.Text)), ""
	}
	return it
}

// Keep puts a text aside if too much is held already, and returns its number; ok is false if it may stay in memory.
func (a *Aside) Keep(text string) (n int, ok bool) {
	if a == nil || a.Open == nil {
		return 0, false
	}
	if a.used += int64(len(text)); a.used <= a.most() || text == "" {
		return 0, false
	}
	return a.Put(text), true
}

// Number returns the number of the text of an item that [Items] made with an Aside, if it was put there.
func (it *Item) Number() (n int, ok bool) { return int(it.aside) - 1, it.aside > 0 }

// Put puts a text aside and returns its number, from 0.
func (a *Aside) Put(text string) int {
	if a.texts == nil {
		a.texts = newShelf(a, 2)
	}
	a.texts.put(text)
	return a.texts.len() - 1
}

// At returns the text with a number that [Aside.Put] gave.
func (a *Aside) At(i int) string { return a.texts.text(i) }

// Text returns the text of an item that [Items] made with a.
func (a *Aside) Text(it *Item) string {
	if it.aside == 0 {
		return it.Text
	}
	return a.texts.text(int(it.aside) - 1)
}

// whole returns items with their texts.
func (a *Aside) whole(items []Item) []Item {
	if a == nil || a.texts == nil {
		return items
	}
	out := slices.Clone(items)
	for i := range out {
		out[i].Text, out[i].aside, out[i].size = a.Text(&out[i]), 0, 0
	}
	return out
}

// much is from how many bytes of units on what only one of them is about gets no number: half of what stays in memory.
func (a *Aside) much() int64 { return a.most() / 2 }

func (a *Aside) most() int64 {
	if a.Held == 0 {
		return held
	}
	return a.Held
}

// take takes the bytes of a row out of memory, and returns where they are, if there is a file and a reason.
func (a *Aside) take(b []byte) (at int64, ok bool) {
	if a.used+int64(len(b)) <= a.most() || a.Open == nil || a.broken || len(b) == 0 {
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

// read returns bytes of the file. After an error it returns as many zeros, and Err tells.
func (a *Aside) read(at int64, n int) string {
	b := make([]byte, n)
	if _, err := a.file.ReadAt(b, at); err != nil {
		a.mu.Lock()
		a.err = err
		a.mu.Unlock()
	}
	return string(b)
}

// Err is what went wrong when something was read back: what was made of it is worth nothing.
func (a *Aside) Err() error {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// A shelf is a list of texts, which come in order and lie in rows, in memory or aside.
type shelf struct {
	aside *Aside
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

func newShelf(a *Aside, shift uint) *shelf { return &shelf{aside: a, shift: shift} }

func (s *shelf) len() int { return len(s.rows)<<s.shift + len(s.ends) }

// total is how many bytes the texts of a shelf that is closed have.
func (s *shelf) total() int64 { return s.bytes }

// put appends a text.
func (s *shelf) put(text string) {
	s.last = append(s.last, text...)
	s.end()
}

// putBytes is put of bytes.
func (s *shelf) putBytes(text []byte) {
	s.last = append(s.last, text...)
	s.end()
}

// end marks the end of a text.
func (s *shelf) end() {
	s.ends = append(s.ends, uint32(len(s.last)))
	if len(s.ends) == 1<<s.shift {
		s.close()
	}
}

// close completes the last row. Nothing may be put afterwards, unless it was full.
func (s *shelf) close() {
	if len(s.ends) == 0 {
		return
	}
	r := row{at: -1, ends: slices.Clone(s.ends)}
	if at, ok := s.aside.take(s.last); ok {
		r.at = at
	} else {
		r.held = string(s.last)
	}
	s.bytes += int64(len(s.last))
	s.rows, s.last, s.ends = append(s.rows, r), s.last[:0], s.ends[:0]
}

// span returns where text i lies in its row.
func (s *shelf) span(i int) (from, to uint32) {
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
func (s *shelf) text(i int) string {
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
	return s.aside.read(r.at+int64(from), int(to-from))
}

// A browser reads most texts of a shelf, in order: whole rows.
type browser struct {
	*shelf
	row  int
	read string
}

func (s *shelf) browse() *browser { return &browser{shelf: s, row: -1} }

// text is that of the shelf.
func (b *browser) text(i int) string {
	n := i >> b.shift
	r := &b.rows[n]
	if r.at < 0 {
		return b.shelf.text(i)
	}
	if b.row != n {
		b.row, b.read = n, b.aside.read(r.at, int(r.ends[len(r.ends)-1]))
	}
	from, to := b.span(i)
	return b.read[from:to]
}
