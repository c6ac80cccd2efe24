// The C interface: checks what comes from outside, and asks the planner.
#include <atomic>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <variant>

#include "exact.hpp"
#include "flow.hpp"
#include "games.hpp"
#include "iacta.h"
#include "lookahead.hpp"
#include "prices.hpp"
#include "relaxed.hpp"
#include "stack.hpp"
#include "war_games.hpp"

#ifndef IACTA_SOURCE
#define IACTA_SOURCE "unknown"
#endif

using namespace iacta;

namespace {

constexpr int MOST_LANDS = 1024, MOST_SETS = 1024, MOST_DICE = 1000, MOST_ARMIES = 1 << 20;
constexpr double MOST_PAID = 1e100, MOST_TABLE = 1e12, ROUNDING = 1e-6;

using Pointers = std::initializer_list<const void*>;

bool all_given(Pointers pointers) {
    return std::none_of(pointers.begin(), pointers.end(), [](const void* each) { return each == nullptr; });
}
bool within(const int32_t* numbers, int64_t count, int64_t least, int64_t most) {
    return std::all_of(numbers, numbers + count, [=](int32_t each) { return each >= least && each <= most; });
}
// Whether numbers say where parts of a whole begin, and where the last one ends.
bool parts(const int32_t* firsts, int64_t count, int64_t whole) {
    return firsts[0] == 0 && firsts[count] == whole && std::is_sorted(firsts, firsts + count + 1);
}
// What is added to a sum of chances.
double chance_of(const double* chances, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        if (!(chances[i] >= 0.0)) return MOST_PAID;
        sum += chances[i];
    }
    return sum;
}

std::string fault_of_dice(const iacta_problem& p) {
    const char* length = "the tables of dice must be as long as they say";
    if (p.rows < 1 || p.throws < 0 || p.answers < 0 || p.results < 0 || (p.throws > 0 && !p.throw_chance) ||
        (p.results > 0 && (!p.result_chance || !p.result_attackers || !p.result_defenders)))
        return length;
    int64_t rows = 0;
    for (int r = 0; r < p.kinds; ++r) {
        if (p.attack_dice[r] < 1 || p.attack_dice[r] > MOST_DICE || p.defence_dice[r] < 1 ||
            p.defence_dice[r] > MOST_DICE || p.dice_first[r] != rows)
            return "dice must be as many as there are rows of throws";
        rows += int64_t(p.attack_dice[r]) * p.defence_dice[r];
    }
    if (rows != p.rows || !parts(p.throw_first, p.rows, p.throws) ||
        !parts(p.answer_first, p.throws, p.answers) || !parts(p.result_first, p.answers, p.results))
        return length;
    if (!within(p.least, p.rows, 0, MOST_ARMIES)) return "least advances must be whole numbers";
    for (int a = 0; a < p.answers; ++a) {
        int first = p.result_first[a], count = p.result_first[a + 1] - first;
        if (chance_of(p.result_chance + first, count) > 1.0 + ROUNDING) return "chances must be from 0 to 1";
    }
    for (int r = 0; r < p.kinds; ++r)
        for (int i = 0; i < p.attack_dice[r] * p.defence_dice[r]; ++i) {
            int row = p.dice_first[r] + i, first = p.throw_first[row], last = p.throw_first[row + 1];
            if (chance_of(p.throw_chance + first, last - first) > 1.0 + ROUNDING)
                return "chances must be from 0 to 1";
            if (p.whole[r]) continue;
            if (first == last) return "each roll must have throws";
            int compared = std::min(i / p.defence_dice[r], i % p.defence_dice[r]) + 1;
            for (int t = first; t < last; ++t) {
                if (p.answer_first[t] == p.answer_first[t + 1]) return "each throw must have answers";
                for (int a = p.answer_first[t]; a < p.answer_first[t + 1]; ++a) {
                    if (p.result_first[a] == p.result_first[a + 1]) return "each answer must have results";
                    for (int j = p.result_first[a]; j < p.result_first[a + 1]; ++j) {
                        int x = p.result_attackers[j], y = p.result_defenders[j];
                        if (x < 0 || y < 0 || x > compared || y > compared || x + y < 1 || x + y > compared)
                            return "a result must cost from one army to one for each pair of dice";
                    }
                }
            }
        }
    return "";
}

