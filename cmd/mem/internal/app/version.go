package app

import (
	"runtime/debug"
	"strings"
)

// Release is the version of a build without version information.
const Release = "0.1.0"

// A build describes this program.
type build struct {
	Version, Commit, Date string // the day of the commit
	Modified              bool
}

// ThisBuild returns the build information that the linker embedded.
func ThisBuild() build {
	b := build{Version: Release}
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
