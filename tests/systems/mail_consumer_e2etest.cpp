// The end of the memo system's line: from the row to the mail, through crashes of the consumer.
#include "support/smtp_server.hpp"
#include "systems/busy_service.hpp"

#include <iostream>
#include <random>
#include <set>

namespace walrelay::test {
namespace {

using pause = smtp_server::pause;

class mail_test : public testing::Test {
protected:
    explicit mail_test(const char* plugin) : bench("memo", plugin) {
        bench.execute(bench.example_file("consumer/inbox.sql"));
        bench.start();
    }

    ~mail_test() override {
        if (consumer_ && HasFailure()) {
            std::cerr << "---- " << bench.broker().message_count(bench.stream_name())
                      << " messages in the stream; log of the consumer\n"
                      << consumer_->standard_error() << "----\n";
        }
    }

    [[nodiscard]] command consumer(const std::string& durable, const std::string& name) const {
        return {.program = WALRELAY_MEMO_CONSUMER,
                .arguments = {"--postgres", bench.conninfo(), "--nats", system_bench::nats_url(),
                              "--smtp", smtp.url(), "--consumer", durable, "--ack-wait-seconds",
                              "0.5", "--retry-delay-seconds", "0.05"},
                .folder = bench.folder(),
                .name = name};
    }
    void start_consumer(const std::string& durable = "mailer") {
        consumer_.emplace(consumer(durable, "consumer"));
    }
    void kill_consumer() { consumer_->kill_9(); }

    /// Writes a memo and returns the id of its row.
    std::string write_memo() {
        bench.write();
        return bench.value_of("SELECT id FROM email_outbox ORDER BY meta_created_at DESC LIMIT 1");
    }

    std::string of_row(const std::string& id, const std::string& expression) {
        return "SELECT " + expression + " FROM email_outbox WHERE id = " + as_literal(id);
    }

    testing::AssertionResult becomes(const std::string& id, const std::string& status) {
        return bench.becomes(of_row(id, "status"), status);
    }

    /// The Message-ID of every mail that was taken.
    std::multiset<std::string> mail_ids() {
        std::multiset<std::string> ids;
        for (const auto& mail : smtp.mails()) {
            ids.insert(mail.header("Message-ID"));
        }
        return ids;
    }

