package legacy2025

// MethodRootsList asks the client for its roots.
const MethodRootsList = "roots/list"

// NotificationRootsListChanged tells the server that the roots have changed.
const NotificationRootsListChanged = "notifications/roots/list_changed"
