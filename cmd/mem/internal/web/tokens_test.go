package web

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestDamagedToken checks that a torn or foreign file among the tokens neither disables the others nor is permanent.
func TestDamagedToken(t *testing.T) {
	t.Parallel()
	store := t.TempDir()
	token, err := addToken(store, "good", time.Now(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(store, "tokens", "torn.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(store, "tokens", "dir.json"), 0o700); err != nil {
		t.Fatal(err)
	}
	if all, err := listTokens(store); len(all) != 1 || err == nil {
		t.Errorf("Tokens = %v, %v, want one and an error", all, err)
	}
	if ok, err := validToken(store, token); !ok || err != nil {
		t.Errorf("validToken = %v, %v", ok, err)
	}
	if ok, err := validToken(store, "other"); ok || err == nil {
		t.Errorf("validToken of another token = %v, %v, want an error", ok, err)
	}
	for _, name := range []string{"torn", "dir"} {
		for _, dryRun := range []bool{true, false} {
			if err := removeToken(store, name, dryRun); err != nil {
				t.Errorf("removeToken(%s, %v): %v", name, dryRun, err)
			}
		}
	}
	if err := removeToken(store, "torn", false); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("removeToken again: %v", err)
	}
	if all, err := listTokens(store); len(all) != 1 || err != nil {
		t.Errorf("Tokens = %v, %v", all, err)
	}
}
