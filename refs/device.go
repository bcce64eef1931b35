package refs

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// A Device is one installation of mem. It alone writes and signs the lanes that bear its id.
type Device struct {
	ID   string // 32 hexadecimal digits, random, the same for ever
	Name string // for people; may change
	seed []byte // of its ed25519 key
}

// key returns the device's key. Deriving it takes more than a millisecond the first time, which only
// those who write should pay.
func (d Device) key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(d.seed) }

// PublicKey returns the key that checks the device's signatures, in the format of OpenSSH's
// authorized_keys and allowed_signers files.
func (d Device) PublicKey() string {
	return publicKey(sshKey(d.key().Public().(ed25519.PublicKey)))
}

// publicKey returns the text of a key in wire form.
func publicKey(wire []byte) string { return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(wire) }

// email identifies the device as author of commits and as principal of its signatures.
func (d Device) email() string { return d.ID + "@mem.invalid" }

// Seal returns a short key for a text that only this device can make: the same for the same text.
func (r *Repo) Seal(text string) string {
	return objects.Sum(fmt.Appendf(nil, "mem seal 1\n%x\n%s", r.device.seed, text)).String()[:16]
}

func validDevice(id string) bool { return len(id) == 32 && isHex(id) }

// deviceJSON is the file device.json. It holds the secret key and never travels.
type deviceJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Seed []byte `json:"seed"` // of the ed25519 key, base64
}

// decodeDevice reads device.json.
func decodeDevice(b []byte) (Device, error) {
	if err := disk.CheckSum(b); err != nil {
		return Device{}, err
	}
	var j map[string]any // a struct would be looked at by reflection first, and every command reads this file
	if err := json.Unmarshal(b, &j); err != nil {
		return Device{}, err
	}
	text := func(key string) string { s, _ := j[key].(string); return s }
	seed, err := base64.StdEncoding.DecodeString(text("seed"))
	if err != nil || !validDevice(text("id")) || len(seed) != ed25519.SeedSize {
		return Device{}, errors.New("no valid device id and key in it")
	}
	return Device{text("id"), cleanName(text("name")), seed}, nil
}

// ensureDevice makes device.json unless it is there.
func ensureDevice(dir, name string, rand io.Reader) error {
	file := filepath.Join(dir, deviceFile)
	if _, err := os.Stat(file); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	random := make([]byte, 16+ed25519.SeedSize)
	if _, err := io.ReadFull(rand, random); err != nil {
		return fmt.Errorf("make device key: %w", err)
	}
	return Device{hex.EncodeToString(random[:16]), cleanName(name), random[16:]}.write(dir)
}

// cleanName keeps of a host name what git allows in the name of an author.
func cleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("<>\x7f", r) {
			return -1
		}
		return r
	}, s)
	if s = strings.Trim(s, " .,:;\"'\\"); s == "" {
		return "device"
	}
	return s
}

// A DeviceError says that a store does not know which device it is on: device.json is missing or broken. Everything
// that was stored is there; who has no copy of the file can only go on as a new device.
type DeviceError struct {
	File    string
	Missing bool
	Err     error
}