std::string fault_of_battles(const iacta_problem& p) {
    if (!within(&p.able, 1, 0, MOST_ARMIES) || !within(&p.defenders, 1, 0, MOST_ARMIES) || p.battles < 0 ||
        p.width < 1 || p.width > p.able + 1 ||
        double(p.battles) * (p.able + 1.0) * (double(p.width) + p.defenders + 1.0) > MOST_TABLE ||
        !within(p.battle_first, p.kinds, 0, p.battles))
        return "whole battles must be as many as they say";
    for (int t = 0; t < p.lands; ++t) {
        if (p.owner[t] > 2) return "each land must have an owner";
        if (p.owner[t] == 1 && p.armies[t] > p.able) return "whole battles must be for all stacks";
        if (p.owner[t] == 0 && p.armies[t] < 1) return "lands to be attacked must have defenders";
        if (p.owner[t] == 0 && p.whole[p.kind[t]] &&
            (p.armies[t] > p.defenders || p.armies[t] > p.battles - p.battle_first[p.kind[t]]))
            return "whole battles must be for all defenders";
    }
    if (p.battles > 0 && (!p.won || !p.lost)) return "whole battles must be given";
    int64_t side = int64_t(p.able) + 1, ends = int64_t(p.defenders) + 1;
    for (int64_t row = 0; row < p.battles * side; ++row)
        if (chance_of(p.won + row * p.width, p.width) + chance_of(p.lost + row * ends, ends) > 1.0 + ROUNDING)
            return "chances of battles must be from 0 to 1";
    return "";
}

std::string fault_of_rewards(const iacta_problem& p) {
    auto is_paid = [](double each) { return std::abs(each) <= MOST_PAID; };
    if (p.sets < 0 || p.sets > MOST_SETS) return "sets must be from 0 to 1024";
    if (!p.set_first || p.set_first[p.sets] < 0 || !parts(p.set_first, p.sets, p.set_first[p.sets]) ||
        (p.set_first[p.sets] > 0 && !p.set_lands) ||
        !within(p.set_lands, p.set_first[p.sets], 0, p.lands - 1))
        return "sets must be of lands";
    if ((p.sets > 0 && !p.set_pays) || !std::all_of(p.set_pays, p.set_pays + p.sets, is_paid) ||
        !std::all_of(p.pays, p.pays + p.lands, is_paid))
        return "payments must be finite";
    if (!(p.price >= 0.0 && p.price <= MOST_PAID)) return "the price of an army must be at least 0";
    return "";
}

// Why a problem is not sound; empty if it is.
std::string fault_of(const iacta_problem& p) {
    if (p.lands < 1 || p.lands > MOST_LANDS) return "lands must be from 1 to 1024";
    if (p.kinds < 1 || p.kinds > MOST_LANDS) return "kinds of rules must be from 1 to 1024";
    if (!all_given({p.border_first, p.armies, p.keep, p.kind, p.owner, p.resting, p.attack_dice, p.defence_dice,
                    p.dice_first, p.least, p.whole, p.throw_first, p.answer_first, p.result_first,
                    p.battle_first, p.pays}))
        return "all tables must be given";
    int64_t borders = p.border_first[p.lands];
    if (borders < 0 || !parts(p.border_first, p.lands, borders) || (borders > 0 && !p.border_to) ||
        !within(p.border_to, borders, 0, p.lands - 1))
        return "borders must lead to lands";
    if (!within(p.armies, p.lands, 0, MOST_ARMIES) || !within(p.keep, p.lands, 0, MOST_ARMIES) ||
        !within(&p.garrison, 1, 0, MOST_ARMIES))
        return "armies must be whole numbers of at most 1048576";
    if (!within(p.kind, p.lands, 0, p.kinds - 1)) return "each land must have rules";
    for (auto find : {fault_of_dice, fault_of_battles, fault_of_rewards}) {
        std::string fault = find(p);
        if (!fault.empty()) return fault;
    }
    return "";
}

template <int W>
class Search {
  public:
    explicit Search(const iacta_problem& problem)
        : game_(problem), lookahead_(game_, ROWS, deadline_) {}

    void begin(const iacta_budget& budget) { deadline_ = Deadline(budget); }

    // A state, if it can follow the start.
    std::optional<Position<W>> position(iacta_state state) const {
        auto [armies, mine] = state;
        if (!armies || !mine) return {};
        Position<W> s;
        const Position<W>& start = game_.start;
        int largest = 0;
        int64_t more = 0;
        for (Set<W> rest = start.mine; rest.any();) largest = std::max(largest, start.armies[rest.pop()]);
        for (int t = 0; t < game_.lands; ++t) {
            bool is_mine = mine[t] != 0, was_mine = start.mine.has(t), open = game_.field.has(t);
            if (is_mine ? !was_mine && !open : was_mine) return {};
            int most = open && is_mine ? largest : start.armies[t];
            if (armies[t] < (open && !is_mine) || armies[t] > most) return {};
            if (is_mine) {
                s.mine.add(t);
                more += armies[t];
            }
            if (was_mine) more -= start.armies[t];
            s.armies.push_back(armies[t]);
        }
        if (more > 0) return {};
        return s;
    }

