package layers

// nonblock is nothing here: Windows has no FIFOs among files.
const nonblock = 0
