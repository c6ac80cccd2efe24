// Which stack is to take which lands, and what that is worth.
//
// An assignment gives each stack v a set R_v of lands connected to it; the sets are disjoint. What
// one stack does alone within its set has an exact value, battle by battle: with W the chances of a
// battle for c, F(v, n, R) the value of n armies on v, and A(v, c, Q)(b) that of b armies left able
// to move when c is taken and Q is left,
//
//     F(v, n, R)    = max over c next to v of  Σ_b W_c[n - g, b] · (paid + A(v, c, R - c)(b)) − cost,
//     A(v, c, Q)(b) = max over Q = Q1 + Q2 and the m that advance of
//                         F(c, m, Q1) ∘ F(v, b + g − m, Q2).
//
// To take all of a set, x ∘ y = x · y; where each conquest pays, x + y; where any one is enough,
// 1 − (1 − x)(1 − y). F and A are rows over all numbers of armies, kept until there are too many.
#pragma once

#include <deque>
#include <memory>

#include "policy.hpp"

namespace iacta {

constexpr int NOWHERE = -1;

template <int W>
using Parts = std::vector<Set<W>>;  // for each land, what the stack on it is to take

// How the values of two stacks combine.
enum class Joint { product, sum, any };

template <int W>
class Rows {
  public:
    Rows(const Game<W>& game, Joint joint, int64_t bytes, Deadline& deadline)
        : game_(game), joint_(joint), deadline_(deadline), fought_(game.kinds) {
        length_ = 1;
        for (int v = 0; v < game.lands; ++v)
            if (game.start.mine.has(v)) length_ = std::max(length_, game.start.armies[v] + 1);
        ones_.assign(length_, 1.0);
        zeros_.assign(length_, 0.0);
        for (int t = 0; t < game.lands; ++t)
            for (int armies = 0; armies < FEW; ++armies) key_parts_.push_back(key_part(t, armies));
        most_rows_ = std::max<int64_t>(1000, bytes / int64_t(sizeof(double) * length_ + 64));
        for (size_t i = 0; i < game.sets.size() && i < 64; ++i)
            if (game.sets[i].pays > 0.0) due_sets_ |= uint64_t{1} << i;
    }

    Joint joint() const { return joint_; }
    double combine(double x, double y) const {
        if (joint_ == Joint::product) return x * y;
        return joint_ == Joint::sum ? x + y : x + y - x * y;
    }
    const double* nothing() const { return joint_ == Joint::product ? ones_.data() : zeros_.data(); }

    // Forgets all rows if there are many; pointers to them end here.
    void make_room() {
        if (int64_t(rows_.size()) < most_rows_) return;
        known_.assign(1024, Entry{});
        rows_.clear();
    }

    // The sets that pay when a part of what is left is taken.
    uint64_t due(const Set<W>& left, const Set<W>& part) const {
        uint64_t found = 0;
        if (joint_ == Joint::sum)
            for (uint64_t rest = due_sets_; rest; rest &= rest - 1) {
                int i = std::countr_zero(rest);
                Set<W> missing = game_.sets[i].lands & left;
                if (missing.any() && missing.within(part)) found |= rest & -rest;
            }
        return found;
    }

    // F(v, ·, R), indexed by the armies on v.
    const double* alone(const int* armies, int v, const Set<W>& part, uint64_t due = 0) {
        if (!part.any()) return nothing();
        StateKey key = key_of(armies, v, NOWHERE, part, due);
        if (const double* known = find(key)) return known;
        bool whole = joint_ == Joint::product;
        if (whole && !game_.connects(v, part)) return zeros_.data();
        std::vector<double> best(length_, 0.0);
        int keep = game_.keep[v], able = length_ - 1 - keep;
        Set<W> firsts = chosen(v, part);
        while (firsts.any()) {
            int c = firsts.pop();
            Set<W> rest = part;
            rest.remove(c);
            auto [paid, then] = due_after(due, c, rest);
            const double* after = zeros_.data();
            if (!(game_.once && paid > 0.0)) after = this->after(armies, v, c, rest, then);
            const Battle& battle = fought(c, armies[c]);
            double price = game_.price;
            for (int a = 1; a <= std::min(able, battle.able); ++a) {
                deadline_.go_on(battle.width);
                const double* won = &battle.won[size_t(a) * battle.width];
                int most = std::min(a, battle.width);
                double total = 0.0;
                if (whole) {
                    for (int x = 0; x < most; ++x) total += won[x] * after[a - x];
                } else {
                    total = -price * a;
                    for (int x = 0; x < most; ++x)
                        total += won[x] * (after[a - x] + paid + price * (a - x));
                }
                best[a + keep] = std::max(best[a + keep], total);
            }
        }
        return put(key, std::move(best));
    }

