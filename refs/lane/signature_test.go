package lane

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/memvcs/mem/objects/gitstore"
)

func TestSignature(t *testing.T) {
	t.Parallel()
	d, other := testDevice(t, 1), testDevice(t, 2)
	payload := []byte("tree 1\n")
	good := d.Sign(payload)
	if err := VerifySignature(d.PublicKey(), good, payload); err != nil {
		t.Fatalf("a signature of the device: %v", err)
	}
	if key, err := Signer(gitstore.Commit{Signature: good}); err != nil || key != d.PublicKey() {
		t.Errorf("Signer = %s, %v; want %s", key, err, d.PublicKey())
	}
	for what, c := range map[string]struct {
		key, signature string
		payload        []byte
	}{
		"another payload":        {d.PublicKey(), good, []byte("tree 2\n")},
		"another key":            {other.PublicKey(), good, payload},
		"signed by another":      {d.PublicKey(), other.Sign(payload), payload},
		"no key":                 {"", good, payload},
		"a key that is not text": {"ssh-ed25519 !", good, payload},
		"a key of another kind":  {PublicKey(sshStrings([]byte("ssh-ed25519"), []byte("short"))), good, payload},
		"no signature":           {d.PublicKey(), "", payload},
		"no end":                 {d.PublicKey(), strings.Replace(good, "END", "FIN", 1), payload},
		"not base64":             {d.PublicKey(), strings.Replace(good, "U1NIU0lH", "!1NIU0lH", 1), payload},
		"another namespace":      {d.PublicKey(), changeField(t, good, 1, "file"), payload},
		"another hash":           {d.PublicKey(), changeField(t, good, 3, "sha256"), payload},
		"an empty signature":     {d.PublicKey(), changeField(t, good, 4, ""), payload},
		"the key of another":     {d.PublicKey(), changeField(t, good, 0, wireKey(t, other)), payload},
	} {
		if err := VerifySignature(c.key, c.signature, c.payload); err == nil {
			t.Errorf("%s: the signature is accepted", what)
		}
	}
}

// changeField replaces a field of an armored signature: key, namespace, reserved, hash, signature.
func changeField(t *testing.T, signature string, i int, value string) string {
	t.Helper()
	fields, err := signatureFields(signature)
	if err != nil {
		t.Fatal(err)
	}
	fields[i] = []byte(value)
	blob := append([]byte("SSHSIG\x00\x00\x00\x01"), sshStrings(fields...)...)
	return "-----BEGIN SSH SIGNATURE-----\n" + base64.StdEncoding.EncodeToString(blob) + "\n-----END SSH SIGNATURE-----\n"
}

// wireKey returns the public key of a device in wire form.
func wireKey(t *testing.T, d Device) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(d.PublicKey(), "ssh-ed25519 "))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestOpenSSHAgrees checks a signature and a fingerprint with ssh-keygen.
func TestOpenSSHAgrees(t *testing.T) {
	t.Parallel()
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("SKIPPED: no ssh-keygen on this machine")
	}
	d := testDevice(t, 3)
	dir := dataFile(t, "key.pub", d.PublicKey()+"\n")
	write := func(name, content string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	payload := "tree 1\n"
	check := exec.Command(keygen, "-Y", "verify", "-f", write("signers", d.Email()+" "+d.PublicKey()+"\n"), "-I", d.Email(), "-n", "git",
		"-s", write("sig", d.Sign([]byte(payload))))
	check.Stdin = strings.NewReader(payload)
	if out, err := check.CombinedOutput(); err != nil {
		t.Errorf("ssh-keygen -Y verify: %v\n%s", err, out)
	}
	out, err := exec.Command(keygen, "-l", "-f", filepath.Join(dir, "key.pub")).CombinedOutput()
	if err != nil || !strings.Contains(string(out), Fingerprint(d.PublicKey())) {
		t.Errorf("ssh-keygen -l prints %s, %v; Fingerprint is %s", out, err, Fingerprint(d.PublicKey()))
	}
	if f := Fingerprint("ssh-ed25519 !"); f != "" {
		t.Errorf("the fingerprint of a malformed key is %s", f)
	}
}

func FuzzVerifySignature(f *testing.F) {
	d := testDevice(f, 1)
	payload := []byte("tree 1\n")
	f.Add(d.Sign(payload))
	f.Fuzz(func(t *testing.T, signature string) {
		err := VerifySignature(d.PublicKey(), signature, payload)
		if key, kerr := Signer(gitstore.Commit{Signature: signature}); err == nil && (kerr != nil || key != d.PublicKey()) {
			t.Errorf("%q verifies, and its signer is %s, %v", signature, key, kerr)
		}
	})
}
