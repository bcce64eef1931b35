package app

import (
	"os"
	"strconv"
	"syscall"
)

// yieldPriority lowers the priority of all threads of this process, and with it that of programs that they
// start. A refusal is ignored: it costs only speed.
func yieldPriority() {
	const niceness = 10
	done := map[int]bool{}
	for range 10 { // a thread that is not asked yet may have started another one meanwhile
		threads, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return
		}
		news := false
		for _, t := range threads {
			id, err := strconv.Atoi(t.Name())
			if err != nil || done[id] {
				continue
			}
			done[id], news = true, true
			_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, niceness) // see above
		}
		if !news {
			return
		}
	}
}
