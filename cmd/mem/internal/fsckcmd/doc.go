// Package fsckcmd has mem fsck, which verifies and repairs the store.
package fsckcmd
