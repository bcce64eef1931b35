package trace

import "slices"

// A matcher finds pairs of equal elements of two lists, ascending in both. It splits the lists at elements that occur
// once on each side, which gives more readable results for prose than the shortest script. Between them, and when the
// splitting has taken too long, it finds the longest list of pairs, if the parts are not too large.
type matcher struct {
	a, b  []int32
	runs  []run
	left  int        // elements that may still be read for splitting
	count [][2]int32 // by element: its occurrences in the current parts; zero between calls
	last  []int32    // by element: its last index in the second list
}

// A run is a sequence of consecutive pairs.
type run struct {
	a, b int32 // the first
	n    int32
}

// pair adds a pair.
func (m *matcher) pair(i, j int) {
	if n := len(m.runs); n > 0 && int(m.runs[n-1].a+m.runs[n-1].n) == i && int(m.runs[n-1].b+m.runs[n-1].n) == j {
		m.runs[n-1].n++
		return
	}
	m.runs = append(m.runs, run{int32(i), int32(j), 1})
}

const (
	// maxCells is the largest product of the lengths of two parts in which the longest list of pairs is searched.
	maxCells = 1 << 22
	// maxReads is how many times the lists are read for splitting. Texts of people need few; without a limit, lists in
	// which every split leaves two elements fewer would take quadratic time.
	maxReads = 64
)

// match finds the pairs of a[i:n] and b[j:k].
func (m *matcher) match(i, n, j, k int) {
	for i < n && j < k && m.a[i] == m.b[j] {
		m.pair(i, j)
		i, j = i+1, j+1
	}
	tail := 0
	for i < n && j < k && m.a[n-1] == m.b[k-1] {
		n, k, tail = n-1, k-1, tail+1
	}
	if i < n && j < k {
		m.inner(i, n, j, k)
	}
	for t := range tail {
		m.pair(n+t, k+t)
	}
}

// inner matches parts with different first and last elements.
func (m *matcher) inner(i, n, j, k int) {
	const small = 48
	if n-i <= small && k-j <= small {
		m.longest(i, n, j, k)
		return
	}
	var anchors [][2]int32
	if m.left -= n - i + k - j; m.left >= 0 {
		anchors = m.unique(i, n, j, k)
	}
	if len(anchors) == 0 {
		m.longest(i, n, j, k)
		return
	}
	for _, p := range anchors {
		x, y := int(p[0]), int(p[1])
		m.match(i, x, j, y)
		m.pair(x, y)
		i, j = x+1, y+1
	}
	m.match(i, n, j, k)
}

// unique returns the longest ascending list of pairs of elements that occur once in each part.
func (m *matcher) unique(i, n, j, k int) [][2]int32 {
	for x := i; x < n; x++ {
		m.count[m.a[x]][0]++
	}
	for y := j; y < k; y++ {
		m.count[m.b[y]][1]++
		m.last[m.b[y]] = int32(y)
	}
	var pairs [][2]int32
	for x := i; x < n; x++ {
		if e := m.a[x]; m.count[e] == [2]int32{1, 1} {
			pairs = append(pairs, [2]int32{int32(x), m.last[e]})
		}
	}
	for x := i; x < n; x++ {
		m.count[m.a[x]] = [2]int32{}
	}
	for y := j; y < k; y++ {
		m.count[m.b[y]] = [2]int32{}
	}
	return ascending(pairs)
}

// ascending returns the longest subsequence of pairs that also ascends in the second number. pairs ascend in the first.
func ascending(pairs [][2]int32) [][2]int32 {
	var tails []int32 // index of the pair that ends the best list of each length
	before := make([]int32, len(pairs))
	for i, p := range pairs {
		x := int32(i)
		at, _ := slices.BinarySearchFunc(tails, p[1], func(t, y int32) int { return int(pairs[t][1] - y) })
		before[x] = -1
		if at > 0 {
			before[x] = tails[at-1]
		}
		if at == len(tails) {
			tails = append(tails, x)
		} else {
			tails[at] = x
		}
	}
	if len(tails) == 0 {
		return nil
	}
	out := make([][2]int32, len(tails))
	for x, at := tails[len(tails)-1], len(tails)-1; at >= 0; x, at = before[x], at-1 {
		out[at] = pairs[x]
	}
	return out
}

// longest finds the longest list of pairs, or none if the parts are too large.
func (m *matcher) longest(i, n, j, k int) {
	if (n-i)*(k-j) > maxCells {
		return
	}
	row := k - j + 1
	pairs := make([]int32, (n-i+1)*row) // the most pairs of what follows the elements x of a and y of b
	at := func(x, y int) *int32 { return &pairs[(x-i)*row+y-j] }
	for x := n - 1; x >= i; x-- {
		for y := k - 1; y >= j; y-- {
			if *at(x, y) = max(*at(x+1, y), *at(x, y+1)); m.a[x] == m.b[y] {
				*at(x, y) = *at(x+1, y+1) + 1
			}
		}
	}
	for x, y := i, j; x < n && y < k; {
		switch {
		case m.a[x] == m.b[y]:
			m.pair(x, y)
			x, y = x+1, y+1
		case *at(x+1, y) >= *at(x, y+1):
			x++
		default:
			y++
		}
	}
}
