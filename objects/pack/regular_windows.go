package pack

// noFollow is nothing: what is no regular file is found out after it was opened.
const noFollow = 0