    // A(v, c, Q), indexed by the armies left able to move.
    const double* after(const int* armies, int v, int c, const Set<W>& rest, uint64_t due) {
        StateKey key = key_of(armies, v, c, rest, due);
        if (const double* known = find(key)) return known;
        std::vector<double> best(length_, 0.0);
        int keep = game_.keep[v], able = length_ - 1 - keep;
        int least = game_.least(c, game_.attack_dice(c));
        each_split(v, c, rest, [&](const Set<W>& first, const Set<W>& second) {
            const double* ours = alone(armies, c, first, due_within(due, first, second));
            const double* theirs = alone(armies, v, second, due_within(due, second, first));
            for (int b = 1; b <= able; ++b) {
                deadline_.go_on(b);
                auto [low, high] = advances(least, b, first, second);
                if (combine(ours[high], theirs[b + keep - low]) <= best[b]) continue;
                for (int m = low; m <= high; ++m)
                    best[b] = std::max(best[b], combine(ours[m], theirs[b + keep - m]));
            }
        });
        return put(key, std::move(best));
    }

    // The best advance of `able` armies, from `fewest` to `most` of them: how many, what they take,
    // and what those that stay take.
    struct Advance {
        int moved;
        Set<W> first, second;
        double value;
    };
    Advance advance(const int* armies, const Set<W>& left, int v, int c, const Set<W>& rest,
                    int able, int fewest, int most) {
        Advance best{most, {}, {}, -1.0};
        uint64_t pays = due(left, rest);
        int stay = able + game_.keep[v];
        each_split(v, c, rest, [&](const Set<W>& first, const Set<W>& second) {
            const double* ours = alone(armies, c, first, due_within(pays, first, second));
            const double* theirs = alone(armies, v, second, due_within(pays, second, first));
            int low = second.any() ? fewest : most, high = first.any() ? most : fewest;
            deadline_.go_on(high);
            for (int m = low; m <= high; ++m) {
                double value = combine(ours[m], theirs[stay - m]);
                if (value > best.value + 1e-15) best = {m, first, second, value};
            }
        });
        return best;
    }

    // The chance that n armies on v could pay for a set if all of it were next to them: a bound on F.
    double pooled(const int* armies, int v, int n, const Set<W>& part) {
        if (!part.any()) return 1.0;
        auto key_part_of = [&](int t) {
            return armies[t] < FEW ? key_parts_[size_t(t) * FEW + armies[t]] : key_part(t, armies[t]);
        };
        StateKey key = POOLED;
        for (Set<W> rest = part; rest.any();) key.add(key_part_of(rest.pop()));
        int most = std::min(n, length_ - 1) - game_.keep[v];
        if (const double* known = find(key)) return known[most];
        const double* sum = ones_.data();
        key = POOLED;
        for (Set<W> rest = part; rest.any();) {
            int t = rest.pop();
            key.add(key_part_of(t));
            if (const double* known = find(key)) {
                sum = known;
                continue;
            }
            // A conquest by the largest stack costs x armies, and those that must remain.
            const Battle& battle = fought(t, armies[t]);
            const double* won = &battle.won[size_t(battle.able) * battle.width];
            std::vector<double> next(length_, 0.0);
            for (int n1 = game_.keep[t]; n1 < length_; ++n1) {
                deadline_.go_on(battle.width);
                for (int x = 0; x < battle.width && x + game_.keep[t] <= n1; ++x)
                    next[n1] += won[x] * sum[n1 - x - game_.keep[t]];
            }
            sum = put(key, std::move(next));
        }
        return sum[most];
    }

  private:
    static constexpr double COARSE = 1 << 13, SMALLEST = 1e-18;  // chances below it count as 0
    static constexpr StateKey POOLED{0x706f6f6c, 0};
    static constexpr int FEW = 64;  // armies, whose parts of keys are remembered
    static constexpr size_t MOST_NUMBERS = 50'000'000;
    static constexpr int FULL = 10;    // sets up to which all orders and splits are tried
    static constexpr int NARROW = 14;  // beyond it one order, and the two simplest splits