    int32_t solve(Position<W>& s, iacta_ends* ends, double* value, int64_t* states) {
        *value = 0.0;
        *states = 0;
        if (ends && !read(*ends)) return IACTA_UNSOUND;
        if (!small_ && !large_) {
            small_ = std::make_unique<Exact<W, 1>>(game_, deadline_, ends_);
            if (!small_->fits()) {
                small_.reset();
                large_ = std::make_unique<Exact<W, 4>>(game_, deadline_, ends_);
                if (!large_->fits()) large_.reset();
            }
        }
        int32_t answer = small_   ? solved(small_, s, value, states)
                         : large_ ? solved(large_, s, value, states)
                                  : IACTA_TOO_LARGE;
        if (ends) write(*ends);
        return answer;
    }

    int32_t goals() { return int32_t(lookahead_.goals()); }

    int32_t assign(int starts, uint8_t* sets) {
        if (starts < 1) return IACTA_UNSOUND;
        forget();
        bool done = deep([&] { return lookahead_.find_base(starts); });
        for (const auto& parts : lookahead_.base())
            for (int v = 0; v < game_.lands; ++v)
                for (int t = 0; t < game_.lands; ++t) *sets++ = parts[v].has(t);
        return done ? IACTA_DONE : IACTA_STOPPED;
    }

    int32_t follow(const iacta_style& style, const uint8_t* sets) {
        auto [idle, depth, order] = style;
        if (depth < 1 || depth > MOST_DEPTH || !(idle >= 0.0 && idle <= 1.0) || order < 0 || order > 1)
            return IACTA_UNSOUND;
        forget();
        std::vector<Parts<W>> base(lookahead_.goals());
        for (auto& parts : base)
            for (int v = 0; v < game_.lands; ++v) {
                Set<W> part;
                for (int t = 0; t < game_.lands; ++t)
                    if (*sets++ && game_.field.has(t)) part.add(t);
                parts.give(v, part);
            }
        lookahead_.follow(std::move(base), {depth, idle, Order(order)});
        return IACTA_DONE;
    }

    int32_t bound(double* bound) {
        *bound = bound_ = std::min(bound_, Bounds<W>::simple(game_));
        bool is_new = !bounds_;
        if (is_new) bounds_ = std::make_unique<Bounds<W>>(game_, deadline_);
        *bound = bound_ = std::min(bound_, bounds_->best());
        bool more = bounds_->improve();
        *bound = bound_ = std::min(bound_, bounds_->best());
        if (!game_.once && (is_new || !more))
            *bound = bound_ = std::min(bound_, Prices<W>(game_, bounds_->chances(), deadline_).best());
        return more ? IACTA_MORE : IACTA_DONE;
    }

    int32_t decide(const Position<W>& s, iacta_decision& decision) {
        if (!has_room(decision)) return IACTA_UNSOUND;
        write(deep([&] { return decided(s); }), decision);
        return IACTA_DONE;
    }

    int32_t judge(Position<W>& s, Roll roll, iacta_decision& decision) {
        if (!has_room(decision)) return IACTA_UNSOUND;
        Decision d;
        auto [v, c, k] = roll;
        if (is_land(v) && is_land(c) && !game_.over(s) && s.mine.has(v) && !game_.resting.has(v) &&
            (game_.out[v] & game_.left(s)).has(c)) {
            int most = game_.most_dice_of(s, v, c);
            roll.dice = k > 0 ? k : most;
            if (most > 0 && roll.dice <= most && game_.allowed(s, v, c, roll.dice))
                d = deep([&] { return policy([&](auto& it) { return it.judge(s, roll); }); });
        }
        write(d, decision);
        return IACTA_DONE;
    }

    int32_t advance(const Position<W>& s, int v, int c, int least, int32_t* moved) {
        if (!is_land(v) || !is_land(c) || !s.mine.has(v) || s.mine.has(c) || game_.spare(s, v) < 1 || least < 0)
            return IACTA_UNSOUND;
        *moved = deep([&] { return policy([&](auto& it) { return it.advance(s, v, c, least); }); });
        return IACTA_DONE;
    }

    int32_t flow(const Position<W>& start, iacta_report* report) {
        Flow<W> flow(game_, small_ || large_ || !game_.answers_differ);
        if (!has_room(flow.tally, report)) return IACTA_UNSOUND;
        int64_t total = 0;
        for (int armies : start.armies) total += armies;
        if (!flow.is_settled && total > MOST_DEEP) return IACTA_TOO_LARGE;
        int steps = flow.is_settled ? 0 : int(total);
        auto decide = [this](const Position<W>& s) { return decided(s); };
        bool done = deep([&] { return flow.run(start, decide, deadline_); }, steps);
        report->states = flow.states;
        flow.tally.write(report->order, report->numbers);
        return done ? IACTA_DONE : IACTA_STOPPED;
    }

