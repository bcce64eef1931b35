package app

import "syscall"

// diskQuota is the error of a disk that is full, as Windows says it.
const diskQuota = syscall.Errno(112)
