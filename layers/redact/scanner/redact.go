package scanner

// Blank returns the length of the white space at the start of b, up to and including the first line end.
func Blank(b []byte) int {
	for i, c := range b {
		switch c {
		case '\n':
			return i + 1
		case ' ', '\t', '\r':
		default:
			return i
		}
	}
	return len(b)
}