    int32_t play(const Position<W>& from, uint64_t seed, int64_t first, int games, double* gains, int32_t* played,
                 iacta_report* report) {
        Tally<W> tally(game_);
        if (!has_room(tally, report) || games < 0 || (games > 0 && !gains)) return IACTA_UNSOUND;
        std::unordered_set<StateKey, StateKey::Hash> seen;  // whatever is known from other calls
        bool is_best = small_ || large_;
        auto decide = [&](const Position<W>& s) {
            seen.insert(key_of(s));
            return is_best ? decided(s) : lookahead_.look(s);
        };
        auto move_in = [&](const Position<W>& s, const Decision& d, const Outcome& outcome) {
            return is_best ? outcome.moved : lookahead_.advance(s, d.roll, outcome.attackers);
        };
        *played = 0;
        auto play_games = [&] {
            double start = is_best ? decide(from).value : lookahead_.value(from);
            for (int& count = *played; count < games; ++count) {
                deadline_.go_on();
                Random random(mixed(seed) + mixed(uint64_t(first) + uint64_t(count)));
                gains[count] = start + iacta::play(game_, from, decide, move_in, start, random, tally, 1.0 / games);
            }
            return 0;
        };
        try {
            deep(play_games);
        } catch (const Stopped&) {
        }
        report->states = int64_t(seen.size());
        tally.write(report->order, report->numbers);
        return *played == games ? IACTA_DONE : IACTA_STOPPED;
    }

  private:
    static constexpr int64_t ROWS = 200 << 20;  // bytes of the rows of assignments
    static constexpr int MOST_DEPTH = 8;
    static constexpr int MOST_DEEP = 3000;  // armies; where defenders decide, recursion is as deep

    void forget() {
        small_.reset();
        large_.reset();
    }
    bool is_land(int t) const { return t >= 0 && t < game_.lands; }

    static bool has_room(const iacta_decision& decision) { return decision.room <= 0 || decision.outcomes; }
    static bool has_room(const Tally<W>& tally, const iacta_report* report) {
        return report->numbers && report->borders == tally.borders() && report->room == tally.numbers() &&
               (report->order || !report->borders);
    }

    // Takes other ends of the turn; returns whether they can be.
    bool read(const iacta_ends& ends) {
        if (ends.count < 0 || ends.room < ends.count ||
            (ends.room > 0 && (!ends.armies || !ends.mine || !ends.values)) ||
            !std::all_of(ends.values, ends.values + ends.count, [](double each) { return each >= 0.0 && each <= MOST_PAID; }))
            return false;
        forget();
        ends_ = {};
        ends_.room = size_t(ends.room - ends.count);
        for (size_t k = 0, n = size_t(game_.lands); k < size_t(ends.count); ++k) {
            Position<W> s{{ends.armies + k * n, ends.armies + (k + 1) * n}, {}};
            for (size_t t = 0; t < n; ++t)
                if (ends.mine[k * n + t]) s.mine.add(int(t));
            ends_.put(s, ends.values[k]);
        }
        return true;
    }
    void write(iacta_ends& ends) {
        for (const Position<W>& s : ends_.added) {
            size_t first = size_t(ends.count) * s.armies.size();
            std::copy(s.armies.begin(), s.armies.end(), ends.armies + first);
            for (size_t t = 0; t < s.armies.size(); ++t) ends.mine[first + t] = s.mine.has(int(t));
            ends.values[ends.count++] = 0.0;
        }
        ends_.added.clear();
        ends_.room = 0;
    }

    // A call of the policy: what is looked at for a stack goes from land to land.
    template <class Call>
    auto deep(Call call, int more = 0) {
        int steps = small_ ? small_->depth() : large_ ? large_->depth() : game_.lands;
        return deeply<W>(steps + more, call);
    }
    template <class ExactGame>
    int32_t solved(std::unique_ptr<ExactGame>& exact, Position<W>& s, double* value, int64_t* states) try {
        *value = deeply<W>(exact->depth(), [&] { return exact->value(s); });
        *states = int64_t(exact->states());
        return IACTA_DONE;
    } catch (...) {
        *states = int64_t(exact->states());
        exact.reset();
        throw;
    }

    // What the policy says: the best play where it is known, else lookahead.
    template <class Ask>
    auto policy(Ask ask) {
        return small_ ? ask(*small_) : large_ ? ask(*large_) : ask(lookahead_);
    }
    Decision decided(const Position<W>& s) {
        return policy([&](auto& it) { return it.decide(s); });
    }

