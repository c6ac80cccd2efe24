// An implementation of Search for boards of at most 64 * W territories.
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
        : game_(problem), lookahead_(game_, ROW_BYTES, deadline_), bound_(open_bound(game_, deadline_)) {}

    void begin(const iacta_budget& budget) override { deadline_ = Deadline(budget); }

    int32_t solve(iacta_state state, iacta_ends* ends, double* value, double* cost, int64_t* states) override {
        auto s = read_state(state);
        if (!s) return IACTA_UNSOUND;
        *value = *cost = 0.0;
        *states = 0;
        if (ends && !read_ends(*ends)) return IACTA_UNSOUND;
        if (!exact_) exact_ = std::make_unique<Exact<W>>(game_, deadline_, ends_);
        int32_t answer = IACTA_TOO_LARGE;
        if (exact_->fits()) answer = solve_exactly(*s, value, cost, states);
        else exact_.reset();
        if (ends) write_ends(*ends);
        return answer;
    }

    int32_t count_goals() override { return int32_t(lookahead_.count_goals()); }

    int32_t assign(int starts, uint8_t* sets) override {
        if (starts < 1) return IACTA_UNSOUND;
        forget();
        bool done = call_deep([&] { return lookahead_.find_base(starts); });
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
        std::vector<Parts<W>> base(lookahead_.count_goals());
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

    int32_t improve_bound(double* bound) override { return bound_->improve(bound); }

    int32_t decide(iacta_state state, iacta_decision& decision) override {
        auto s = read_state(state);
        if (!s || !has_room(decision)) return IACTA_UNSOUND;
        write_decision(call_deep([&] { return decide_by_policy(*s); }), decision);
        return IACTA_DONE;
    }

    int32_t evaluate_attack(iacta_state state, int v, int c, int dice, iacta_decision& decision) override {
        auto given = read_state(state);
        if (!given || !has_room(decision)) return IACTA_UNSOUND;
        Position<W>& s = *given;
        Decision d;
        if (is_land(v) && is_land(c) && !game_.is_over(s) && s.mine.has(v) && !game_.resting.has(v) &&
            (game_.out[v] & game_.unconquered(s)).has(c)) {
            int most = game_.max_dice(s, v, c);
            Roll roll{v, c, dice > 0 ? dice : most};
            if (most > 0 && roll.dice <= most && game_.is_allowed(s, v, c, roll.dice))
                d = call_deep([&] { return ask_policy([&](auto& policy) { return policy.evaluate_roll(s, roll); }); });
        }
        write_decision(d, decision);
        return IACTA_DONE;
    }

    int32_t choose_advance(iacta_state state, int v, int c, int least, int32_t* moved) override {
        auto given = read_state(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& s = *given;
        if (!is_land(v) || !is_land(c) || !s.mine.has(v) || s.mine.has(c) || game_.spare(s, v) < 1 || least < 0)
            return IACTA_UNSOUND;
        *moved = call_deep([&] { return ask_policy([&](auto& policy) { return policy.advance(s, v, c, least); }); });
        return IACTA_DONE;
    }

    int32_t evaluate_policy(iacta_state state, iacta_report* report) override {
        auto given = read_state(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& start = *given;
        Flow<W> flow(game_, exact_ || !game_.answers_differ);
        if (!has_room(flow.tally, report)) return IACTA_UNSOUND;
        int64_t total = 0;
        for (int armies : start.armies) total += armies;
        if (!flow.is_settled && total > MAX_RECURSION_ARMIES) return IACTA_TOO_LARGE;
        int steps = flow.is_settled ? 0 : int(total);
        auto decide = [this](const Position<W>& s) { return decide_by_policy(s); };
        bool done = call_deep([&] { return flow.run(start, decide, deadline_); }, steps);
        report->states = flow.states;
        flow.tally.write(report->order, report->numbers);
        return done ? IACTA_DONE : IACTA_STOPPED;
    }

    int32_t play_games(iacta_state state, uint64_t seed, int64_t first, int games, double* gains, int32_t* played,
                       iacta_report* report) override {
        auto given = read_state(state);
        if (!given) return IACTA_UNSOUND;
        const Position<W>& from = *given;
        Tally<W> tally(game_);
        if (!has_room(tally, report) || games < 0 || (games > 0 && !gains)) return IACTA_UNSOUND;
        std::unordered_set<StateKey, StateKey::Hash> seen;  // the different states that this call visits
        bool is_best = exact_ != nullptr;
        auto decide = [&](const Position<W>& s) {
            seen.insert(make_key(s));
            return is_best ? decide_by_policy(s) : lookahead_.decide_roll(s);
        };
        auto move_in = [&](const Position<W>& s, const Decision& d, const Outcome& outcome) {
            return is_best ? outcome.moved : lookahead_.advance(s, d.roll, outcome.attackers);
        };
        *played = 0;
        auto play_all = [&] {
            double start = is_best ? decide(from).value : lookahead_.value(from);
            for (int& count = *played; count < games; ++count) {
                deadline_.spend();
                Random random(hash_number(seed) + hash_number(uint64_t(first) + uint64_t(count)));
                gains[count] = start + play_game(game_, from, decide, move_in, start, random, tally, 1.0 / games);
            }
            return 0;
        };
        try {
            call_deep(play_all);
        } catch (const Stopped&) {
        }
        report->states = int64_t(seen.size());
        tally.write(report->order, report->numbers);
        return *played == games ? IACTA_DONE : IACTA_STOPPED;
    }

  private:
    static constexpr int64_t ROW_BYTES = 200 << 20;  // the memory limit of the table of values of assignments
    // If the defender can choose between answers, evaluate_policy rejects states with more armies.
    static constexpr int MAX_RECURSION_ARMIES = 3000;

    // Returns a copy of a caller's state, or an empty optional if the state cannot be reached from the start.
    std::optional<Position<W>> read_state(iacta_state state) const {
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

    void forget() { exact_.reset(); }
    bool is_land(int t) const { return t >= 0 && t < game_.lands; }

    static bool has_room(const iacta_decision& decision) { return decision.room <= 0 || decision.outcomes; }
    static bool has_room(const Tally<W>& tally, const iacta_report* report) {
        return report->numbers && report->borders == tally.count_borders() && report->room == tally.count_numbers() &&
               (report->order || !report->borders);
    }

    // Reads the final states of a turn and their values. Returns whether the values and the lengths are valid.
    bool read_ends(const iacta_ends& ends) {
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
    void write_ends(iacta_ends& ends) {
        for (const Position<W>& s : ends_.added) {
            size_t first = size_t(ends.count) * s.armies.size();
            std::copy(s.armies.begin(), s.armies.end(), ends.armies + first);
            for (size_t t = 0; t < s.armies.size(); ++t) ends.mine[first + t] = s.mine.has(int(t));
            ends.values[ends.count++] = 0.0;
        }
        ends_.added.clear();
        ends_.room = 0;
    }

    // Runs a call on a thread whose stack is large enough for the recursion of the policy.
    template <class Call>
    auto call_deep(Call call, int more = 0) {
        int steps = exact_ ? exact_->depth() : game_.lands;
        return call_with_stack<W>(steps + more, call);
    }
    int32_t solve_exactly(Position<W>& s, double* value, double* cost, int64_t* states) try {
        Worth found = call_with_stack<W>(exact_->depth(), [&] { return exact_->worth(s); });
        *value = found.value, *cost = found.cost;
        *states = int64_t(exact_->states());
        return IACTA_DONE;
    } catch (...) {
        *states = int64_t(exact_->states());
        exact_.reset();
        throw;
    }

    // Calls `ask` with the current policy: optimal play if it has been computed, otherwise lookahead.
    template <class Ask>
    auto ask_policy(Ask ask) {
        return exact_ ? ask(*exact_) : ask(lookahead_);
    }
    Decision decide_by_policy(const Position<W>& s) {
        return ask_policy([&](auto& policy) { return policy.decide(s); });
    }

    static void write_decision(const Decision& d, iacta_decision& decision) {
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
    std::unique_ptr<Exact<W>> exact_;  // optimal play, if it has been computed
    std::unique_ptr<Bound> bound_;
};

template <int W>
std::unique_ptr<Search> open_search(const iacta_problem& problem) {
    return std::make_unique<SizedSearch<W>>(problem);
}

}  // namespace iacta
