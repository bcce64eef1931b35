// Package layerstest makes memories, devices and servers for the tests of the packages below layers.
package layerstest
