package lane

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/memvcs/mem/objects/gitstore"
)

// PublicKey returns the text form of a key in wire form.
func PublicKey(wire []byte) string { return "ssh-ed25519 " + base64.StdEncoding.EncodeToString(wire) }

// signedData returns the bytes that an SSHSIG signature of payload signs.
func signedData(payload []byte) []byte {
	sum := sha512.Sum512(payload)
	return append([]byte("SSHSIG"), sshStrings([]byte("git"), nil, []byte("sha512"), sum[:])...)
}

// VerifySignature checks an armored SSHSIG signature of payload against a public key in OpenSSH's format.
func VerifySignature(publicKey, signature string, payload []byte) error {
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
	if !bytes.Equal(fields[0], SSHKey(key)) {
		return errors.New("signed with another key than the device's")
	}
	if string(fields[1]) != "git" || string(fields[3]) != "sha512" || !ed25519.Verify(key, signedData(payload), sig[1]) {
		return errors.New("signature does not match")
	}
	return nil
}

// signatureFields parses an armored SSHSIG signature: key, namespace, reserved, hash, signature.
func signatureFields(signature string) ([][]byte, error) {
	text := strings.TrimSpace(signature)
	text, head := strings.CutPrefix(text, "-----BEGIN SSH SIGNATURE-----")
	text, foot := strings.CutSuffix(text, "-----END SSH SIGNATURE-----")
	if !head || !foot {
		return nil, errors.New("no SSH signature")
	}
	blob, err := base64.StdEncoding.DecodeString(strings.Join(strings.Fields(text), ""))
	if err != nil || len(blob) < 10 || string(blob[:6]) != "SSHSIG" {
		return nil, errors.New("malformed SSH signature")
	}
	return sshFields(blob[10:], 5)
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

// SSHKey returns the wire form of a public key.
func SSHKey(k ed25519.PublicKey) []byte { return sshStrings([]byte("ssh-ed25519"), k) }

// sshStrings returns fields in the wire form of RFC 4251: a 32-bit length and the bytes.
func sshStrings(fields ...[]byte) []byte {
	var b []byte
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, uint32(len(f)))
		b = append(b, f...)
	}
	return b
}

// sshFields parses n fields of sshStrings.
func sshFields(b []byte, n int) ([][]byte, error) {
	var out [][]byte
	for range n {
		if len(b) < 4 || uint64(binary.BigEndian.Uint32(b)) > uint64(len(b)-4) {
			return nil, errors.New("malformed SSH field")
		}
		l := binary.BigEndian.Uint32(b)
		out = append(out, b[4:4+l])
		b = b[4+l:]
	}
	return out, nil
}

// Fingerprint returns the fingerprint of a public key as ssh-keygen -l prints it, "" if the key is malformed.
func Fingerprint(publicKey string) string {
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(publicKey, "ssh-ed25519 "))
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(b)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Signer returns the public key named in a commit's signature, in OpenSSH's format. It does not verify the signature.
func Signer(c gitstore.Commit) (string, error) {
	fields, err := signatureFields(c.Signature)
	if err != nil {
		return "", err
	}
	return PublicKey(fields[0]), nil
}