    // What a land adds to the key of a set that is paid for from one pool.
    uint64_t key_part(int t, int armies) const {
        return mixed(uint64_t(game_.kind[t]) << 40 | uint64_t(game_.keep[t]) << 20 | armies);
    }

    // Battles for c, whose rolls have as many dice as possible, and the answers that are worst.
    const Battle& fought(int c, int d) {
        if (game_.whole[game_.kind[c]]) return game_.battle(c, d);
        auto& known = fought_[game_.kind[c]];
        while (int(known.size()) < d) {
            known.push_back(battle(c, int(known.size()) + 1, known));
            if ((numbers_ += known.back().won.size()) > MOST_NUMBERS) throw std::bad_alloc{};
        }
        return known[d - 1];
    }
    Battle battle(int c, int d, const std::deque<Battle>& fewer) const {
        Battle found{length_ - 1, d, fewer.empty() ? 1 : fewer.back().width, {}, {}};
        std::vector<std::vector<double>> rows(length_);
        for (int a = 1; a < length_; ++a) {
            rows[a].assign(std::min(a, found.width + game_.most_dice), 0.0);
            Span throws = game_.throws(c, std::min(a, game_.attack_dice(c)), d);
            for (int t = throws.first; t < throws.last; ++t) {
                std::vector<double> worst;
                double least = 2.0;
                for (int i = game_.answers(t).first; i < game_.answers(t).last; ++i) {
                    std::vector<double> mean(rows[a].size(), 0.0);
                    for (int j = game_.results(i).first; j < game_.results(i).last; ++j) {
                        deadline_.go_on(int64_t(mean.size()));
                        auto [chance, x, y] = game_.result(j);
                        if (y == d) mean[x] += chance;
                        for (int z = 0; y < d && z < std::min(a - x, int(mean.size()) - x); ++z)
                            mean[x + z] += chance * (y ? fewer[d - y - 1].won_with(a - x, z) : z < int(rows[a - x].size()) ? rows[a - x][z] : 0.0);
                    }
                    double sum = 0.0;
                    for (double each : mean) sum += each;
                    if (sum < least) least = sum, worst.swap(mean);
                }
                for (size_t x = 0; x < worst.size(); ++x) rows[a][x] += game_.throw_chance(t) * worst[x];
            }
            while (rows[a].size() > 1 && rows[a].back() < SMALLEST) rows[a].pop_back();
            found.width = std::max(found.width, int(rows[a].size()));
        }
        // Without the last bits, so that what is equal stays equal, whatever the order of the sums.
        for (auto& row : rows) {
            for (double& each : row) each = (each + each * COARSE) - each * COARSE;
            row.resize(found.width, 0.0);
            found.won.insert(found.won.end(), row.begin(), row.end());
        }
        return found;
    }

    // Which lands of a set may be the first to be attacked.
    Set<W> chosen(int v, const Set<W>& part) const {
        Set<W> near = game_.out[v] & part;
        int size = part.count();
        if (size <= FULL) return near;
        Set<W> found;
        for (int count = size <= NARROW ? 2 : 1; count > 0 && near.any(); --count) {
            int best = NOWHERE, fewest = 0;
            for (Set<W> rest = near; rest.any();) {
                int c = rest.pop();
                Set<W> left = part;
                left.remove(c);
                Set<W> lost = left - game_.reached(c, left) - game_.reached(v, left);
                int ways = (game_.out[c] & left).count() + 100 * lost.count();
                if (best == NOWHERE || ways < fewest) best = c, fewest = ways;
            }
            found.add(best);
            near.remove(best);
        }
        return found;
    }

    std::pair<int, int> advances(int least, int b, const Set<W>& first, const Set<W>& second) const {
        int low = std::min(least, b), high = low;
        if (first.any()) high = b;
        if (!second.any()) low = high;
        return {low, high};
    }

    template <class Visit>
    void each_split(int v, int c, const Set<W>& rest, Visit visit) const {
        if (rest.count() > FULL) {
            Set<W> ours = game_.reached(c, rest), theirs = game_.reached(v, rest);
            if ((ours | theirs) != rest) return;
            // As much as possible to those that advance; then as much as possible to those that stay.
            Set<W> second = game_.reached(v, rest - ours);
            if ((ours | second) == rest) visit(ours, second);
            Set<W> first = game_.reached(c, rest - theirs);
            if ((theirs | first) == rest && theirs != second) visit(first, theirs);
            return;
        }
        grow(v, c, game_.out[c] & rest, Set<W>{}, rest, rest, visit);
    }

