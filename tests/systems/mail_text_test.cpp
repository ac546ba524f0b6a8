// The mail consumer's mails, byte for byte, and what it makes of messages.
#include "consumer/mail_text.hpp"

#include <gtest/gtest.h>

namespace walrelay::test {
namespace {

memo::mail_order order(const std::string& subject, const std::string& text) {
    return {.message_id = "m-1;republish-00",
            .row_id = "r",
            .recipient = "a@example.org",
            .subject = subject,
            .text = text,
            .defect = {}};
}

/// The lines of the subject, without the name of the header.
std::string subject_of(const std::string& subject) {
    const auto mail = memo::mail_text(order(subject, ""), "memos@example.org", 0);
    const auto start = mail.find("Subject: ") + 9;
    return mail.substr(start, mail.find("\r\nDate:") - start);
}

TEST(MailText, IsAMailInPlainText) {
    EXPECT_EQ(memo::mail_text(order("Hello", "Hi there.\n.\n"), "memos@example.org", 951782400),
              "From: memos@example.org\r\nTo: a@example.org\r\nSubject: Hello\r\n"
              "Date: Tue, 29 Feb 2000 00:00:00 +0000\r\n"
              "Message-ID: <m-1=3Brepublish-00@example.org>\r\nMIME-Version: 1.0\r\n"
              "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: base64\r\n"
              "\r\nSGkgdGhlcmUuCi4K\r\n");
}

TEST(MailText, BodyIsBrokenIntoLinesOfBase64) {
    for (const std::size_t size : {0U, 1U, 2U, 3U, 57U, 58U, 200U}) {
        const auto mail = memo::mail_text(order("s", std::string(size, 'A')), "m@example.org", 0);
        const auto body = mail.substr(mail.find("\r\n\r\n") + 4);
        const auto lines = (size + 56) / 57;
        EXPECT_EQ(body.size(), (size + 2) / 3 * 4 + lines * 2) << size;
        if (size > 0) {
            EXPECT_EQ(body.substr(0, 4), size == 1 ? "QQ==" : size == 2 ? "QUE=" : "QUFB");
        }
    }
}

TEST(MailText, SubjectThatIsNotPlainIsEncoded) {
    EXPECT_EQ(subject_of("m\xC3\xA9mo"), "=?UTF-8?B?bcOpbW8=?=");
    EXPECT_EQ(subject_of("a\r\nBcc: b@example.org"), "=?UTF-8?B?YQ0KQmNjOiBiQGV4YW1wbGUub3Jn?=");
    EXPECT_EQ(subject_of("=?x"), "=?UTF-8?B?PT94?=");
}

TEST(MailText, LongSubjectIsFoldedBetweenCharacters) {
    std::string subject;
    for (int count = 0; count < 20; ++count) {
        subject += "\xE3\x83\xA1\xE3\x83\xA2";  // two characters of three bytes
    }
    const auto lines = subject_of("x" + subject);
    EXPECT_EQ(lines.find("=?UTF-8?B?"), 0U);
    std::size_t start = 0;
    for (auto end = lines.find("\r\n "); start < lines.size(); end = lines.find("\r\n ", start)) {
        const auto line = lines.substr(start, end == std::string::npos ? end : end - start);
        EXPECT_LE(line.size(), 75U);
        EXPECT_TRUE(line.ends_with("?=")) << line;
        start = end == std::string::npos ? lines.size() : end + 3;
    }
    // One more character would make 37 bytes, and a word takes 36.
    EXPECT_TRUE(lines.starts_with("=?UTF-8?B?eOODoeODouODoeODouODoeODouODoeODouODoeODouODoQ==?="))
        << lines;
}

TEST(MailOrder, TakesTheMailOutOfTheEnvelope) {
    const std::string id = "5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11";
    const auto read =
        memo::read_order({.message_id = "m",
                          .recipient = "a@example.org",
                          .body = R"({"id":")" + id +
                                  R"(","event_data":{"subject":"\u00e9","body":"b","more":1}})"});
    EXPECT_EQ(read.defect, "");
    EXPECT_EQ(read.row_id, id);
    EXPECT_EQ(read.subject, "\xC3\xA9");
    EXPECT_EQ(read.text, "b");
}

TEST(MailOrder, NamesWhatIsMissing) {
    const auto defect = [](const std::string& body, const std::string& recipient) {
        return memo::read_order({.message_id = "m", .recipient = recipient, .body = body}).defect;
    };
    const std::string good =
        R"({"id":"5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11","event_data":{"subject":"s","body":"b"}})";
    EXPECT_EQ(defect(good, "a@example.org"), "");
    EXPECT_EQ(defect("{", "a@example.org"), "the body is no JSON");
    EXPECT_EQ(defect(R"({"id":"r"})", "a@example.org"), "the body has no uuid 'id'");
    EXPECT_EQ(defect("[]", "a@example.org"), "the body has no uuid 'id'");
    EXPECT_EQ(defect(R"({"id":"5f0c4b0e-7d3a-4a0e-9b6b-2a5b1a7f9c11","event_data":null})",
                     "a@example.org"),
              "event_data has no texts 'subject' and 'body'");
    for (const std::string recipient : {"", "nobody", "a b@c", "<a@b>", "a@b\r\nRCPT TO:<c@d>"}) {
        EXPECT_EQ(defect(good, recipient), "the recipient is no mail address") << recipient;
    }
}

}  // namespace
}  // namespace walrelay::test
