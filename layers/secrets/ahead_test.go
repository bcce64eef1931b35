package secrets_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/memvcs/mem/layers/redact"
	"github.com/memvcs/mem/layers/redact/scanner"
	"github.com/memvcs/mem/layers/secrets"
)

// transcriptWithSecrets returns lines of about n bytes in all; every 50th contains a password of its own.
func transcriptWithSecrets(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		text := strings.Repeat("the build is green again; ", 1+i%97)
		if i%50 == 7 {
			text += fmt.Sprintf("DB_PASSWORD=qZ7%06dxKw9Lm2Rt", i)
		}
		fmt.Fprintf(&b, `{"type":"user","uuid":"u%d","message":{"role":"user","content":"%s"}}`+"\n", i, text)
	}
	return b.String()
}

func rulesOf(t *testing.T) redact.Rules {
	t.Helper()
	rules, err := redact.New(scanner.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return rules
}

// TestAhead redacts with and without reading ahead: the bytes and the cuts are the same, whatever the reader returns.
func TestAhead(t *testing.T) {
	rules, text := rulesOf(t), transcriptWithSecrets(3<<20)
	long := text + `{"type":"user","message":"` + strings.Repeat("x y ", redact.Window/2) + "\"}\n"
	for name, in := range map[string]string{"lines": text, "long": long, "short": text[:1000], "empty": ""} {
		one := &secrets.Cleaner{R: strings.NewReader(in), Rules: rules}
		want, err := io.ReadAll(one)
		if err != nil {
			t.Fatal(err)
		}
		if name == "lines" && len(one.Cuts) == 0 {
			t.Fatal("no cuts")
		}
		c := &secrets.Cleaner{R: iotest.HalfReader(strings.NewReader(in)), Rules: rules}
		a := c.Ahead()
		got, err := io.ReadAll(a)
		a.Close()
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: other bytes, %v", name, err)
		}
		if !reflect.DeepEqual(c.Cuts, one.Cuts) || c.Pieces != one.Pieces {
			t.Errorf("%s: other cuts", name)
		}
	}
}

// TestAheadStops closes a reader early, and passes on the error of its input after the bytes before it.
func TestAheadStops(t *testing.T) {
	rules, text := rulesOf(t), transcriptWithSecrets(3<<20)
	for _, n := range []int{0, 1, 300 << 10, 2 << 20} {
		a := (&secrets.Cleaner{R: strings.NewReader(text), Rules: rules}).Ahead()
		if _, err := io.CopyN(io.Discard, a, int64(n)); err != nil {
			t.Fatal(err)
		}
		a.Close()
		a.Close()
	}
	bad := errors.New("the disk is gone")
	a := (&secrets.Cleaner{R: io.MultiReader(strings.NewReader(text), iotest.ErrReader(bad)), Rules: rules}).Ahead()
	defer a.Close()
	for range 2 {
		if _, err := io.Copy(io.Discard, a); !errors.Is(err, bad) {
			t.Errorf("error %v, want %v", err, bad)
		}
	}
}
