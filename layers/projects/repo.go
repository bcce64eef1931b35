package projects

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
)

// A repo is a git repository with all its worktrees.
type repo struct {
	git  string // the directory that all its worktrees share
	main string // the main checkout; of a bare repository the directory that its name comes from
}

// repo returns the repository of a checkout.
func (f *Finder) repo(ctx context.Context, checkout string) repo {
	r, ok := f.repos[checkout]
	if !ok {
		r = openRepo(checkout)
		if r.main == "" {
			r.main = f.mainOf(ctx, r.git)
		}
		f.repos[checkout] = r
	}
	return r
}

// openRepo reads where the repository of a checkout is. Its main checkout is "" if the settings may name it.
func openRepo(checkout string) repo {
	git := filepath.Join(checkout, ".git")
	b, err := os.ReadFile(git)
	if err != nil {
		return repo{git, checkout} // a directory
	}
	target := gitPath(checkout, strings.TrimPrefix(string(b), "gitdir:"))
	common, err := os.ReadFile(filepath.Join(target, "commondir"))
	if err != nil {
		return repo{target, checkout} // a submodule, or a directory that is kept elsewhere
	}
	r := repo{git: gitPath(target, string(common))}
	if name := filepath.Base(r.git); name == ".git" || name == ".bare" {
		r.main = filepath.Dir(r.git)
	}
	return r
}

// gitPath returns the path in a file of git, which may be relative to base.
func gitPath(base, path string) string {
	path = strings.TrimSpace(path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	return filepath.Clean(path)
}

// mainOf returns the main checkout of a repository whose directory is not in it: the one that its settings name, as for
// a submodule, or none if it is bare: then the directory without the ending.
func (f *Finder) mainOf(ctx context.Context, git string) string {
	if tree := f.config(ctx, git)["core.worktree"]; len(tree) > 0 {
		return gitPath(git, tree[0])
	}
	return strings.TrimSuffix(git, ".git")
}

// run runs git on a repository. The error says that it failed, or that there is no git here. The repository is named, so
// that neither the environment nor the owner of the directory matters; nothing is fetched for a partial clone.
func (f *Finder) run(ctx context.Context, git string, args ...string) ([]byte, error) {
	if f.command == nil {
		return nil, os.ErrNotExist
	}
	settings := []string{"GIT_NO_LAZY_FETCH=1", "GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_TERMINAL_PROMPT=0"}
	cmd := f.command(ctx, settings, "git", append([]string{"--git-dir=" + git}, args...)...)
	cmd.Dir = filepath.Dir(git)
	return cmd.Output()
}

// config returns the settings of a repository with those of the user and of included files, by name. Without git those
// of its own file.
func (f *Finder) config(ctx context.Context, git string) map[string][]string {
	out, err := f.run(ctx, git, "config", "--list", "--includes", "-z")
	if err != nil {
		return configFile(filepath.Join(git, "config"))
	}
	settings := map[string][]string{}
	for entry := range bytes.SplitSeq(out, []byte{0}) {
		name, value, _ := strings.Cut(string(entry), "\n")
		settings[name] = append(settings[name], value)
	}
	return settings
}

// configFile reads a file of settings without its includes, for machines without git.
func configFile(name string) map[string][]string {
	settings := map[string][]string{}
	file, err := os.Open(name)
	if err != nil {
		return settings // it has no settings that can be read
	}
	defer file.Close()
	section := ""
	for sc := bufio.NewScanner(file); sc.Scan(); {
		line := strings.TrimSpace(sc.Text())
		if head, ok := strings.CutPrefix(line, "["); ok {
			head, _, _ = strings.Cut(head, "]")
			name, sub, _ := strings.Cut(head, " ")
			section = strings.ToLower(name) + "."
			if sub = strings.Trim(strings.TrimSpace(sub), `"`); sub != "" {
				section += sub + "."
			}
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.ContainsAny(line[:1], "#;") {
			continue
		}
		key = section + strings.ToLower(strings.TrimSpace(key))
		settings[key] = append(settings[key], configValue(value))
	}
	return settings
}

// configValue returns a value without its quotes and its comment.
func configValue(s string) string {
	var out strings.Builder
	quoted, escaped := false, false
	for _, r := range strings.TrimSpace(s) {
		switch {
		case escaped:
			out.WriteRune(r)
			escaped = false
		case r == '\\':
			escaped = true
		case r == '"':
			quoted = !quoted
		case !quoted && (r == '#' || r == ';'):
			return strings.TrimSpace(out.String())
		default:
			out.WriteRune(r)
		}
	}
	return strings.TrimSpace(out.String())
}

// rootCommit returns the first commit of the main branch of a repository according to git, "" if there is none. Only
// first parents count, so that a merge of another history changes nothing. A shallow clone does not have it.
func (f *Finder) rootCommit(ctx context.Context, r repo) string {
	if b, err := os.ReadFile(filepath.Join(r.git, "shallow")); err == nil && len(bytes.TrimSpace(b)) > 0 {
		return ""
	}
	for _, branch := range []string{"refs/heads/main", "refs/heads/master", "HEAD"} {
		out, err := f.run(ctx, r.git, "rev-list", "--first-parent", "--max-parents=0", branch, "--")
		if root := strings.TrimSpace(string(out)); err == nil && root != "" {
			return root
		}
	}
	return "" // no git or no commit: use the path
}
