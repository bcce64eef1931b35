package refine

import "strings"

// cellLimit bounds the work for one pair of texts. Beyond it, all old lines come before all new ones.
const cellLimit = 1 << 20

// splitLimit bounds the number of lines of a text. A text with more is treated as one line.
const splitLimit = 200_000

// A differ collects the lines that change from one text to another, without context.
type differ struct {
	lines   []string // "-old", "+new", "@@"
	context []string // unchanged lines seen on the way
}

// String returns the diff.
func (d *differ) String() string { return strings.Join(d.lines, "\n") }

// add appends the changes from before to after.
func (d *differ) add(before, after string) {
	d.addLines(split(before), split(after))
}

// addLines is add for texts in lines.
func (d *differ) addLines(a, b []string) {
	if len(d.lines) > 0 {
		d.lines = append(d.lines, "@@")
	}
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		d.context = append(d.context, a[0])
		a, b = a[1:], b[1:]
	}
	end := 0
	for end < min(len(a), len(b)) && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	d.context = append(d.context, a[len(a)-end:]...)
	d.changes(a[:len(a)-end], b[:len(b)-end])
}

func split(s string) []string {
	if s == "" {
		return nil
	}
	if strings.Count(s, "\n") > splitLimit {
		return []string{s}
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}

// changes appends the lines outside a longest common subsequence of a and b.
func (d *differ) changes(a, b []string) {
	if len(a)*len(b) > cellLimit || len(a) == 0 || len(b) == 0 {
		d.put("-", a)
		d.put("+", b)
		return
	}
	w := len(b) + 1
	table := make([]int32, (len(a)+1)*w) // table[i*w+j] is the length for a[i:] and b[j:]
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				table[i*w+j] = table[(i+1)*w+j+1] + 1
			} else {
				table[i*w+j] = max(table[(i+1)*w+j], table[i*w+j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		i0, j0 := i, j
		for (i < len(a) || j < len(b)) && !(i < len(a) && j < len(b) && a[i] == b[j]) {
			if j == len(b) || i < len(a) && table[(i+1)*w+j] >= table[i*w+j+1] {
				i++
			} else {
				j++
			}
		}
		d.put("-", a[i0:i])
		d.put("+", b[j0:j])
		k := i
		for i < len(a) && j < len(b) && a[i] == b[j] {
			i++
			j++
		}
		d.context = append(d.context, a[k:i]...)
		if i < len(a) || j < len(b) {
			d.lines = append(d.lines, "@@")
		}
	}
}

func (d *differ) put(sign string, lines []string) {
	for _, l := range lines {
		d.lines = append(d.lines, sign+l)
	}
}
