package main_test

import (
	"errors"
	"os"
	"testing"
	"time"
)

// newProof returns a rig below a home of the test.
func newProof(t *testing.T, bin string) *Rig {
	t.Helper()
	start := time.Now()
	return &Rig{
		Bin: bin, Dir: homeOf(t), Path: os.Getenv("PATH"), Now: time.Now, Seed: seed(t), Note: t.Logf,
		Uptime: func() time.Duration { return time.Since(start) },
	}
}

// proved logs the checks of a proof.
func proved(t *testing.T, all []Promise, err error) {
	t.Helper()
	var why *Skipped
	switch {
	case errors.As(err, &why):
		t.Skip("SKIPPED: " + why.Why)
	case err != nil:
		t.Fatal(err)
	}
	for _, p := range all {
		if p.Why != "" {
			t.Errorf("%s: %s", p.What, p.Why)
		}
		t.Logf("%s: %d %s", p.What, p.Times, p.Of)
	}
}

func tortureKill(t *testing.T, bin string) {
	all, err := newProof(t, bin).Kills(t.Context(), amount(t, 24, 500, 10_000))
	proved(t, all, err)
}

func tortureWriters(t *testing.T, bin string) {
	all, err := newProof(t, bin).Writers(t.Context(), 16, amount(t, 9, 120, 10_000))
	proved(t, all, err)
}

func tortureStorm(t *testing.T, bin string) {
	all, err := newProof(t, bin).Storm(t.Context(), amount(t, 40, 1000, 1000))
	proved(t, all, err)
}

func torturePowerCut(t *testing.T, bin string) {
	all, err := newProof(t, bin).PowerCuts(t.Context(), amount(t, 4, 40, 2000))
	proved(t, all, err)
}