    static void write(const Decision& d, iacta_decision& decision) {
        auto [start, to, dice] = d.roll;
        decision = {start, to, dice, int32_t(d.outcomes.size()), decision.room, d.value, decision.outcomes};
        for (int i = 0; i < std::min(decision.room, decision.count); ++i) {
            const Outcome& o = d.outcomes[i];
            decision.outcomes[i] = {o.chance, o.value, o.attackers, o.defenders, o.moved};
        }
    }

    Deadline deadline_;
    double bound_ = std::numeric_limits<double>::infinity();
    Game<W> game_;
    Lookahead<W> lookahead_;
    Ends<W> ends_;
    std::unique_ptr<Exact<W, 1>> small_;
    std::unique_ptr<Exact<W, 4>> large_;
    std::unique_ptr<Bounds<W>> bounds_;
};

}  // namespace

struct iacta_search {
    std::atomic_flag is_busy;  // while a call works in it
    std::variant<Search<1>, Search<4>, Search<8>, Search<16>> sized;

    template <class Sized>
    iacta_search(std::in_place_type_t<Sized> type, const iacta_problem& problem) : sized(type, problem) {}
};

namespace {

// Whatever is thrown ends here.
template <class Call>
int32_t answered(Call call) noexcept try {
    return call();
} catch (const Stopped&) {
    return IACTA_STOPPED;
} catch (const std::bad_alloc&) {
    return IACTA_NO_MEMORY;
} catch (...) {
    return IACTA_BROKEN;
}

// A call of a search with pointers that must be given; it works for one thread at a time.
template <class Call>
int32_t asked(iacta_search* search, const iacta_budget* budget, Pointers given, Call call) noexcept {
    if (!search || !budget || !all_given(given)) return IACTA_UNSOUND;
    if (search->is_busy.test_and_set(std::memory_order_acquire)) return IACTA_BUSY;
    auto begun = [&](auto& it) {
        it.begin(*budget);
        return call(it);
    };
    int32_t answer = answered([&] { return std::visit(begun, search->sized); });
    search->is_busy.clear(std::memory_order_release);
    return answer;
}
// The same about a state.
template <class Call>
int32_t asked(iacta_search* search, const iacta_budget* budget, iacta_state state, Pointers given, Call call) noexcept {
    return asked(search, budget, given, [&](auto& it) -> int32_t {
        auto s = it.position(state);
        return s ? call(it, *s) : IACTA_UNSOUND;
    });
}

// What is opened, or why nothing is: `open` returns a fault of what is given, empty if there is none.
template <class Open>
void opened(char* message, int32_t room, Open open) noexcept {
    auto say = [=](const char* text) {
        if (message && room > 0) std::snprintf(message, size_t(room), "%s", text);
    };
    say("");
    int32_t answer = answered([&] { return say(open().c_str()), IACTA_DONE; });
    if (answer == IACTA_NO_MEMORY) say("there is not enough memory");
    if (answer == IACTA_BROKEN) say("the core of iacta is broken");
}

}  // namespace

extern "C" {

const char* iacta_source(void) { return IACTA_SOURCE; }

iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room) {
    iacta_search* search = nullptr;
    opened(message, room, [&] {
        std::string fault = problem ? fault_of(*problem) : "a problem must be given";
        if (!fault.empty()) return fault;
        if (problem->lands <= 64) search = new iacta_search(std::in_place_type<Search<1>>, *problem);
        else if (problem->lands <= 256) search = new iacta_search(std::in_place_type<Search<4>>, *problem);
        else if (problem->lands <= 512) search = new iacta_search(std::in_place_type<Search<8>>, *problem);
        else search = new iacta_search(std::in_place_type<Search<16>>, *problem);
        return fault;
    });
    return search;
}
void iacta_close(iacta_search* search) { delete search; }

