package compress

import (
	"hash/maphash"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/compress/anchors"
	"github.com/memvcs/mem/layers/tokens"
)

// A sizer counts segments and remembers what it has counted: most of them come again in the next round. The tokens of a text are those of its parts where a line ends and the next begins with something that no
// token takes together with a line end. Of the parts only their [digest] is remembered.
type sizer map[digest]int32

// size returns the plain tokens of [Text] of segments.
func (z sizer) size(segs []Segment) int {
	t := &tally{z: z}
	var b strings.Builder
	for i, s := range segs {
		b.Reset()
		s.write(&b)
		part := b.String()
		if !sticky(part) {
			t.end()
		}
		t.last = append(t.last, part...)
		if i < len(segs)-1 {
			t.last = append(t.last, '\n')
		}
	}
	return t.sum()
}

// A tally is the parts of a text, counted when there are many.
type tally struct {
	z    sizer
	last []byte   // not at its end
	list []string // not counted
	size int      // of the list
	raw  int      // plain tokens of what was counted
}

// end ends a part.
func (p *tally) end() {
	if len(p.last) == 0 {
		return
	}
	p.list, p.size = append(p.list, string(p.last)), p.size+len(p.last)
	if p.last = p.last[:0]; p.size > 4<<20 {
		p.count()
	}
}

func (p *tally) count() {
	p.raw += p.z.count(pieces(p.list))
	clear(p.list)
	p.list, p.size = p.list[:0], 0
}

// sum returns the plain tokens of all.
func (p *tally) sum() int {
	p.end()
	p.count()
	return p.raw
}

// long is the length from which on a part is counted in pieces: of a message of megabytes only what has changed is
// counted again.
const long = 2 << 10

// pieces takes long parts apart where a line or a sentence ends that no token goes over.
func pieces(parts []string) []string {
	if !slices.ContainsFunc(parts, func(s string) bool { return len(s) > long }) {
		return parts
	}
	out := make([]string, 0, 2*len(parts))
	for _, s := range parts {
		if len(s) > long {
			from := 0
			for i := 1; i+1 < len(s); i++ {
				if s[i-1] == '\n' && !sticky(s[i:]) || s[i] == ' ' && strings.IndexByte(".!?", s[i-1]) >= 0 && isLetter(s[i+1]) {
					out, from = append(out, s[from:i]), i
				}
			}
			s = s[from:]
		}
		out = append(out, s)
	}
	return out
}

func isLetter(c byte) bool { return anchors.IsUpper(c) || anchors.IsLower(c) }

// count returns the plain tokens of parts, and counts those that are not known yet.
func (z sizer) count(list []string) int {
	keys := make([]digest, len(list))
	var fresh []int
	for i, p := range list {
		keys[i] = digestOf(p)
		if _, ok := z[keys[i]]; !ok {
			z[keys[i]] = 0
			fresh = append(fresh, i)
		}
	}
	counts := make([]int32, len(fresh))
	parallel(len(fresh), func(i int) { counts[i] = int32(tokens.Raw(list[fresh[i]])) })
	for i, at := range fresh {
		z[keys[at]] = counts[i]
	}
	sum := 0
	for _, k := range keys {
		sum += int(z[k])
	}
	return sum
}

// A digest stands for a text within this process: two texts never have the same one.
type digest [2]uint64

var seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}

func digestOf(s string) digest {
	return digest{maphash.String(seeds[0], s), maphash.String(seeds[1], s)}
}

// sticky reports whether a token may hold a line end and the beginning of s.
func sticky(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r == '/' || unicode.IsSpace(r) || unicode.In(r, unicode.Z)
}
