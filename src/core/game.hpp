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
    bool once;
    // number: how many territories the player must own (0: no such goal); enough: the armies required on each.
    int number, enough;
    std::vector<double> pays;
    std::vector<RewardSet<W>> sets;
    Set<W> paying;  // the attackable territories that pay, or that belong to a set with a payment
    bool has_ends;  // whether the turn ends, and pays, only when all territories in `until` are conquered
    Set<W> until;

    int spare(const Position<W>& s, int v) const { return s.armies[v] - keep[v]; }
    Set<W> unconquered(const Position<W>& s) const { return field - s.mine; }

    bool is_over(const Position<W>& s) const {
        if (has_ends) return until.is_within(s.mine);
        if (number) return has_number(s);
        if (once) return paying.meets(s.mine & field);
        return !paying.meets(unconquered(s));
    }
    // Returns whether the player owns `number` territories with at least `enough` armies on each.
    bool has_number(const Position<W>& s) const {
        int count = 0;
        for (Set<W> rest = s.mine; rest.any();) count += s.armies[size_t(rest.pop())] >= enough;
        return count >= number;
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

    // Returns the payment after a conquest for a goal of `number` territories: 1 if the goal is reached, otherwise 0.
    double find_end_payment(const Position<W>& after) const { return !has_ends && number && has_number(after); }

    // Returns the largest number of dice with which v may attack c, or 0 if v may not attack c. Some smaller numbers of
    // dice may be illegal.
    int max_dice(const Position<W>& s, int v, int c) const {
        int k = whole[kind[c]] ? (spare(s, v) > 0) : std::min(s.armies[v] - garrison, attack_dice(c));
        while (k > 0 && !is_allowed(s, v, c, k)) --k;
        return std::max(k, 0);
    }
    bool is_allowed(const Position<W>& s, int v, int c, int k) const {
        int room = spare(s, v), d = s.armies[c];
        if (room <= 0) return false;
        if (whole[kind[c]]) return true;
        int compared = std::min(k, std::min(d, defence_dice(c)));
        return compared <= room && (compared < d || least_advance(c, k) <= room);
    }
};

template <int W>
Game<W>::Game(const iacta_problem& p)
    : Dice(p), out(p.lands), into(p.lands), price(p.price), once(p.once != 0), number(p.number), enough(p.enough),
      pays(p.pays, p.pays + p.lands), has_ends(p.until != nullptr) {
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
    for (int t = 0; t < lands; ++t)
        if (pays[t] != 0.0) paying.add(t);
    paying &= field;
}

}  // namespace iacta
