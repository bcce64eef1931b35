package trace

import "slices"

// A matcher finds pairs of equal elements of two lists, ascending in both. It splits the lists at elements that occur
// once on each side, which reads better in prose than the shortest script and is near linear, and goes
// through what lies between by Myers' algorithm, as far as that is cheap.
type matcher struct {
	a, b  []int32
	pairs [][2]int
	count [][2]int32 // by element: how often it occurs in the part that is looked at; zero in between
	last  [][2]int32 // and where
}

// most is how many steps Myers' algorithm may take between two texts; those that differ more have little in common.
const most = 600

// match finds the pairs of a[i:n] and b[j:m].
func (m *matcher) match(i, n, j, k int) {
	for i < n && j < k && m.a[i] == m.b[j] {
		m.pairs = append(m.pairs, [2]int{i, j})
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
		m.pairs = append(m.pairs, [2]int{n + t, k + t})
	}
}

// inner matches parts that begin and end differently.
func (m *matcher) inner(i, n, j, k int) {
	const small = 48
	if n-i <= small && k-j <= small {
		m.myers(i, n, j, k)
		return
	}
	anchors := m.unique(i, n, j, k)
	if len(anchors) == 0 {
		m.myers(i, n, j, k)
		return
	}
	for _, p := range anchors {
		if p[0] < i || p[1] < j {
			continue // matched already, as the tail of the part before
		}
		m.match(i, p[0], j, p[1])
		m.pairs = append(m.pairs, p)
		i, j = p[0]+1, p[1]+1
	}
	m.match(i, n, j, k)
}

// unique returns the longest ascending list of pairs of elements that occur once in each part.
func (m *matcher) unique(i, n, j, k int) [][2]int {
	for x := i; x < n; x++ {
		m.count[m.a[x]][0]++
	}
	for y := j; y < k; y++ {
		m.count[m.b[y]][1]++
		m.last[m.b[y]][1] = int32(y)
	}
	var pairs [][2]int
	for x := i; x < n; x++ {
		if e := m.a[x]; m.count[e] == [2]int32{1, 1} {
			pairs = append(pairs, [2]int{x, int(m.last[e][1])})
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

// ascending returns the longest part of pairs, which ascend in their first numbers, that ascends in the second, too.
func ascending(pairs [][2]int) [][2]int {
	var tails []int // index of the pair that ends the best list of each length
	before := make([]int, len(pairs))
	for x, p := range pairs {
		at, _ := slices.BinarySearchFunc(tails, p[1], func(t, y int) int { return pairs[t][1] - y })
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
	out := make([][2]int, len(tails))
	for x, at := tails[len(tails)-1], len(tails)-1; at >= 0; x, at = before[x], at-1 {
		out[at] = pairs[x]
	}
	return out
}

// myers finds the longest list of pairs, or none if the parts differ in too much.
func (m *matcher) myers(i, n, j, k int) {
	a, b := m.a[i:n], m.b[j:k]
	limit := min(len(a)+len(b), most)
	v := make([]int32, 2*limit+2)
	var trace [][]int32
	for d := 0; d <= limit; d++ {
		trace = append(trace, slices.Clone(v[limit-d:limit+d+1]))
		for diag := -d; diag <= d; diag += 2 {
			at := limit + diag
			x := int32(0)
			switch {
			case d == 0:
			case diag == -d || diag != d && v[at-1] < v[at+1]:
				x = v[at+1]
			default:
				x = v[at-1] + 1
			}
			y := x - int32(diag)
			for int(x) < len(a) && int(y) < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[at] = x
			if diag == len(a)-len(b) && int(x) >= len(a) {
				m.back(trace, i, j, len(a), len(b))
				return
			}
		}
	}
}

// back walks the trace of [matcher.myers] from its end and notes the pairs. trace[d] is the frontier before step d,
// from diagonal -d to d.
func (m *matcher) back(trace [][]int32, i, j, x, y int) {
	from := len(m.pairs)
	for d := len(trace) - 1; d > 0; d-- {
		v := func(diag int) int { return int(trace[d][d+diag]) }
		diag := x - y
		prev := diag - 1
		if diag == -d || diag != d && v(diag-1) < v(diag+1) {
			prev = diag + 1
		}
		px := v(prev)
		py := px - prev
		sx, sy := px+1, py // where the run of equal elements starts that ends at x, y
		if prev > diag {
			sx, sy = px, py+1
		}
		for x > sx && y > sy {
			x, y = x-1, y-1
			m.pairs = append(m.pairs, [2]int{i + x, j + y})
		}
		x, y = px, py
	}
	for x > 0 && y > 0 {
		x, y = x-1, y-1
		m.pairs = append(m.pairs, [2]int{i + x, j + y})
	}
	slices.Reverse(m.pairs[from:])
}
