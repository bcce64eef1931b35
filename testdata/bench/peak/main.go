// Peak runs a program and prints how much memory it took at most, in bytes. A process that starts another one directly is told
// of no less than its own size, so the bench, which holds whole transcripts, cannot ask for itself.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: peak PROGRAM [ARGUMENT...]")
		os.Exit(1)
	}
	cmd := exec.Command(os.Args[1], os.Args[2:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	if err := cmd.Run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	u, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		os.Exit(1)
	}
	fmt.Println(int64(u.Maxrss) * 1024)
}
