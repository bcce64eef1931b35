package doctor

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/cmd/mem/internal/term"
	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/remote"
)

// SetClock returns the command that sets the clock of a machine from the network.
func SetClock() string {
	switch runtime.GOOS {
	case "windows":
		return "w32tm /resync"
	case "darwin":
		return "sudo sntp -sS time.apple.com"
	}
	return "sudo timedatectl set-ntp true"
}

// FixOpen returns the fix for a memory that cannot be opened.
func FixOpen(dir string, err error) string {
	var device *refs.DeviceError
	switch {
	case errors.Is(err, refs.ErrNotRepo):
		return "mem init"
	case errors.Is(err, refs.ErrUnsafe):
		return "mem doctor --fix"
	case errors.Is(err, refs.ErrFormat):
		return "go install github.com/memvcs/mem/cmd/mem@latest"
	case errors.As(err, &device) && device.Missing:
		return "mem init  # continues as a new device; or put device.json back from a backup"
	case errors.As(err, &device):
		return "mem fsck --repair || { " + term.Shell("mv", device.File, device.File+".broken") +
			" && mem init; }  # continues as a new device; or put device.json back from a backup"
	case app.IsReadOnly(err):
		return term.Shell("chmod", "-R", "u+rwX", dir)
	}
	return "mem fsck --repair"
}

// FixConfig returns the fix for settings that cannot be read, in the file or on the command line.
func FixConfig(file string, err error) string {
	var syntax *config.SyntaxError
	switch {
	case errors.Is(err, config.ErrSum):
		return "mem fsck --repair"
	case errors.As(err, &syntax):
		return app.EditCommand(file, "make it valid JSON")
	case errors.Is(err, syscall.ENOTDIR):
		return "export MEM_DIR=DIRECTORY"
	case app.IsReadOnly(err):
		return term.Shell("chmod", "600", file)
	}
	return "mem doctor  # without that option -c"
}

// FixRemote returns the fix for an error of a remote.
func FixRemote(r refs.Remote, err error) string {
	switch {
	case errors.Is(err, remote.ErrAuth) && (strings.HasPrefix(r.URL, "https://") || strings.HasPrefix(r.URL, "http://")):
		return "echo " + term.Shell("url="+r.URL) + " | git credential fill | git credential approve"
	case errors.Is(err, remote.ErrAuth):
		return "ssh-add"
	case errors.Is(err, remote.ErrAbsent) && filepath.IsAbs(r.URL):
		return term.Shell("git", "init", "--bare", r.URL)
	case errors.Is(err, remote.ErrAbsent), errors.Is(err, remote.ErrURL):
		return term.Shell("mem", "remote", "set-url", r.Name) + " URL"
	}
	return term.Shell("mem", "remote", "show", r.Name) + "  # when it can be reached again"
}
