// Package state folds the records of a project into its [State], and provides [DB], the store for the packages above
// it.
package state
