// What the program's exit codes mean; docs/operating.md shows the same table.
#pragma once

namespace walrelay::app {

enum exit_code : int {
    exit_done = 0,
    /// check or verify found something; find has an event that is not settled, or none; config,
    /// dead-letter, bookmark or replay did not find what was asked for; status is not ready; resume
    /// changed nothing; a retry leaves letters open; drop leaves something; a replay is over, was
    /// cancelled, or left rows out.
    exit_findings = 1,
    /// The command line or the configuration cannot be used.
    exit_usage = 2,
    /// Stopped because an operator must decide; the last line says what.
    exit_operator_needed = 3,
    /// A defect of walrelay, or no memory left: to be started again (EX_SOFTWARE of sysexits.h).
    exit_failed = 70,
};

}  // namespace walrelay::app
