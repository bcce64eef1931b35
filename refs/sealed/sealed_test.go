package sealed

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/memvcs/mem/objects/gitstore"
)

func newKey(t testing.TB) *age.X25519Identity {
	t.Helper()
	id, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func testKeyring(t testing.TB) (k Keyring, own, recovery string) {
	t.Helper()
	id := newKey(t)
	k, recovery, err := newKeyring(Member{Key: id.Recipient().String(), Device: strings.Repeat("ab", 16), Name: "laptop"}, false, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k, id.String(), recovery
}

func mustTurn(t testing.TB, k Keyring, err error) Keyring {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// TestPadded checks that padding never cuts, never costs much, and leaves few sizes.
func TestPadded(t *testing.T) {
	t.Parallel()
	sizes := map[int64]bool{}
	for n := int64(0); n < 1<<40; n += 1 + n/1000 {
		p := paddedSize(n)
		sizes[p] = true
		switch {
		case p < n || p < minSegment:
			t.Fatalf("padded(%d) = %d", n, p)
		case n > minSegment && n <= maxPowerOfTwo && p >= 2*n:
			t.Fatalf("padded(%d) = %d, want less than twice", n, p)
		case n > maxPowerOfTwo && p > n+n*12/100:
			t.Fatalf("padded(%d) = %d, want at most 12 %% more", n, p)
		case paddedSize(p) != p:
			t.Fatalf("padded(%d) = %d, padded again %d", n, p, paddedSize(p))
		}
	}
	if len(sizes) > 1000 {
		t.Errorf("%d sizes up to 1 TiB, want few", len(sizes))
	}
	if paddedSize(1<<40) != 1<<40 {
		t.Errorf("padded(1 TiB) = %d", paddedSize(1<<40))
	}
}

func TestKeyring(t *testing.T) {
	t.Parallel()
	k, own, recovery := testKeyring(t)
	b, err := k.seal()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(b, []byte("laptop")) || bytes.Count(b, []byte("-> X25519 ")) != recipientPad {
		t.Errorf("a sealed keyring: %q", b[:400])
	}
	for _, key := range []string{own, recovery} {
		got, err := openKeyring(b, []string{newKey(t).String(), key})
		if err != nil || !got.equal(k) || got.Names != k.Names {
			t.Errorf("opened: %+v, %v", got, err)
		}
	}
	if _, err := openKeyring(b, []string{newKey(t).String()}); !errors.Is(err, ErrNoKey) {
		t.Errorf("opened by a stranger: %v", err)
	}
	if _, err := openKeyring(b, nil); !errors.Is(err, ErrNoKey) {
		t.Errorf("opened without a key: %v", err)
	}
	for i := 0; i < len(b); i += 1 + len(b)/97 {
		bad := bytes.Clone(b)
		bad[i] ^= 4
		if got, err := openKeyring(bad, []string{own}); err == nil && !got.equal(k) {
			t.Errorf("byte %d flipped: %+v", i, got)
		}
	}
	if _, err := openKeyring(b[:len(b)-30], []string{own}); !errors.Is(err, ErrTampered) {
		t.Errorf("cut off: %v", err)
	}
	more := k
	for range 20 {
		more = more.with(Member{Key: newKey(t).Recipient().String(), Name: "x"})
	}
	sealedMore, err := more.seal()
	if err != nil || bytes.Count(sealedMore, []byte("-> X25519 "))%recipientPad != 0 {
		t.Errorf("22 members: %v", err)
	}
}

// TestFollows checks which keyring may follow which.
func TestFollows(t *testing.T) {
	t.Parallel()
	first, _, _ := testKeyring(t)
	desk := Member{Key: newKey(t).Recipient().String(), Device: strings.Repeat("cd", 16)}
	second := first.with(desk)
	turned, err := second.without(func(m Member) bool { return m.Key == desk.Key })
	third := mustTurn(t, turned, err)
	turned, err = second.rotate() // by desk, which does not know what third knows
	forged := mustTurn(t, turned, err)
	forged.Number = 9
	other, _, _ := testKeyring(t)
	fork := second
	fork.Members = fork.Members[:1]
	for _, test := range []struct {
		name     string
		was, now Keyring
		ok       bool
	}{
		{"the first", Keyring{}, first, true},
		{"the same", second, second, true},
		{"a member more", first, second, true},
		{"two changes at once", first, third, true},
		{"rolled back", third, second, false},
		{"who was revoked", third, forged, false},
		{"another remote", first, other, false},
		{"two of a number", second, fork, false},
	} {
		if err := test.now.checkSuccessor(test.was); (err == nil) != test.ok || err != nil && !errors.Is(err, ErrKeyring) {
			t.Errorf("%s: %v, want ok %v", test.name, err, test.ok)
		}
	}
	if slices.Contains(third.Epochs, forged.Epochs[1]) || len(third.Epochs) != 2 || len(third.Members) != 2 {
		t.Errorf("after a member left: %d epochs, %d members", len(third.Epochs), len(third.Members))
	}
	if first.branch("a") == first.branch("b") || first.branch("a") != third.branch("a") || first.branch("a") == other.branch("a") {
		t.Error("names of branches are not those of lanes")
	}
	if !isBranch(first.branch("a")) || isBranch("refs/heads/main") || isBranch("refs/heads/") || isBranch("x") || isBranch(keysRef) {
		t.Error("isBranch")
	}
	if !IsEncrypted([]gitstore.Ref{{Name: keysRef}}) || IsEncrypted([]gitstore.Ref{{Name: "refs/heads/main"}}) {
		t.Error("Is")
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	key := newKey(t)
	typed := "# recovery key\n " + strings.ToLower(key.String()[:30]) + " \n" + key.String()[30:50] + "  " + key.String()[50:] + "\n"
	if got, err := ParseRecovery(typed); got != key.String() || err != nil {
		t.Errorf("ParseRecovery(%q) = %q, %v", typed, got, err)
	}
	for _, bad := range []string{"", "x", key.Recipient().String(), key.String()[:73], key.String() + "A", strings.Replace(key.String(), "1", "I", 1)} {
		if _, err := ParseRecovery(bad); !errors.Is(err, ErrRecovery) {
			t.Errorf("ParseRecovery(%q): %v", bad, err)
		} else if bad != "" && strings.Contains(err.Error(), bad) {
			t.Errorf("the error repeats what was typed: %v", err)
		}
	}
	r := Request{key.Recipient().String(), strings.Repeat("0f", 16)}
	if got, err := ParseRequest(" " + r.String() + "\n"); got != r || err != nil {
		t.Errorf("ParseRequest = %+v, %v", got, err)
	}
	for _, bad := range []string{"", r.Key, r.Key + "@", "@" + r.Device, r.Key + "@0f",
		r.Key + "@" + strings.ToUpper(r.Device), key.String() + "@" + r.Device} {
		if _, err := ParseRequest(bad); err == nil {
			t.Errorf("ParseRequest(%q) is no error", bad)
		}
	}
}

func sealSegment(t testing.TB, h head, content []byte, to age.Recipient) []byte {
	t.Helper()
	var b bytes.Buffer
	h.Pack = int64(len(content))
	if err := h.seal(&b, to, func(w io.Writer) error { _, err := w.Write(content); return err }); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var testTip = strings.Repeat("12", 20)

func TestSegment(t *testing.T) {
	t.Parallel()
	old, epoch := newKey(t), newKey(t)
	for _, n := range []int{0, 1, minSegment - 1, minSegment, 100_000, 3 << 20} {
		content := bytes.Repeat([]byte{'x'}, n)
		b := sealSegment(t, head{Lane: "l", Tip: testTip}, content, epoch.Recipient())
		h, in, err := openSegment(bytes.NewReader(b), []age.Identity{old, epoch})
		if err != nil {
			t.Fatal(err)
		}
		var got []byte
		if err := h.readPack(in, func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err }); err != nil || !bytes.Equal(got, content) {
			t.Errorf("%d bytes: %d back, %v", n, len(got), err)
		}
		if h.Lane != "l" || h.Tip != testTip {
			t.Errorf("head %+v", h)
		}
		for _, cut := range []int{0, 10, len(b) / 2, len(b) - 1} {
			if err := readAll(b[:cut], epoch); !errors.Is(err, ErrTampered) {
				t.Errorf("%d bytes cut to %d: %v", len(b), cut, err)
			}
		}
		bad := bytes.Clone(b)
		bad[len(b)-20] ^= 1
		if err := readAll(bad, epoch); !errors.Is(err, ErrTampered) {
			t.Errorf("a bit flipped: %v", err)
		}
	}
	b := sealSegment(t, head{Lane: "l", Tip: testTip}, nil, epoch.Recipient())
	if err := readAll(b, old); !errors.Is(err, ErrTampered) {
		t.Errorf("opened with another epoch: %v", err)
	}
}

func readAll(b []byte, key age.Identity) error {
	h, in, err := openSegment(bytes.NewReader(b), []age.Identity{key})
	if err != nil {
		return err
	}
	return h.readPack(in, func(r io.Reader) error { _, err := io.Copy(io.Discard, r); return err })
}

// TestSegmentHead reads heads that no member writes.
func TestSegmentHead(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "{}", strings.Repeat("x", maxHead+1), "{}\n", "x\n",
		`{"format":"mem segment 1","tip":"x"}` + "\n"} {
		_, err := readHead(bufio.NewReader(strings.NewReader(s)))
		if !errors.Is(err, ErrTampered) || strings.Contains(err.Error(), "%!") {
			t.Errorf("readHead(%.40q): %v, want ErrTampered", s, err)
		}
	}
}

// FuzzSegment feeds what a member could have encrypted to the reader of segments.
func FuzzSegment(f *testing.F) {
	f.Add([]byte(`{"format":"mem segment 1","lane":"l","tip":"` + testTip + `","pack":3}` + "\nabc\x00\x00"))
	f.Add([]byte(`{"format":"mem segment 1","lane":"l","tip":"` + testTip + `","pack":3}` + "\nabcd"))
	f.Add([]byte(`{"format":"mem segment 1","tip":"` + testTip + `","pack":-1}` + "\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bufio.NewReader(bytes.NewReader(b))
		h, err := readHead(in)
		if err != nil {
			return
		}
		var got []byte
		err = h.readPack(in, func(r io.Reader) (err error) { got, err = io.ReadAll(r); return err })
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(b, []byte("\n"))
		if !bytes.HasPrefix(rest, got) || int64(len(got)) != h.Pack || len(bytes.Trim(rest[len(got):], "\x00")) != 0 {
			t.Errorf("%q gives %q", b, got)
		}
	})
}

// FuzzKeyring feeds what a member could have encrypted to the reader of keyrings. What it takes can be sealed again.
func FuzzKeyring(f *testing.F) {
	k, _, _ := testKeyring(f)
	first, err := k.seal()
	if err != nil {
		f.Fatal(err)
	}
	f.Add([]byte(`{"format":"mem keyring 1","number":1,"names":"` + k.Names + `","members":[{"key":"` + k.Members[0].Key + `"}],"epochs":["` + k.Epochs[0] + `"]}`))
	f.Add(first)
	f.Add([]byte("{}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := parseKeyring(b)
		if err != nil {
			return
		}
		if _, err := got.seal(); err != nil {
			t.Errorf("seal again: %v", err)
		}
		if _, err := got.epoch(); err != nil {
			t.Errorf("epoch: %v", err)
		}
		if err := got.checkSuccessor(k); err == nil && !slices.Equal(got.Epochs[:1], k.Epochs) {
			t.Errorf("%+v follows", got)
		}
	})
}
