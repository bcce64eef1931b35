// Package projects finds the project of a directory and links, unlinks and shares projects.
package projects
