// Package forgetcmd has mem forget, which deletes data for good and prints what was deleted.
package forgetcmd
