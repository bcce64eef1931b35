package state

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"sync"
	"time"
	"unsafe"
)

// form is the version of the encoding itself.
const form = 1000

// Encode returns v, a pointer, in the compact form of the cache: a version, a table of all texts, then the values. It
// contains the exported fields, but none with the tag cache:"-", or with json:"-" and no tag of the cache. The version is that of the fields and of
// how the values were computed: a file of another version is not read.
func Encode(version int, v any) []byte {
	c := &codec{index: map[string]uint64{}}
	c.value(reflect.ValueOf(v).Elem())
	out := binary.AppendUvarint(make([]byte, 0, 2*len(c.b)), form)
	out = binary.AppendUvarint(out, uint64(version))
	out = binary.AppendUvarint(out, uint64(len(c.table)))
	for _, w := range c.table {
		out = binary.AppendUvarint(out, uint64(len(w)))
	}
	for _, w := range c.table {
		out = append(out, w...)
	}
	return append(out, c.b...)
}

// Decode sets v, a pointer to a zero value, to what was encoded with the same version, and reports whether b was that.
// Otherwise v is not valid. Texts and byte slices in v share the memory of b, which must not change any more.
func Decode(b []byte, version int, v any) bool {
	c := &codec{in: b, reading: true}
	if uint64(len(b)) > math.MaxUint32 || c.uint(0) != form || c.uint(0) != uint64(version) { // offsets have 32 bits
		return false
	}
	c.ends = make([]uint32, c.count())
	total := 0
	for i := range c.ends {
		total += c.count()
		c.ends[i] = uint32(total)
	}
	text := c.take(total)
	c.text = unsafe.String(unsafe.SliceData(text), len(text))
	c.value(reflect.ValueOf(v).Elem())
	return !c.failed && len(c.in) == 0
}

// A codec encodes values, or decodes them in the same order. Malformed input sets failed and never allocates much more
// memory than the input has bytes.
type codec struct {
	b       []byte // encoded so far
	in      []byte // not decoded yet
	reading bool
	failed  bool
	table   []string          // texts, to encode
	index   map[string]uint64 // of the texts in table
	text    string            // all texts in order, to decode
	ends    []uint32          // of the texts in text
}

func (c *codec) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		n := uint64(0)
		if v.Bool() {
			n = 1
		}
		if n = c.uint(n); c.reading {
			v.SetBool(n == 1)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		if n := c.int(v.Int()); c.reading {
			c.failed = c.failed || v.OverflowInt(n)
			v.SetInt(n)
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if n := c.uint(v.Uint()); c.reading {
			c.failed = c.failed || v.OverflowUint(n)
			v.SetUint(n)
		}
	case reflect.Float64:
		if n := c.uint(math.Float64bits(v.Float())); c.reading {
			v.SetFloat(math.Float64frombits(n))
		}
	case reflect.String:
		if c.reading {
			v.SetString(c.readText())
		} else {
			c.writeText(v.String())
		}
	case reflect.Array:
		c.array(v)
	case reflect.Slice:
		c.slice(v)
	case reflect.Map:
		c.mapping(v)
	case reflect.Pointer:
		if c.reading {
			v.Set(reflect.New(v.Type().Elem()))
		}
		c.value(v.Elem())
	case reflect.Struct:
		if t, ok := v.Addr().Interface().(*time.Time); ok {
			c.time(t)
			return
		}
		for _, i := range fieldsOf(v.Type()) {
			c.value(v.Field(i))
		}
	default:
		panic(fmt.Sprintf("cache a value of the type %s", v.Type())) // found by the first test of the cache
	}
}

// fields are the encoded fields of structs, by type.
var fields sync.Map

func fieldsOf(t reflect.Type) []int {
	if x, ok := fields.Load(t); ok {
		return x.([]int)
	}
	var out []int
	for i := range t.NumField() {
		f := t.Field(i)
		tag := cmp.Or(f.Tag.Get("cache"), f.Tag.Get("json"))
		if f.IsExported() && tag != "-" {
			out = append(out, i)
		}
	}
	fields.Store(t, out)
	return out
}

func (c *codec) array(v reflect.Value) {
	if v.Type().Elem().Kind() != reflect.Uint8 {
		for i := range v.Len() {
			c.value(v.Index(i))
		}
		return
	}
	if b := v.Bytes(); c.reading {
		copy(b, c.take(len(b)))
	} else {
		c.b = append(c.b, b...)
	}
}

