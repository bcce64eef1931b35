package lane

import (
	"bytes"
	"cmp"
	"crypto/ed25519"
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
	"unicode"

	"github.com/memvcs/mem/objects"
	"github.com/memvcs/mem/objects/pack"
	"github.com/memvcs/mem/refs/disk"
)

// A Device is one installation of mem. Only it writes and signs the lanes with its id.
type Device struct {
	ID   string // 32 random hexadecimal digits; never changes
	Name string // display name; may change
	seed []byte // of its ed25519 key
}

// Key returns the device's private key. The first call takes more than a millisecond, so only writers should call it.
func (d Device) Key() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(d.seed) }

// PublicKey returns the device's public key in the format of OpenSSH's authorized_keys and allowed_signers files.
func (d Device) PublicKey() string {
	return PublicKey(SSHKey(d.Key().Public().(ed25519.PublicKey)))
}

// Email identifies the device as author of commits and as principal of its signatures.
func (d Device) Email() string { return d.ID + "@mem.invalid" }

// MAC returns a short message authentication code of text, which only this device can compute.
func (d Device) MAC(text string) string {
	return objects.Sum(fmt.Appendf(nil, "mem seal 1\n%x\n%s", d.seed, text)).String()[:16]
}

// ValidDevice reports whether id has the form of a device id.
func ValidDevice(id string) bool { return len(id) == 32 && IsHex(id) }

// deviceJSON is the content of device.json. It contains the private key and is never pushed.
type deviceJSON struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	Seed []byte `json:"seed"` // of the ed25519 key, base64
}

// DecodeDevice reads device.json.
func DecodeDevice(b []byte) (Device, error) {
	if err := disk.CheckSum(b); err != nil {
		return Device{}, err
	}
	var j deviceJSON
	if err := json.Unmarshal(b, &j); err != nil || !ValidDevice(j.ID) || len(j.Seed) != ed25519.SeedSize {
		return Device{}, errors.New("it contains no valid device id and key")
	}
	return Device{j.ID, CleanName(j.Name), j.Seed}, nil
}

// EnsureDevice creates device.json unless it exists.
func EnsureDevice(dir, name string, rand io.Reader) error {
	file := filepath.Join(dir, DeviceFile)
	if _, err := os.Stat(file); err == nil {
		return nil
	} else if !errors.Is(err, os.ErrNotExist) {
		return err
	}
	d, err := NewDevice(name, rand)
	if err != nil {
		return fmt.Errorf("make device key: %w", err)
	}
	return d.Write(dir)
}

// NewDevice returns a device with a new id and key.
func NewDevice(name string, rand io.Reader) (Device, error) {
	random := make([]byte, 16+ed25519.SeedSize)
	if _, err := io.ReadFull(rand, random); err != nil {
		return Device{}, err
	}
	return Device{hex.EncodeToString(random[:16]), CleanName(name), random[16:]}, nil
}

// CleanName removes the characters that git does not allow in the name of an author, and space around it.
func CleanName(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune("<>\x7f", r) {
			return -1
		}
		return r
	}, s)
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(".,:;\"'\\", r) })
	return cmp.Or(s, "device")
}

// A DeviceError means that device.json is missing or damaged. The data of the store is intact; without a copy of the
// file the store can only continue as a new device.
type DeviceError struct {
	File    string
	Missing bool
	Err     error
}

func (e *DeviceError) Error() string {
	if e.Missing {
		return fmt.Sprintf("%s is missing: it contains this device's id and signing key", e.File)
	}
	return fmt.Sprintf("%s is broken: %v", e.File, e.Err)
}

// Unwrap returns the cause.
func (e *DeviceError) Unwrap() error { return e.Err }

// ReadDevice reads device.json of the store in dir. It returns a [*DeviceError] if the file is missing or damaged.
func ReadDevice(dir string) (Device, error) {
	file := filepath.Join(dir, DeviceFile)
	b, err := pack.ReadFile(file)
	if errors.Is(err, os.ErrNotExist) {
		return Device{}, &DeviceError{file, true, err}
	}
	if err != nil {
		return Device{}, fmt.Errorf("read device: %w", err)
	}
	d, err := DecodeDevice(b)
	if err != nil {
		return Device{}, &DeviceError{file, false, err}
	}
	return d, nil
}

// Sign returns git's SSH signature of payload: an armored SSHSIG blob in the namespace "git"
// (OpenSSH, PROTOCOL.sshsig).
func (d Device) Sign(payload []byte) string {
	key := d.Key()
	var blob bytes.Buffer
	blob.WriteString("SSHSIG")
	blob.Write(binary.BigEndian.AppendUint32(nil, 1))
	for _, field := range [][]byte{
		SSHKey(key.Public().(ed25519.PublicKey)), []byte("git"), nil, []byte("sha512"),
		sshStrings([]byte("ssh-ed25519"), ed25519.Sign(key, signedData(payload))),
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

// Write makes d the device of the store in dir.
func (d Device) Write(dir string) error {
	b, err := json.MarshalIndent(deviceJSON{d.ID, d.Name, d.seed}, "", "  ")
	if err != nil {
		return err
	}
	return disk.WriteFile(filepath.Join(dir, DeviceFile), disk.WithSum(append(b, '\n')))
}

// DeviceFile is the name of the file with the device's id and key.
const DeviceFile = "device.json"