func (e *DeviceError) Error() string {
	if e.Missing {
		return fmt.Sprintf("%s is missing: it holds this device's id and signing key", e.File)
	}
	return fmt.Sprintf("%s is broken: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

func readDevice(dir string) (Device, error) {
	file := filepath.Join(dir, deviceFile)
	b, err := pack.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return Device{}, &DeviceError{file, true, err}
	}
	if err != nil {
		return Device{}, fmt.Errorf("read device: %w", err)
	}
	d, err := decodeDevice(b)
	if err != nil {
		return Device{}, &DeviceError{file, false, err}
	}
	return d, nil
}

// sign returns git's SSH signature of payload: an armored SSHSIG blob in the namespace "git"
// (OpenSSH, PROTOCOL.sshsig).
func (d Device) sign(payload []byte) string {
	key := d.key()
	var blob bytes.Buffer
	blob.WriteString("SSHSIG")
	blob.Write(binary.BigEndian.AppendUint32(nil, 1))
	for _, field := range [][]byte{
		sshKey(key.Public().(ed25519.PublicKey)), []byte("git"), nil, []byte("sha512"),
		sshStrings([]byte("ssh-ed25519"), ed25519.Sign(key, signed(payload))),
	} {
		blob.Write(sshStrings(field))
	}
	text := base64.StdEncoding.EncodeToString(blob.Bytes())
	var sb strings.Builder
	sb.WriteString("-----BEGIN SSH SIGNATURE-----\n")
	for len(text) > 70 {
		sb.WriteString(text[:70] + "\n")
		text = text[70:]
	}
	sb.WriteString(text + "\n-----END SSH SIGNATURE-----\n")
	return sb.String()
}

// signed returns what an SSHSIG signature of payload really signs.
func signed(payload []byte) []byte {
	sum := sha512.Sum512(payload)
	return append([]byte("SSHSIG"), sshStrings([]byte("git"), nil, []byte("sha512"), sum[:])...)
}

// verifySignature checks an armored SSHSIG signature of payload against a public key in OpenSSH's format.
func verifySignature(publicKey, signature string, payload []byte) error {
	key, err := parsePublicKey(publicKey)
	if err != nil {
		return err
	}
	fields, err := signatureFields(signature)
	if err != nil {
		return err
	}
	sig, err := sshFields(fields[4], 2)
	if err != nil {
		return err
	}
	if !bytes.Equal(fields[0], sshKey(key)) {
		return errors.New("signed with another key than the device's")
	}
	if string(fields[1]) != "git" || string(fields[3]) != "sha512" || !ed25519.Verify(key, signed(payload), sig[1]) {
		return errors.New("signature does not match")
	}
	return nil
}

// signatureFields takes an armored SSHSIG signature apart: key, namespace, reserved, hash, signature.
func signatureFields(signature string) ([][]byte, error) {
	text := strings.TrimSpace(signature)
	text, head := strings.CutPrefix(text, "-----BEGIN SSH SIGNATURE-----")
	text, foot := strings.CutSuffix(text, "-----END SSH SIGNATURE-----")
	if !head || !foot {
		return nil, errors.New("no SSH signature")
	}
	blob, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(blob) < 10 || string(blob[:6]) != "SSHSIG" {
		return nil, errors.New("garbled SSH signature")
	}
	return sshFields(blob[10:], 5)
}

// signatureKey returns the key, in wire form, that a signature says it was made with.
func signatureKey(signature string) ([]byte, error) {
	fields, err := signatureFields(signature)
	if err != nil {
		return nil, err
	}
	return fields[0], nil
}

func parsePublicKey(s string) (ed25519.PublicKey, error) {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(s, "ssh-ed25519 "))
	if err != nil {
		return nil, fmt.Errorf("public key: %w", err)
	}
	f, err := sshFields(b, 2)
	if err != nil || len(f[1]) != ed25519.PublicKeySize {
		return nil, errors.New("public key: not an ed25519 key")
	}
	return f[1], nil
}

// sshKey returns the wire form of a public key.
func sshKey(k ed25519.PublicKey) []byte { return sshStrings([]byte("ssh-ed25519"), k) }

// sshStrings returns fields in the wire form of RFC 4251: a 32-bit length and the bytes.
func sshStrings(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// sshFields reads n fields that sshStrings wrote.
func sshFields(b []byte, n int) ([][]byte, error) {
	var out [][]byte
	for range n {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("garbled SSH field")
		}
		l := binary.BigEndian.Uint32(b)
		out = append(out, b[4:4+l])
		b = b[4+l:]
	}
	return out, nil
}

// Fingerprint returns what people compare a public key by, as ssh-keygen -l prints it.
func Fingerprint(publicKey string) string {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "ssh-ed25519 "))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// RenameDevice gives this device another name, which its commits bear from now on.
func (r *Repo) RenameDevice(ctx context.Context, name string) error {
	unlock, err := disk.Lock(ctx, filepath.Join(r.dir, "init.lock"), r.opts.LockTimeout)
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	defer unlock()
	d, err := readDevice(r.dir) // another process may have made it a new one
	if err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	d.Name = cleanName(name)
	if err := d.write(r.dir); err != nil {
		return fmt.Errorf("rename device: %w", err)
	}
	r.device = d
	return nil
}

// write makes d the device of the store in dir.
func (d Device) write(dir string) error {
	b, err := json.MarshalIndent(deviceJSON{d.ID, d.Name, d.seed}, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, deviceFile), disk.WithSum(append(b, '\n')))
}
