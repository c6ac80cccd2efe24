// The C interface: validates the input of each call, and runs a search or a whole game.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "deadline.hpp"
#include "faults.hpp"
#include "iacta.h"
#include "search/search.hpp"
#include "war/whole_game.hpp"

using namespace iacta;

struct iacta_search {
    std::atomic_flag is_busy;  // whether a call of this search is running
    std::unique_ptr<Search> search;

    explicit iacta_search(std::unique_ptr<Search> opened) : search(std::move(opened)) {}
};

struct iacta_war {
    std::unique_ptr<WholeGame> game;
};

namespace {

// Runs a call and returns its return code, or a code for the exception that it throws. No exception may cross the C
// interface.
template <class Call>
int32_t guard(Call call) noexcept try {
    return call();
} catch (const Stopped&) {
    return IACTA_STOPPED;
} catch (const std::bad_alloc&) {
    return IACTA_NO_MEMORY;
} catch (...) {
    return IACTA_BROKEN;
}

// Runs a call of a search and returns its return code. Returns IACTA_UNSOUND if a pointer in `given` is null, and
// IACTA_BUSY if another thread is using the search.
template <class Call>
int32_t ask(iacta_search* search, const iacta_budget* budget, Pointers given, Call call) noexcept {
    if (!search || !budget || !are_given(given)) return IACTA_UNSOUND;
    if (search->is_busy.test_and_set(std::memory_order_acquire)) return IACTA_BUSY;
    int32_t answer = guard([&] {
        search->search->begin(*budget);
        return call(*search->search);
    });
    search->is_busy.clear(std::memory_order_release);
    return answer;
}

template <class Call>
int32_t ask(const iacta_war* war, Pointers given, Call call) noexcept {
    if (!war || !are_given(given)) return IACTA_UNSOUND;
    return guard([&] { return call(*war->game); });
}

// Calls `open`, which creates a handle and returns an error message, or an empty string on success. Copies the error
// message to `message`, a buffer of `room` bytes.
template <class Open>
void open_handle(char* message, int32_t room, Open open) noexcept {
    auto say = [=](const char* text) {
        if (message && room > 0) std::snprintf(message, size_t(room), "%s", text);
    };
    say("");
    int32_t answer = guard([&] { return say(open().c_str()), IACTA_DONE; });
    if (answer == IACTA_NO_MEMORY) say("there is not enough memory");
    if (answer == IACTA_BROKEN) say("the core of iacta is broken");
}

}  // namespace

extern "C" {

int32_t iacta_version(void) { return IACTA_VERSION; }

iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room) {
    iacta_search* search = nullptr;
    open_handle(message, room, [&] {
        std::string fault = problem ? find_fault(*problem) : "the problem must not be null";
        if (!fault.empty()) return fault;
        int lands = problem->lands;
        auto open = lands <= 64 ? open_search<1> : lands <= 256 ? open_search<4> : open_search<16>;
        search = new iacta_search(open(*problem));
        return fault;
    });
    return search;
}
void iacta_close(iacta_search* search) { delete search; }

int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_ends* ends,
                    double* value, double* cost, int64_t* states) {
    return ask(search, budget, {value, cost, states},
               [=](Search& opened) { return opened.solve(state, ends, value, cost, states); });
}
int32_t iacta_count_goals(iacta_search* search) { return search ? search->search->count_goals() : 0; }
int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets) {
    return ask(search, budget, {sets}, [=](Search& opened) { return opened.assign(starts, sets); });
}
int32_t iacta_follow(iacta_search* search, const iacta_budget* budget, const iacta_style* style, const uint8_t* sets) {
    return ask(search, budget, {style, sets}, [=](Search& opened) { return opened.follow(*style, sets); });
}
int32_t iacta_improve_bound(iacta_search* search, const iacta_budget* budget, double* bound) {
    return ask(search, budget, {bound}, [=](Search& opened) { return opened.improve_bound(bound); });
}
int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_decision* decision) {
    return ask(search, budget, {decision}, [=](Search& opened) { return opened.decide(state, *decision); });
}
int32_t iacta_evaluate_attack(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start,
                              int32_t to, int32_t dice, iacta_decision* decision) {
    return ask(search, budget, {decision},
               [=](Search& opened) { return opened.evaluate_attack(state, start, to, dice, *decision); });
}
int32_t iacta_choose_advance(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start,
                             int32_t to, int32_t least, int32_t* moved) {
    return ask(search, budget, {moved},
               [=](Search& opened) { return opened.choose_advance(state, start, to, least, moved); });
}
int32_t iacta_evaluate_policy(iacta_search* search, const iacta_budget* budget, iacta_state state,
                              iacta_report* report) {
    return ask(search, budget, {report}, [=](Search& opened) { return opened.evaluate_policy(state, report); });
}
int32_t iacta_play_games(iacta_search* search, const iacta_budget* budget, iacta_state state, uint64_t seed,
                         int64_t first, int32_t games, double* gains, int32_t* played, iacta_report* report) {
    return ask(search, budget, {report, played},
               [=](Search& opened) { return opened.play_games(state, seed, first, games, gains, played, report); });
}

