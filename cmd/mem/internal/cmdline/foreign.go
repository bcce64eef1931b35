package cmdline

// foreignCommand returns hints for a command of git, restic, jj or another program that mem does not have; nil if word
// is none of these.
func foreignCommand(word string) []string {
	for _, hints := range []func(string) []string{foreignCapture, foreignRead, foreignChange, foreignSetup} {
		if h := hints(word); h != nil {
			return h
		}
	}
	return nil
}

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

// foreignCapture returns hints for commands that store something or build a context from it.
func foreignCapture(word string) []string {
	switch word {
	case "commit", "save", "store", "snapshot":
		return []string{"mem add captures sessions; each command commits its own change"}
	case "backup":
		return []string{"mem add captures sessions; mem push copies the memory to a remote"}
	case "branch", "switch", "merge", "rebase", "bookmark", "stash", "cherry-pick", "squash":
		return []string{"mem compose builds one context from several sessions; mem has no branches"}
	case "context", "brief":
		return []string{"mem next prints the text for the next session; mem compose builds a context for claude --resume"}
	case "remember", "pin", "note":
		return []string{"mem keepit add pins a message; mem rules add states a permanent rule"}
	case "summary", "summarise", "summarize":
		return []string{"mem compress creates a smaller version of a session; mem memory prints a summary of the project"}
	case "archive", "dump":
		return []string{"mem export"}
	case "migrate", "convert", "agent", "agents":
		return []string{"mem import reads sessions of other agents and stores of other memory tools"}
	}
	return nil
}

// foreignRead returns hints for commands that print something.
func foreignRead(word string) []string {
	switch word {
	case "list", "ls-files", "session", "sessions", "snapshots":
		return []string{"mem ls"}
	case "grep", "find", "query", "recall", "ask":
		return []string{"mem search"}
	case "reflog", "evolog", "obslog", "operation", "operations", "history":
		return []string{"mem log lists all operations; mem log --undo lists what undo and redo would do"}
	case "cat", "describe", "get", "info", "open", "print", "read", "view":
		return []string{"mem show"}
	case "dashboard", "ui", "web", "browse":
		return []string{"mem serve --open"}
	case "du", "size":
		return []string{"mem stats"}
	case "usage", "spend", "spending", "price":
		return []string{"mem stats --usage"}
	case "docs", "man":
		return []string{"mem help -a lists all commands and topics; mem help --man prints the man page"}
	}
	return nil
}

// foreignChange returns hints for commands that change or check what is stored.
func foreignChange(word string) []string {
	switch word {
	case "remove", "delete", "abandon", "purge", "erase", "wipe":
		return []string{"mem rm hides a session or version; mem forget deletes it permanently"}
	case "reset", "revert", "restore":
		return []string{"mem undo undoes the last operation; mem checkout writes a session into a file"}
	case "rename", "move":
		return []string{"mem mv"}
	case "copy", "cp":
		return []string{"mem checkout writes a session into a file; mem clone copies a memory"}
	case "check":
		return []string{"mem fsck checks the store; mem doctor checks hooks, settings and the program"}
	case "repair", "recover", "rebuild":
		return []string{"mem fsck --repair"}
	case "clean", "cleanup", "optimize", "repack":
		return []string{"mem gc deletes leftovers; mem prune hides unused versions"}
	}
	return nil
}

// foreignSetup returns hints for commands about settings, devices and the program.
func foreignSetup(word string) []string {
	switch word {
	case "link":
		return []string{"mem project share FROM WITH allows the text of one project in compositions of another",
			"mem project link PROJECT [DIR] assigns a directory to a project"}
	case "install", "setup", "enable", "on", "start":
		return []string{"mem hooks install"}
	case "uninstall", "disable", "off", "stop":
		return []string{"mem hooks uninstall; for one project: mem help capturing"}
	case "ignore", "exclude":
		return []string{"mem help capturing"}
	case "set", "unset", "settings":
		return []string{"mem config set KEY VALUE; mem config list lists the settings"}
	case "update", "upgrade", "self-update":
		return []string{"go install github.com/memvcs/mem/cmd/mem@latest"}
	case "trust":
		return []string{"mem device trust NAME"}
	case "encrypt", "key", "keys":
		return []string{"mem help encryption"}
	case "scan", "redact", "secret":
		return []string{"mem secrets scan"}
	}
	return nil
}
