// What PostgreSQL says of a table whose rows arrived and that was not known. Plain data.
#pragma once

namespace walrelay {

struct table_sight {
    bool exists = false;
    /// A partition of an outbox or a table that inherits from one, at any depth.
    bool descends_from_outbox = false;
    /// All outbox tables of the configuration are there under their names.
    bool outboxes_exist = true;
};

}  // namespace walrelay