    // Visits each subset connected to c that leaves a rest connected to v.
    template <class Visit>
    void grow(int v, int c, Set<W> edge, const Set<W>& grown, Set<W> free, const Set<W>& rest,
              Visit& visit) const {
        Set<W> second = rest - grown;
        deadline_.go_on();
        if (game_.connects(v, second)) visit(grown, second);
        while (edge.any()) {
            int t = edge.pop();
            free.remove(t);  // from now on it is in the set for good, or out for good
            Set<W> more = grown;
            more.add(t);
            grow(v, c, edge | (game_.out[t] & free), more, free, rest, visit);
        }
    }

    std::pair<double, uint64_t> due_after(uint64_t due, int c, const Set<W>& rest) const {
        double paid = joint_ == Joint::product ? 0.0 : game_.pays[c];
        uint64_t then = 0;
        for (; due; due &= due - 1) {
            const auto& set = game_.sets[std::countr_zero(due)];
            if (set.lands.meets(rest))
                then |= due & -due;
            else if (set.lands.has(c))
                paid += set.pays;
        }
        return {paid, then};
    }
    uint64_t due_within(uint64_t due, const Set<W>& part, const Set<W>& other) const {
        uint64_t within = 0;
        for (; due; due &= due - 1) {
            const auto& set = game_.sets[std::countr_zero(due)];
            if (set.lands.meets(part) && !set.lands.meets(other)) within |= due & -due;
        }
        return within;
    }

    StateKey key_of(const int* armies, int v, int c, const Set<W>& part, uint64_t due) const {
        StateKey key;
        key.add(mixed(uint64_t(v) << 32 | uint64_t(c + 1)) ^ (due ? mixed(due) : 0));
        for (Set<W> rest = part; rest.any();) {
            int t = rest.pop();
            key.add(mixed(uint64_t{1} << 62 | uint64_t(t) << 32 | uint64_t(armies[t])));
        }
        return key;
    }
    struct Entry {
        StateKey key;
        const double* row = nullptr;
    };
    size_t slot(const StateKey& key) const {
        size_t place = key.a & (known_.size() - 1);
        while (known_[place].row && known_[place].key != key) place = (place + 1) & (known_.size() - 1);
        return place;
    }
    const double* find(const StateKey& key) const { return known_[slot(key)].row; }
    const double* put(const StateKey& key, std::vector<double>&& row) {
        rows_.push_back(std::move(row));
        if (2 * rows_.size() > known_.size()) {
            std::vector<Entry> old(2 * known_.size());
            old.swap(known_);
            for (const Entry& each : old)
                if (each.row) known_[slot(each.key)] = each;
        }
        known_[slot(key)] = {key, rows_.back().data()};
        return rows_.back().data();
    }

    const Game<W>& game_;
    Joint joint_;
    Deadline& deadline_;
    int length_;
    int64_t most_rows_;
    uint64_t due_sets_ = 0;
    std::vector<double> ones_, zeros_;
    std::vector<uint64_t> key_parts_;  // of lands with 0, 1 ... armies
    std::deque<std::vector<double>> rows_;
    std::vector<std::deque<Battle>> fought_;  // by rules, against 1, 2 ... defenders
    size_t numbers_ = 0;                      // of these battles
    std::vector<Entry> known_ = std::vector<Entry>(1024);
};

// Finds and improves assignments.
template <int W>
class Assigner {
  public:
    Assigner(const Game<W>& game, Rows<W>& rows, Deadline& deadline)
        : game_(game), rows_(rows), deadline_(deadline), bounds_(game.lands), cuts_(game.lands) {}

    // To take all of a goal: the chance that each stack takes its set.
    double chance(const Position<W>& s, const Parts<W>& parts) {
        double chance = 1.0;
        for (int v = 0; v < game_.lands && chance > 0.0; ++v)
            if (parts[v].any()) chance *= value(s, v, parts[v]);
        return chance;
    }
    double value(const Position<W>& s, int v, const Set<W>& part, uint64_t due = 0) {
        deadline_.go_on(100);
        return rows_.alone(s.armies.data(), v, part, due)[s.armies[v]];
    }

