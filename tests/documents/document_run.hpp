// A document at work: the blocks of it as one script of bash, in a folder that looks like that of
// the sources, with a PostgreSQL and a nats-server of its own.
//
// Commands that go on until Ctrl-C (walrelay run, examples/watch) go on beside the others until the
// end of the document, and are ended then.
#pragma once

#include "documents/document.hpp"
#include "support/child_process.hpp"
#include "support/nats_server.hpp"
#include "support/postgres_server.hpp"
#include "support/temporary_folder.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace walrelay::test {

class document_run {
public:
    explicit document_run(document what);

    /// Runs all blocks. What went wrong, with the line of the block; empty: nothing.
    [[nodiscard]] std::string work();

private:
    void lay_out_folder();
    void write_tools();
    void write_script();
    [[nodiscard]] std::string lines_for(const document_block& block, const std::string& file) const;
    [[nodiscard]] std::string compare_outputs();
    [[nodiscard]] std::string end();
    void write(const std::string& name, const std::string& text) const;
    [[nodiscard]] std::filesystem::path file(const std::string& name) const {
        return folder_.path() / name;
    }
    [[nodiscard]] std::vector<std::string> outputs_before(const document_block& wanted) const;

    document document_;
    temporary_folder folder_{"documents"};
    postgres_server postgres_;
    nats_server broker_;
    /// In place of the one that the documents name.
    std::string mail_port_;
    std::optional<child_process> shell_;
};

}  // namespace walrelay::test
