// Package checkout writes originals, versions and compositions to files and counts their tokens.
package checkout
