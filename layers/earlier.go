package layers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/memvcs/mem/objects"
)

// Earlier returns how the session was, each as far as it was captured, before its file was rewritten or another took its
// place: the last growth point of each generation of each device but that of now, the newest first. Those that hold
// less of the same file as the one before are left out.
func (s *Session) Earlier() []*Point {
	now := s.Now()
	seen := map[objects.Hash]bool{now.Original: true}
	var heads []*Point
	for i := len(s.Points) - 1; i >= 0; i-- {
		p := &s.Points[i]
		same := func(q *Point) bool { return q.Stamp.Device == p.Stamp.Device && q.Generation == p.Generation }
		if p.Generation == now.Generation && p.reaches(now) <= 0 || slices.ContainsFunc(heads, same) || same(now) {
			continue
		}
		heads = append(heads, p)
	}
	return slices.DeleteFunc(heads, func(p *Point) bool {
		again := seen[p.Original]
		seen[p.Original] = true
		return again
	})
}

// resolveEarlier resolves original@{n}: {0} is the original as it is now.
func resolveEarlier(rev Rev, sub string) (Rev, error) {
	_, digits, _ := strings.Cut(sub, "@{")
	n, err := strconv.Atoi(strings.TrimSuffix(digits, "}"))
	earlier := rev.Session.Earlier()
	if err != nil || n < 0 || n > len(earlier) || !strings.HasSuffix(sub, "}") {
		var names []string
		for i := range earlier {
			names = append(names, earlierName(i+1))
		}
		return rev, &NotFoundError{What: "known original", Name: sub, Of: ShortID(rev.Session.ID), Candidates: names}
	}
	if n == 0 {
		rev.Kind = IsOriginal
		return rev, nil
	}
	rev.Kind, rev.Point = IsEarlier, earlier[n-1]
	rev.Hash, rev.How = rev.Point.Original, "before the file was rewritten"
	return rev, nil
}

// earlierName is how people write the n-th earlier original.
func earlierName(n int) string { return fmt.Sprintf("original@{%d}", n) }

// earlierName writes which earlier original a revision names.
func (r Rev) earlierName() string {
	return earlierName(1 + slices.IndexFunc(r.Session.Earlier(), func(p *Point) bool { return p.Stamp == r.Point.Stamp }))
}
