// Package view has one struct for each thing that people and programs see: a session, a version, a hit. Its JSON names are
// those of "mem --json", of the REST API and of the manifest, so one thing has one spelling. A function such as [HitOf] makes it from
// what the layers know; commands, the API, MCP and pages only print it.
//
// Members are named as in the manifest: sessionId, projectId, timestamp. Times are RFC 3339 in UTC, weights are numbers with
// two decimals.
package view

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/keepit"
)

// A Time is a point in time; in JSON the zero time is "".
type Time struct{ time.Time }

// String returns the time as RFC 3339 in UTC, "" for the zero time.
func (t Time) String() string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// MarshalText writes the time as [Time.String] does.
func (t Time) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// MarshalJSON writes the time as a string.
func (t Time) MarshalJSON() ([]byte, error) { return json.Marshal(t.String()) }

// UnmarshalJSON reads what [Time.MarshalJSON] writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	if text == "" {
		*t = Time{}
		return nil
	}
	var err error
	if t.Time, err = time.Parse(time.RFC3339, text); err != nil {
		return fmt.Errorf("a time: %w", err)
	}
	return nil
}

// A Weight is a weight of a marker; in JSON a number with two decimals.
type Weight keepit.Weight

// MarshalJSON writes 0.80.
func (w Weight) MarshalJSON() ([]byte, error) { return []byte(keepit.Weight(w).String()), nil }

// UnmarshalJSON reads a number from 0 to 1 with at most two decimals that count.
func (w *Weight) UnmarshalJSON(b []byte) error {
	var n json.Number
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	if b[0] == '"' {
		return errors.New("a weight is a number")
	}
	whole, fraction, _ := strings.Cut(n.String(), ".")
	for len(fraction) > 2 && strings.HasSuffix(fraction, "0") {
		fraction = fraction[:len(fraction)-1]
	}
	for len(fraction) < 2 {
		fraction += "0"
	}
	x, err := keepit.ParseWeight(whole + "." + fraction)
	*w = Weight(x)
	return err
}

// Thousandths are a threshold or a margin; in JSON a number with two or three decimals.
type Thousandths int

// MarshalJSON writes 0.65 or 0.135.
func (t Thousandths) MarshalJSON() ([]byte, error) { return []byte(keepit.Thousandths(int(t))), nil }

// list returns l, which is not null in JSON.
func list[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}