// slice codes a slice. A nil slice stays nil.
func (c *codec) slice(v reflect.Value) {
	n := 0
	switch {
	case c.reading:
		n = c.count()
	case !v.IsNil():
		n = v.Len() + 1
		fallthrough
	default:
		c.uint(uint64(n))
	}
	if n--; n < 0 {
		return
	}
	switch isBytes := v.Type().Elem().Kind() == reflect.Uint8; {
	case isBytes && c.reading:
		v.SetBytes(c.take(n))
	case isBytes:
		c.b = append(c.b, v.Bytes()...)
	case c.reading:
		v.Set(reflect.MakeSlice(v.Type(), 0, min(n, 1<<14)))
		for i := 0; i < n && !c.failed; i++ {
			v.Grow(1)
			v.SetLen(i + 1)
			c.value(v.Index(i))
		}
	default:
		for i := range n {
			c.value(v.Index(i))
		}
	}
}

// mapping codes a map in the order of its keys, which are texts or hashes. A nil map becomes an empty one.
func (c *codec) mapping(v reflect.Value) {
	t := v.Type()
	key, item := reflect.New(t.Key()).Elem(), reflect.New(t.Elem()).Elem()
	if c.reading {
		n := c.count()
		v.Set(reflect.MakeMapWithSize(t, min(n, 1<<14)))
		for i := 0; i < n && !c.failed; i++ {
			item.SetZero()
			c.value(key)
			c.value(item)
			v.SetMapIndex(key, item)
		}
		return
	}
	text := func(k reflect.Value) string {
		if key.Set(k); key.Kind() == reflect.String {
			return key.String()
		}
		return string(key.Bytes())
	}
	byText := make(map[string]reflect.Value, v.Len())
	for _, k := range v.MapKeys() {
		byText[text(k)] = k
	}
	c.uint(uint64(len(byText)))
	for _, name := range slices.Sorted(maps.Keys(byText)) {
		key.Set(byText[name])
		item.Set(v.MapIndex(key))
		c.value(key)
		c.value(item)
	}
}

// uint writes n, or returns the next number.
func (c *codec) uint(n uint64) uint64 {
	if !c.reading {
		c.b = binary.AppendUvarint(c.b, n)
		return n
	}
	n, size := binary.Uvarint(c.in)
	if size <= 0 {
		c.failed, c.in = true, nil
		return 0
	}
	c.in = c.in[size:]
	return n
}

// int is uint for a number with a sign. Small numbers take few bytes.
func (c *codec) int(n int64) int64 {
	u := c.uint(uint64(n<<1) ^ uint64(n>>63))
	return int64(u>>1) ^ -int64(u&1)
}

// count reads the number of elements that follow, at most one more than the bytes that are left.
func (c *codec) count() int {
	n := c.uint(0)
	if n > uint64(len(c.in))+1 {
		c.failed = true
		return 0
	}
	return int(n)
}

// take returns the next n bytes.
func (c *codec) take(n int) []byte {
	if n > len(c.in) {
		c.failed = true
		n = len(c.in)
	}
	out := c.in[:n:n]
	c.in = c.in[n:]
	return out
}

func (c *codec) writeText(s string) {
	n, ok := c.index[s]
	if !ok {
		n = uint64(len(c.table))
		c.index[s], c.table = n, append(c.table, s)
	}
	c.uint(n)
}

func (c *codec) readText() string {
	n := c.uint(0)
	if n >= uint64(len(c.ends)) || uint64(c.ends[n]) > uint64(len(c.text)) {
		c.failed = true
		return ""
	}
	from := uint32(0)
	if n > 0 {
		from = c.ends[n-1]
	}
	return c.text[from:c.ends[n]]
}

// time codes an instant and its offset from UTC, as JSON does.
func (c *codec) time(t *time.Time) {
	_, zone := t.Zone()
	sec, nsec, offset := c.int(t.Unix()), c.int(int64(t.Nanosecond())), c.int(int64(zone))
	if !c.reading {
		return
	}
	if *t = time.Unix(sec, nsec).UTC(); offset != 0 {
		*t = t.In(time.FixedZone("", int(offset)))
	}
}
