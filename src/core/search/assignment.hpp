// Assignments of target territories to stacks, and their values.
//
// An assignment gives each stack v a part R_v: a set of targets that is connected to v. The parts of different stacks
// are disjoint. The value of a stack that fights alone within its part can be computed exactly. Let F(v, n, R) be the
// value of n armies on v that must take R, g the garrison, W_c[a, b] the chance that `a` attackers win the battle for c
// with b survivors, and A(v, c, Q)(b) the value of these b armies if Q remains to be taken. Let `paid` be the payment
// for c, and `cost` the price of the lost armies. Then
//
//     F(v, n, R)    = max over c next to v of  Σ_b W_c[n - g, b] · (paid + A(v, c, R - c)(b)) − cost,
//     A(v, c, Q)(b) = max over Q = Q1 + Q2 and over the advance m of
//                         F(c, m, Q1) ∘ F(v, b + g − m, Q2).
//
// Here x ∘ y = x · y if all targets must be taken, x + y if each conquest pays, and 1 − (1 − x)(1 − y) if one conquest
// is enough. A table stores F and A, up to a memory limit. A row of the table contains the values for all numbers of
// armies.
#pragma once

#include <array>
#include <cmath>
#include <deque>
#include <limits>
#include <memory>
#include <numeric>

#include "search/policy.hpp"

namespace iacta {

constexpr int NOWHERE = -1;

// The parts of all stacks: the territories that each stack has to take. Empty parts use no memory.
template <int W>
class Parts {
  public:
    const Set<W>& operator[](int v) const { return sets_[place_[v]]; }
    void give(int v, Set<W> part) {
        if (!place_[v] && part.any()) {
            place_[v] = uint16_t(sets_.size());
            sets_.emplace_back();
        }
        if (place_[v]) sets_[place_[v]] = part;
        if (part.any()) owners_.add(v);
        else owners_.remove(v);
    }
    void remove(int t) {
        for (Set<W> rest = owners_; rest.any();) {
            int v = rest.pop();
            if ((*this)[v].has(t)) give(v, (*this)[v] - Set<W>::of(t));
        }
    }
    const Set<W>& owners() const { return owners_; }  // the stacks whose parts are not empty
    Set<W> unite() const {
        Set<W> found;
        for (const auto& part : sets_) found |= part;
        return found;
    }
    bool operator==(const Parts& other) const { return !find_differences(other).any(); }
    Set<W> find_differences(const Parts& other) const {
        Set<W> found;
        for (Set<W> rest = owners_ | other.owners_; rest.any();) {
            int v = rest.pop();
            if ((*this)[v] != other[v]) found.add(v);
        }
        return found;
    }

  private:
    Set<W> owners_;
    std::vector<Set<W>> sets_{Set<W>{}};  // an empty part, then the parts that have been given
    std::array<uint16_t, 64 * W> place_{};
};

// The operation ∘ that combines the values of two stacks: `product` if all targets must be taken, `sum` if each
// conquest pays, `any` if one conquest is enough.
enum class Joint {
    product,
    sum,
    any
};

template <int W>
class Rows {
  public:
    Rows(const Game<W>& game, Joint joint, int64_t bytes, Deadline& deadline)
        : game_(game), joint_(joint), deadline_(deadline), wins_(game.kinds), losses_(game.kinds) {
        length_ = 1;
        for (int v = 0; v < game.lands; ++v)
            if (game.start.mine.has(v)) length_ = std::max(length_, game.start.armies[v] + 1);
        ones_.assign(length_, 1.0);
        zeros_.assign(length_, 0.0);
        for (int t = 0; t < game.lands; ++t)
            for (int armies = 0; armies < FEW_ARMIES; ++armies) key_parts_.push_back(make_key_part(t, armies));
        most_rows_ = std::max<int64_t>(1000, bytes / int64_t(sizeof(double) * length_ + 64));
        for (size_t i = 0; i < game.sets.size() && i < 64; ++i)
            if (game.sets[i].pays > 0.0) due_sets_ |= uint64_t{1} << i;
    }

    Joint joint() const { return joint_; }
    double combine(double x, double y) const {
        if (joint_ == Joint::product) return x * y;
        return joint_ == Joint::sum ? x + y : x + y - x * y;
    }
    const double* neutral_row() const { return joint_ == Joint::product ? ones_.data() : zeros_.data(); }

    // Clears the table of values if it is full. This invalidates all pointers to its rows.
    void make_room() {
        if (int64_t(rows_.size()) < most_rows_) return;
        known_.assign(1024, Entry{});
        rows_.clear();
    }

    // Returns the paying sets, as bits, that become complete if all territories of `part` are taken. `left` contains
    // the unconquered territories.
    uint64_t find_due(const Set<W>& left, const Set<W>& part) const {
        uint64_t found = 0;
        if (joint_ == Joint::sum)
            for (uint64_t rest = due_sets_; rest; rest &= rest - 1) {
                int i = std::countr_zero(rest);
                Set<W> missing = game_.sets[i].lands & left;
                if (missing.any() && missing.is_within(part)) found |= rest & -rest;
            }
        return found;
    }

