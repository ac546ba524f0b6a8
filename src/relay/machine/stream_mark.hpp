// What the stream's description says of its messages (relay/stream_owner), and what it is to say.
// A later start believes what stands there: it is changed before anything is published that it does
// not hold for. Pure.
#pragma once

#include "relay/machine/stream_owner.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace walrelay::relay {

class stream_mark {
public:
    /// A slot was taken. Where a stream has no mark, its rules are taken for those of now, as far
    /// back as `since`: a start that finds no mark asks for all rows that the witness does not
    /// cover, and so must every start after it.
    void taken_since(lsn since) { since_ = since; }
    [[nodiscard]] lsn taken_since() const { return since_; }
    /// What holds for the stream's messages; nothing where that is not known.
    [[nodiscard]] const std::optional<stream_owner>& known() const { return known_; }
    /// A stream that shows no rules of this slot has none to go by, or none that are ever written.
    [[nodiscard]] bool has_rules_to_go_by() const { return shows_rules(); }
    /// The same of message ids.
    [[nodiscard]] bool has_ids_to_go_by() const { return shows_rules() && !shown_->ids.empty(); }
    /// The description was read; `shown` is its mark, if that is of this slot and database.
    void seen(std::optional<stream_owner> shown);
    /// This holds from now on.
    void change(stream_owner to);
    /// What is to be written now. One is on its way at a time, until `written`. Other rules than
    /// the description shows, if any, come in two steps in each look, the first of which claims
    /// nothing: a relay that ends before it knows that the stream had no more than it saw leaves no
    /// false claim in the stream.
    [[nodiscard]] std::optional<stream_owner> take_to_write();
    void written(bool done);
    /// Nothing more is to be written: what the description says holds until the next change. Where
    /// other rules were to come, it claims nothing yet.
    void leave_as_it_is();

    /// The stream ended with this sequence when it was marked, which is more than was seen: the
    /// next look decides. Nothing more is written, see leave_as_it_is.
    void doubt(std::uint64_t last_sequence) {
        leave_as_it_is();
        doubted_ = last_sequence;
    }
    /// Whether there is more again than a look has shown. A look that shows as much as was doubted
    /// is no stale one: then somebody else writes.
    [[nodiscard]] bool doubts_again(std::uint64_t shown) const {
        return doubted_ == 0 || shown < doubted_;
    }
    /// There is not.
    void settle() { doubted_ = 0; }

    [[nodiscard]] bool is_on_its_way() const { return writing_.has_value(); }
    /// The description says something else than what holds. One that says nothing is not stale: a
    /// later start then finds out by itself.
    [[nodiscard]] bool is_stale() const { return is_stale_; }

private:
    void remember_older();
    [[nodiscard]] bool has_other_rules() const;
    [[nodiscard]] stream_owner first_step() const;
    /// What `init` writes says whose the stream is, and claims nothing of its messages.
    [[nodiscard]] bool shows_rules() const { return shown_ && !shown_->rules.empty(); }
    void look_whether_stale();

    lsn since_;
    std::optional<stream_owner> known_;
    std::optional<stream_owner> shown_;
    std::optional<stream_owner> writing_;
    /// What this relay has written over since the description was last another's: a server that
    /// lags shows it again.
    std::vector<std::optional<stream_owner>> older_;
    /// There is no mark, and there cannot be one: not asked again before the next look.
    bool is_refused_ = false;
    /// Since the last look, a mark that claims nothing was written, and with it confirmed that the
    /// stream has no more than was seen.
    bool was_confirmed_ = false;
    /// 0 while nothing is doubted.
    std::uint64_t doubted_ = 0;
    /// Asked before each publish.
    bool is_stale_ = false;
};

}  // namespace walrelay::relay
