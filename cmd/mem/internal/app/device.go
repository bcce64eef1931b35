package app

import (
	"strings"

	"github.com/memvcs/mem/refs/lane"
)

// CheckDeviceName returns a usage error for a name that a device cannot have. LABEL~DEVICE is the version of a
// device.
func CheckDeviceName(name string) error {
	if name != lane.CleanName(name) || strings.Contains(name, "~") {
		return Usagef("%q cannot be the name of a device: want letters, digits, spaces or '-', without '~'", name)
	}
	return nil
}
