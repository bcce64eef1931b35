package originals

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/memvcs/mem/layers/state"
)

// RenewSeals replaces a damaged list of deleted text by one with the entries that can still be read. It returns their
// number, and the path to which the damaged file was moved. The new list records that entries are lost. From then on,
// captures omit the whole of a message that was deleted in part, and each message without an ID at the place of a
// deleted one. Lost values are not recognised in other messages.
func RenewSeals(db *state.DB, dryRun bool) (n int, kept string, err error) {
	b, err := db.Refs.ReadDamagedNote(sealsFile)
	if err != nil {
		return 0, "", err
	}
	s := salvage(b)
	n = len(s.Values) + len(s.Messages) + len(s.Parts) + len(s.Records)
	if dryRun {
		return n, "", nil
	}
	if b, err = json.MarshalIndent(s, "", "  "); err != nil {
		return n, "", err
	}
	kept, err = db.Refs.ReplaceNote(sealsFile, append(b, '\n'))
	return n, kept, err
}

// salvage returns the readable entries of a damaged list. Seals of messages and files cannot be distinguished, so each
// is used for both; a seal matches only the content that it was made from. Keys of messages deleted in part follow the others.
func salvage(b []byte) Seals {
	s := Seals{Lost: true}
	value := regexp.MustCompile(`\{\s*"length": \d{1,9},\s*"roll": \d{1,19},\s*"seal": "[0-9a-f]{16}"\s*\}`)
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
	key := regexp.MustCompile(`"([0-9a-f]{32})"`)
	whole, parts, _ := bytes.Cut(b, []byte(`"parts"`))
	for _, entry := range key.FindAllSubmatch(whole, -1) {
		s.Messages = append(s.Messages, string(entry[1]))
	}
	for _, entry := range key.FindAllSubmatch(parts, -1) {
		s.Parts = append(s.Parts, string(entry[1]))
	}
	return s
}
