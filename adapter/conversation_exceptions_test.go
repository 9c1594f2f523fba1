package adapter_test

// exceptions are the conversations that several processes cannot have as one does, by
// name.
var exceptions = map[string]exception{}