    // Returns the values F(v, n, part) of n armies on v that must take a part, indexed by n. `due` contains the sets
    // that pay when the part is taken.
    const double* value_alone(const int* armies, int v, const Set<W>& part, uint64_t due = 0) {
        if (!part.any()) return neutral_row();
        StateKey key = make_key(armies, v, NOWHERE, part, due);
        if (const double* known = find(key)) return known;
        bool whole = joint_ == Joint::product;
        if (whole && !game_.connects(v, part)) return zeros_.data();
        std::vector<double> best(length_, 0.0);
        int keep = game_.keep[v], able = length_ - 1 - keep;
        Set<W> firsts = choose_first_lands(v, part);
        while (firsts.any()) {
            int c = firsts.pop();
            Set<W> rest = part;
            rest.remove(c);
            const auto [pays, then] = find_due_after(due, c, rest);
            const double paid = pays;  // a copy, because Clang before version 16 cannot capture structured bindings
            bool is_last = whole && !rest.any() && !game_.whole[game_.kind[c]];
            const double* after = zeros_.data();
            if (!is_last && !(game_.once && paid > 0.0)) after = this->value_after(armies, v, c, rest, then);
            double price = game_.price;
            const double* chances = is_last ? find_wins(c, armies[c]).chances.data() : nullptr;
            deadline_.spend(able);
            for (int a = 1; a <= able; ++a) {
                double total = whole ? 0.0 : -price * a;
                if (chances) {
                    total = chances[a];
                } else if (whole) {
                    visit_wins(c, armies[c], a, [&](int left, double chance) { total += chance * after[left]; });
                } else {
                    visit_wins(c, armies[c], a,
                               [&](int left, double chance) { total += chance * (after[left] + paid + price * left); });
                }
                best[a + keep] = std::max(best[a + keep], total);
            }
        }
        return put(key, std::move(best));
    }

    // Returns the row A(v, c, rest) that is defined at the top of this file: the value after a conquest of c from v if
    // `rest` remains to be taken, indexed by the number of armies that may advance.
    const double* value_after(const int* armies, int v, int c, const Set<W>& rest, uint64_t due) {
        StateKey key = make_key(armies, v, c, rest, due);
        if (const double* known = find(key)) return known;
        std::vector<double> best(length_, 0.0);
        int keep = game_.keep[v], able = length_ - 1 - keep;
        int least = game_.least_advance(c, game_.usual_dice(c));
        visit_splits(v, c, rest, [&](const Set<W>& first, const Set<W>& second) {
            const double* ours = value_alone(armies, c, first, find_due_within(due, first, second));
            const double* theirs = value_alone(armies, v, second, find_due_within(due, second, first));
            for (int b = 1; b <= able; ++b) {
                deadline_.spend(b);
                auto [low, high] = limit_advances(least, game_.limit_advance(c, b), first, second);
                if (combine(ours[high], theirs[b + keep - low]) <= best[b]) continue;
                for (int m = low; m <= high; ++m) best[b] = std::max(best[b], combine(ours[m], theirs[b + keep - m]));
            }
        });
        return put(key, std::move(best));
    }

    // An advance after a conquest: the number of armies that advance, the targets `first` of these armies, the targets
    // `second` of the armies that stay, and the value.
    struct Advance {
        int moved;
        Set<W> first, second;
        double value;
    };
    Advance advance(const int* armies, const Set<W>& left, int v, int c, const Set<W>& rest, int able, int fewest,
                    int most) {
        Advance best{most, {}, {}, -1.0};
        uint64_t pays = find_due(left, rest);
        int stay = able + game_.keep[v];
        visit_splits(v, c, rest, [&](const Set<W>& first, const Set<W>& second) {
            const double* ours = value_alone(armies, c, first, find_due_within(pays, first, second));
            const double* theirs = value_alone(armies, v, second, find_due_within(pays, second, first));
            int low = second.any() ? fewest : most, high = first.any() ? most : fewest;
            deadline_.spend(high);
            for (int m = low; m <= high; ++m) {
                double value = combine(ours[m], theirs[stay - m]);
                if (value > best.value + 1e-15) best = {m, first, second, value};
            }
        });
        return best;
    }

    // Returns the expected losses of `a` attackers, garrison excluded, in a battle for c to the end against d defenders.
    double find_losses(int c, int d, int a) {
        auto& known = losses_[game_.kind[c]];
        while (int(known.size()) <= d) known.push_back(make_losses(c, int(known.size()), known));
        return known[d][std::min(a, length_ - 1)];
    }

    // Returns an upper bound on the chance that n armies on v take all territories of a part: the chance if all these
    // territories bordered v.
    double bound_pooled(const int* armies, int v, int n, const Set<W>& part) {
        if (!part.any()) return 1.0;
        auto find_key_part = [&](int t) {
            return armies[t] < FEW_ARMIES ? key_parts_[size_t(t) * FEW_ARMIES + armies[t]]
                                          : make_key_part(t, armies[t]);
        };
        StateKey key = POOLED;
        for (Set<W> rest = part; rest.any();) key.add(find_key_part(rest.pop()));
        int most = std::min(n, length_ - 1) - game_.keep[v];
        if (const double* known = find(key)) return known[most];
        const double* sum = ones_.data();
        key = POOLED;
        for (Set<W> rest = part; rest.any();) {
            int t = rest.pop();
            key.add(find_key_part(t));
            if (const double* known = find(key)) {
                sum = known;
                continue;
            }
            // The cost of taking t: the losses, and the armies that must remain on t.
            std::vector<double> next(length_, 0.0);
            visit_wins(t, armies[t], length_ - 1, [&](int left, double chance) {
                int cost = length_ - 1 - left + game_.keep[t];
                deadline_.spend(length_);
                for (int n1 = cost; n1 < length_; ++n1) next[n1] += chance * sum[n1 - cost];
            });
            sum = put(key, std::move(next));
        }
        return sum[most];
    }

