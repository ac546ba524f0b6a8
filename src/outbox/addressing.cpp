#include "outbox/addressing.hpp"

#include "outbox/subject.hpp"

namespace walrelay::outbox {
namespace {

/// Renders a template of which each column has to have a value; `append` takes that value.
template <class Append>
result<void> render_complete(const row_view& view, const text_template& form,
                             const column_indexes& columns, const char* setting, std::string& text,
                             Append append) {
    std::uint32_t culprit = 0;
    text.clear();
    const bool complete = render(
        form, columns, view.row.fields, culprit,
        [](std::string_view, std::string_view) { return field(); },
        [&text](std::string_view literal) { text += literal; },
        [&append](const field& value) {
            if (!value || value->empty()) {
                return false;
            }
            append(*value);
            return true;
        });
    if (complete) {
        return {};
    }
    const std::string state = view.row.fields[culprit] ? "is empty" : "is NULL";
    return unmappable(
        view, culprit, state + ", but the " + setting + " \"" + form.text() + "\" needs it",
        std::string("take the column out of outbox.") + setting +
            " in the configuration, or name another one or a text for it ({name|'none'} in a "
            "subject), and start again; the slot resends the row as it was inserted, "
            "so changing it in the table does not help");
}

}  // namespace

result<void> render_subject(const row_view& view, std::string& subject) {
    const auto& form = view.plan.subject;
    // Only the value at the end may bring dots: nothing stands after it that they could shift.
    std::size_t inner = form.parts().size() - (form.ends_with_name() ? 1 : 0);
    auto rendered = render_complete(view, form, view.columns.subject, "subject", subject,
                                    [&](std::string_view value) {
                                        if (inner == 0) {
                                            append_subject_tail(subject, value);
                                        } else {
                                            append_subject_token(subject, value);
                                            --inner;
                                        }
                                    });
    if (rendered && subject.size() > subject_limit_bytes) {
        return unmappable(view,
                          "the subject would have " + std::to_string(subject.size()) +
                              " bytes, more than the " + std::to_string(subject_limit_bytes) +
                              " that are allowed",
                          "take long columns out of subject in the configuration");
    }
    return rendered;
}

result<void> render_message_id(const row_view& view, std::string& id) {
    return render_complete(view, view.plan.message_id, view.columns.message_id, "message_id", id,
                           [&id](std::string_view value) { id += value; });
}

}  // namespace walrelay::outbox
