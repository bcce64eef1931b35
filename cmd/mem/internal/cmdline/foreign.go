package cmdline

import (
	"slices"
	"strings"

	"github.com/memvcs/mem/cmd/mem/internal/term"
)

// foreignOption returns a hint for an option that mem has under another name; "" if it is none of these.
func foreignOption(spelled string) string {
	switch spelled {
	case "mem compress --mode", "mem compress --tiered", "mem compress --uniform", "mem compress --tiers":
		return "--preset standard compresses old parts more than new ones, --ratio 10 all parts alike"
	case "mem compress --budget", "mem compress --size", "mem compress --max-tokens":
		return "--tokens 2k makes a version of at most 2,000 tokens"
	case "mem compose --tokens", "mem compose --size", "mem compose --max-tokens":
		return "--budget 8k makes a context of at most 8,000 tokens"
	case "mem hooks install --local", "mem hooks install --user", "mem hooks install --global":
		return "--scope user, project or local names the settings; without it, those of the user"
	}
	return ""
}

// A foreign is commands of git, restic, jj and other programs that mem does not have, and what mem has instead.
type foreign struct {
	words string // separated by spaces
	hint  string
}

var foreigners = [...]foreign{
	{"commit save store snapshot", "mem add captures sessions; each command commits its own change"},
	{"backup", "mem add captures sessions; mem push copies the memory to a remote"},
	{"branch switch merge rebase bookmark cherry-pick squash",
		"mem compose builds one context from several sessions; mem has no branches"},
	{"stash", "mem has nothing to put aside: a session stays as it is, and mem rm hides one"},
	{"context brief",
		"mem next prints the text for the next session; mem compose builds a context for claude --resume"},
	{"remember pin note", "mem keepit add pins a message; mem rules add states a permanent rule"},
	{"summary summarise summarize",
		"mem compress creates a smaller version of a session; mem memory prints a summary of the project"},
	{"archive dump", "mem export"},
	{"migrate convert agent agents",
		"mem import reads sessions of other agents and stores of other memory tools"},
	{"list ls-files session sessions snapshots", "mem ls"},
	{"grep find query recall ask", "mem search"},
	{"reflog evolog obslog operation operations history",
		"mem log lists all operations; mem log --undo lists what undo and redo would do"},
	{"cat describe get info open print read view", "mem show"},
	{"dashboard ui web browse", "mem serve --open"},
	{"du size", "mem stats"},
	{"usage spend spending price", "mem stats --usage"},
	{"docs man", "mem help -a lists all commands and topics; mem help --man prints the man page"},
	{"remove delete abandon purge erase wipe",
		"mem rm hides a session or version; mem forget deletes it permanently"},
	{"reset revert restore", "mem undo undoes the last operation; mem checkout writes a session into a file"},
	{"rename move", "mem mv"},
	{"copy cp", "mem checkout writes a session into a file; mem clone copies a memory"},
	{"check", "mem fsck checks the store; mem doctor checks hooks, settings and the program"},
	{"repair recover rebuild", "mem fsck --repair"},
	{"clean cleanup optimize repack", "mem gc deletes leftovers; mem prune hides unused versions"},
	{"link",
		"mem project link assigns a directory to a project; mem project share allows compositions of two projects"},
	{"install setup enable on start", "mem hooks install"},
	{"uninstall disable off stop", "mem hooks uninstall; for one project: mem help capturing"},
	{"ignore exclude", "mem help capturing"},
	{"set unset settings", "mem config set KEY VALUE; mem config list lists the settings"},
	{"update upgrade self-update", "go install github.com/memvcs/mem/cmd/mem@latest"},
	{"trust", "mem device trust NAME"},
	{"encrypt key keys", "mem help encryption"},
	{"scan redact secret", "mem secrets scan"},
}

// ForeignCommand returns a hint for a command that mem does not have, but a program that people know does, or one spelled
// like it if near is set; "" if there is none.
func ForeignCommand(word string, near bool) string {
	var all []string
	for _, f := range foreigners {
		words := strings.Fields(f.words)
		if slices.Contains(words, word) {
			return f.hint
		}
		all = append(all, words...)
	}
	if like := term.Suggest(word, all); near && len(like) == 1 {
		return ForeignCommand(like[0], false)
	}
	return ""
}
