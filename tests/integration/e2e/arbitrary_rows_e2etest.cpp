// Whatever a row holds, it changes no other message: a property, over random rows among known ones.
#include "integration/e2e/relay_bench.hpp"

#include <gmock/gmock.h>

#include <array>
#include <random>
#include <set>

namespace walrelay::test {
namespace {

struct odd_row {
    std::string kind;
    std::string note;
    std::string payload;
};

/// Text as PostgreSQL takes it (no NUL, whole characters), and bytes; both of any content.
class odd_rows {
public:
    explicit odd_rows(std::uint32_t seed) : random_(seed) {}

    odd_row next() { return {text(), text(), bytes()}; }

private:
    std::size_t below(std::size_t limit) {
        return std::uniform_int_distribution<std::size_t>(0, limit - 1)(random_);
    }

    /// What has a meaning to somebody on the way.
    const std::string& words() {
        static const std::array<std::string, 14> all = {
            "\r\nNats-Rollup: all\r\n",
            "\r\nWalrelay-Position: 1.1.FFFFFFFFFFFFFFFF.0\r\n",
            "Nats-Msg-Id",
            "plain\r\n\r\n+OK\r\nPUB x 0\r\n",
            "\"}],\"x\":[{\"",
            R"({"action":"C","lsn":"0/FFFFFFFF"})",
            R"({"action":"I","schema":"public","table":"odd"})",
            "\\u0000\\ud800",
            ".",
            "*",
            ">",
            " ",
            "{id}",
            "%0d%0a"};
        return all[below(all.size())];
    }

    std::string character() {
        constexpr std::array<std::pair<std::uint32_t, std::uint32_t>, 4> ranges = {
            {{0x1, 0x7F}, {0x80, 0x7FF}, {0x800, 0xD7FF}, {0x10000, 0x10FFFF}}};
        const auto [first, last] = ranges[below(ranges.size())];
        return in_utf8(first + static_cast<std::uint32_t>(below(last - first + 1)));
    }

    static std::string in_utf8(std::uint32_t code) {
        const auto low = [&](unsigned shift) {
            return static_cast<char>(0x80U | ((code >> shift) & 0x3FU));
        };
        if (code < 0x80) {
            return {static_cast<char>(code)};
        }
        if (code < 0x800) {
            return {static_cast<char>(0xC0U | (code >> 6U)), low(0)};
        }
        if (code < 0x10000) {
            return {static_cast<char>(0xE0U | (code >> 12U)), low(6), low(0)};
        }
        return {static_cast<char>(0xF0U | (code >> 18U)), low(12), low(6), low(0)};
    }

    std::string text() {
        std::string made;
        for (auto parts = below(12); parts > 0; --parts) {
            made += below(3) == 0 ? words() : character();
        }
        constexpr std::size_t long_once_in = 40;
        constexpr std::size_t long_bytes = 5000;
        return below(long_once_in) == 0 ? made + std::string(long_bytes, 'x') : made;
    }

    std::string bytes() {
        constexpr std::size_t most = 3000;
        constexpr std::size_t values = 256;
        std::string made = below(2) == 0 ? words() : "";
        for (auto rest = below(most); rest > 0; --rest) {
            made += static_cast<char>(below(values));
        }
        return made;
    }

    std::mt19937 random_;
};

std::string hex_of(const std::string& bytes) {
    constexpr const char* digits = "0123456789abcdef";
    std::string text = "\\x";
    for (const char each : bytes) {
        const auto byte = static_cast<unsigned char>(each);
        text += digits[byte >> 4U];
        text += digits[byte & 0xFU];
    }
    return text;
}

class ArbitraryRows : public e2e_test {
protected:
    static constexpr std::size_t count = 300;

    /// Known rows have odd ids, random ones even ids; some transactions hold several.
    void insert_all(std::uint32_t seed) {
        odd_rows odd(seed);
        auto writer = bench.session();
        for (std::size_t number = 1; number <= count; ++number) {
            if (number % 10 == 1) {
                writer.execute("BEGIN");
            }
            const auto [kind, note, payload] =
                number % 2 == 1 ? odd_row{"plain", "note " + std::to_string(number),
                                          "payload " + std::to_string(number)}
                                : odd.next();
            (void)writer.query(
                "INSERT INTO odd (id, kind, note, payload) VALUES ($1::int, $2, $3, $4::bytea)",
                {std::to_string(number), kind, note, hex_of(payload)});
            if (number % 10 == 0) {
                writer.execute("COMMIT");
            }
        }
    }

    void expect_known(const stored_message& message) {
        const auto& id = message.header("Nats-Msg-Id");
        EXPECT_EQ(message.subject, bench.name() + ".plain") << id;
        EXPECT_EQ(message.header("Note"), "note " + id);
        EXPECT_EQ(message.body, "payload " + id);
    }
};

TEST_P(ArbitraryRows, ChangeNoOtherMessage) {
    bench.execute("CREATE TABLE odd (id int PRIMARY KEY, kind text, note text, payload bytea)");
    bench.set_outbox(
        "[[outbox]]\ntable = 'odd'\nsubject = '%.{kind}'\nbody = 'payload'\n"
        "headers = { \"Note\" = \"{note}\" }\n");
    bench.start();
    insert_all(20261123);
    ASSERT_TRUE(bench.confirmed_reaches(bench.wal_end()));
    bench.stop();

    const auto rows =
        bench.session().query("SELECT id::text, payload::text FROM odd ORDER BY odd.id");
    std::set<std::string> set_aside;
    for (const auto& row : bench.session().query("SELECT message_id FROM walrelay.dead_letter")) {
        set_aside.insert(row[0].value_or(""));
    }
    const auto messages = bench.messages();
    std::size_t next = 0;
    for (const auto& row : rows) {
        if (set_aside.contains(*row[0])) {
            continue;
        }
        ASSERT_LT(next, messages.size());
        const auto& message = messages[next++];
        EXPECT_EQ(message.header("Nats-Msg-Id"), *row[0]);
        EXPECT_EQ(hex_of(message.body), *row[1]) << "row " << *row[0];
        if (std::stoul(*row[0]) % 2 == 1) {
            expect_known(message);
        }
        for (const auto& [name, value] : message.headers) {
            EXPECT_THAT(name, testing::AnyOf("Nats-Msg-Id", "Nats-Expected-Last-Sequence",
                                             "Walrelay-Position", "Content-Type", "Note"));
        }
    }
    EXPECT_EQ(next, messages.size());
    for (const auto& id : set_aside) {
        EXPECT_EQ(std::stoul(id) % 2, 0U) << "a known row is set aside: " << id;
    }
    EXPECT_LT(set_aside.size(), count / 4) << "few of the random ones cannot be delivered";
}

INSTANTIATE_TEST_SUITE_P(, ArbitraryRows, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
