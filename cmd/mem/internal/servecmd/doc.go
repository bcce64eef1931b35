// Package servecmd has the commands that serve memory to browsers and to programs that use the API: serve and token.
package servecmd
