package pack

// noFollow has no equivalent on Windows: the type of the file is checked after opening.
const noFollow = 0
