package exchange

import (
	"path"
	"slices"
	"strings"

	"github.com/memvcs/mem/layers/shell"
)

// written returns the files that a shell line that ran in dir writes by a here-document or a redirection, or edits in
// place, as far as their names stand there. Temporary files are none.
func written(line, dir string) (files []string) {
	if !strings.ContainsAny(line, ">") && !strings.Contains(line, "tee") && !strings.Contains(line, "-i") {
		return nil
	}
	for _, s := range shell.Parse(line) {
		w := s.Program()
		if len(w) == 0 {
			continue
		}
		file := ""
		switch path.Base(w[0]) {
		case "cat", "echo", "printf":
			file = s.To
		case "tee":
			file = w[len(w)-1]
		case "sed":
			if slices.ContainsFunc(w, func(a string) bool { return strings.HasPrefix(a, "-i") }) {
				file = w[len(w)-1]
			}
		}
		switch {
		case strings.ContainsAny(file, "$*&<>(){} ") || path.Ext(file) == "" || strings.HasPrefix(file, "-"):
			continue
		case strings.HasPrefix(file, "/tmp/") || strings.HasPrefix(file, "/var/") || strings.HasPrefix(file, "/dev/"):
			continue
		case !strings.HasPrefix(file, "/"):
			file = path.Join(dir, file)
		}
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
	}
	return files
}