int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_ends* ends,
                    double* value, int64_t* states) {
    return asked(search, budget, state, {value, states},
                 [=](auto& it, auto& s) { return it.solve(s, ends, value, states); });
}
int32_t iacta_goals(iacta_search* search) {
    return search ? std::visit([](auto& it) { return it.goals(); }, search->sized) : 0;
}
int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets) {
    return asked(search, budget, {sets}, [=](auto& it) { return it.assign(starts, sets); });
}
int32_t iacta_follow(iacta_search* search, const iacta_budget* budget, const iacta_style* style,
                     const uint8_t* sets) {
    return asked(search, budget, {style, sets}, [=](auto& it) { return it.follow(*style, sets); });
}
int32_t iacta_bound(iacta_search* search, const iacta_budget* budget, double* bound) {
    return asked(search, budget, {bound}, [=](auto& it) { return it.bound(bound); });
}
int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_decision* decision) {
    return asked(search, budget, state, {decision}, [=](auto& it, auto& s) { return it.decide(s, *decision); });
}
int32_t iacta_judge(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start, int32_t to,
                    int32_t dice, iacta_decision* decision) {
    return asked(search, budget, state, {decision},
                 [=](auto& it, auto& s) { return it.judge(s, {start, to, dice}, *decision); });
}
int32_t iacta_move_in(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start, int32_t to,
                      int32_t least, int32_t* moved) {
    return asked(search, budget, state, {moved},
                 [=](auto& it, auto& s) { return it.advance(s, start, to, least, moved); });
}
int32_t iacta_flow(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_report* report) {
    return asked(search, budget, state, {report}, [=](auto& it, auto& s) { return it.flow(s, report); });
}
int32_t iacta_play(iacta_search* search, const iacta_budget* budget, iacta_state state, uint64_t seed, int64_t first,
                   int32_t games, double* gains, int32_t* played, iacta_report* report) {
    return asked(search, budget, state, {report, played},
                 [=](auto& it, auto& s) { return it.play(s, seed, first, games, gains, played, report); });
}
}

namespace {

// Why a turn is not sound; empty if it is.
std::string fault_of_turn(const iacta_problem& p, const iacta_turn& t) {
    if (!all_given({t.owner, t.continent_first, t.whole_least, t.whole_dice, t.known, t.hidden, t.card_land,
                    t.set_armies}))
        return "all tables must be given";
    if (t.players < 2 || t.players > MOST_PLAYERS) return "players must be from 2 to 6";
    if (t.mover < 0 || t.mover >= t.players || t.phase < TRADE || t.phase > OVER || t.then < TRADE || t.then > OVER ||
        !within(&t.place, 1, 0, MOST_ARMIES) || !within(&t.first, 1, 0, p.lands - 1))
        return "the moment must be one of a turn";
    bool mine = false;
    int64_t total = 0;
    for (int v = 0; v < p.lands; ++v) {
        if (t.owner[v] > t.players && t.owner[v] != OWNERS - 1) return "each land must have an owner";
        mine |= t.owner[v] == t.mover && v >= t.first;
        total += p.armies[v];
    }
    if (!mine) return "the player to move must own lands";
    if (total > MOST_ARMIES) return "armies must be at most 1048576 in all";
    if (t.continents < 0 || !parts(t.continent_first, t.continents, t.continent_first[t.continents]) ||
        (t.continents > 0 && (!t.bonus || !t.continent_lands)) ||
        !within(t.continent_lands, t.continent_first[t.continents], 0, p.lands - 1) ||
        !within(t.bonus, t.continents, -MOST_ARMIES, MOST_ARMIES))
        return "continents must be of lands";
    if (t.sets < 1 || !within(t.set_armies, t.sets, 0, MOST_ARMIES) || !within(t.fixed, SYMBOLS + 1, 0, MOST_ARMIES) ||
        !within(t.card_land, CARDS, -1, p.lands - 1))
        return "sets and cards must be as many as they say";
    Cards all = 0;
    int count = 0;
    for (int i = 0; i < t.players; ++i) {
        if (t.known[i] >> CARDS || all & t.known[i] || t.hidden[i] < 0 || t.hidden[i] > CARDS)
            return "cards must be of one deck";
        all |= t.known[i];
        count += count_of(t.known[i]) + t.hidden[i];
    }
    if (count > CARDS) return "cards must be of one deck";
    if (t.phase == DEFEND || t.phase == ADVANCE) {
        auto is_land = [&](int v) { return v >= 0 && v < p.lands; };
        if (!is_land(t.attack_start) || !is_land(t.attack_to) || t.owner[t.attack_start] != t.mover ||
            (t.owner[t.attack_to] == t.mover) != (t.phase == ADVANCE))
            return "an attack must be over a border";
        int kind = p.kind[t.attack_to];
        if (t.phase == DEFEND && (p.whole[kind] || t.attack_dice < 1 || t.attack_dice > p.attack_dice[kind] || t.thrown < 0))
            return "a throw must be one of an attack";
    }
    return "";
}

template <int W>
class WholeGame {
  public:
    WholeGame(const iacta_problem& problem, const iacta_turn& turn) : rules_(problem, turn) {}