  private:
    // Chances below SMALLEST count as 0; ROUNDING_FACTOR sets the precision of chances.
    static constexpr double ROUNDING_FACTOR = 1 << 13, SMALLEST = 1e-18;
    static constexpr StateKey POOLED{0x706f6f6c, 0};
    static constexpr int FEW_ARMIES = 64;  // keys are precomputed for territories with fewer armies
    static constexpr size_t MAX_NUMBERS = 50'000'000;
    // The largest size of a part for which all orders of conquest and all splits are tried.
    static constexpr int MAX_FULL_SEARCH = 10;
    // The largest size of a part for which two territories are tried as the first target.
    static constexpr int MAX_TWO_ORDERS = 14;

    // Returns the hash of a territory and its armies, which is added to the key of a part in bound_pooled.
    uint64_t make_key_part(int t, int armies) const {
        return hash_number(uint64_t(game_.kind[t]) << 40 | uint64_t(game_.keep[t]) << 20 | armies);
    }

    // The chances to win against a number of defenders if the attackers always roll as many dice as possible. As long
    // as at least as many attackers survive as there are dice, the chance depends only on the losses.
    struct Wins {
        int first = 0;  // the smallest loss with a positive chance
        // [x - first]: the chance to win and lose x armies, valid if at least `dice` attackers survive
        std::vector<double> all;
        // [a * dice + left]: the chance that `a` attackers win and `left` attackers survive, for left < dice
        std::vector<double> few;
        std::vector<double> chances;  // [a]: the chance that `a` attackers win

        double with_lost(int x) const { return x < first || x >= first + int(all.size()) ? 0.0 : all[x - first]; }
    };

    // Calls visit(survivors, chance) for each possible number of survivors after `a` attackers beat `d` defenders.
    template <class Visit>
    void visit_wins(int c, int d, int a, Visit visit) {
        if (game_.whole[game_.kind[c]]) {
            const Battle& battle = game_.battle(c, d);
            if (a > battle.able) return;
            deadline_.spend(battle.width);
            for (int x = 0; x < std::min(a, battle.width); ++x) visit(a - x, battle.won[size_t(a) * battle.width + x]);
            return;
        }
        const Wins& wins = find_wins(c, d);
        int dice = game_.usual_dice(c), last = std::min(a - dice, wins.first + int(wins.all.size()) - 1);
        deadline_.spend(int64_t(wins.all.size()));
        for (int x = wins.first; x <= last; ++x) visit(a - x, wins.all[x - wins.first]);
        for (int left = std::min(dice - 1, a); left > 0; --left) visit(left, wins.few[size_t(a) * dice + left]);
    }
    const Wins& find_wins(int c, int d) {
        auto& known = wins_[game_.kind[c]];
        while (int(known.size()) < d) {
            known.push_back(make_wins(c, int(known.size()) + 1, known));
            if ((numbers_ += known.back().few.size() + known.back().all.size() + length_) > MAX_NUMBERS)
                throw std::bad_alloc{};
        }
        return known[d - 1];
    }
    Wins make_wins(int c, int d, const std::deque<Wins>& fewer) const {
        int dice = game_.usual_dice(c);
        // Rounds a chance to fewer bits, so that the order of summation does not change the result.
        auto rounded = [](double each) { return (each + each * ROUNDING_FACTOR) - each * ROUNDING_FACTOR; };
        Wins found;
        std::vector<double> all;
        int seldom = 0;  // the number of negligible chances since the last larger chance
        for (int x = 0; x < length_ && seldom <= dice; ++x) {
            double sum = 0.0;
            visit_losses(c, dice, d, [&](double chance, int lost, int y) {
                deadline_.spend(1);
                if (y == d) sum += lost == x ? chance : 0.0;
                else if (y) sum += chance * fewer[d - y - 1].with_lost(x - lost);
                else if (lost <= x) sum += chance * all[x - lost];
            });
            all.push_back(sum < SMALLEST ? 0.0 : rounded(sum));
            bool is_seldom = all.back() == 0.0 && (seldom > 0 || all[std::max(x - 1, 0)] > 0.0);
            seldom = is_seldom ? seldom + 1 : 0;
        }
        while (found.first + 1 < int(all.size()) && all[found.first] == 0.0) ++found.first;
        while (int(all.size()) > found.first + 1 && all.back() == 0.0) all.pop_back();
        found.all.assign(all.begin() + found.first, all.end());
        found.few.assign(size_t(length_) * dice, 0.0);
        for (int a = 1; a < length_; ++a) {
            double* row = &found.few[size_t(a) * dice];
            visit_losses(c, std::min(a, dice), d, [&](double chance, int x, int y) {
                deadline_.spend(dice);
                for (int left = std::min(dice - 1, a - x); left > 0; --left)
                    row[left] += chance * (y == d ? left == a - x
                                                  : (y ? fewer[d - y - 1] : found).few[size_t(a - x) * dice + left]);
            });
            for (int left = 1; left < dice; ++left) row[left] = row[left] < SMALLEST ? 0.0 : rounded(row[left]);
        }
        double sum = 0.0;
        found.chances.assign(length_, 0.0);
        for (int a = 1; a < length_; ++a) {
            if (a >= dice) sum += found.with_lost(a - dice);
            found.chances[a] = std::accumulate(&found.few[size_t(a) * dice], &found.few[size_t(a) * dice] + dice, sum);
        }
        return found;
    }

