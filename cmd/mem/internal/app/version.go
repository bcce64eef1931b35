package app

import (
	"runtime"
	"runtime/debug"
	"strings"
)

// Release is the version of a build without version information.
const Release = "0.1.0"

// A build describes this program; it is the JSON of mem version.
type build struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
	Path     string `json:"path"`
	Date     string `json:"-"` // of the commit, 2026-01-15
}

// ThisBuild returns the build information that the linker embedded.
func ThisBuild() build {
	b := build{Version: Release, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Date, _, _ = strings.Cut(s.Value, "T")
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}