iacta_war* iacta_war_open(const iacta_problem* problem, const iacta_turn* turn, char* message, int32_t room) {
    iacta_war* war = nullptr;
    open_handle(message, room, [&] {
        std::string fault = problem && turn ? find_fault(*problem) : "the problem and the turn must not be null";
        if (fault.empty()) fault = find_fault(*problem, *turn);
        if (!fault.empty()) return fault;
        auto open = problem->lands <= 64 ? open_whole_game<1> : open_whole_game<16>;
        war = new iacta_war{open(*problem, *turn)};
        return fault;
    });
    return war;
}
void iacta_war_close(iacta_war* war) { delete war; }

int32_t iacta_war_read_odds(const iacta_war* war, int32_t to, int32_t able, int32_t defenders, double* odds) {
    return ask(war, {odds}, [=](const WholeGame& game) { return game.read_odds(to, able, defenders, odds); });
}
int32_t iacta_war_evaluate(const iacta_war* war, const float* weights, float* features, double* chances) {
    return ask(war, {weights, features, chances},
               [=](const WholeGame& game) { return game.evaluate(weights, features, chances); });
}
int32_t iacta_war_judge_aims(const iacta_war* war, const iacta_budget* budget, const double* weights,
                             const float* choosing, uint64_t seed, int32_t* aims, double* values, int32_t* count) {
    return ask(war, {budget, weights, choosing, aims, values, count}, [=](const WholeGame& game) {
        return game.judge_aims(*budget, weights, choosing, seed, aims, values, count);
    });
}
int32_t iacta_war_choose_action(const iacta_war* war, const iacta_budget* budget, const double* weights,
                                const float* choosing, uint64_t seed, int32_t* chosen, iacta_action* action) {
    return ask(war, {budget, weights, chosen, action}, [=](const WholeGame& game) {
        return game.choose_action(*budget, weights, choosing, seed, chosen, action);
    });
}
int32_t iacta_war_play_turn(const iacta_war* war, const iacta_budget* budget, const double* weights,
                            const float* choosing, int32_t aim, int32_t which, uint64_t seed, iacta_action* actions,
                            int32_t* count, uint8_t* owner, int32_t* armies, int32_t* cards) {
    return ask(war, {budget, weights, actions, count, owner, armies, cards}, [=](const WholeGame& game) {
        return game.play_turn(*budget, weights, choosing, {aim, which}, seed, actions, count, owner, armies, cards);
    });
}
int32_t iacta_war_play_games(const iacta_war* war, const iacta_budget* budget, const iacta_games* games,
                             iacta_played* played) {
    return ask(war, {budget, games, played},
               [=](const WholeGame& game) { return game.play_games(*budget, *games, *played); });
}
int32_t iacta_war_record_game(const iacta_war* war, const double* weights, const float* choosing, int32_t max_rounds,
                              double share, uint64_t seed, float* features, int32_t* count, double* chances) {
    return ask(war, {weights, features, count, chances}, [=](const WholeGame& game) {
        return game.record_game(weights, choosing, max_rounds, share, seed, features, count, chances);
    });
}
}
