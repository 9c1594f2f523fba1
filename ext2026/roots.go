package ext2026

// MethodRootsList is the method of a question for the client's roots.
const MethodRootsList = "roots/list"
