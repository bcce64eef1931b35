package main

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/memvcs/mem/refs"
	"github.com/memvcs/mem/refs/config"
	"github.com/memvcs/mem/refs/remote"
)

// What mends a finding is a line to type into a shell, each of them: a command, or an editor for the file in which
// something is to be changed by hand, with what that is behind a "#". A word in capitals stands for what only the user knows. Names
// and paths are quoted, for others choose some of them.

// shell returns a command line.
func shell(words ...string) string { return strings.Join(quoteAll(words), " ") }

// edit returns the line that opens a file to change something in it.
func edit(file, change string) string {
	editor := "${EDITOR:-vi}"
	if runtime.GOOS == "windows" {
		editor = "notepad"
	}
	return editor + " " + shell(file) + "  # " + change
}

// setClock returns what sets the clock of a machine by the network's.
func setClock() string {
	switch runtime.GOOS {
	case "windows":
		return "w32tm /resync"
	case "darwin":
		return "sudo sntp -sS time.apple.com"
	}
	return "sudo timedatectl set-ntp true"
}

// mendOpen returns what mends a memory that cannot be opened.
func mendOpen(dir string, err error) string {
	var device *refs.DeviceError
	switch {
	case errors.Is(err, refs.ErrNotRepo):
		return "mem init"
	case errors.Is(err, refs.ErrUnsafe):
		return "mem doctor --fix"
	case errors.Is(err, refs.ErrFormat):
		return "go install github.com/memvcs/mem/cmd/mem@latest"
	case errors.As(err, &device) && device.Missing:
		return "mem init  # goes on as a new device; or put device.json back from a backup"
	case errors.As(err, &device):
		return "mem fsck --repair || { " + shell("mv", device.File, device.File+".broken") + " && mem init; }  # goes on as a new device; or put device.json back from a backup"
	case isReadOnly(err):
		return shell("chmod", "-R", "u+rwX", dir)
	}
	return "mem fsck --repair"
}

// mendConfig returns what mends settings that cannot be read, from a file or else from the command line.
func mendConfig(file string, err error) string {
	var syntax *config.SyntaxError
	switch {
	case errors.Is(err, config.ErrSum):
		return "mem fsck --repair"
	case errors.As(err, &syntax):
		return edit(file, "make it valid JSON")
	case errors.Is(err, syscall.ENOTDIR):
		return "export MEM_DIR=DIRECTORY"
	case isReadOnly(err):
		return shell("chmod", "600", file)
	}
	return "mem doctor  # without that option -c"
}

// mendRemote returns what mends a remote that does not answer as it should.
func mendRemote(r refs.Remote, err error) string {
	switch {
	case errors.Is(err, remote.ErrAuth) && (strings.HasPrefix(r.URL, "https://") || strings.HasPrefix(r.URL, "http://")):
		return "echo " + shell("url="+r.URL) + " | git credential fill | git credential approve"
	case errors.Is(err, remote.ErrAuth):
		return "ssh-add"
	case errors.Is(err, remote.ErrAbsent) && filepath.IsAbs(r.URL):
		return shell("git", "init", "--bare", r.URL)
	case errors.Is(err, remote.ErrAbsent), errors.Is(err, remote.ErrURL):
		return shell("mem", "remote", "set-url", r.Name) + " URL"
	}
	return shell("mem", "remote", "show", r.Name) + "  # when it can be reached again"
}
