#include "files/ordinary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace walrelay::files {
namespace {

constexpr std::size_t secret_bytes_max = std::size_t{64} * 1024;

/// Open as long as this lives. Without waiting for the other end, should it be a pipe, and without
/// becoming the process's terminal, should it be one.
class opened {
public:
    explicit opened(const std::string& file)
        : number_(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
    ~opened() {
        if (number_ >= 0) {
            ::close(number_);
        }
    }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
    [[nodiscard]] int number() const { return number_; }

private:
    int number_;
};

unreadable by_itself(std::string why) {
    return {unreadable::reason::by_itself, std::move(why)};
}

unreadable because_of_errno() {
    return by_itself(std::strerror(errno));
}

unreadable too_large(std::size_t bytes_max) {
    return by_itself("it has more than " + std::to_string(bytes_max) + " bytes");
}

const char* kind_of(mode_t mode) {
    return S_ISDIR(mode) ? "a directory" : S_ISFIFO(mode) ? "a pipe" : "a device or a socket";
}

reading<std::string> read_all(int from, std::size_t bytes_max) {
    // One more than there may be, so that too many are seen.
    std::string text(bytes_max + 1, '\0');
    std::size_t size = 0;
    while (size < text.size()) {
        const auto count = ::read(from, text.data() + size, text.size() - size);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count < 0) {
            return because_of_errno();
        }
        if (count == 0) {
            text.resize(size);
            return text;
        }
        size += static_cast<std::size_t>(count);
    }
    return too_large(bytes_max);
}

reading<std::string> read_file(const std::string& file, std::size_t bytes_max, bool is_secret) {
    const opened from(file);
    struct stat found {};
    if (from.number() < 0 || fstat(from.number(), &found) != 0) {
        return because_of_errno();
    }
    if (!S_ISREG(found.st_mode)) {
        return by_itself(std::string("it is ") + kind_of(found.st_mode) + ", not an ordinary file");
    }
    if (is_secret && (found.st_mode & S_IROTH) != 0) {
        return unreadable(unreadable::reason::is_public,
                          "every user of this machine can read it; chmod o= " + file);
    }
    if (static_cast<std::size_t>(found.st_size) > bytes_max) {
        return too_large(bytes_max);
    }
    return read_all(from.number(), bytes_max);
}

}  // namespace

reading<std::string> read_ordinary(const std::string& file, std::size_t bytes_max) {
    return read_file(file, bytes_max, false);
}

reading<std::string> read_secret(const std::string& file) {
    return read_file(file, secret_bytes_max, true);
}

bool is_public(const std::string& file) {
    struct stat found {};
    return stat(file.c_str(), &found) == 0 && (found.st_mode & S_IROTH) != 0;
}

}  // namespace walrelay::files
