package story

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// An object is a JSON object whose members keep their order: name, value, name, value.
type object []any

// with returns o and the members more behind it.
func (o object) with(more ...any) object { return append(append(object{}, o...), more...) }

// MarshalJSON writes the members in order. A nil raw value leaves its member out.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i := 0; i < len(o); i += 2 {
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(encode(o[i]))
		b.WriteByte(':')
		b.Write(encode(o[i+1]))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode writes v as compact JSON without escapes for HTML, as the client does.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("story: a value has no JSON form: " + err.Error()) // all values are written in this package
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// digest returns the n-th of the bytes that stand for what is random in a real session.
func digest(seed string, n int) []byte {
	sum := sha256.Sum256(binary.BigEndian.AppendUint64([]byte(seed+"\x00"), uint64(n)))
	return sum[:]
}

// uuid returns the n-th name of that kind.
func uuid(seed string, n int) string {
	h := hex.EncodeToString(digest(seed, n)[:16])
	return h[:8] + "-" + h[8:12] + "-4" + h[13:16] + "-a" + h[17:20] + "-" + h[20:]
}

// ident returns the n-th name of that kind as the API writes it.
func ident(prefix, seed string, n int) string {
	const letters = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for _, c := range digest(prefix+seed, n)[:22] {
		b.WriteByte(letters[int(c)%len(letters)])
	}
	return prefix + "01" + b.String()
}

// noise returns base64 of about n bytes that do not compress: signatures, images.
func noise(seed string, n int) string {
	var b []byte
	for i := 0; len(b) < n; i++ {
		b = append(b, digest(seed, i)...)
	}
	return base64.StdEncoding.EncodeToString(b[:n])
}