    // Returns the row of find_losses for d defenders, indexed by the attackers. `fewer` contains the rows for fewer
    // defenders.
    std::vector<double> make_losses(int c, int d, const std::deque<std::vector<double>>& fewer) {
        std::vector<double> row(length_, 0.0);
        if ((numbers_ += row.size()) > MAX_NUMBERS) throw std::bad_alloc{};
        for (int a = 1; d > 0 && a < length_; ++a) {
            double lost = 0.0;
            if (game_.whole[game_.kind[c]]) {
                const Battle& battle = game_.battle(c, d);
                if (a > battle.able) continue;
                deadline_.spend(battle.width);
                battle.visit_results(a, d, [&](double chance, int x, int) { row[a] += chance * x; });
                continue;
            }
            visit_losses(c, std::min(a, game_.usual_dice(c)), d, [&](double chance, int x, int y) {
                deadline_.spend(1);
                lost += chance * (x + (y ? fewer[d - y] : row)[a - x]);
            });
            row[a] = lost;
        }
        return row;
    }

    // Calls visit(chance, x, y) for each result of a roll, in which x attackers and y defenders are lost. The defender
    // always gives the answer with the smallest mean of y - x.
    template <class Visit>
    void visit_losses(int c, int dice, int d, Visit visit) const {
        Span throws = game_.throws(c, dice, d);
        for (int t = throws.first; t < throws.last; ++t) {
            int worst = game_.answers(t).first;
            double least = std::numeric_limits<double>::infinity();
            for (int i = game_.answers(t).first; i < game_.answers(t).last; ++i) {
                double mean = 0.0;
                for (int j = game_.results(i).first; j < game_.results(i).last; ++j) {
                    auto [chance, x, y] = game_.result(j);
                    mean += chance * (y - x);
                }
                if (mean < least) least = mean, worst = i;
            }
            for (int j = game_.results(worst).first; j < game_.results(worst).last; ++j) {
                auto [chance, x, y] = game_.result(j);
                visit(game_.throw_chance(t) * chance, x, y);
            }
        }
    }

    // Returns the territories of a part to try as the first target of a stack on v.
    Set<W> choose_first_lands(int v, const Set<W>& part) const {
        Set<W> near = game_.out[v] & part;
        int size = part.count();
        if (size <= MAX_FULL_SEARCH) return near;
        Set<W> found;
        for (int count = size <= MAX_TWO_ORDERS ? 2 : 1; count > 0 && near.any(); --count) {
            int best = NOWHERE, fewest = 0;
            for (Set<W> rest = near; rest.any();) {
                int c = rest.pop();
                Set<W> left = part;
                left.remove(c);
                Set<W> lost = left - game_.find_reached(c, left) - game_.find_reached(v, left);
                int ways = (game_.out[c] & left).count() + 100 * lost.count();
                if (best == NOWHERE || ways < fewest) best = c, fewest = ways;
            }
            found.add(best);
            near.remove(best);
        }
        return found;
    }

    std::pair<int, int> limit_advances(int least, int most, const Set<W>& first, const Set<W>& second) const {
        int low = std::min(least, most), high = low;
        if (first.any()) high = most;
        if (!second.any()) low = high;
        return {low, high};
    }

    template <class Visit>
    void visit_splits(int v, int c, const Set<W>& rest, Visit visit) const {
        if (rest.count() > MAX_FULL_SEARCH) {
            Set<W> ours = game_.find_reached(c, rest), theirs = game_.find_reached(v, rest);
            if ((ours | theirs) != rest) return;
            // Try two splits: one in which the advancing armies take all territories within their reach, and one in
            // which the staying armies do.
            Set<W> second = game_.find_reached(v, rest - ours);
            if ((ours | second) == rest) visit(ours, second);
            Set<W> first = game_.find_reached(c, rest - theirs);
            if ((theirs | first) == rest && theirs != second) visit(first, theirs);
            return;
        }
        grow_split(v, c, game_.out[c] & rest, Set<W>{}, rest, rest, visit);
    }

    // Calls visit(first, second) for each split of `rest` into a set connected to c and a set connected to v. `grown`
    // is a part of the first set.
    template <class Visit>
    void grow_split(int v, int c, Set<W> edge, const Set<W>& grown, Set<W> free, const Set<W>& rest,
                    Visit& visit) const {
        Set<W> second = rest - grown;
        deadline_.spend();
        if (game_.connects(v, second)) visit(grown, second);
        while (edge.any()) {
            int t = edge.pop();
            free.remove(t);  // recursive calls visit sets with t, later iterations visit sets without t
            Set<W> more = grown;
            more.add(t);
            grow_split(v, c, edge | (game_.out[t] & free), more, free, rest, visit);
        }
    }