    // Leaves to each stack what it can still come to; gives to others what no stack can take any
    // more, each by a cheapest way, the best one first. Returns whether all of the goal is taken.
    bool repair(const Position<W>& s, const Set<W>& goal, Parts<W>& parts) {
        Set<W> left = game_.left(s), live = game_.live_stacks(s), homeless = left & goal, taken;
        for (int v = 0; v < game_.lands; ++v) {
            if (!parts[v].any()) continue;
            parts[v] = live.has(v) ? game_.reached(v, parts[v] & left) : Set<W>{};
            homeless -= parts[v];
            taken |= parts[v];
        }
        if (!homeless.any()) return true;
        for (int v = 0; v < game_.lands; ++v)
            if ((parts[v] - goal).any()) {
                taken -= parts[v];
                parts[v] = trimmed(v, parts[v], goal);
                taken |= parts[v];
            }
        Set<W> bounded;
        while (homeless.any()) {
            double best = -1.0;
            int chosen = NOWHERE;
            Set<W> whole;
            for (Set<W> targets = homeless; targets.any();) {
                int t = targets.pop();
                Set<W> only = Set<W>::of(t);
                for (Set<W> stacks = live; stacks.any();) {
                    int v = stacks.pop();
                    Set<W> part = joined(s, v, parts[v], t, (left - taken - homeless) | only);
                    if (!part.any()) part = joined(s, v, parts[v], t, left - taken);
                    if (!part.any()) continue;
                    if (!bounded.has(v))
                        bounds_[v] = bound(s, v, parts[v]);
                    else
                        deadline_.go_on(BOUND);
                    bounded.add(v);
                    double rank = bounds_[v] > 0.0 ? bound(s, v, part) / bounds_[v] : 0.0;
                    if (rank > best) best = rank, chosen = v, whole = part;
                }
            }
            if (chosen == NOWHERE) return false;
            parts[chosen] = whole;
            bounded.remove(chosen);
            taken |= whole;
            homeless -= whole;
        }
        return true;
    }

    // Moves single lands between stacks, and adds and drops lands outside the goal, as long as the
    // chance grows, at most so many times. Returns the chance.
    double climb(const Position<W>& s, const Set<W>& goal, Parts<W>& parts, int most) {
        Set<W> left = game_.left(s), live = game_.live_stacks(s);
        for (int step = 0; step < most && better(s, left, live, goal, parts); ++step) {}
        return chance(s, parts);
    }

    // Where each conquest pays: adds to sets what gains the most, from free lands or other sets, or
    // all that a set that pays still lacks. Returns what is gained on average.
    double grow(const Position<W>& s, Parts<W>& parts, int size, int most);

    double gain(const Position<W>& s, const Parts<W>& parts) {
        Set<W> left = game_.left(s);
        double total = 0.0;
        for (int v = 0; v < game_.lands; ++v)
            if (parts[v].any())
                total = rows_.combine(total, value(s, v, parts[v], rows_.due(left, parts[v])));
        return total;
    }
    void keep_live(const Position<W>& s, Parts<W>& parts) {
        Set<W> left = game_.left(s), live = game_.live_stacks(s);
        for (int v = 0; v < game_.lands; ++v)
            if (parts[v].any())
                parts[v] = live.has(v) ? game_.reached(v, parts[v] & left) : Set<W>{};
    }

    // A stack's set with t, joined to it by a cheapest way through free lands; empty if there is none.
    Set<W> joined(const Position<W>& s, int v, const Set<W>& part, int t, const Set<W>& free) {
        Set<W> ours = part;
        ours.add(v);
        if (game_.into[t].meets(ours)) {
            Set<W> more = part;
            more.add(t);
            return more;
        }
        deadline_.go_on(10 * game_.lands);
        cost_.resize(game_.lands);
        before_.resize(game_.lands);
        Set<W> waiting, done = ours, open = free;
        open.add(t);
        for (Set<W> rest = ours; rest.any();) waiting |= game_.out[rest.pop()];
        waiting = (waiting & open) - ours;
        Set<W> seen = waiting;
        for (Set<W> fresh = waiting; fresh.any() && !seen.has(t);) {
            Set<W> more;
            while (fresh.any()) more |= game_.out[fresh.pop()];
            fresh = (more & open) - seen;
            seen |= fresh;
        }
        if (!seen.has(t)) return {};
        seen = waiting;
        for (Set<W> rest = waiting; rest.any();) {
            int c = rest.pop();
            cost_[c] = game_.keep[c] + LOSS * s.armies[c];
            before_[c] = NOWHERE;
        }
        while (waiting.any()) {
            deadline_.go_on(10 * game_.lands);
            int best = NOWHERE;
            for (Set<W> rest = waiting; rest.any();) {
                int c = rest.pop();
                if (best == NOWHERE || cost_[c] < cost_[best]) best = c;
            }
            waiting.remove(best);
            done.add(best);
            if (best == t) {
                Set<W> whole = part;
                for (; best != NOWHERE; best = before_[best]) whole.add(best);
                return whole;
            }
            for (Set<W> near = (game_.out[best] & open) - done; near.any();) {
                int c = near.pop();
                double cost = cost_[best] + game_.keep[c] + LOSS * s.armies[c];
                if (!seen.has(c) || cost < cost_[c]) cost_[c] = cost, before_[c] = best, waiting.add(c);
                seen.add(c);
            }
        }
        return {};
    }

