package forget

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/memvcs/mem/layers/originals"
	"github.com/memvcs/mem/layers/records"
	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/secrets"
	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/layers/transcript"
)

// An Excerpt is the beginning of a message, or the place in it that matches. Secrets in it are redacted.
type Excerpt struct {
	Message int
	Role    string
	Text    string
}

// maxExcerpts is the number of excerpts of a session, excerptRunes the length of one.
const (
	maxExcerpts  = 3
	excerptRunes = 100
)

// sample adds a selected message to the preview of its session. spots are the selected places, nil for all of it.
func (f *deletion) sample(s *state.Session, v transcript.Value, spots [][2]int) {
	size := v.Size
	if spots != nil {
		size = 0
		for _, spot := range spots {
			size += int64(spot[1] - spot[0])
		}
	}
	f.sizes[s.ID] += size
	if !f.o.DryRun || len(f.excerpts[s.ID]) >= maxExcerpts {
		return
	}
	clean := bytes.Clone(v.Raw)
	originals.Mask(clean, spots)
	clean, _ = secrets.Gate(f.m).Redact(clean, &redact.Numbers{})
	if x, ok := f.excerpt(v, clean); ok {
		f.excerpts[s.ID] = append(f.excerpts[s.ID], x)
	}
}

// excerpt returns an excerpt of a message, whose redacted record is clean. ok is false if it has no text.
func (f *deletion) excerpt(v transcript.Value, clean []byte) (x Excerpt, ok bool) {
	x = Excerpt{Message: v.N, Role: "damaged"}
	if m, err := transcript.Decode(transcript.Value{N: v.N, Raw: clean, Opaque: v.Opaque}); err == nil {
		x.Role = m.Type
	}
	for text := range transcript.Content(clean) {
		text = strings.Join(strings.Fields(text), " ")
		at := []int{0, 0}
		if f.o.Match != nil {
			at = f.o.Match.FindStringIndex(text)
		} else if spot := strings.Index(text, "****"); f.needles != nil && spot >= 0 {
			at = []int{spot, spot}
		}
		switch {
		case text == "":
		case at != nil:
			x.Text = around(text, at[0])
			return x, true
		case x.Text == "": // of a match that was redacted
			x.Text = around(text, 0)
		}
	}
	return x, x.Text != ""
}

// around returns the part of a text around a place. The text can be long.
func around(text string, at int) string {
	from, to, n := at, at, 0
	for ; n < excerptRunes/3 && from > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(text[:from])
		from -= size
	}
	for ; n < excerptRunes && to < len(text); n++ {
		_, size := utf8.DecodeRuneInString(text[to:])
		to += size
	}
	if to == len(text) && utf8.RuneCountInString(text) <= excerptRunes {
		from = 0
	}
	out := strings.ToValidUTF8(text[from:to], "\ufffd")
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// size sets the number of messages of a session and the size of the deleted ones.
func (f *deletion) size(s *state.Session, t *DeletedItem) {
	values := map[int]int{} // by generation
	for _, p := range s.Points {
		values[p.Generation] = max(values[p.Generation], p.Scan.Values)
	}
	for _, n := range values {
		t.Of += n
	}
	t.Bytes, t.Excerpts = f.sizes[s.ID], f.excerpts[s.ID]
}

// sizeOfSession sets the size of a session that is deleted as a whole. Its title is the only excerpt.
func (f *deletion) sizeOfSession(s *state.Session, t *DeletedItem) {
	f.size(s, t)
	latest := map[int]*records.Point{} // by generation
	for i := range s.Points {
		if p := &s.Points[i]; latest[p.Generation] == nil || p.Further(latest[p.Generation]) > 0 {
			latest[p.Generation] = p
		}
	}
	for _, p := range latest {
		t.Bytes += p.Size
	}
	if title := s.Now().Scan.Title; title != "" && f.o.DryRun {
		t.Excerpts = []Excerpt{{Role: "title", Text: around(title, 0)}}
	}
}