    std::pair<double, uint64_t> find_due_after(uint64_t due, int c, const Set<W>& rest) const {
        double paid = joint_ == Joint::product ? 0.0 : game_.pays[c];
        uint64_t then = 0;
        for (; due; due &= due - 1) {
            const auto& set = game_.sets[std::countr_zero(due)];
            if (set.lands.meets(rest)) then |= due & -due;
            else if (set.lands.has(c)) paid += set.pays;
        }
        return {paid, then};
    }
    uint64_t find_due_within(uint64_t due, const Set<W>& part, const Set<W>& other) const {
        uint64_t within = 0;
        for (; due; due &= due - 1) {
            const auto& set = game_.sets[std::countr_zero(due)];
            if (set.lands.meets(part) && !set.lands.meets(other)) within |= due & -due;
        }
        return within;
    }

    StateKey make_key(const int* armies, int v, int c, const Set<W>& part, uint64_t due) const {
        StateKey key;
        key.add(hash_number(uint64_t(v) << 32 | uint64_t(c + 1)) ^ (due ? hash_number(due) : 0));
        for (Set<W> rest = part; rest.any();) {
            int t = rest.pop();
            key.add(hash_number(uint64_t{1} << 62 | uint64_t(t) << 32 | uint64_t(armies[t])));
        }
        return key;
    }
    struct Entry {
        StateKey key;
        const double* row = nullptr;
    };
    size_t find_slot(const StateKey& key) const {
        size_t place = key.a & (known_.size() - 1);
        while (known_[place].row && known_[place].key != key) place = (place + 1) & (known_.size() - 1);
        return place;
    }
    const double* find(const StateKey& key) const { return known_[find_slot(key)].row; }
    const double* put(const StateKey& key, std::vector<double>&& row) {
        rows_.push_back(std::move(row));
        if (2 * rows_.size() > known_.size()) {
            std::vector<Entry> old(2 * known_.size());
            old.swap(known_);
            for (const Entry& each : old)
                if (each.row) known_[find_slot(each.key)] = each;
        }
        known_[find_slot(key)] = {key, rows_.back().data()};
        return rows_.back().data();
    }

    const Game<W>& game_;
    Joint joint_;
    Deadline& deadline_;
    int length_;
    int64_t most_rows_;
    uint64_t due_sets_ = 0;
    std::vector<double> ones_, zeros_;
    std::vector<uint64_t> key_parts_;  // [territory * FEW_ARMIES + armies]: the number that a territory adds to a key
    std::deque<std::vector<double>> rows_;
    std::vector<std::deque<Wins>> wins_;  // [kind of rules][defenders - 1]: the chances to win
    // [kind of rules][defenders][attackers]: the expected losses of the attackers
    std::vector<std::deque<std::vector<double>>> losses_;
    size_t numbers_ = 0;  // the total size of the tables in wins_, limited to MAX_NUMBERS
    std::vector<Entry> known_ = std::vector<Entry>(1024);
};

// Completes, repairs and improves assignments of targets to stacks.
template <int W>
class Assigner {
  public:
    Assigner(const Game<W>& game, Rows<W>& rows, Deadline& deadline)
        : game_(game), rows_(rows), deadline_(deadline), cost_(game.lands), before_(game.lands), cuts_(game.lands),
          edges_(game.lands), takes_all_(rows.joint() == Joint::product) {
        for (int t : game.field) takes_all_ = takes_all_ && game.count_left_behind(t) > 0;
    }

    // Returns the chance that every stack takes its whole part.
    double find_chance(const Position<W>& s, const Parts<W>& parts) {
        double chance = 1.0;
        for (Set<W> rest = parts.owners(); rest.any() && chance > 0.0;) {
            int v = rest.pop();
            chance *= value(s, v, parts[v]);
        }
        return chance;
    }
    double value(const Position<W>& s, int v, const Set<W>& part, uint64_t due = 0) {
        deadline_.spend(100);
        return rows_.value_alone(s.armies.data(), v, part, due)[s.armies[v]];
    }

    // Estimates the armies that the player loses if each stack fights for its part. If one conquest is enough, the
    // stacks fight one after another, and the stack with the fewest losses per conquest begins.
    double estimate_losses(const Position<W>& s, const Parts<W>& parts) {
        struct Try {
            double chance, losses;
        };
        std::vector<Try> tries;
        double total = 0.0, missing = 1.0;
        for (Set<W> rest = parts.owners(); rest.any();) {
            int v = rest.pop();
            if (rows_.joint() == Joint::any)
                tries.push_back({value(s, v, parts[v]), find_fewest_losses(s, v, parts[v])});
            else total += sum_losses(s, v, parts[v]);
        }
        std::sort(tries.begin(), tries.end(),
                  [](const Try& a, const Try& b) { return a.losses * b.chance < b.losses * a.chance; });
        for (const Try& each : tries) {
            total += missing * each.losses;
            missing *= 1.0 - each.chance;
        }
        return total;
    }

