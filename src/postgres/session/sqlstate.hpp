// The codes of a server's errors that walrelay knows by name (PostgreSQL documentation, "PostgreSQL
// Error Codes").
#pragma once

#include <string_view>

namespace walrelay::postgres::sqlstate {

inline constexpr std::string_view feature_not_supported = "0A000";
inline constexpr std::string_view too_long_for_column = "22001";
inline constexpr std::string_view unique_violation = "23505";
inline constexpr std::string_view read_only = "25006";
inline constexpr std::string_view invalid_authorization = "28000";
inline constexpr std::string_view invalid_password = "28P01";
inline constexpr std::string_view invalid_catalog_name = "3D000";
inline constexpr std::string_view undefined_schema = "3F000";
inline constexpr std::string_view insufficient_privilege = "42501";
inline constexpr std::string_view undefined_column = "42703";
inline constexpr std::string_view undefined_object = "42704";
inline constexpr std::string_view duplicate_object = "42710";
inline constexpr std::string_view undefined_table = "42P01";
inline constexpr std::string_view duplicate_schema = "42P06";
inline constexpr std::string_view duplicate_table = "42P07";
inline constexpr std::string_view disk_full = "53100";
inline constexpr std::string_view out_of_memory = "53200";
inline constexpr std::string_view too_many_connections = "53300";
inline constexpr std::string_view configuration_limit_exceeded = "53400";
inline constexpr std::string_view object_not_in_prerequisite_state = "55000";
inline constexpr std::string_view object_in_use = "55006";
inline constexpr std::string_view lock_not_available = "55P03";
inline constexpr std::string_view query_canceled = "57014";
inline constexpr std::string_view undefined_file = "58P01";

}  // namespace walrelay::postgres::sqlstate
