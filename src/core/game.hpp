// The attack phase of a turn: its state, and tables of its borders, dice and payments.
//
// The rules are those of the Python package iacta.game, restricted to the attack phase and to the territories that
// matter for a goal. Dice rules and goals are data in the tables, so that a new rule or goal needs no code here.
#pragma once

#include <algorithm>
#include <vector>

#include "deadline.hpp"
#include "dice.hpp"
#include "sets.hpp"

namespace iacta {

// An attack from territory `start` on territory `to`: one roll of `dice` dice, or a whole battle.
struct Roll {
    int start, to, dice;

    bool operator==(const Roll&) const = default;
};

template <int W>
struct RewardSet {
    Set<W> lands;
    double pays;
};

// A way to win: the territories to own, the number of territories to own in all, and the armies required on each.
template <int W>
struct Way {
    Set<W> lands;
    int number, enough;
};

// A peril: a rival wins if the player takes all of `lands` while the rival still owns at least
// `number` of the territories `rivals`.
template <int W>
struct Peril {
    Set<W> lands, rivals;
    int number;
};

template <int W>
struct Position {
    std::vector<int> armies;
    Set<W> mine;

    bool operator==(const Position&) const = default;
};

// A 128-bit hash that identifies a state in hash tables: the sum of the hashes of its territories. States with equal
// keys are treated as equal. Among 10^8 states, the probability that two states share a key is below 10^-22.
struct StateKey {
    uint64_t a = 0, b = 0;

    void add(uint64_t part) {
        a += part;
        b += hash_number(part ^ 0x5bd1e995);
    }
    bool operator==(const StateKey&) const = default;
    struct Hash {
        size_t operator()(const StateKey& key) const { return key.a; }
    };
};

template <int W>
StateKey make_key(const Position<W>& s) {
    StateKey key;
    for (size_t t = 0; t < s.armies.size(); ++t) {
        key.add(hash_number(uint64_t(t) << 40 | uint64_t(s.armies[t]) << 1 | s.mine.has(int(t))));
    }
    return key;
}

template <int W>
class Game : public Dice {
  public:
    explicit Game(const iacta_problem& p);

    std::vector<Set<W>> out, into;
    Set<W> field, resting;  // field: the territories that may be attacked; resting: the territories that may not attack
    Position<W> start;
    double price;
    double margin_price;  // the price of each lost army when choices are compared; it is no part of any value
    bool once, wins;      // wins: whether the goal is to fulfil a way to win
    std::vector<Way<W>> ways;
    bool counts_armies;  // whether the goal is a way to win that requires armies on each territory
    int fortify;         // the last move of the turn; 0: not allowed, 1: to a neighbour, 2: over any distance
    bool ends_at_win;    // whether the turn ends when a way to win is fulfilled, although the win pays nothing
    std::vector<Peril<W>> perils;
    double held;  // the payments before the turn, which a peril also takes away
    std::vector<double> pays;
    std::vector<RewardSet<W>> sets;
    Set<W> paying;   // the attackable territories that pay, or that belong to a set with a payment
    bool is_coarse;  // whether optimal play has fewer choices, see iacta_problem
    bool has_ends;   // whether the turn ends, and pays, only when all territories in `until` are conquered
    Set<W> until;

    int spare(const Position<W>& s, int v) const { return s.armies[v] - keep[v]; }
    Set<W> unconquered(const Position<W>& s) const { return field - s.mine; }

