package term

// Common returns how many letters two words begin with in common.
func Common(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
