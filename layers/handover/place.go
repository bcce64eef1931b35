package handover

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/memvcs/mem/layers/brief"
	"github.com/memvcs/mem/layers/exchange"
	"github.com/memvcs/mem/layers/refine"
	"github.com/memvcs/mem/layers/shell"
)

// placed returns the commands of a shell line with their verdicts. The name of one that ran below the root of the session
// begins with its directory: "in web/: npm test" is not the "npm test" of the root. Commands elsewhere, and those of
// which the directory is not known, are left out.
func placed(e refine.Entry) (list []shell.Command, verdicts []shell.Verdict) {
	all, ends := shell.JudgedCommands(e.Cmd, shell.Verdict(e.Verdict), e.Done, len(e.Failed) > 0)
	dir := slashed(e.Dir)
	if strings.Contains(dir, "worktree") { // of another branch
		dir = ""
	}
	if dir != "" && brief.SafeFile(dir+"/x") == "" || exchange.Outside(dir) {
		return nil, nil
	}
	for i, c := range all {
		if c.Moved {
			continue
		}
		c.Name = in(dir, c.Name)
		list, verdicts = append(list, c), append(verdicts, ends[i])
	}
	return list, verdicts
}

// branch returns the name of a branch. Of one that may hold a sentence it is a pattern of git for it: its directories, the
// number of its ticket, and two words, as far as they can only be a name; nothing of one that looks like a host or a file.
func branch(name string) string {
	if ok := brief.SafeBranch(name); ok != "" {
		return strings.TrimPrefix(ok, "HEAD")
	}
	if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-/#@+") != "" {
		return "" // git has other names, and what is not one may be anything
	}
	start := longBranch().FindString(name)
	if brief.SafeBranch(strings.TrimRight(start, "-_/")) == "" {
		return ""
	}
	return start + "*"
}

var longBranch = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^([A-Za-z0-9.]+/)?([A-Za-z]+[-_]?[0-9]+[-_])?[A-Za-z0-9]+[-_][A-Za-z0-9]+[-_]`)
})

// in returns the name of a command that runs in a directory.
func in(dir, command string) string {
	if dir == "" {
		return command
	}
	return "in " + dir + "/: " + command
}

// dirOf divides the name of a command, as in returns it.
func dirOf(name string) (dir, command string) {
	if rest, ok := strings.CutPrefix(name, "in "); ok {
		if dir, command, ok = strings.Cut(rest, "/: "); ok {
			return dir, command
		}
	}
	return "", name
}

// under returns the name of a command relative to a directory below the root of its session.
func under(below, name string) string {
	dir, command := dirOf(name)
	if rest, ok := strings.CutPrefix(dir+"/", below+"/"); ok {
		return in(strings.Trim(rest, "/"), command)
	}
	return in(path.Join(strings.Repeat("../", strings.Count(below, "/")+1), dir), command)
}

// Rebase returns the digest with file names relative to a directory above or below that of the session. For any other
// directory, such as another worktree, the names stay.
func (d Digest) Rebase(dir string) Digest {
	from, to := path.Clean(slashed(d.Dir)), path.Clean(slashed(dir))
	if d.Dir == "" || dir == "" || from == to {
		return d
	}
	below, isBelow := strings.CutPrefix(from, to+"/")
	above, isAbove := strings.CutPrefix(to, from+"/")
	if !isBelow && !isAbove || strings.Contains(below, "worktrees/") {
		return d
	}
	var files []File
	for _, f := range d.Files {
		if isBelow {
			f.Path = below + "/" + f.Path
		} else if rest, ok := strings.CutPrefix(f.Path, above+"/"); ok {
			f.Path = rest
		} else {
			continue // outside the directory
		}
		files = append(files, f)
	}
	d.Files = files
	d.Commands = slices.Clone(d.Commands)
	for i := range d.Commands {
		if isBelow {
			dir, command := dirOf(d.Commands[i].Name)
			d.Commands[i].Name = in(path.Join(below, dir), command)
		} else {
			d.Commands[i].Name = under(above, d.Commands[i].Name)
		}
	}
	return d
}