    int32_t odds(int to, int able, int defenders, double* found) const {
        if (to < 0 || to >= rules_.lands) return IACTA_UNSOUND;
        Odds::Row row = rules_.odds(to, able, defenders);
        found[0] = row.won, found[1] = row.lost, found[2] = row.killed;
        return IACTA_DONE;
    }
    int32_t judge(const float* weights, float* seen, double* chances) const {
        static constexpr double NONE[NUMBERS] = {};
        Tactics<W> tactics(rules_, NONE);
        write_seen(rules_.start, tactics, seen);
        iacta::judge(rules_, rules_.start, tactics, weights, chances);
        return IACTA_DONE;
    }
    int32_t aims(Numbers numbers, int32_t* found, int32_t* count) const {
        if (*count < 0) return IACTA_UNSOUND;
        std::vector<Aim> all = Tactics<W>(rules_, numbers).aims(rules_.start);
        for (int i = 0; i < std::min<int>(*count, int(all.size())); ++i)
            found[2 * i] = all[i].kind, found[2 * i + 1] = all[i].which;
        *count = int32_t(all.size());
        return IACTA_DONE;
    }
    // With an aim of a negative kind the player chooses it, here and in games.
    int32_t turn(Numbers numbers, const float* choosing, Aim aim, uint64_t seed, iacta_action* actions,
                 int32_t* count, uint8_t* owner, int32_t* armies, int32_t* cards) const {
        if (*count < 0 || (aim.kind >= 0 && !knows(aim))) return IACTA_UNSOUND;
        War<W> s = rules_.start;
        Random random(seed);
        WarPlay<W> play(rules_, numbers, choosing);
        Log log;
        if (aim.kind >= 0) play.turn(s, random, &log, aim);
        else play.turn(s, random, &log);
        std::copy(log.begin(), log.begin() + std::min<int64_t>(*count, int64_t(log.size())), actions);
        *count = int32_t(log.size());
        std::copy(s.owner.begin(), s.owner.end(), owner);
        std::copy(s.at.armies.begin(), s.at.armies.end(), armies);
        for (int i = 0; i < rules_.players; ++i) cards[i] = s.cards(i);
        return IACTA_DONE;
    }
    int32_t games(const iacta_budget& budget, Numbers numbers, const float* choosing, const float* ending,
                  Aim aim, bool is_dealt, int cut, int most, uint64_t seed, int64_t first, int games,
                  double* chances, uint8_t* ended, uint8_t* reached, int32_t* rounds, int32_t* played) const {
        if (games < 0 || most < 1 || (aim.kind >= 0 && !knows(aim))) return IACTA_UNSOUND;
        const Aim* given = aim.kind < 0 ? nullptr : &aim;
        Deadline deadline(budget);
        auto [plays, seats] = table(numbers, choosing);
        War<W> s;
        for (int& i = *played = 0; i < games; ++i) {
            Random random(mixed(seed) + mixed(uint64_t(first) + uint64_t(i)));
            s = rules_.start;
            if (is_dealt) deal(s, random);
            ended[i] = uint8_t(play_war(rules_, s, seats.data(), given, cut, most, random, deadline,
                                        [](const War<W>&) {}, reached ? reached + i : nullptr, rounds + i));
            iacta::judge(rules_, s, plays[0].tactics, ending, chances + int64_t(i) * rules_.players);
        }
        return IACTA_DONE;
    }
    int32_t record(Numbers numbers, const float* choosing, int most, double share, uint64_t seed, float* seen,
                   int32_t* count, double* chances) const {
        if (*count < 0 || most < 1) return IACTA_UNSOUND;
        Deadline deadline;
        auto [plays, seats] = table(numbers, choosing);
        War<W> s = rules_.start;
        Random random(seed), chance(~seed);
        deal(s, random);
        int room = *count, found = 0;
        int32_t rounds = 0;
        Tactics<W>& tactics = plays[0].tactics;
        Ended ended = play_war(
            rules_, s, seats.data(), nullptr, 0, most, random, deadline,
            [&](const War<W>& now) {
                if (chance.uniform() >= share || found >= room) return;
                write_seen(now, tactics, seen + int64_t(found) * rules_.players * FEATURES);
                ++found;
            },
            nullptr, &rounds);
        *count = found;
        int alive = rules_.alive(s);
        for (int i = 0; i < rules_.players; ++i)
            chances[i] = s.lands[i] == 0 ? 0.0 : ended == WON ? 1.0 : 1.0 / alive;
        return IACTA_DONE;
    }

  private:
    WarRules<W> rules_;

