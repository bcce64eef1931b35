package lane

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDeviceFile writes a device and reads it back, and reads no damaged or foreign file as a device.
func TestDeviceFile(t *testing.T) {
	t.Parallel()
	d := testDevice(t, 1)
	dir := t.TempDir()
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	got, err := ReadDevice(dir)
	if err != nil || got.ID != d.ID || got.Name != d.Name || got.PublicKey() != d.PublicKey() {
		t.Errorf("ReadDevice = %+v, %v; want %+v", got, err, d)
	}
	whole, err := os.ReadFile(filepath.Join(dir, DeviceFile))
	if err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(filepath.Join(dir, DeviceFile)); err != nil || fi.Mode().Perm() != 0o600 {
		t.Errorf("the file with the key: %v, %v; want mode 0600", fi, err)
	}
	body, _, _ := strings.Cut(string(whole), ",\n  \"sum\"")
	body += "\n}\n"
	for what, c := range map[string]struct {
		content string
		ok      bool
	}{
		"with a sum":             {string(whole), true},
		"without a sum":          {body, false},
		"cut":                    {string(whole[:len(whole)-3]), false},
		"empty":                  {"", false},
		"another id":             {strings.Replace(string(whole), d.ID[:4], "0000", 1), false},
		"a short id":             {strings.Replace(body, d.ID, d.ID[1:], 1), false},
		"an id of capitals":      {strings.Replace(body, d.ID, strings.Repeat("A", 32), 1), false},
		"an id that is a path":   {strings.Replace(body, d.ID, "../"+d.ID[3:], 1), false},
		"a short key":            {strings.Replace(body, `"seed": "`, `"seed": "AAAA`, 1), false},
		"no key":                 {strings.Replace(body, "seed", "sead", 1), false},
		"an id that is a number": {strings.Replace(body, `"`+d.ID+`"`, "7", 1), false},
	} {
		got, err := ReadDevice(dataFile(t, DeviceFile, c.content))
		var broken *DeviceError
		switch {
		case c.ok && (err != nil || got.ID != d.ID):
			t.Errorf("%s: %+v, %v", what, got, err)
		case !c.ok && (!errors.As(err, &broken) || broken.Missing || !strings.Contains(err.Error(), "is broken")):
			t.Errorf("%s: %+v, %v; want a DeviceError", what, got, err)
		}
	}
	var missing *DeviceError
	if _, err := ReadDevice(t.TempDir()); !errors.As(err, &missing) || !missing.Missing || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a missing file: %v", err)
	}
}

// TestEnsureDevice keeps a device that exists, a damaged one too: a new key would orphan its lanes.
func TestEnsureDevice(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	random := bytes.NewReader(bytes.Repeat([]byte{4}, 100))
	if err := EnsureDevice(dir, " desk. ", random); err != nil {
		t.Fatal(err)
	}
	first, err := ReadDevice(dir)
	if err != nil || first.Name != "desk" || !ValidDevice(first.ID) {
		t.Fatalf("the new device is %+v, %v", first, err)
	}
	if err := EnsureDevice(dir, "other", random); err != nil {
		t.Fatal(err)
	}
	if again, err := ReadDevice(dir); err != nil || again.ID != first.ID || again.Name != "desk" {
		t.Errorf("after a second EnsureDevice: %+v, %v", again, err)
	}
	damaged := dataFile(t, DeviceFile, "{")
	if err := EnsureDevice(damaged, "desk", random); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(damaged, DeviceFile)); err != nil || string(b) != "{" {
		t.Errorf("a damaged device is replaced by %q, %v", b, err)
	}
	empty := t.TempDir()
	if err := EnsureDevice(empty, "desk", strings.NewReader("too short")); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("without randomness: %v", err)
	}
	if _, err := os.Stat(filepath.Join(empty, DeviceFile)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without randomness there is a device: %v", err)
	}
}

// TestMAC is different for another text and on another device.
func TestMAC(t *testing.T) {
	t.Parallel()
	d, other := testDevice(t, 1), testDevice(t, 2)
	a := d.MAC("text")
	if again := testDevice(t, 1).MAC("text"); again != a || len(a) != 16 {
		t.Errorf("the same device computes %s and %s", a, again)
	}
	if d.MAC("Text") == a || other.MAC("text") == a {
		t.Error("another text or device has the same code")
	}
}
