package originals

import (
	"encoding/json"
	"slices"
	"strconv"

	"github.com/memvcs/mem/layers/state"
	"github.com/memvcs/mem/objects"
)

// sealsFile is the list of the text that this device has deleted, as hashes keyed with the device's key.
const sealsFile = "forgotten.json"

// Seals identify deleted text without containing it.
type Seals struct {
	Values   []SealedValue `json:"values,omitempty"`
	Messages []string      `json:"messages,omitempty"` // keys, see [KeyOf]: those in the purges of any project
	Parts    []string      `json:"parts,omitempty"`    // keys of messages of which other devices deleted a part, in any project
	Records  []string      `json:"records,omitempty"`  // messages without a key
	Files    []string      `json:"files,omitempty"`    // overflow files
	Lost     bool          `json:"lost,omitempty"`     // entries were lost: see [RenewSeals]
}

// ReadSeals returns the seals of the text that this device has deleted. A damaged file is an error, because captures
// would store deleted text again.
func ReadSeals(db *state.DB) (s Seals, err error) {
	_, err = db.Refs.ReadNote(sealsFile, &s)
	return s, err
}

// Count returns the number of seals. It never decreases.
func (s *Seals) Count() int {
	return len(s.Values) + len(s.Messages) + len(s.Parts) + len(s.Records) + len(s.Files)
}

// value returns the index of the value with a seal, -1 for none.
func (s *Seals) value(seal string) int {
	return slices.IndexFunc(s.Values, func(v SealedValue) bool { return v.Seal == seal })
}

// AddSeals adds seals durably.
func AddSeals(db *state.DB, more Seals) error {
	s, err := ReadSeals(db)
	if err != nil {
		return err
	}
	n := s.Count()
	for _, v := range more.Values {
		if s.value(v.Seal) < 0 {
			s.Values = append(s.Values, v)
		}
	}
	for _, x := range []struct{ to, from *[]string }{{&s.Messages, &more.Messages}, {&s.Parts, &more.Parts},
		{&s.Records, &more.Records}, {&s.Files, &more.Files}} {
		*x.to = slices.Compact(slices.Sorted(slices.Values(append(*x.to, *x.from...))))
	}
	if s.Count() == n {
		return nil
	}
	b, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		return err
	}
	return db.Refs.WriteNote(sealsFile, append(b, '\n'))
}

// rollKey returns this device's key for [Roll].
func rollKey(db *state.DB) uint64 {
	k, err := strconv.ParseUint(db.Refs.MAC("forgotten values"), 16, 64)
	if err != nil {
		panic("originals: a seal is not a number: " + err.Error())
	}
	return k%(prime-2) + 2
}

// SealValue returns the seal of a value.
func SealValue(db *state.DB, v []byte) SealedValue {
	return SealedValue{len(v), Roll(v, rollKey(db)), db.Refs.MAC("value " + string(v))}
}

// SealRecord returns the seal of a message without a key.
func SealRecord(db *state.DB, raw []byte) string { return db.Refs.MAC("record " + string(raw)) }

// SealFile returns the seal of an overflow file with these exact bytes.
func SealFile(db *state.DB, h objects.Hash) string { return db.Refs.MAC("file " + h.String()) }
