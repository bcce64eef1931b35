package compress

import (
	"encoding/binary"
	"math"
	"path"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/compress/paste"
	"github.com/memvcs/mem/layers/tokens"
)

// unit is the smallest thing the engine keeps or drops: a line or sentence of a text, a call, an error line, or a file
// that was changed. Its text and what it is about lie on shelves, see [unitSet].
type unit struct {
	item   int32                 // index of its Item
	line   int32                 // units of one line of the source share it
	cost   int32                 // plain tokens of its text, as it will be written
	prior  int32                 // per cent
	alone  [anchors.Kinds]uint16 // concepts that no other unit has, and that have no number
	at     uint16                // which piece of its line
	class  class
	traits traits
	edges  anchors.Edges
}

// traits is what the text of a unit says of it.
type traits uint8

const (
	traitBare        traits = 1 << iota // see [bare]
	traitTestName                       // the name of a test
	traitAnchor                         // it is about one
	traitTestPackage                    // the package of a test that failed, which says less than the name of the test
	traitPage                           // it is in the middle of a very long text of the user
)

// unitSet is a list of items, taken apart.
type unitSet struct {
	units   chunkList[unit]
	texts   *textList // of the units, as they will be written
	lists   *textList // what each unit is about
	lexicon *lexicon  // of what the units are about
}

// text returns the text of a unit.
func (a *unitSet) text(i int32) string { return a.texts.text(int(i)) }

// about returns the concepts of a unit.
func (a *unitSet) about(i int32) list { return list(a.lists.text(int(i))) }

// list is a number of concepts, four bytes each.
type list string

func (l list) len() int { return len(l) / 4 }

func (l list) at(i int) int32 {
	b := l[4*i : 4*i+4]
	return int32(uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24)
}

// class is what a unit is for; some classes have a share of the budget to themselves.
type class uint8

const (
	userClass class = iota
	closing         // the last thing the assistant says before the user answers: outcomes, decisions
	prose           // what it says in between
	failure         // error lines
	file            // a file that was changed
	symbols         // a symbol that an edit touched
	command
	call
	output // other results of tools
	change // changed lines
	pasted // a line of a log or of code that the user pasted
	classes
)

