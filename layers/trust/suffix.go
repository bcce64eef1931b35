package trust

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/state"
)

// WithDevice returns LABEL~ID if s is LABEL~DEVICE and DEVICE is the name of a device, or a prefix of at least four digits
// of its ID. It returns any other s as it is.
func WithDevice(ctx context.Context, db *state.DB, s string) string {
	i := strings.LastIndexByte(s, '~')
	if i <= 0 || i+1 == len(s) {
		return s
	}
	label, device := s[:i], s[i+1:]
	if len(device) >= 4 && strings.Trim(device, "0123456789abcdef") == "" {
		return s
	}
	d, err := Device(ctx, db, device)
	if err != nil {
		return s
	}
	return label + "~" + d.ID
}
