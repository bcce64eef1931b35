package transcript

import "io"

// Cwd returns the first working directory named at the start of a session, "" if there is none. See [Start].
func Cwd(r io.Reader) (string, error) {
	cwd, _, err := Start(r)
	return cwd, err
}

// Start returns the first working directory named at the start of a session, and the branch that was named up to there,
// each "" if there is none. It reads at most 1 MiB of r, plus the rest of a longer record. The error is one of r.
func Start(r io.Reader) (cwd, branch string, err error) {
	const start = 1 << 20
	sc := NewScanner(Carry{}, func([]byte) (sum [32]byte) { return sum })
	buf := make([]byte, 16<<10)
	for read, values := 0, -1; ; {
		n, err := r.Read(buf)
		read += n
		sc.Write(buf[:n])
		if cwd := sc.carry.Cwd; cwd != "" {
			return cwd, sc.carry.Branch, nil
		}
		if read >= start {
			if values < 0 {
				values = sc.carry.Values
			}
			cwd, open := sc.open()
			if cwd != "" || !open || sc.carry.Values > values {
				return cwd, sc.carry.Branch, nil
			}
		}
		if err == io.EOF {
			sc.s.close(false, sc.value)
			return sc.carry.Cwd, sc.carry.Branch, nil
		}
		if err != nil {
			return "", "", err
		}
	}
}

// open reports whether the scan is inside a record that is not closed yet, and returns the directory named in it so
// far.
func (sc *Scanner) open() (cwd string, open bool) {
	line := sc.s.line
	if at := space(line, 0); at == len(line) || line[at] != '{' {
		return "", false
	}
	return member(line, "cwd"), true
}

// ForkedFrom returns the session that a fork was made from, which the client notes in each copied record: in the first record
// with a uuid. It is "" if the session is no fork. The error is one of r.
func ForkedFrom(r io.Reader) (string, error) {
	for v, err := range Whole(r) {
		if err != nil {
			return "", err
		}
		of, turn := "", false
		_ = members(v.Raw, func(key, value []byte) bool { // anything else has no members
			switch string(key) {
			case "forkedFrom":
				of = member(value, "sessionId")
			case "uuid":
				turn = true
			}
			return true
		})
		if turn {
			return of, nil
		}
	}
	return "", nil
}
