// Hashfile reads a file and prints its BLAKE3 name: what adding it again is compared with.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/memvcs/mem/objects"
)

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "hashfile:", err)
		os.Exit(1)
	}
}

func run(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := objects.NewHasher()
	if _, err := io.CopyBuffer(h, struct{ io.Reader }{f}, make([]byte, 1<<20)); err != nil {
		return err
	}
	_, err = fmt.Println(h.Sum())
	return err
}