  private:
    static constexpr double LOSS = 0.8;  // armies a defender costs: it only says which ways are tried
    static constexpr double GAIN = 1e-9;
    static constexpr int64_t BOUND = 100;  // what a bound takes, known or not

    double bound(const Position<W>& s, int v, const Set<W>& part) {
        deadline_.go_on(BOUND);
        return rows_.pooled(s.armies.data(), v, s.armies[v], part);
    }

    // A stack's set without the lands outside the goal that the rest is connected without.
    Set<W> trimmed(int v, Set<W> part, const Set<W>& goal) const {
        for (Set<W> rest = part - goal; rest.any();) {
            Set<W> less = part;
            less.remove(rest.pop());
            deadline_.go_on(10 * game_.lands);
            if (game_.connects(v, less)) part = less;
        }
        return part;
    }

    // One improvement.
    bool better(const Position<W>& s, const Set<W>& left, const Set<W>& live, const Set<W>& goal,
                Parts<W>& parts) {
        Set<W> taken;
        for (const auto& part : parts) taken |= part;
        for (Set<W> owners = live; owners.any();) {
            int v = owners.pop();
            if (!parts[v].any()) continue;
            double ours = value(s, v, parts[v]);
            Set<W> others = live, known;
            others.remove(v);
            while (others.any()) {
                int u = others.pop();
                double both = ours * value(s, u, parts[u]);
                for (Set<W> targets = parts[v] & goal; targets.any();) {
                    int t = targets.pop();
                    deadline_.go_on(known.has(t) ? Deadline::STATE + cuts_[t].work : Deadline::STATE);
                    if (!known.has(t)) cuts_[t] = cut(s, v, parts[v], goal, t);
                    known.add(t);
                    auto [kept, given] = moved(s, left, parts, taken, v, u, cuts_[t], both);
                    if (!given.any()) continue;
                    if (bound(s, v, kept) * bound(s, u, given) <= both * (1.0 + GAIN)) continue;
                    double chance = value(s, v, kept);
                    if (chance <= both) continue;
                    chance *= value(s, u, given);
                    if (chance > both * (1.0 + GAIN) + 1e-15) {
                        parts[v] = kept;
                        parts[u] = given;
                        return true;
                    }
                }
            }
            if (extra(s, left - taken, goal, parts, v, ours)) return true;
        }
        return false;
    }

    // What a stack keeps of its set and loses of the goal when another one takes t; the bound on the
    // chance of what it keeps, and the work that it takes to find that out again.
    struct Cut {
        Set<W> kept, lost;
        double bound;
        int64_t work;
    };
    Cut cut(const Position<W>& s, int v, Set<W> ours, const Set<W>& goal, int t) {
        ours.remove(t);
        Set<W> kept = game_.reached(v, ours), lost = (ours - kept) & goal;
        lost.add(t);
        int64_t work = 10 * game_.lands * (kept - goal).count() + BOUND;
        kept = trimmed(v, kept, goal);
        return {kept, lost, bound(s, v, kept), work};
    }

    // What v and u take when u takes from v what is cut; nothing where that is impossible, or cannot
    // be more likely than `both`.
    std::pair<Set<W>, Set<W>> moved(const Position<W>& s, const Set<W>& left, const Parts<W>& parts,
                                    const Set<W>& taken, int v, int u, const Cut& cut, double both) {
        const Set<W>& kept = cut.kept;
        Set<W> lost = cut.lost;
        if (cut.bound * bound(s, u, parts[u] | lost) <= both * (1.0 + GAIN)) return {};
        Set<W> free = (left - taken) | (parts[v] - kept), theirs = parts[u];
        while (lost.any()) {
            theirs = joined(s, u, theirs, lost.first(), free - theirs);
            if (!theirs.any()) return {};
            lost -= theirs;
        }
        return {kept, theirs};
    }

