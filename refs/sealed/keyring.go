package sealed

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"filippo.io/age"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/refs/lane"
)

// keyringFormat is the version of the keyring format.
const keyringFormat = "mem keyring 1"

const (
	// recipientPad rounds up the number of recipients of a keyring with random keys, to hide the number of members.
	recipientPad = 8
	// keyringPad rounds up the size of a keyring.
	keyringPad = 8 << 10
	// maxKeyring is the maximum size of a keyring.
	maxKeyring = 4 << 20
	// nameSecretSize is the length in bytes of the secret for branch names.
	nameSecretSize = 32
)

// A Member is a recipient of a keyring.
type Member struct {
	Key      string `json:"key"`              // public key of age
	Device   string `json:"device,omitempty"` // device id
	Name     string `json:"name,omitempty"`   // display name
	Recovery bool   `json:"paper,omitempty"`  // the recovery key
}

// A Keyring contains the keys of an encrypted remote. It is immutable: methods that change it return a new one.
type Keyring struct {
	Format    string   `json:"format"`
	Number    int      `json:"number"` // increases by one with each change
	Names     string   `json:"names"`  // the secret for branch names
	Originals bool     `json:"originals,omitempty"`
	Members   []Member `json:"members"`
	Epochs    []string `json:"epochs"` // secret keys of age; the last one is in use
}

// newKeyring creates the first keyring of a remote and a recovery key, which is a member.
func newKeyring(first Member, originals bool, rand io.Reader) (k Keyring, recovery string, err error) {
	names := make([]byte, nameSecretSize)
	if _, err := io.ReadFull(rand, names); err != nil {
		return k, "", err
	}
	paper, err := age.GenerateX25519Identity()
	if err != nil {
		return k, "", err
	}
	k = Keyring{Format: keyringFormat, Names: hex.EncodeToString(names), Originals: originals,
		Members: []Member{first, {Key: paper.Recipient().String(), Recovery: true, Name: "recovery key"}}}
	k, err = k.rotate()
	return k, paper.String(), err
}

// rotate returns the next keyring, with a new epoch.
func (k Keyring) rotate() (Keyring, error) {
	id, err := age.GenerateX25519Identity()
	if err != nil {
		return k, err
	}
	k.Number++
	k.Epochs = append(slices.Clone(k.Epochs), id.String())
	return k, nil
}

// with returns the next keyring with the new or updated member m.
func (k Keyring) with(m Member) Keyring {
	i := slices.IndexFunc(k.Members, func(o Member) bool { return o.Key == m.Key })
	if i >= 0 && k.Members[i] == m {
		return k
	}
	k.Number++
	k.Members = slices.Clone(k.Members)
	if i >= 0 {
		k.Members[i] = m
		return k
	}
	k.Members = append(k.Members, m)
	return k
}

// without returns the next keyring without the members for which remove returns true, with a new epoch. If there are
// none, it returns k.
func (k Keyring) without(remove func(Member) bool) (Keyring, error) {
	if !slices.ContainsFunc(k.Members, remove) {
		return k, nil
	}
	k.Members = slices.DeleteFunc(slices.Clone(k.Members), remove)
	return k.rotate()
}

// branch returns the branch name of a lane. Only members can compute it.
func (k Keyring) branch(lane string) string {
	return "refs/heads/" + objects.Sum(fmt.Appendf(nil, "mem branch 1\n%s\n%s", k.Names, lane)).String()[:32]
}

// checkSuccessor returns an error unless k is a valid successor of was, the last keyring seen on the remote. The
// author of k must have known the newest epoch.
func (k Keyring) checkSuccessor(was Keyring) error {
	switch {
	case was.Number == 0:
		return nil
	case k.Names != was.Names || len(k.Epochs) < len(was.Epochs) && k.Number >= was.Number:
		return fmt.Errorf("it belongs to another remote: %w", ErrKeyring)
	case k.Number < was.Number:
		return fmt.Errorf("its number is %d, after %d: the remote was rolled back: %w", k.Number, was.Number, ErrKeyring)
	case !slices.Equal(k.Epochs[:len(was.Epochs)], was.Epochs):
		return fmt.Errorf("its author was not a member: %w", ErrKeyring)
	case k.Number == was.Number && !k.equal(was):
		return fmt.Errorf("another keyring has the number %d too: %w", k.Number, ErrKeyring)
	}
	return nil
}

func (k Keyring) equal(o Keyring) bool {
	return k.Number == o.Number && k.Originals == o.Originals && slices.Equal(k.Members, o.Members) &&
		slices.Equal(k.Epochs, o.Epochs)
}

