package index

import "encoding/binary"

// A decoder reads the output of the append functions. After a malformed value it returns zeros and sets failed.
type decoder struct {
	b      []byte
	failed bool
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.failed, d.b = true, nil
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the length of a list. Each element takes at least one byte, so a larger number is malformed.
func (d *decoder) count() int {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.failed, d.b = true, nil
		return 0
	}
	return int(n)
}

// small reads a number of at most 2^40, so that sums of such numbers fit an int.
func (d *decoder) small() int {
	v := d.uint()
	if v > 1<<40 {
		d.failed = true
		return 0
	}
	return int(v)
}

func (d *decoder) int() int64 {
	v := d.uint()
	return int64(v>>1) ^ -int64(v&1)
}

func (d *decoder) bytes() []byte {
	return d.fixed(d.count())
}

func (d *decoder) string() string { return string(d.bytes()) }

func (d *decoder) fixed(n int) []byte {
	if n > len(d.b) {
		d.failed, d.b = true, nil
		return make([]byte, n)
	}
	s := d.b[:n]
	d.b = d.b[n:]
	return s
}

func appendUint(b []byte, v int) []byte { return binary.AppendUvarint(b, uint64(v)) }

func appendInt(b []byte, v int64) []byte {
	return binary.AppendUvarint(b, uint64(v<<1)^uint64(v>>63))
}

func appendString(b []byte, s string) []byte {
	return append(appendUint(b, len(s)), s...)
}

// appendDoc appends a document. Times are relative to base, the time of the first document of the block.
func appendDoc(b []byte, d Doc, base int64) []byte {
	b = append(appendUint(b, d.N), byte(d.Class), byte(d.Flags))
	b = appendUint(appendUint(appendUint(b, max(0, d.To-d.N)), max(0, d.N-d.Exchange)), d.Said)
	b = appendString(appendInt(b, d.Time-base), d.ID)
	b = appendString(appendString(b, d.Name), d.File)
	return appendString(appendString(b, d.Symbols), d.Text)
}

func (d *decoder) doc(base int64) Doc {
	var x Doc
	x.N = d.small()
	x.Class, x.Flags = Class(d.fixed(1)[0]), Flags(d.fixed(1)[0])
	x.To, x.Exchange, x.Said = x.N+d.small(), x.N-d.small(), d.small()
	x.Time, x.ID = base+d.int(), d.string()
	x.Name, x.File = d.string(), d.string()
	x.Symbols, x.Text = d.string(), d.string()
	x.Said = min(x.Said, len(x.Text))
	return x
}
