#include "app/file_owner.hpp"

#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

namespace walrelay::app {
namespace {

struct user {
    std::string name;
    gid_t group = 0;
};

bool has_no_other_member(const group& found, const user& owner) {
    for (char** member = found.gr_mem; *member != nullptr; ++member) {
        if (owner.name != *member) {
            return false;
        }
    }
    return true;
}

/// Members by their own entry are not listed in the group's.
bool is_first_group_of_another(gid_t group, const user& owner) {
    bool found = false;
    setpwent();
    for (const passwd* each = getpwent(); each != nullptr && !found; each = getpwent()) {
        found = each->pw_gid == group && owner.name != each->pw_name;
    }
    endpwent();
    return found;
}

/// The group that Debian makes with a user, under the same name (USERGROUPS_ENAB in login.defs).
/// Their files are writable by that group where the umask is 002.
bool is_private_group(gid_t group) {
    const passwd* entry = getpwuid(geteuid());
    if (entry == nullptr) {
        return false;
    }
    const user owner{entry->pw_name, entry->pw_gid};
    const ::group* found = owner.group == group ? getgrgid(group) : nullptr;
    return found != nullptr && owner.name == found->gr_name && has_no_other_member(*found, owner) &&
           !is_first_group_of_another(group, owner);
}

}  // namespace

bool others_may_write(const char* name) {
    struct stat found {};
    if (stat(name, &found) != 0) {
        return false;
    }
    return found.st_uid != geteuid() || (found.st_mode & S_IWOTH) != 0 ||
           ((found.st_mode & S_IWGRP) != 0 && !is_private_group(found.st_gid));
}

}  // namespace walrelay::app