// check validates the fields of a keyring.
func (k Keyring) check() error {
	bad := func(what string) error { return fmt.Errorf("keyring: %s: %w", what, ErrKeyring) }
	if k.Format != keyringFormat {
		return bad(fmt.Sprintf("format %.40q, perhaps of a newer mem", k.Format))
	}
	if names, err := hex.DecodeString(k.Names); err != nil || len(names) != nameSecretSize {
		return bad("names")
	}
	if k.Number < 1 || len(k.Epochs) == 0 || len(k.Epochs) > k.Number || len(k.Members) == 0 {
		return bad("numbers")
	}
	for _, m := range k.Members {
		if _, err := age.ParseX25519Recipient(m.Key); err != nil {
			return bad("the key of a member")
		}
	}
	for _, e := range k.Epochs {
		if _, err := age.ParseX25519Identity(e); err != nil {
			return bad("the key of an epoch")
		}
	}
	return nil
}

// identities returns the keys of all epochs, newest first.
func (k Keyring) identities() ([]age.Identity, error) {
	var out []age.Identity
	for _, e := range slices.Backward(k.Epochs) {
		id, err := age.ParseX25519Identity(e)
		if err != nil {
			return nil, err
		}
		out = append(out, id)
	}
	return out, nil
}

// epoch returns the recipient for new segments.
func (k Keyring) epoch() (age.Recipient, error) {
	id, err := age.ParseX25519Identity(k.Epochs[len(k.Epochs)-1])
	if err != nil {
		return nil, err
	}
	return id.Recipient(), nil
}

// seal encrypts a keyring to its members.
func (k Keyring) seal() ([]byte, error) {
	var to []age.Recipient
	for _, m := range k.Members {
		r, err := age.ParseX25519Recipient(m.Key)
		if err != nil {
			return nil, err
		}
		to = append(to, r)
	}
	for len(to)%recipientPad != 0 {
		unused, err := age.GenerateX25519Identity()
		if err != nil {
			return nil, err
		}
		to = append(to, unused.Recipient())
	}
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	text = append(text, bytes.Repeat([]byte("\n"), roundUp(len(text)+1, keyringPad)-len(text))...)
	var out bytes.Buffer
	w, err := age.Encrypt(&out, to...)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return out.Bytes(), err
}

func roundUp(n, to int) int { return (n + to - 1) / to * to }

// openKeyring decrypts a keyring. The error wraps [ErrNoKey] if none of the keys fits.
func openKeyring(b []byte, keys []string) (k Keyring, err error) {
	var ids []age.Identity
	for _, key := range keys {
		id, err := age.ParseX25519Identity(key)
		if err != nil {
			return k, fmt.Errorf("a key of this device: %w", err)
		}
		ids = append(ids, id)
	}
	if len(ids) == 0 {
		return k, ErrNoKey
	}
	r, err := age.Decrypt(bytes.NewReader(b), ids...)
	var none *age.NoIdentityMatchError
	if errors.As(err, &none) {
		return k, ErrNoKey
	}
	if err != nil {
		return k, fmt.Errorf("keyring: %w: %w", ErrTampered, err)
	}
	text, err := io.ReadAll(io.LimitReader(r, maxKeyring))
	if err != nil {
		return k, fmt.Errorf("keyring: %w: %w", ErrTampered, err)
	}
	return parseKeyring(text)
}

// parseKeyring reads the text of a keyring.
func parseKeyring(text []byte) (k Keyring, err error) {
	if err := json.Unmarshal(text, &k); err != nil {
		return Keyring{}, fmt.Errorf("keyring: %w: %w", ErrKeyring, err)
	}
	return k, k.check()
}

// ParseRecovery parses a typed recovery key. It ignores case, spaces, newlines, and lines that begin with "#".
func ParseRecovery(s string) (string, error) {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		b.WriteString(strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) {
				return -1
			}
			return unicode.ToUpper(r)
		}, line))
	}
	id, err := age.ParseX25519Identity(b.String())
	if err != nil {
		return "", ErrRecovery // age's error would repeat the key
	}
	return id.String(), nil
}

// A Request is the text with which a new device asks a member for access.
type Request struct {
	Key    string
	Device string
}

// String returns a request as one word.
func (r Request) String() string { return r.Key + "@" + r.Device }

// ParseRequest parses the text of [Request.String].
func ParseRequest(s string) (Request, error) {
	key, device, _ := strings.Cut(strings.TrimSpace(s), "@")
	if _, err := age.ParseX25519Recipient(key); err != nil {
		return Request{}, errors.New("not a request: want age1...@...")
	}
	if !lane.ValidDevice(device) {
		return Request{}, errors.New("no device id: want age1...@ and 32 hexadecimal digits")
	}
	return Request{key, device}, nil
}
