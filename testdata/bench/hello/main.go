// Hello is the least that a Go process can do: what the start of mem is compared with.
package main

import "os"

func main() { os.Stdout.WriteString("hello\n") }
