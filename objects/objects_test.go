package objects_test

import (
	"testing"

	"github.com/memvcs/mem/objects"
)

// The vectors are those of the BLAKE3 specification's test_vectors.json (first 32 bytes of "hash").
func TestSumVectors(t *testing.T) {
	for n, want := range map[int]string{
		0:    "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
		1:    "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213",
		1024: "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7",
	} {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(i % 251)
		}
		if got := objects.Sum(b).String(); got != want {
			t.Errorf("Sum(%d bytes) = %s, want %s", n, got, want)
		}
	}
}

func TestParseHash(t *testing.T) {
	h := objects.Sum([]byte("x"))
	got, err := objects.ParseHash(h.String())
	if err != nil || got != h {
		t.Errorf("ParseHash(%s) = %s, %v", h, got, err)
	}
	for _, bad := range []string{"", "ab", h.String() + "0", "z" + h.String()[1:]} {
		if _, err := objects.ParseHash(bad); err == nil {
			t.Errorf("ParseHash(%q) gave no error", bad)
		}
	}
}
