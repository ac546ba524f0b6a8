// Whether an operator's decision to go on without what is missing still holds. Pure; a part of the
// checkpoint.
//
// It was made of one loss, and can take more than one connection to be carried out. Once another
// relay has had the slot in between, it has carried it out: what is missing then is another loss.
#pragma once

namespace walrelay::relay {

class decision {
public:
    void make() {
        holds_ = true;
        slot_was_taken_ = false;
    }
    /// It is carried out.
    void end() {
        holds_ = false;
        excuses_loss_ = false;
    }
    void stream_seen() { has_looked_ = true; }
    /// The slot is taken. `is_own`: nobody but this relay has written the witness since it had the
    /// slot last.
    void slot_taken(bool is_own) {
        holds_ = holds_ && (is_own || !slot_was_taken_);
        slot_was_taken_ = true;
        excuses_loss_ = holds_;
        has_looked_ = has_looked_ && is_own;
    }
    /// Stream and slot are as they should be. Rows of the tables may still be looked for.
    void proved() { excuses_loss_ = false; }
    [[nodiscard]] bool holds() const { return holds_; }
    /// The same of what the stream or the slot has lost.
    [[nodiscard]] bool excuses_loss() const { return excuses_loss_; }
    /// What was seen of the stream can be older than what another relay has stored since.
    [[nodiscard]] bool waits_for_a_look() const { return !has_looked_; }

private:
    bool holds_ = false;
    bool slot_was_taken_ = false;
    bool excuses_loss_ = false;
    bool has_looked_ = false;
};

}  // namespace walrelay::relay
