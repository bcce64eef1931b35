package refs

import "github.com/memvcs/mem/refs/lane"

// The types of package lane that a store consists of.
type (
	// A Project is the id of a project: 16 lower-case hexadecimal digits.
	Project = lane.Project
	// A Lane is a branch of one device in one project.
	Lane = lane.Lane
	// A Tip is the newest commit of a lane.
	Tip = lane.Tip
	// A Record is one immutable statement of a device.
	Record = lane.Record
	// An Entry is one operation: a commit of a lane.
	Entry = lane.Entry
)

// Home is the project whose lanes contain only records about devices. With it a new store has a commit already, so
// that plain git can log and clone it.
const Home = lane.Home