// split makes the units of items. Said returns the text of an item.
func split(items []Item, said func(*Item) string, spill *Spill) unitSet {
	t := &taker{unitSet: unitSet{texts: newTextList(spill, 8)}, said: &digestSet{}}
	line := int32(0)
	put := func(i int, c class, text string) { t.put(unit{item: int32(i), line: line, class: c}, text) }
	files := map[string]bool{}
	for i := range items {
		it := &items[i]
		line++
		switch it.Kind {
		case User, Answer, Script, Assistant, Recap:
			t.prose(unit{item: int32(i), class: proseClass(*it)}, said(it), &line)
		case Edit:
			name := oneLine(path.Base(strings.ReplaceAll(it.Target, `\`, "/")), 255)
			if it.Target != "" && name != "" && !files[name] {
				files[name] = true
				put(i, file, name)
			}
			for s := range strings.FieldsSeq(said(it)) {
				put(i, symbols, s)
			}
		case Command:
			put(i, command, oneLine(anchors.ShortCommand(said(it)), 240))
		case Call:
			put(i, call, oneLine(said(it), 240))
		case Failure:
			eachLine(said(it), func(_ int, s string) {
				line++
				u := unit{item: int32(i), line: line, class: failure}
				if strings.HasPrefix(s, "FAIL\t") && !strings.HasSuffix(s, "]") {
					u.traits = traitTestPackage
				}
				t.put(u, oneLine(s, 240))
			})
		case Output, Diff:
			class := change
			if it.Kind == Output {
				class = output
			}
			eachLine(said(it), func(_ int, s string) {
				line++
				put(i, class, bareLine(it.Kind, s))
			})
		}
	}
	t.flush()
	t.texts.close()
	return t.unitSet
}

// prose makes units of a text that somebody said. It numbers its lines with line.
func (t *taker) prose(u unit, text string, line *int32) {
	var kinds []paste.Kind
	if u.class == userClass {
		kinds = paste.Kinds(text)
	}
	eachLine(text, func(n int, s string) {
		*line++
		u := u
		if u.line = *line; kinds != nil {
			switch kinds[n] {
			case paste.Pasted:
				u.class = pasted
			case paste.Page:
				u.traits |= traitPage
			}
		}
		anchors.EachPiece(s, func(p anchors.Piece) {
			u.edges = p.Edges
			t.put(u, p.Text)
			u.at++
		})
	})
}

// bareLine returns a line of a file, or of the changes of one, without what stands before its text: the number
// and arrow of the client, and how far it is indented.
func bareLine(k Kind, s string) string {
	if k == Diff {
		return s[:1] + strings.TrimLeft(s[1:], " \t")
	}
	return anchors.Unnumbered(s)
}

// A taker makes units of texts, many at once.
type taker struct {
	unitSet
	fresh []unit   // not looked at yet
	found []string // their texts
	size  int      // of those
	said  *digestSet
}

func (t *taker) put(u unit, text string) {
	t.fresh, t.found = append(t.fresh, u), append(t.found, text)
	if t.size += len(text); t.size > 4<<20 || len(t.fresh) == 1<<15 {
		t.flush()
	}
}

// flush measures the texts that say what none before them says.
func (t *taker) flush() {
	n := 0
	for i, u := range t.fresh {
		text := t.found[i]
		if text == "" {
			continue
		}
		if !t.said.add(digestOf(text)) && u.class != file {
			continue
		}
		t.fresh[n], t.found[n] = u, text
		n++
	}
	t.fresh, t.found = t.fresh[:n], t.found[:n]
	parallel(n, func(i int) {
		u, text := &t.fresh[i], t.found[i]
		u.cost = int32(tokens.Raw(text)) + frame(u.class)
		if bare(text) {
			u.traits |= traitBare
		}
		if strings.Contains(text, "FAIL") {
			u.traits |= traitTestName
		}
	})
	for _, text := range t.found {
		t.texts.put(text)
	}
	for _, u := range t.fresh {
		t.units.add(u)
	}
	clear(t.found)
	t.fresh, t.found, t.size = t.fresh[:0], t.found[:0], 0
}

// parallel calls do for 0 to n-1 on all processors. The calls must not depend on each other.
func parallel(n int, do func(i int)) {
	const block = 512
	workers := min(runtime.GOMAXPROCS(0), (n+block-1)/block)
	var next atomic.Int64
	work := func() {
		for from := int(next.Add(block)) - block; from < n; from = int(next.Add(block)) - block {
			for i := from; i < min(from+block, n); i++ {
				do(i)
			}
		}
	}
	var wg sync.WaitGroup
	for range workers - 1 {
		wg.Go(work)
	}
	work()
	wg.Wait()
}

func proseClass(it Item) class {
	switch {
	case it.Kind == User, it.Kind == Answer, it.Kind == Script:
		return userClass
	case it.Kind == Assistant && it.Closing:
		return closing
	}
	return prose
}

// eachLine yields the lines of a text that say something, and their numbers from 0; the marks of code fences are left
// out.
func eachLine(text string, yield func(n int, line string)) {
	n := -1
	for s := range strings.SplitSeq(text, "\n") {
		n++
		s = strings.TrimRight(s, " \t\r")
		trimmed := strings.TrimLeft(s, " \t")
		if trimmed == "" || paste.Fence(trimmed) || strings.Trim(trimmed, "-=*_|: +") == "" {
			continue
		}
		yield(n, trimmed)
	}
}

// oneLine joins the lines of s and cuts it to at most n bytes, between words where there is a place.
func oneLine(s string, n int) string {
	s = strings.Join(strings.Fields(cut(s, 4*n)), " ")
	if len(s) <= n {
		return s
	}
	s = cut(s, n)
	if k := strings.LastIndexByte(s, ' '); k > n*3/4 {
		s = s[:k]
	}
	return s
}

func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// measure fills in what units are about.
func (a *unitSet) measure(roomy bool, spill *Spill) {
	a.lexicon, a.lists = newLexicon(), newTextList(spill, 8)
	if size := a.texts.total(); size > spill.numberLimit() {
		f := newFilter(size)
		f.look(&a.units, a.texts, roomy)
		a.lexicon = a.lexicon.withFilter(f)
	}
	l, texts := a.lexicon, a.texts.browse()
	var about []int32
	var b []byte
	for i := range a.units.n {
		u := a.units.at(int32(i))
		g := gatherOptions{pairs: u.class == userClass, names: roomy, in: int32(i)}
		if roomy {
			g.in = u.item
		}
		about = l.gather(about[:0], int32(i), texts.text(i), g)
		for k, n := range l.kinds {
			u.alone[k] = uint16(min(n, math.MaxUint16))
			for range n - int(u.alone[k]) {
				about = append(about, l.fresh(anchors.Kind(k)))
				l.known.at(int32(l.known.n - 1)).count = 1
			}
		}
		b = b[:0]
		for _, c := range about {
			if l.known.at(c).Kind == anchors.AnchorConcept {
				u.traits |= traitAnchor
			}
			b = binary.LittleEndian.AppendUint32(b, uint32(c))
		}
		if u.alone[anchors.AnchorConcept] > 0 {
			u.traits |= traitAnchor
		}
		a.lists.putBytes(b)
	}
	a.lists.close()
	l.forget()
}

// frame is what the sign before a unit and the line end behind it cost.
func frame(c class) int32 {
	switch c {
	case userClass, pasted:
		return 2
	}
	return 1
}
