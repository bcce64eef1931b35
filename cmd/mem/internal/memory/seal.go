package memory

import (
	"errors"

	"github.com/memvcs/mem/cmd/mem/internal/app"
	"github.com/memvcs/mem/layers/sync"
	"github.com/memvcs/mem/refs/sealed"
)

// SealError adds to an error of an encrypted remote what can be done about it.
func SealError(err error) error {
	var waiting *sealed.WaitingError
	switch {
	case errors.As(err, &waiting):
		return app.WithCode(app.ExitAuth, app.WithHint(err, "on a device that can read it: mem device approve "+
			waiting.Request.String()+" NAME; then here: mem pull",
			"or with the recovery key: mem remote rm NAME, then mem remote add --encrypt --recovery-key FILE NAME URL"))
	case errors.Is(err, sealed.ErrNoKey):
		return app.WithCode(app.ExitAuth, err)
	case errors.Is(err, sealed.ErrPlain):
		return app.WithCode(app.ExitNo, app.WithHint(err, "use an empty repository for an encrypted remote"))
	case errors.Is(err, sealed.ErrKeyring):
		return app.WithCode(app.ExitNo, app.WithHint(err,
			"nothing was taken from it; if the remote was restored from a backup, mem push puts the newest keyring back"))
	case errors.Is(err, sync.ErrNotSealed):
		return app.WithCode(app.ExitNo, app.WithHint(err, "mem remote add --encrypt NAME URL"))
	}
	return err
}
