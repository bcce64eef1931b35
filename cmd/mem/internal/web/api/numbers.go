package api

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/memvcs/mem/layers/keepit"
)

// A weight is a weight of a marker as a JSON number with two decimals.
type weight keepit.Weight

// MarshalJSON writes 0.80.
func (w weight) MarshalJSON() ([]byte, error) { return []byte(keepit.Weight(w).String()), nil }

// UnmarshalJSON reads a number from 0 to 1 with at most two decimals that count.
func (w *weight) UnmarshalJSON(b []byte) error {
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
	*w = weight(x)
	return err
}

// A thousandths is a threshold or margin as a JSON number.
type thousandths int

// MarshalJSON writes 0.65 or 0.135.
func (t thousandths) MarshalJSON() ([]byte, error) { return []byte(keepit.Thousandths(int(t))), nil }

// TimeText writes a time as RFC 3339 in UTC, "" for the zero time.
func TimeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
