#include <iostream>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <toolwarden.h>

// An answer that gives itself back.
struct Answer : tw_answer {
    Answer() : tw_answer{} {}
    Answer(const Answer &) = delete;
    Answer &operator=(const Answer &) = delete;
    ~Answer() { tw_free(this); }
    std::string_view text() const { return {json, len}; }
};

// No answer is no permission: whatever is not OK is thrown.
void check(tw_status status) {
    Answer error;
    if (status == TW_STATUS_OK) return;
    if (tw_last_error(&error) != TW_STATUS_OK) throw std::bad_alloc{};
    throw std::runtime_error{std::string{error.text()}};
}

class Warden {
  public:
    explicit Warden(std::string_view options) { check(tw_open(options.data(), options.size(), &handle)); }
    Warden(const Warden &) = delete;
    Warden &operator=(const Warden &) = delete;
    ~Warden() { tw_close(handle); }
    void invoke(std::string_view call, Answer &answer) const {
        check(tw_invoke(handle, call.data(), call.size(), &answer));
    }
    void settle(std::string_view ticket, std::string_view word, Answer &answer) const {
        check(tw_settle(handle, ticket.data(), ticket.size(), word.data(), word.size(), &answer));
    }

  private:
    tw_warden handle = 0;
};

// A host has a JSON parser for this. The answer to a question holds no quote that is not its own, so a search will do here.
std::string_view ticket_of(std::string_view question) {
    constexpr std::string_view member = "\"ticket\":\"";
    const auto begin = question.find(member);
    return begin == std::string_view::npos ? std::string_view{} : question.substr(begin + member.size(), 32);
}

int main() try {
    const Warden warden{R"({"profile":"dangerous"})"};
    for (std::string call, word; std::getline(std::cin, call);) {
        Answer first, settled;
        warden.invoke(call, first);
        const bool asked = first.verdict == TW_VERDICT_ASK;
        if (asked && std::getline(std::cin, word)) warden.settle(ticket_of(first.text()), word, settled);
        const Answer &last = asked ? settled : first;
        // `run` in the text names the tool and the arguments. Run these, and nothing else.
        std::cout << (last.verdict == TW_VERDICT_ALLOW ? "run " : "stop ") << last.text() << "\n";
    }
} catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
}
