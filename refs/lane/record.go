package lane

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/memvcs/mem/objects"
)

// ErrRecord means that bytes are not a record in its canonical form.
var ErrRecord = errors.New("not a valid record")

// A Record is one immutable statement of a device. Its name is the BLAKE3 hash of its canonical JSON.
// docs/formats.md defines the body of each kind; a reader keeps records of unknown kinds.
type Record struct {
	ID      objects.Hash    `json:"-" cache:"+"`
	Kind    string          `json:"kind"`
	Device  string          `json:"device"`
	Lamport uint64          `json:"lamport"` // greater than that of all records that the device had seen
	Time    time.Time       `json:"time"`    // for display; never decides anything
	Body    json.RawMessage `json:"body"`
}

// Compare orders records by (lamport, device, id): of two assignments the later one in this order wins.
func (r Record) Compare(o Record) int {
	return cmp.Or(cmp.Compare(r.Lamport, o.Lamport), cmp.Compare(r.Device, o.Device), r.ID.Compare(o.ID))
}

// Encode returns the canonical form of r and sets its ID.
func (r *Record) Encode() ([]byte, error) {
	b, err := objects.JSONLine(r)
	if err != nil {
		return nil, fmt.Errorf("encode %s record: %w", r.Kind, err)
	}
	r.ID = objects.Sum(b)
	return b, nil
}

// DecodeRecord reads a record. The error wraps [ErrRecord] if b is not exactly its canonical form.
func DecodeRecord(b []byte) (Record, error) {
	var r Record
	if err := json.Unmarshal(b, &r); err != nil {
		return r, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	again, err := r.Encode()
	if err != nil || !bytes.Equal(again, b) {
		return r, fmt.Errorf("%w: not in canonical form", ErrRecord)
	}
	if r.Kind == "" || !ValidDevice(r.Device) {
		return r, fmt.Errorf("%w: kind %q of device %q", ErrRecord, r.Kind, r.Device)
	}
	return r, nil
}

// NewRecord returns a record and its bytes.
func NewRecord(kind string, d Device, lamport uint64, now time.Time, body any) (Record, []byte, error) {
	b, err := objects.EncodeJSON(body)
	if err != nil {
		return Record{}, nil, fmt.Errorf("encode %s record: %w", kind, err)
	}
	r := Record{Kind: kind, Device: d.ID, Lamport: lamport, Time: now.UTC().Truncate(time.Millisecond), Body: b}
	enc, err := r.Encode()
	return r, enc, err
}

// DeviceBody is the body of a "device" record, the first one of every lane: the device's name and public key.
type DeviceBody struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Key  string `json:"key"`
}

// CheckRecord decodes a record and checks that its name is id.
func CheckRecord(b []byte, id objects.Hash) (Record, error) {
	if objects.Sum(b) != id {
		return Record{}, fmt.Errorf("record %s: %w", id, objects.ErrCorrupt)
	}
	r, err := DecodeRecord(b)
	if err != nil {
		return r, fmt.Errorf("record %s: %w", id, err)
	}
	return r, nil
}

// FilePatch returns the name of the patch of an overflow file that was captured with a session record.
func FilePatch(record objects.Hash, name string) objects.Hash {
	return objects.Sum([]byte("mem file 1\n" + record.String() + "\n" + name))
}

// RootHash returns the hash of a set of records, given their sorted names: BLAKE3 over the names, one on a line.
func RootHash(ids []objects.Hash) objects.Hash {
	h := objects.NewHasher()
	for _, id := range ids {
		fmt.Fprintln(h, id)
	}
	return h.Sum()
}
