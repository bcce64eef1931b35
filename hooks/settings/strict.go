package settings

import (
	"errors"
	"os"
)

// SyncDir makes the names in a directory durable, where the system can.
func SyncDir(dir string) error {
	if !strictDirs {
		return nil
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