    // Removes from each part the territories that its stack can no longer reach. Assigns each unassigned territory of
    // the goal to the stack whose chance decreases least. Returns whether the whole goal is assigned.
    bool repair(const Position<W>& s, const Set<W>& live, const Set<W>& goal, Parts<W>& parts) {
        keep_live(s, live, parts);
        Set<W> left = game_.unconquered(s), homeless = (left & goal) - parts.unite();
        if (!homeless.any()) return true;
        for (Set<W> rest = parts.owners(); rest.any();) {
            int v = rest.pop();
            if ((parts[v] - goal).any()) parts.give(v, trim(v, parts[v], goal));
        }
        Set<W> taken = parts.unite();
        // The offer of a stack to take a target, with its part extended by the cheapest path to the target. The offer
        // becomes invalid when another stack gets a territory on this path.
        struct Offer {
            int target, stack;
            Set<W> whole;
            double rank;
        };
        std::vector<Offer> offers;
        auto offer = [&](int t, int v, double now) {
            Set<W> part = join(s, v, parts[v], t, (left - taken - homeless) | Set<W>::of(t));
            if (!part.any()) part = join(s, v, parts[v], t, left - taken);
            if (part.any()) offers.push_back({t, v, part, now > 0.0 ? bound(s, v, part) / now : 0.0});
        };
        for (Set<W> stacks = live; stacks.any();) {
            int v = stacks.pop();
            double now = bound(s, v, parts[v]);
            for (Set<W> targets = homeless; targets.any();) offer(targets.pop(), v, now);
        }
        while (homeless.any()) {
            const Offer* best = nullptr;
            for (const Offer& each : offers)
                if (!best || each.rank > best->rank ||
                    (each.rank == best->rank &&
                     std::pair(each.target, each.stack) < std::pair(best->target, best->stack)))
                    best = &each;
            if (!best) return false;
            int chosen = best->stack;
            Set<W> given = best->whole - parts[chosen];
            parts.give(chosen, best->whole);
            taken |= given;
            homeless -= given;
            double now = bound(s, chosen, parts[chosen]);
            std::vector<Offer> old;
            old.swap(offers);
            Set<W> again = homeless;
            for (Offer& each : old) {
                if (!homeless.has(each.target) || each.stack == chosen) continue;
                if ((each.whole - parts[each.stack]).meets(given))
                    offer(each.target, each.stack, bound(s, each.stack, parts[each.stack]));
                else offers.push_back(std::move(each));
            }
            while (again.any()) offer(again.pop(), chosen, now);
        }
        return true;
    }

    // Increases the chance that all stacks take their parts of the goal, by at most `most` steps of hill climbing. A
    // step moves a territory from one stack's part to another's, or adds or removes a territory outside the goal. Each
    // step must involve a stack in `changed`. Returns the chance.
    double climb(const Position<W>& s, const Set<W>& live, const Set<W>& goal, Parts<W>& parts, int most,
                 Set<W> changed) {
        Set<W> left = game_.unconquered(s);
        for (int step = 0; step < most && improve_once(s, left, live, goal, parts, changed); ++step) {
        }
        return find_chance(s, parts);
    }

    // Increases the expected gain by at most `most` steps of hill climbing, for goals whose single territories or sets
    // pay. A step extends a part by the most valuable territory or by all missing territories of a set. Each step must
    // involve a stack in `changed`. A part has at most `size` territories. Returns the expected gain.
    double grow(const Position<W>& s, const Set<W>& live, Parts<W>& parts, int size, int most, Set<W> changed);

    double gain(const Position<W>& s, const Parts<W>& parts) {
        Set<W> left = game_.unconquered(s);
        double total = 0.0;
        for (Set<W> rest = parts.owners(); rest.any();) {
            int v = rest.pop();
            total = rows_.combine(total, value(s, v, parts[v], rows_.find_due(left, parts[v])));
        }
        return total;
    }
    void keep_live(const Position<W>& s, const Set<W>& live, Parts<W>& parts) {
        Set<W> left = game_.unconquered(s);
        for (Set<W> rest = parts.owners(); rest.any();) {
            int v = rest.pop();
            parts.give(v, live.has(v) ? game_.find_reached(v, parts[v] & left) : Set<W>{});
        }
    }

    // Returns a part extended to territory t along a cheapest path through `free`, or an empty set if there is no
    // path.
    Set<W> join(const Position<W>& s, int v, const Set<W>& part, int t, const Set<W>& free) {
        Set<W> ours = part;
        ours.add(v);
        if (game_.into[t].meets(ours)) {
            Set<W> more = part;
            more.add(t);
            return more;
        }
        int room = takes_all_ ? game_.spare(s, v) : game_.lands;  // the maximum number of territories that v can take
        deadline_.spend(10 * game_.lands);
        Set<W> open = free, near;
        open.add(t);
        for (Set<W> rest = ours; rest.any();) near |= game_.out[rest.pop()];
        near = (near & open) - ours;
        Set<W> seen = near;
        for (Set<W> fresh = near; fresh.any() && !seen.has(t) && --room > 0;) {
            Set<W> more;
            while (fresh.any()) more |= game_.out[fresh.pop()];
            fresh = (more & open) - seen;
            seen |= fresh;
        }
        if (room <= 0 || !seen.has(t)) return {};
        waiting_.clear();
        auto wait = [&](int c, double so_far, int before) {
            cost_[c] = so_far + game_.keep[c] + LOSS_PER_DEFENDER * s.armies[c];
            before_[c] = before;
            waiting_.push_back({-cost_[c], -c});
            std::push_heap(waiting_.begin(), waiting_.end());
        };
        seen = near;
        for (Set<W> rest = near; rest.any();) wait(rest.pop(), 0.0, NOWHERE);
        Set<W> done = ours;
        while (!waiting_.empty()) {
            deadline_.spend(100);
            std::pop_heap(waiting_.begin(), waiting_.end());
            int best = -waiting_.back().second;
            waiting_.pop_back();
            if (done.has(best)) continue;
            done.add(best);
            if (best == t) {
                Set<W> whole = part;
                for (; best != NOWHERE; best = before_[best]) whole.add(best);
                return whole;
            }
            for (Set<W> rest = (game_.out[best] & open) - done; rest.any();) {
                int c = rest.pop();
                double cost = cost_[best] + game_.keep[c] + LOSS_PER_DEFENDER * s.armies[c];
                if (!seen.has(c) || cost < cost_[c]) wait(c, cost_[best], best);
                seen.add(c);
            }
        }
        return {};
    }

