package version

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/keepit"
)

// Encode returns segments as JSON lines, the form in which a version is stored.
func Encode(segs []Segment) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i, s := range segs {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("segment %d: %w", i+1, err)
		}
		if err := e.Encode(s); err != nil {
			return nil, fmt.Errorf("segment %d: %w", i+1, err)
		}
	}
	return b.Bytes(), nil
}

// Decode reads the result of [Encode].
func Decode(b []byte) ([]Segment, error) {
	var segs []Segment
	for s, err := range Segments(bytes.NewReader(b)) {
		if err != nil {
			return nil, err
		}
		segs = append(segs, s)
	}
	return segs, nil
}

// Segments yields what [Encode] wrote, one segment after the other, up to the first error.
func Segments(r io.Reader) iter.Seq2[Segment, error] {
	return func(yield func(Segment, error) bool) {
		d := json.NewDecoder(r)
		d.DisallowUnknownFields()
		for n := 1; ; n++ {
			var s Segment
			err := d.Decode(&s)
			if err == io.EOF {
				return
			}
			if err == nil {
				err = s.check()
			}
			if err != nil {
				yield(Segment{}, fmt.Errorf("segment %d: %w", n, err))
				return
			}
			if !yield(s, nil) {
				return
			}
		}
	}
}

func (s Segment) check() error {
	switch s.Role {
	case "user", "script", "assistant", "tool", "heading":
	default:
		return fmt.Errorf("role %q: want user, script, assistant, tool or heading", s.Role)
	}
	if s.Role == "script" && s.Keep != "" {
		return fmt.Errorf("a script cannot pin a text")
	}
	if s.Keep != "" {
		if _, err := keepit.ParseWeight(s.Keep); err != nil {
			return err
		}
	}
	if strings.ContainsAny(s.Label+s.Code, "\r\n") {
		return fmt.Errorf("the label %q has several lines", s.Label)
	}
	if len(s.Src) == 0 {
		return fmt.Errorf("names no messages")
	}
	last := 0
	for _, r := range s.Src {
		if r[0] <= last || r[1] < r[0] {
			return fmt.Errorf("messages %d to %d are out of order", r[0], r[1])
		}
		last = r[1]
	}
	return nil
}

// Runs sorts runs of messages and joins those that touch or overlap.
func Runs(src ...[2]int) [][2]int {
	all := slices.Clone(src)
	slices.SortFunc(all, func(a, b [2]int) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) })
	var out [][2]int
	for _, r := range all {
		if n := len(out); n > 0 && r[0]-1 <= out[n-1][1] {
			out[n-1][1] = max(out[n-1][1], r[1])
			continue
		}
		out = append(out, r)
	}
	return out
}

// Sources returns the messages that segments name. The runs of a version of another device can be of any length.
func Sources(segs []Segment) [][2]int {
	var all [][2]int
	for _, s := range segs {
		all = append(all, s.Src...)
	}
	return Runs(all...)
}

// Messages returns the number of messages in runs.
func Messages(runs [][2]int) (n int) {
	for _, r := range runs {
		n += r[1] - r[0] + 1
	}
	return n
}
