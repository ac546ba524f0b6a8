// Who may write a file. A configuration is SQL that runs as walrelay's role: it is not taken from
// whoever left it in a folder like /tmp. Knows nothing of what is in the file.
#pragma once

namespace walrelay::app {

/// Whether somebody else than the user who runs this may write it: it is not that user's, everybody
/// may write it, or its group may and is not the user's own private one. False if it is not there.
[[nodiscard]] bool others_may_write(const char* name);

}  // namespace walrelay::app
