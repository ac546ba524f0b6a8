// What the program's exit codes mean; docs/operating.md shows the same table.
#pragma once

namespace walrelay::app {

enum exit_code : int {
    exit_done = 0,
    /// check found something; find, dead-letter or config did not find what was asked for; status
    /// is not ready.
    exit_findings = 1,
    /// The command line or the configuration cannot be used.
    exit_usage = 2,
    /// Stopped because an operator must decide; the last line says what.
    exit_operator_needed = 3,
    /// A defect of walrelay, or no memory left: to be started again (EX_SOFTWARE of sysexits.h).
    exit_failed = 70,
};

}  // namespace walrelay::app