    system_bench bench;
    smtp_server smtp;

private:
    std::optional<child_process> consumer_;
};

class MailConsumer : public mail_test {
protected:
    MailConsumer() : mail_test("pgoutput") { start_consumer(); }
};

TEST_F(MailConsumer, SendsTheMailAndMovesTheRowToSent) {
    const auto id = write_memo();
    ASSERT_TRUE(becomes(id, "SENT"));
    ASSERT_EQ(smtp.mail_count(), 1U);
    const auto mail = smtp.mails().front();
    EXPECT_EQ(mail.sender, "memos@example.org");
    EXPECT_EQ(mail.recipients, std::vector<std::string>{"director@example.org"});
    EXPECT_EQ(mail.header("To"), "director@example.org");
    EXPECT_EQ(mail.header("Subject"), bench.value_of(of_row(id, "payload->>'subject'")));
    EXPECT_NE(mail.header("Date"), "");
    EXPECT_TRUE(mail.header("Message-ID").ends_with("@example.org>"));
    const auto body = mail.text.substr(mail.text.find("\r\n\r\n") + 4);
    EXPECT_EQ(
        bench.value_of("SELECT convert_from(decode(" + as_literal(body) + ", 'base64'), 'UTF8')"),
        bench.value_of("SELECT purpose FROM memos"));
    EXPECT_EQ(bench.value_of(of_row(id,
                                    "concat_ws(' ', sent_at IS NOT NULL, last_attempt_at IS NOT"
                                    " NULL, retry_count, error_message IS NULL)")),
              "t t 0 t");
}

TEST_F(MailConsumer, RedeliveredMessageSendsNoSecondMail) {
    ASSERT_TRUE(becomes(write_memo(), "SENT"));
    // A durable consumer of another name begins with the stream's first message.
    start_consumer("another_mailer");
    ASSERT_TRUE(becomes(write_memo(), "SENT"));
    EXPECT_EQ(smtp.mail_count(), 2U);
}

TEST_F(MailConsumer, MessageThatIsThereBeforeItsRowWaitsForIt) {
    slow_standby standby(bench);
    busy_service service(bench);
    ASSERT_TRUE(standby.someone_waits());
    const auto visible = std::stoul(bench.value_of("SELECT count(*) FROM email_outbox"));
    ASSERT_TRUE(bench.broker().wait_for(bench.stream_name(), visible + 1, patience));
    EXPECT_TRUE(throughout(100ms, [&] { return smtp.mail_count() <= visible; }));
    standby.arrive();
    service.stop();

    ASSERT_TRUE(bench.becomes("SELECT bool_and(status = 'SENT') FROM email_outbox", "t"));
    // Set when a try begins: also of the row that was late.
    EXPECT_EQ(bench.value_of("SELECT count(*) FROM email_outbox WHERE last_attempt_at IS NULL"),
              "0");
    EXPECT_EQ(std::to_string(smtp.mail_count()),
              bench.value_of("SELECT count(*) FROM email_outbox"));
}

TEST_F(MailConsumer, CrashBeforeTheMailIsOutSendsItOnce) {
    smtp.hold(pause::before_the_mail);
    const auto id = write_memo();
    ASSERT_TRUE(smtp.someone_waits(patience));
    EXPECT_EQ(bench.value_of(of_row(id, "status")), "SENDING");
    kill_consumer();
    smtp.hold(pause::none);
    start_consumer();

    ASSERT_TRUE(becomes(id, "SENT"));
    EXPECT_EQ(smtp.mail_count(), 1U);
}

TEST_F(MailConsumer, CrashBeforeTheAnswerSendsNoSecondMailAndSaysSo) {
    smtp.hold(pause::after_the_mail);
    const auto id = write_memo();
    ASSERT_TRUE(smtp.someone_waits(patience));
    kill_consumer();
    smtp.hold(pause::none);
    start_consumer();

    ASSERT_TRUE(becomes(id, "FAILED"));
    ASSERT_EQ(smtp.mail_count(), 1U);
    const auto error = bench.value_of(of_row(id, "error_message"));
    EXPECT_NE(error.find("may have this mail or not"), std::string::npos) << error;
    EXPECT_NE(error.find(smtp.mails().front().header("Message-ID")), std::string::npos) << error;
}

TEST_F(MailConsumer, RefusedMailIsTriedUntilItIsTaken) {
    smtp.refuse(4, "451 try later");
    const auto id = write_memo();
    ASSERT_TRUE(becomes(id, "SENT"));
    EXPECT_EQ(smtp.mail_count(), 1U);
    EXPECT_EQ(smtp.conversations(), 5U);
    EXPECT_EQ(bench.value_of(of_row(id, "retry_count")), "4");
    EXPECT_EQ(bench.value_of(of_row(id, "error_message IS NULL")), "t");
}

TEST_F(MailConsumer, MailIsGivenUpAfterFiveTriesAndTheOthersFlow) {
    smtp.refuse(5, "550 nobody of that name");
    const auto id = write_memo();
    ASSERT_TRUE(becomes(id, "FAILED"));
    EXPECT_EQ(bench.value_of(of_row(id, "retry_count")), "5");
    const auto error = bench.value_of(of_row(id, "error_message"));
    EXPECT_NE(error.find("550 nobody of that name"), std::string::npos) << error;
    ASSERT_TRUE(becomes(write_memo(), "SENT"));
    EXPECT_EQ(smtp.conversations(), 6U);
    EXPECT_EQ(smtp.mail_count(), 1U);
}

TEST_F(MailConsumer, WhatCanNeverBeAMailFailsAtOnce) {
    bench.execute(
        "INSERT INTO email_outbox (event_type, payload, recipient_email, idempotency_key) VALUES"
        " ('memo.created', '{\"subject\": \"s\", \"body\": \"b\"}', E'a@b\\r\\nRCPT TO:<c@d>', "
        "'1'),"
        " ('memo.created', '{\"subject\": \"s\"}', 'a@example.org', '2')");
    ASSERT_TRUE(bench.becomes("SELECT count(*) FROM email_outbox WHERE status = 'FAILED'", "2"));
    EXPECT_EQ(bench.value_of("SELECT count(DISTINCT error_message) FROM email_outbox"), "2");
    EXPECT_EQ(smtp.conversations(), 0U);
}

TEST_F(MailConsumer, SubjectOfAnyLanguageEndsNoHeader) {
    const std::string subject =
        "Memo: \\u30e1\\u30e2, \\u00e4\\u00f6\\u00fc\\r\\nBcc: x@example.org";
    bench.execute(
        "INSERT INTO email_outbox (event_type, payload, recipient_email, idempotency_key) VALUES"
        " ('memo.created', '{\"subject\": \"" +
        subject + "\", \"body\": \"b\"}', 'a@example.org', '1')");
    ASSERT_TRUE(bench.becomes("SELECT status FROM email_outbox", "SENT"));
    const auto mail = smtp.mails().front();
    EXPECT_EQ(mail.header("Bcc"), "");
    EXPECT_EQ(bench.value_of("SELECT string_agg(convert_from(decode(word[1], 'base64'), 'UTF8'),"
                             " '') = (SELECT payload->>'subject' FROM email_outbox) FROM"
                             " regexp_matches(" +
                             as_literal(mail.header("Subject")) +
                             ", '=\\?UTF-8\\?B\\?([^?]*)\\?=', 'g') AS word"),
              "t");
}

TEST_F(MailConsumer, CrashesAtAnyMomentDoubleNoMailAndLoseNoneInSilence) {
    constexpr int crashes = 12;
    constexpr int memos_per_crash = 10;
    constexpr int memos = crashes * memos_per_crash;
    const auto seed = std::random_device{}();
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937 dice(seed);
    for (int count = 0; count < crashes; ++count) {
        // Within the few milliseconds after a mail, wherever that is by then.
        const auto target = smtp.mail_count() + 1 + dice() % 5;
        bench.write(memos_per_crash);
        ASSERT_TRUE(eventually(patience, [&] { return smtp.mail_count() >= target; }));
        kill_consumer();
        start_consumer();
    }
    ASSERT_TRUE(
        bench.becomes("SELECT count(*) FROM email_outbox WHERE status IN ('SENT', 'FAILED')",
                      std::to_string(memos)));
    const auto ids = mail_ids();
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
    const auto sent = bench.value_of("SELECT count(*) FROM email_outbox WHERE status = 'SENT'");
    const auto unsure = bench.value_of(
        "SELECT count(*) FROM email_outbox WHERE error_message LIKE '%may have this mail%'");
    EXPECT_EQ(std::stoi(sent) + std::stoi(unsure), memos);
    EXPECT_GE(ids.size(), std::stoul(sent));
    EXPECT_LE(std::stoi(unsure), crashes);
}

class MailLine : public mail_test, public testing::WithParamInterface<const char*> {
protected:
    MailLine() : mail_test(GetParam()) {}
};

TEST_P(MailLine, TwoConsumersSendEachMailOnce) {
    start_consumer();
    bench.write(20);
    const child_process second(consumer("mailer", "second"));
    bench.write(20);
    ASSERT_TRUE(bench.becomes("SELECT count(*) FROM email_outbox WHERE status = 'SENT'", "40"));
    const auto ids = mail_ids();
    EXPECT_EQ(ids.size(), 40U);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 40U);
}

TEST_P(MailLine, ReplayedRowIsSentAgain) {
    start_consumer();
    const auto id = write_memo();
    ASSERT_TRUE(becomes(id, "SENT"));
    const std::string replay =
        "UPDATE email_outbox SET status = 'PENDING', retry_count = 0, error_message = NULL";
    bench.execute(replay);
    ASSERT_TRUE(eventually(patience, [&] { return smtp.mail_count() == 2; }));
    ASSERT_TRUE(becomes(id, "SENT"));
    const auto ids = mail_ids();
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), 2U);

    smtp.refuse(5, "550 nobody of that name");
    bench.execute(replay);
    ASSERT_TRUE(becomes(id, "FAILED"));
    bench.execute(replay);
    ASSERT_TRUE(becomes(id, "SENT"));
    EXPECT_EQ(smtp.mail_count(), 3U);
}

INSTANTIATE_TEST_SUITE_P(, MailLine, both_plugins(), plugin_name);

}  // namespace
}  // namespace walrelay::test