    bool is_over(const Position<W>& s) const {
        if (has_ends) return until.is_within(s.mine);
        if (is_in_peril(s)) return true;
        if (wins) return has_won(s);
        if (ends_at_win && has_won(s)) return true;
        if (once) return paying.meets(s.mine & field);
        return !paying.meets(unconquered(s));
    }
    // Returns whether the player fulfils a way to win, perhaps by the last move of the turn.
    bool has_won(const Position<W>& s) const {
        return std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
            if (!way.lands.is_within(s.mine)) return false;
            int missing = way.number - count_strong(s, way.enough);
            return missing <= 0 || (missing == 1 && may_strengthen(s, way.enough));
        });
    }
    // Returns whether the turn has ended by a peril: a rival wins, unless the player fulfils a way to win.
    bool is_in_peril(const Position<W>& s) const {
        return std::any_of(perils.begin(), perils.end(), [&](const auto& peril) {
            return peril.lands.is_within(s.mine) && (peril.rivals - s.mine).count() >= peril.number;
        });
    }
    Set<W> find_live_stacks(const Position<W>& s) const {
        Set<W> found, rest = s.mine - resting, open = unconquered(s);
        while (rest.any()) {
            int v = rest.pop();
            if (s.armies[v] > keep[v] && out[v].meets(open)) found.add(v);
        }
        return found;
    }
    // Returns the territories of `part` that a stack on v can reach by attacking only territories of `part`.
    Set<W> find_reached(int v, const Set<W>& part) const {
        Set<W> seen = out[v] & part, fresh = seen;
        while (fresh.any()) {
            Set<W> more = (out[fresh.pop()] & part) - seen;
            seen |= more;
            fresh |= more;
        }
        return seen;
    }
    bool connects(int v, const Set<W>& part) const { return find_reached(v, part) == part; }

    // Returns the payment for the conquest of c, including the payments for sets that the conquest completes. `open`
    // contains the territories that were unconquered before.
    double find_payment(int c, const Set<W>& open) const {
        if (has_ends) return 0.0;
        double total = pays[c];
        for (const auto& set : sets)
            if (set.lands.has(c)) {
                Set<W> rest = set.lands & open;
                rest.remove(c);
                if (!rest.any()) total += set.pays;
            }
        return total;
    }

    // Whether a conquest can end the turn, or bring a payment, in a way that depends on the state.
    bool has_end_payment() const { return !has_ends && (wins || ends_at_win || !perils.empty()); }
    // Returns the payment for the state after a conquest, in addition to `find_payment`: 1 for a win if this is the
    // goal, and the loss of all payments if a rival wins.
    double find_end_payment(const Position<W>& after) const {
        if (!has_end_payment()) return 0.0;
        if (is_lost(after)) return wins ? 0.0 : -held - sum_payments(after);
        return wins && (is_in_peril(after) || has_won(after));
    }
    // Returns whether the player's conquests let a rival win, and the player fulfils no way to win.
    bool is_lost(const Position<W>& s) const {
        return is_in_peril(s) && !std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
                   return way.lands.is_within(s.mine) && count_strong(s, way.enough) >= way.number;
               });
    }

    // Returns the largest number of dice with which v may attack c, or 0 if v may not attack c. Some smaller numbers of
    // dice may be illegal.
    int max_dice(const Position<W>& s, int v, int c) const {
        int k = whole[kind[c]] ? 1 : std::min(s.armies[v] - garrison, attack_dice(c));
        while (k > 0 && !is_allowed(s, v, c, k)) --k;
        return std::max(k, 0);
    }
    bool is_allowed(const Position<W>& s, int v, int c, int k) const {
        int room = spare(s, v), d = s.armies[c];
        if (room <= 0) return false;
        if (whole[kind[c]]) return battle_stops == 1 || battle(c, d).is_legal(room, d);
        return may_roll(c, k, d, s.armies[v] - garrison) && count_needed(c, k, d) <= room;
    }

  private:
    // Returns how many territories of the player have at least `enough` armies.
    static int count_strong(const Position<W>& s, int enough) {
        if (enough < 2) return s.mine.count();
        int count = 0;
        for (Set<W> rest = s.mine; rest.any();) count += s.armies[size_t(rest.pop())] >= enough;
        return count;
    }
    // Returns whether the last move of the turn can increase the number of territories with `enough` armies.
    bool may_strengthen(const Position<W>& s, int enough) const {
        if (!fortify || enough < 2) return false;
        for (Set<W> weak = s.mine; weak.any();) {
            int to = weak.pop(), missing = enough - s.armies[size_t(to)];
            if (missing <= 0) continue;
            for (Set<W> rest = s.mine - resting; rest.any();) {
                int v = rest.pop(), armies = s.armies[size_t(v)];
                bool stays_strong = armies < enough || armies - missing >= enough;
                if (v == to || spare(s, v) < missing || !stays_strong) continue;
                if (out[v].has(to) || (fortify == IACTA_FORTIFY_CONNECTED && find_reached(v, s.mine).has(to)))
                    return true;
            }
        }
        return false;
    }
    // Returns all payments from the start of the turn to a state, less the price of the lost armies.
    double sum_payments(const Position<W>& s) const {
        double total = 0.0;
        for (Set<W> rest = s.mine & field; rest.any();) total += pays[size_t(rest.pop())];
        for (const auto& set : sets)
            if (set.lands.is_within(s.mine)) total += set.pays;
        if (price == 0.0) return total;
        for (Set<W> rest = start.mine; rest.any();) total -= price * start.armies[size_t(rest.pop())];
        for (Set<W> rest = s.mine; rest.any();) total += price * s.armies[size_t(rest.pop())];
        return total;
    }
};

template <int W>
Game<W>::Game(const iacta_problem& p)
    : Dice(p), out(p.lands), into(p.lands), price(p.price), margin_price(p.margin_price), once(p.once != 0),
      wins(p.wins != 0), counts_armies(false), fortify(p.fortify), ends_at_win(p.ends_at_win != 0), held(p.held),
      pays(p.pays, p.pays + p.lands), is_coarse(p.is_coarse != 0), has_ends(p.until != nullptr) {
    start.armies.assign(p.armies, p.armies + lands);
    for (int v = 0; v < lands; ++v) {
        if (p.owner[v] == 1) start.mine.add(v);
        if (p.owner[v] == 0) field.add(v);
        if (p.resting[v]) resting.add(v);
        if (p.until && p.until[v]) until.add(v);
        for (int i = p.border_first[v]; i < p.border_first[v + 1]; ++i) {
            out[v].add(p.border_to[i]);
            into[p.border_to[i]].add(v);
        }
    }
    for (int i = 0; i < p.sets; ++i) {
        RewardSet<W> set{{}, p.set_pays[i]};
        for (int j = p.set_first[i]; j < p.set_first[i + 1]; ++j) set.lands.add(p.set_lands[j]);
        sets.push_back(set);
        paying |= set.lands;
    }
    for (int i = 0; i < p.ways; ++i) {
        Way<W> way{{}, p.way_number[i], p.way_enough[i]};
        for (int j = p.way_first[i]; j < p.way_first[i + 1]; ++j) way.lands.add(p.way_lands[j]);
        ways.push_back(way);
        if (!wins) continue;
        paying |= way.lands;
        counts_armies = counts_armies || way.enough > 1;
    }
    for (int i = 0; i < p.perils; ++i) {
        Peril<W> peril{{}, {}, p.rival_number[i]};
        for (int j = p.peril_first[i]; j < p.peril_first[i + 1]; ++j) peril.lands.add(p.peril_lands[j]);
        for (int j = p.rival_first[i]; j < p.rival_first[i + 1]; ++j) peril.rivals.add(p.rival_lands[j]);
        perils.push_back(peril);
    }
    for (int t = 0; t < lands; ++t)
        if (pays[t] != 0.0) paying.add(t);
    paying &= field;
}

}  // namespace iacta
