// The search on boards of at most 64 * W lands.
#pragma once

#include <memory>
#include <optional>
#include <unordered_set>

#include "faults.hpp"
#include "search/bound.hpp"
#include "search/exact.hpp"
#include "search/flow.hpp"
#include "search/games.hpp"
#include "search/lookahead.hpp"
#include "search/search.hpp"
#include "search/stack.hpp"

namespace iacta {

template <int W>
class SizedSearch final : public Search {
  public:
    explicit SizedSearch(const iacta_problem& problem)
        : game_(problem), lookahead_(game_, ROWS, deadline_), bound_(open_bound(game_, deadline_)) {}

    void begin(const iacta_budget& budget) override { deadline_ = Deadline(budget); }

    int32_t solve(iacta_state state, iacta_ends* ends, double* value, int64_t* states) override {
        auto s = position(state);
        if (!s) return IACTA_UNSOUND;
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
        int32_t answer = small_   ? solved(small_, *s, value, states)
                         : large_ ? solved(large_, *s, value, states)
                                  : IACTA_TOO_LARGE;
        if (ends) write(*ends);
        return answer;
    }

    int32_t goals() override { return int32_t(lookahead_.goals()); }

    int32_t assign(int starts, uint8_t* sets) override {
        if (starts < 1) return IACTA_UNSOUND;
        forget();
        bool done = deep([&] { return lookahead_.find_base(starts); });
        for (const auto& parts : lookahead_.base())
            for (int v = 0; v < game_.lands; ++v)
                for (int t = 0; t < game_.lands; ++t) *sets++ = parts[v].has(t);
        return done ? IACTA_DONE : IACTA_STOPPED;
    }

    int32_t follow(const iacta_style& style, const uint8_t* sets) override {
        auto [idle, depth, order] = style;
        if (depth < 1 || depth > IACTA_MAX_DEPTH || !(idle >= 0.0 && idle <= 1.0) || order < 0 || order > 1)
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

    int32_t bound(double* bound) override { return bound_->improve(bound); }

    int32_t decide(iacta_state state, iacta_decision& decision) override {
        auto s = position(state);
        if (!s || !has_room(decision)) return IACTA_UNSOUND;
        write(deep([&] { return decided(*s); }), decision);
        return IACTA_DONE;
    }

    int32_t judge(iacta_state state, int v, int c, int dice, iacta_decision& decision) override {
        auto given = position(state);
        if (!given || !has_room(decision)) return IACTA_UNSOUND;
        Position<W>& s = *given;
        Decision d;
        if (is_land(v) && is_land(c) && !game_.over(s) && s.mine.has(v) && !game_.resting.has(v) &&
            (game_.out[v] & game_.left(s)).has(c)) {
            int most = game_.most_dice_of(s, v, c);
            Roll roll{v, c, dice > 0 ? dice : most};
            if (most > 0 && roll.dice <= most && game_.allowed(s, v, c, roll.dice))
                d = deep([&] { return policy([&](auto& it) { return it.judge(s, roll); }); });
        }
        write(d, decision);
        return IACTA_DONE;
    }

    int32_t move_in(iacta_state state, int v, int c, int least, int32_t* moved) override {
        auto given = position(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& s = *given;
        if (!is_land(v) || !is_land(c) || !s.mine.has(v) || s.mine.has(c) || game_.spare(s, v) < 1 || least < 0)
            return IACTA_UNSOUND;
        *moved = deep([&] { return policy([&](auto& it) { return it.advance(s, v, c, least); }); });
        return IACTA_DONE;
    }

    int32_t flow(iacta_state state, iacta_report* report) override {
        auto given = position(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& start = *given;
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

    int32_t play(iacta_state state, uint64_t seed, int64_t first, int games, double* gains, int32_t* played,
                 iacta_report* report) override {
        auto given = position(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& from = *given;
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
    static constexpr int MOST_DEEP = 3000;      // armies; where defenders decide, recursion is as deep

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
            !std::all_of(
                ends.values, ends.values + ends.count, [](double each) { return each >= 0.0 && each <= MAX_PAID; }))
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
    Game<W> game_;
    Lookahead<W> lookahead_;
    Ends<W> ends_;
    std::unique_ptr<Exact<W, 1>> small_;
    std::unique_ptr<Exact<W, 4>> large_;
    std::unique_ptr<Bound> bound_;
};

template <int W>
std::unique_ptr<Search> open_search(const iacta_problem& problem) {
    return std::make_unique<SizedSearch<W>>(problem);
}

}  // namespace iacta