  private:
    // An estimate of the armies lost for each defender, only used in the search for paths.
    static constexpr double LOSS_PER_DEFENDER = 0.8;
    static constexpr double MIN_GAIN = 1e-9;
    // The work reported for a bound, whether cached or computed, so that a limit of work always has the same effect.
    static constexpr int64_t WORK_PER_BOUND = 100;

    // Estimates the losses of a stack that takes all territories of a part.
    double sum_losses(const Position<W>& s, int v, Set<W> part) {
        double lost = 0.0, spent = 0.0;
        while (part.any()) {
            int t = part.pop(), left = std::max(int(game_.spare(s, v) - spent), 0);
            double each = rows_.find_losses(t, s.armies[t], left);
            lost += each;
            spent += each + game_.keep[t];
        }
        return lost;
    }
    // Returns the smallest expected losses of a stack in a battle for a territory of a part.
    double find_fewest_losses(const Position<W>& s, int v, const Set<W>& part) {
        double fewest = game_.spare(s, v);
        for (Set<W> near = game_.out[v] & part & game_.paying; near.any();) {
            int t = near.pop();
            fewest = std::min(fewest, rows_.find_losses(t, s.armies[t], game_.spare(s, v)));
        }
        return fewest;
    }

    double bound(const Position<W>& s, int v, const Set<W>& part) {
        deadline_.spend(WORK_PER_BOUND);
        return rows_.bound_pooled(s.armies.data(), v, s.armies[v], part);
    }

    // Returns a part without the territories outside the goal that are not needed to connect it.
    Set<W> trim(int v, Set<W> part, const Set<W>& goal) const {
        for (Set<W> rest = part - goal; rest.any();) {
            Set<W> less = part;
            less.remove(rest.pop());
            deadline_.spend(10 * game_.lands);
            if (game_.connects(v, less)) part = less;
        }
        return part;
    }

    // Makes one step of hill climbing. Returns false if no step increases the chance.
    bool improve_once(const Position<W>& s, const Set<W>& left, const Set<W>& live, const Set<W>& goal, Parts<W>& parts,
                      Set<W>& changed) {
        Set<W> taken = parts.unite();
        for (Set<W> owners = live & parts.owners(); owners.any();) {
            int v = owners.pop();
            double ours = value(s, v, parts[v]);
            bool has_changed = changed.has(v);
            Set<W> others = has_changed ? live : live & changed, known;
            others.remove(v);
            while (others.any()) {
                int u = others.pop();
                const Set<W>& near = find_edge(s, u, parts[u], left - taken);
                if (!near.meets(parts[v])) continue;
                double both = ours * value(s, u, parts[u]);
                for (Set<W> targets = parts[v] & goal; targets.any();) {
                    int t = targets.pop();
                    deadline_.spend(known.has(t) ? Deadline::STATE + cuts_[t].work : Deadline::STATE);
                    if (!known.has(t)) cuts_[t] = cut(s, v, parts[v], goal, t);
                    known.add(t);
                    if (!near.meets(parts[v] - cuts_[t].kept)) continue;
                    auto [kept, given] = move_lands(s, left, parts, taken, v, u, cuts_[t], both);
                    if (!given.any()) continue;
                    if (bound(s, v, kept) * bound(s, u, given) <= both * (1.0 + MIN_GAIN)) continue;
                    double chance = value(s, v, kept);
                    if (chance <= both) continue;
                    chance *= value(s, u, given);
                    if (chance > both * (1.0 + MIN_GAIN) + 1e-15) {
                        parts.give(v, kept);
                        parts.give(u, given);
                        changed |= Set<W>::of(v) | Set<W>::of(u);
                        return true;
                    }
                }
            }
            if (has_changed && change_extra(s, left - taken, goal, parts, v, ours)) return true;
        }
        return false;
    }

    // A cached result of find_edge, with its arguments.
    struct Edge {
        Set<W> part, free, found;
        int room = 0;
    };

    // Returns the territories that a stack can attack after conquests in `free`, as far as its spare armies suffice.
    // The conquests begin beside its part.
    const Set<W>& find_edge(const Position<W>& s, int v, const Set<W>& part, const Set<W>& free) {
        deadline_.spend(game_.lands);
        Edge& known = edges_[v];
        int room = takes_all_ ? game_.spare(s, v) - part.count() : game_.lands;
        if (known.room == room && known.part == part && known.free == free) return known.found;
        known = {part, free, {}, room};
        Set<W> fresh = part;
        for (fresh.add(v); fresh.any() && room > 0; --room) {
            Set<W> more;
            while (fresh.any()) more |= game_.out[fresh.pop()];
            fresh = (more & free) - known.found;
            known.found |= more;
        }
        return known.found;
    }

