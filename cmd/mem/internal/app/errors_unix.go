//go:build unix

package app

import (
	"syscall"
)

// diskQuota is the error of a user's share of a disk that is full.
const diskQuota = syscall.EDQUOT
