package devices

import (
	"context"
	"strings"

	"github.com/memvcs/mem/layers/state"
)

// DeviceSuffix splits NAME~DEVICE. DEVICE is the name of a device with lanes here, or a prefix of at least four
// digits of its ID. ok is false for any other s.
func (m Ops) DeviceSuffix(ctx context.Context, s string) (name, device string, ok bool) {
	i := strings.LastIndexByte(s, '~')
	if i <= 0 || s[0] == '@' || i+1 == len(s) {
		return s, "", false
	}
	name, device = s[:i], s[i+1:]
	if len(device) >= 4 && strings.Trim(device, "0123456789abcdef") == "" {
		return name, device, true
	}
	d, err := m.Device(ctx, device)
	if err != nil {
		return s, "", false
	}
	return name, d.ID, true
}

// WithDevice returns NAME~DEVICE with the ID of the device, as data of untrusted devices is named, if DEVICE is the
// name of a device.
func (m Ops) WithDevice(ctx context.Context, s string) string {
	name, device, ok := m.DeviceSuffix(ctx, s)
	if !ok {
		return s
	}
	return state.WithDevice(name, device)
}