    bool knows(Aim aim) const {
        auto [kind, which] = aim;
        bool is_continent = kind == CONTINENT || kind == BREAK;
        int most = is_continent ? int(rules_.continents.size()) : kind == ELIMINATE ? rules_.players : 1;
        return kind >= AS_LIKED && kind <= WARILY && which >= 0 && which < most;
    }
    void write_seen(const War<W>& s, Tactics<W>& tactics, float* seen) const {
        std::array<std::array<float, FEATURES>, MOST_PLAYERS> rows;
        see(rules_, s, tactics, rows.data());
        for (int i = 0; i < rules_.players; ++i) std::copy(rows[i].begin(), rows[i].end(), seen + i * FEATURES);
    }
    struct Table {
        std::vector<WarPlay<W>> plays;
        std::vector<WarPlay<W>*> seats;
    };
    Table table(Numbers numbers, const float* choosing) const {
        Table found;
        for (int i = 0; i < rules_.players; ++i) found.plays.emplace_back(rules_, numbers + i * NUMBERS, choosing);
        for (WarPlay<W>& each : found.plays) found.seats.push_back(&each);
        return found;
    }
    // Deals lands, armies and the first turn at random, as the box does for so many players.
    void deal(War<W>& s, Random& random) const {
        constexpr int STARTING[] = {0, 0, 40, 35, 30, 25, 20}, LANDS = 42;
        std::vector<int> lands;
        for (int t = 0; t < rules_.lands; ++t)
            if (s.owner[t] <= rules_.players) lands.push_back(t);
        for (size_t i = lands.size(); i > 1; --i) std::swap(lands[i - 1], lands[size_t(random.below(int(i)))]);
        rules_.deal(s, lands, STARTING[rules_.players] * int(lands.size()) / LANDS, random);
    }
};

}  // namespace

struct iacta_war {
    std::variant<WholeGame<1>, WholeGame<16>> sized;

    template <class Sized>
    iacta_war(std::in_place_type_t<Sized> type, const iacta_problem& problem, const iacta_turn& turn)
        : sized(type, problem, turn) {}
};

namespace {

template <class Call>
int32_t asked(const iacta_war* war, Pointers given, Call call) noexcept {
    if (!war || !all_given(given)) return IACTA_UNSOUND;
    return answered([&] { return std::visit(call, war->sized); });
}

}  // namespace

extern "C" {

iacta_war* iacta_war_open(const iacta_problem* problem, const iacta_turn* turn, char* message, int32_t room) {
    iacta_war* war = nullptr;
    opened(message, room, [&] {
        std::string fault = problem && turn ? fault_of(*problem) : "a game must be given";
        if (fault.empty()) fault = fault_of_turn(*problem, *turn);
        if (!fault.empty()) return fault;
        if (problem->lands <= 64) war = new iacta_war(std::in_place_type<WholeGame<1>>, *problem, *turn);
        else war = new iacta_war(std::in_place_type<WholeGame<16>>, *problem, *turn);
        return fault;
    });
    return war;
}
void iacta_war_close(iacta_war* war) { delete war; }

int32_t iacta_war_odds(const iacta_war* war, int32_t to, int32_t able, int32_t defenders, double* odds) {
    return asked(war, {odds}, [=](auto& it) { return it.odds(to, able, defenders, odds); });
}
int32_t iacta_war_judge(const iacta_war* war, const float* weights, float* seen, double* chances) {
    return asked(war, {weights, seen, chances}, [=](auto& it) { return it.judge(weights, seen, chances); });
}
int32_t iacta_war_aims(const iacta_war* war, const double* numbers, int32_t* aims, int32_t* count) {
    return asked(war, {numbers, aims, count}, [=](auto& it) { return it.aims(numbers, aims, count); });
}
int32_t iacta_war_turn(const iacta_war* war, const double* numbers, const float* choosing, int32_t aim, int32_t which,
                       uint64_t seed, iacta_action* actions, int32_t* count, uint8_t* owner, int32_t* armies,
                       int32_t* cards) {
    return asked(war, {numbers, actions, count, owner, armies, cards}, [=](auto& it) {
        return it.turn(numbers, choosing, {aim, which}, seed, actions, count, owner, armies, cards);
    });
}
int32_t iacta_war_games(const iacta_war* war, const iacta_budget* budget, const double* numbers, const float* choosing,
                        const float* ending, int32_t aim, int32_t which, int32_t is_dealt, int32_t cut, int32_t most,
                        uint64_t seed, int64_t first, int32_t games, double* chances, uint8_t* ended, uint8_t* reached,
                        int32_t* rounds, int32_t* played) {
    return asked(war, {budget, numbers, ending, chances, ended, rounds, played}, [=](auto& it) {
        return it.games(*budget, numbers, choosing, ending, {aim, which}, is_dealt != 0, cut, most, seed, first, games,
                        chances, ended, reached, rounds, played);
    });
}
int32_t iacta_war_record(const iacta_war* war, const double* numbers, const float* choosing, int32_t most, double share,
                         uint64_t seed, float* seen, int32_t* count, double* chances) {
    return asked(war, {numbers, seen, count, chances}, [=](auto& it) {
        return it.record(numbers, choosing, most, share, seed, seen, count, chances);
    });
}
}
