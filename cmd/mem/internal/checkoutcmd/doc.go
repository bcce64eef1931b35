// Package checkoutcmd has mem checkout, which writes originals, versions and compositions to files.
package checkoutcmd
