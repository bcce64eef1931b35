package app

import (
	"os"
	"strconv"
	"syscall"
)

// lowerPriority lowers the priority of all threads of this process and so of its later children. Errors are
// ignored: they only cost speed.
func lowerPriority() {
	const niceness = 10
	done := map[int]bool{}
	for range 10 { // a thread not seen yet may start another one meanwhile
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		found := false
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			done[id], found = true, true
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness) // see above
		}
		if !found {
			return
		}
	}
}