    // Adds or drops a land outside the goal where that raises a stack's chance.
    bool extra(const Position<W>& s, const Set<W>& free, const Set<W>& goal, Parts<W>& parts, int v,
               double ours) {
        Set<W> once = game_.out[v], twice;
        for (Set<W> rest = parts[v]; rest.any();) {
            const Set<W>& near = game_.out[rest.pop()];
            twice |= once & near;
            once |= near;
        }
        for (Set<W> ring = (twice & free) - goal; ring.any();) {
            Set<W> more = parts[v];
            more.add(ring.pop());
            if (bound(s, v, more) > ours && value(s, v, more) > ours * (1.0 + GAIN)) {
                parts[v] = more;
                return true;
            }
        }
        for (Set<W> extras = parts[v] - goal; extras.any();) {
            Set<W> less = parts[v];
            less.remove(extras.pop());
            if (game_.connects(v, less) && value(s, v, less) > ours * (1.0 + GAIN)) {
                parts[v] = less;
                return true;
            }
        }
        return false;
    }

    double score(double gain) const {
        return rows_.joint() == Joint::any ? -std::log(std::max(1.0 - gain, 1e-15)) : gain;
    }

    const Game<W>& game_;
    Rows<W>& rows_;
    Deadline& deadline_;
    std::vector<double> cost_;
    std::vector<int> before_;
    std::vector<double> bounds_;
    std::vector<Cut> cuts_;
};

template <int W>
double Assigner<W>::grow(const Position<W>& s, Parts<W>& parts, int size, int most) {
    Set<W> left = game_.left(s), live = game_.live_stacks(s), goal = game_.paying & left;
    auto scored = [&](int v, const Set<W>& part) {
        return part.any() ? score(value(s, v, part, rows_.due(left, part))) : 0.0;
    };
    for (int step = 0; step < most; ++step) {
        double best = GAIN;
        int winner = NOWHERE;
        Set<W> chosen, taken;
        for (const auto& part : parts) taken |= part;
        for (Set<W> stacks = live; stacks.any();) {
            int v = stacks.pop();
            const Set<W> part = parts[v], others = taken - part;
            double now = scored(v, part);
            auto consider = [&](const Set<W>& more) {
                deadline_.go_on();
                if (!more.any() || more == part || more.count() > size) return;
                double gain = scored(v, more) - now;
                if (gain <= best) return;
                if (more.meets(others))
                    for (int u = 0; u < game_.lands; ++u)
                        if (u != v && parts[u].meets(more))
                            gain += scored(u, game_.reached(u, parts[u] - more)) - scored(u, parts[u]);
                if (gain > best) best = gain, winner = v, chosen = more;
            };
            Set<W> edge = game_.out[v];
            for (Set<W> rest = part; rest.any();) edge |= game_.out[rest.pop()];
            edge = (edge & left) - part;
            for (Set<W> rest = edge; rest.any();) {  // one land at the edge
                Set<W> more = part;
                more.add(rest.pop());
                consider(more);
            }
            for (Set<W> far = goal - edge - taken; far.any();) {  // one that is farther
                int t = far.pop();
                Set<W> more = joined(s, v, part, t, left - taken);
                if (((more - part) & goal) == Set<W>::of(t)) consider(more);
            }
            for (const auto& set : game_.sets) {  // all that a set lacks
                Set<W> missing = (set.lands & left) - part, more = part;
                if (missing.count() < 2 || (part | missing).count() > size) continue;
                Set<W> free = (left - others) | missing;
                while (missing.any() && more.count() <= size) {
                    more = joined(s, v, more, missing.first(), free - more);
                    if (!more.any()) break;
                    missing -= more;
                }
                if (!missing.any()) consider(more);
            }
        }
        if (winner == NOWHERE) break;
        for (int u = 0; u < game_.lands; ++u)
            if (u != winner && parts[u].meets(chosen))
                parts[u] = game_.reached(u, parts[u] - chosen);
        parts[winner] = chosen;
    }
    return gain(s, parts);
}

}  // namespace iacta
