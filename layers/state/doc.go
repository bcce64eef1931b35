// Package state folds the records of a project into its [State], and gives the rooms above it the store that
// they work on: [DB].
package state
