package originals

import (
	"encoding/json"
	"regexp"
)

// RenewSeals writes the list of what was forgotten here anew, when it is damaged beyond repair, with the entries
// that can still be read. It returns how many those are, and where the damaged file is kept. The new list says that
// entries are lost: a message of which a part was forgotten stays out whole from then on, and so does one without an
// id at a place where one was forgotten. Values that are lost are not recognised in other messages.
func (m Ops) RenewSeals(dryRun bool) (n int, kept string, err error) {
	b, err := m.Refs.DamagedNote(sealsFile)
	if err != nil {
		return 0, "", err
	}
	s := salvage(b)
	n = len(s.Values) + len(s.Records)
	if dryRun {
		return n, "", nil
	}
	if b, err = json.MarshalIndent(s, "", "  "); err != nil {
		return n, "", err
	}
	kept, err = m.Refs.ReplaceNote(sealsFile, append(b, '\n'))
	return n, kept, err
}

// salvage returns the entries of a damaged list that have the form of one. Where in the list a seal of a message or
// a file stands cannot be told, so it is taken for both: it recognises nothing else than what it was made of.
func salvage(b []byte) Seals {
	s := Seals{Lost: true}
	value := regexp.MustCompile(
		`\{\s*"length": \d{1,9},\s*"roll": \d{1,19},\s*"seal": "[0-9a-f]{16}"(,\s*"stars": true)?\s*\}`)
	for _, entry := range value.FindAll(b, -1) {
		var v SealedValue
		if json.Unmarshal(entry, &v) == nil && v.Length > 0 && s.value(v.Seal) < 0 {
			s.Values = append(s.Values, v)
		}
	}
	seal := regexp.MustCompile(`"([0-9a-f]{16})"`)
	for _, entry := range seal.FindAllSubmatch(value.ReplaceAll(b, nil), -1) {
		s.Records = append(s.Records, string(entry[1]))
	}
	s.Files = s.Records
	return s
}
