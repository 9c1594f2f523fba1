package ext2026

// MethodSamplingCreateMessage is the method of a question to the client's model.
const MethodSamplingCreateMessage = "sampling/createMessage"
