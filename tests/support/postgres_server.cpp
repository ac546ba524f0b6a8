// See postgres_server.hpp.
#include "support/postgres_server.hpp"

#include "support/postgres_template.hpp"

namespace walrelay::test {

postgres_server::postgres_server(const postgres_options& options)
    : postgres_instance("postgres", options.binaries) {
    copy_postgres_template(data(), binaries());
    configure(options.settings);
    start();
}

}  // namespace walrelay::test
