#include "preflight/managed.hpp"

#include "core/sql_text.hpp"

namespace walrelay::preflight {
namespace {

/// Without SQL's quotes: services take a plain value.
std::string plain(const std::string& value) {
    const bool is_quoted = value.size() > 1 && value.front() == '\'' && value.back() == '\'';
    return is_quoted ? value.substr(1, value.size() - 2) : value;
}

std::string flag_of_google(const std::string& name, const std::string& value) {
    return "set the database flag " + name + " = " + value +
           " of the instance, in the console or with gcloud (--database-flags replaces all flags: "
           "name those that are set as well)";
}

}  // namespace

std::string how_to_set(managed_service service, const setting_change& what) {
    const bool restarts = what.when == takes_effect::on_restart;
    const auto value = plain(what.value);
    switch (service) {
        case managed_service::none:
            break;
        case managed_service::rds:
            return "set " + what.name + " = " + value +
                   " in the DB parameter group of the instance (Aurora: of the cluster)" +
                   (restarts ? ", then reboot it" : "");
        case managed_service::cloud_sql:
        case managed_service::alloydb:
            return flag_of_google(what.name, value) + (restarts ? ", then restart it" : "");
        case managed_service::azure:
            return "set the server parameter " + what.name + " = " + value +
                   ", in the portal or with az postgres flexible-server parameter set" +
                   (restarts ? ", then restart the server" : "");
        case managed_service::neon:
            return "have Neon set " + what.name + " = " + value + ", if it can be set there";
        case managed_service::supabase:
            return "supabase --experimental postgres-config update --config " + what.name + "=" +
                   value;
    }
    return "ALTER SYSTEM SET " + what.name + " = " + what.value +
           (restarts ? "; then restart PostgreSQL" : "; SELECT pg_reload_conf();");
}

std::string how_to_decode(managed_service service) {
    switch (service) {
        case managed_service::rds:
            return how_to_set(service, {"rds.logical_replication", "1", takes_effect::on_restart});
        case managed_service::cloud_sql:
            return how_to_set(service,
                              {"cloudsql.logical_decoding", "on", takes_effect::on_restart});
        case managed_service::alloydb:
            return how_to_set(service,
                              {"alloydb.logical_decoding", "on", takes_effect::on_restart});
        case managed_service::neon:
            return "turn logical replication on in the settings of the project in Neon's console, "
                   "which restarts its computes and cannot be turned off again";
        case managed_service::none:
        case managed_service::azure:
        case managed_service::supabase:
            break;
    }
    return how_to_set(service, {"wal_level", "logical", takes_effect::on_restart});
}

std::string how_to_allow_wal2json(managed_service service) {
    const std::string unquoted =
        " (the list without quotes: one quoted string is one bogus name and refuses pgoutput as "
        "well)";
    if (service == managed_service::none) {
        return allow_wal2json_sql() + unquoted;
    }
    return how_to_set(service, {"output_plugin_libraries", "pgoutput, test_decoding, wal2json"}) +
           ", where the service lets you";
}

std::string how_to_install_wal2json(managed_service service, int major, bool is_old) {
    if (service != managed_service::none) {
        return is_old ? "take a newer minor version of the server, if the service has one: the "
                        "service brings wal2json along"
                      : "none in SQL: this service brings wal2json along, or has none";
    }
    const auto package = "postgresql-" + std::to_string(major) + "-wal2json";
    return is_old ? "install wal2json 2.5 or newer on the server (" + package +
                        " from apt.postgresql.org)"
                  : "apt-get install " + package + " on that server";
}

std::string how_to_let_replicate(managed_service service, std::string_view role,
                                 int version_number) {
    constexpr int supabase_lets_postgres_give_it = 170'000;
    if (service == managed_service::rds) {
        return "GRANT rds_replication TO " + quote_identifier(role) +
               "; (on a server of your own that only has a role of that name: " +
               grant_replication_sql(role) + ")";
    }
    if (service == managed_service::neon) {
        return "use a role that Neon's console, command line or API has made: those may replicate, "
               "roles that are made in SQL may not";
    }
    if (service == managed_service::supabase && version_number < supabase_lets_postgres_give_it) {
        return "use the role postgres in postgres.conninfo, which may replicate: before PostgreSQL "
               "17 no role that Supabase gives you may give others the right; or upgrade the "
               "project to PostgreSQL 17";
    }
    return grant_replication_sql(role) +
           (service == managed_service::none ? "" : " as the administrator of the database");
}

}  // namespace walrelay::preflight
