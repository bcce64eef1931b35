package lane

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/memvcs/mem/objects"
)

// TestRecordIsCanonical reads a record back, and refuses the same record in another form.
func TestRecordIsCanonical(t *testing.T) {
	t.Parallel()
	d, err := NewDevice("host", bytes.NewReader(make([]byte, 100)))
	if err != nil {
		t.Fatal(err)
	}
	r, b, err := NewRecord("set", d, 7, time.Unix(1, 0), map[string]string{"a": "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := CheckRecord(b, r.ID)
	if err != nil || got.Kind != "set" || got.Lamport != 7 || string(got.Body) != `{"a":"<b>"}` {
		t.Errorf("CheckRecord = %+v, %v", got, err)
	}
	for _, other := range []string{" " + string(b), strings.Replace(string(b), `"set"`, `""`, 1)} {
		if _, err := DecodeRecord([]byte(other)); !errors.Is(err, ErrRecord) {
			t.Errorf("DecodeRecord(%s): %v, want ErrRecord", other, err)
		}
	}
}

// TestCompareIsTotal orders records by Lamport time, device and id, in this order, the same way from every start.
func TestCompareIsTotal(t *testing.T) {
	t.Parallel()
	want := []Record{
		{Lamport: 1, Device: "b", ID: objects.Hash{9}},
		{Lamport: 2, Device: "a", ID: objects.Hash{8}},
		{Lamport: 2, Device: "b", ID: objects.Hash{1}},
		{Lamport: 2, Device: "b", ID: objects.Hash{2}},
		{Lamport: 10, Device: "a", ID: objects.Hash{0}},
	}
	for i, a := range want {
		for j, b := range want {
			got := a.Compare(b)
			if (got < 0) != (i < j) || (got == 0) != (i == j) {
				t.Errorf("record %d compared with record %d is %d", i, j, got)
			}
		}
	}
}

// TestRecordTime is in UTC and whole milliseconds, so that equal statements have equal names on every machine.
func TestRecordTime(t *testing.T) {
	t.Parallel()
	d := testDevice(t, 1)
	now := time.Date(2026, 1, 20, 14, 0, 0, 123_456_789, time.UTC)
	a, _, err := NewRecord("set", d, 1, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	b, _, err := NewRecord("set", d, 1, now.Truncate(time.Millisecond).In(time.FixedZone("x", 3600)), nil)
	if err != nil || a.ID != b.ID {
		t.Errorf("records of one moment are %s and %s, %v", a.ID, b.ID, err)
	}
	if _, _, err := NewRecord("set", d, 1, now, func() {}); err == nil || !strings.Contains(err.Error(), "set record") {
		t.Errorf("a body that is not JSON: %v, want an error with the kind", err)
	}
}

func TestCheckRecord(t *testing.T) {
	t.Parallel()
	r, b, err := NewRecord("set", testDevice(t, 1), 1, time.Unix(1, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := CheckRecord(b, objects.Sum([]byte("other"))); !errors.Is(err, objects.ErrCorrupt) {
		t.Errorf("a record under another name: %v", err)
	}
	none := []byte("{}")
	if _, err := CheckRecord(none, objects.Sum(none)); !errors.Is(err, ErrRecord) {
		t.Errorf("what is no record, under its name: %v", err)
	}
	for _, device := range []string{"", "x", strings.Repeat("A", 32)} {
		bad := r
		bad.Device = device
		b, err := bad.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeRecord(b); !errors.Is(err, ErrRecord) {
			t.Errorf("a record of the device %q: %v", device, err)
		}
	}
}

func TestRootHash(t *testing.T) {
	t.Parallel()
	ids := []objects.Hash{objects.Sum([]byte("a")), objects.Sum([]byte("b"))}
	if got, want := RootHash(ids), objects.Sum([]byte(ids[0].String()+"\n"+ids[1].String()+"\n")); got != want {
		t.Errorf("RootHash = %s, want %s", got, want)
	}
	if RootHash(ids) == RootHash(slices.Clone(ids)[:1]) || RootHash(nil) != objects.Sum(nil) {
		t.Error("sets with other records have the same hash")
	}
}

func FuzzDecodeRecord(f *testing.F) {
	d := Device{ID: strings.Repeat("a", 32)}
	_, b, _ := NewRecord("note", d, 3, time.Unix(1e9, 0), map[string]string{"a": "<b>"})
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(b)
		if err != nil {
			return
		}
		again, err := r.Encode()
		if err != nil || !bytes.Equal(again, b) || r.ID != objects.Sum(b) {
			t.Fatalf("%q decodes to something that encodes to %q, %v", b, again, err)
		}
	})
}
