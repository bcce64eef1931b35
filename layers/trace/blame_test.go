package trace

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/memvcs/mem/layers/compress"
)

// TestBlameForgets holds that what a blame remembers of messages changes nothing but how long it takes.
func TestBlameForgets(t *testing.T) {
	t.Parallel()
	said := func(_ string, n int) string {
		return fmt.Sprintf("The parser of part %d drops line %d of file_%d.go, and\nthe cache of part %d holds it.", n, n*37, n%7, n%5)
	}
	var pieces []Piece
	for n := 1; n <= 40; n += 4 {
		text := fmt.Sprintf("The parser of part %d drops line %d\ncache holds file_%d.go of part %d\nnothing that anybody said", n, n*37, (n+2)%7, (n+1)%5)
		pieces = append(pieces, Piece{Source: "s", Segment: compress.Segment{Role: "assistant", Text: text, Src: [][2]int{{max(1, n-9), n + 3}}}})
	}
	lines := VersionLines(pieces)
	want := Blame(lines, pieces, said)
	asked := 0
	b := &blamer{said: func(s string, n int) string { asked++; return said(s, n) }, vocabulary: compress.NewVocabulary(), cache: map[place]message{}, maxBytes: 300}
	if got := b.blame(lines, pieces); !reflect.DeepEqual(got, want) {
		t.Errorf("with little memory: %+v, want %+v", got, want)
	}
	if asked < 80 {
		t.Errorf("%d messages were asked for: none was forgotten", asked)
	}
}
