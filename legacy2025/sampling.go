package legacy2025

// MethodSamplingCreateMessage asks the client's model for a message.
const MethodSamplingCreateMessage = "sampling/createMessage"