    // The consequences for a stack if another stack gets its target t: the territories that the stack keeps and loses,
    // an upper bound on its chance to take the rest, and the work of this computation.
    struct Cut {
        Set<W> kept, lost;
        double bound;
        int64_t work;
    };
    Cut cut(const Position<W>& s, int v, Set<W> ours, const Set<W>& goal, int t) {
        ours.remove(t);
        Set<W> kept = game_.find_reached(v, ours), lost = (ours - kept) & goal;
        lost.add(t);
        int64_t work = 10 * game_.lands * (kept - goal).count() + WORK_PER_BOUND;
        kept = trim(v, kept, goal);
        return {kept, lost, bound(s, v, kept), work};
    }

    // Returns the parts of v and u after u has taken over the territories that v loses. Returns empty parts if u cannot
    // reach these territories, or if the chance of both parts cannot exceed `both`, the chance before.
    std::pair<Set<W>, Set<W>> move_lands(const Position<W>& s, const Set<W>& left, const Parts<W>& parts,
                                         const Set<W>& taken, int v, int u, const Cut& cut, double both) {
        const Set<W>& kept = cut.kept;
        Set<W> lost = cut.lost;
        if (cut.bound * bound(s, u, parts[u] | lost) <= both * (1.0 + MIN_GAIN)) return {};
        Set<W> free = (left - taken) | (parts[v] - kept), theirs = parts[u];
        while (lost.any()) {
            theirs = join(s, u, theirs, lost.first(), free - theirs);
            if (!theirs.any()) return {};
            lost -= theirs;
        }
        return {kept, theirs};
    }

    // Adds a territory outside the goal to the part of stack v, or removes one, if this increases the chance of the
    // stack. Returns whether the part has changed.
    bool change_extra(const Position<W>& s, const Set<W>& free, const Set<W>& goal, Parts<W>& parts, int v,
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
            if (bound(s, v, more) > ours && value(s, v, more) > ours * (1.0 + MIN_GAIN)) {
                parts.give(v, more);
                return true;
            }
        }
        for (Set<W> extras = parts[v] - goal; extras.any();) {
            Set<W> less = parts[v];
            less.remove(extras.pop());
            if (game_.connects(v, less) && value(s, v, less) > ours * (1.0 + MIN_GAIN)) {
                parts.give(v, less);
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
    std::vector<std::pair<double, int>> waiting_;
    std::vector<Cut> cuts_;
    std::vector<Edge> edges_;
    bool takes_all_;  // whether a stack must take its whole part, and must leave an army on each territory
};

template <int W>
double Assigner<W>::grow(const Position<W>& s, const Set<W>& live, Parts<W>& parts, int size, int most,
                         Set<W> changed) {
    Set<W> left = game_.unconquered(s), goal = game_.paying & left;
    auto score_part = [&](int v, const Set<W>& part) {
        return part.any() ? score(value(s, v, part, rows_.find_due(left, part))) : 0.0;
    };
    for (int step = 0; step < most; ++step) {
        double best = MIN_GAIN;
        int winner = NOWHERE;
        Set<W> chosen, taken = parts.unite();
        Set<W> near = changed;  // the territories to which stacks outside `changed` may extend their parts
        for (Set<W> rest = changed; rest.any();) near |= parts[rest.pop()];
        for (Set<W> stacks = live; stacks.any();) {
            int v = stacks.pop();
            bool has_changed = changed.has(v);
            const Set<W> part = parts[v], others = taken - part;
            double now = score_part(v, part);
            auto consider = [&](const Set<W>& more) {
                deadline_.spend();
                if (!more.any() || more == part || more.count() > size) return;
                double gain = score_part(v, more) - now;
                if (gain <= best) return;
                if (more.meets(others))
                    for (Set<W> rest = parts.owners(); rest.any();) {
                        int u = rest.pop();
                        if (u != v && parts[u].meets(more))
                            gain += score_part(u, game_.find_reached(u, parts[u] - more)) - score_part(u, parts[u]);
                    }
                if (gain > best) best = gain, winner = v, chosen = more;
            };
            Set<W> edge = game_.out[v];
            for (Set<W> rest = part; rest.any();) edge |= game_.out[rest.pop()];
            edge = (edge & left) - part;
            // Extend the part by an adjacent territory.
            for (Set<W> rest = has_changed ? edge : edge & near; rest.any();) {
                Set<W> more = part;
                more.add(rest.pop());
                consider(more);
            }
            if (!has_changed) continue;
            for (Set<W> far = goal - edge - taken; far.any();) {  // extend the part to a distant target
                int t = far.pop();
                Set<W> more = join(s, v, part, t, left - taken);
                if (((more - part) & goal) == Set<W>::of(t)) consider(more);
            }
            for (const auto& set : game_.sets) {  // extend the part by all missing members of a set
                Set<W> missing = (set.lands & left) - part, more = part;
                if (missing.count() < 2 || (part | missing).count() > size) continue;
                Set<W> free = (left - others) | missing;
                while (missing.any() && more.count() <= size) {
                    more = join(s, v, more, missing.first(), free - more);
                    if (!more.any()) break;
                    missing -= more;
                }
                if (!missing.any()) consider(more);
            }
        }
        if (winner == NOWHERE) break;
        for (Set<W> rest = parts.owners(); rest.any();) {
            int u = rest.pop();
            if (u == winner || !parts[u].meets(chosen)) continue;
            parts.give(u, game_.find_reached(u, parts[u] - chosen));
            changed.add(u);
        }
        parts.give(winner, chosen);
        changed.add(winner);
    }
    return gain(s, parts);
}

}  // namespace iacta
