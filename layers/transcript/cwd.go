package transcript

import "io"

// Cwd returns the first working directory named at the start of a session, "" if there is none. It reads the records that
// begin in the first MiB of r. The error is one of r.
func Cwd(r io.Reader) (string, error) {
	for v, err := range Whole(r) {
		if err != nil {
			return "", err
		}
		if m, err := decode(v, false); err == nil && m.Cwd != "" { // else it is no record
			return m.Cwd, nil
		}
		if v.Off+v.Size >= 1<<20 {
			break
		}
	}
	return "", nil
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
