// Package originals reads captured sessions: their bytes, their messages and their L1.
package originals
