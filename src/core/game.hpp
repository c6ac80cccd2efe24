// The attack phase of a turn, as data: who may attack whom, what a roll may cost, and what is paid.
//
// It is the game of iacta.game, restricted to one phase and to lands that matter for a goal. Rules,
// modes and goals are tables here, so that a new one needs no new code.
#pragma once

#include <algorithm>
#include <vector>

#include "deadline.hpp"
#include "iacta.h"
#include "sets.hpp"

namespace iacta {

struct Result {
    double chance;
    int attackers, defenders;
};

// One of the results a roll may have, whatever the dice: its losses.
struct Loss {
    int attackers, defenders;
};

struct Span {
    int first, last;  // [first, last)
};

// A roll of k dice, or a whole battle.
struct Roll {
    int start, to, dice;
};

template <int W>
struct RewardSet {
    Set<W> lands;
    double pays;
};

// Battles of up to `able` attackers against d defenders, fought to the end.
struct Battle {
    int able, defenders, width;
    std::vector<double> won;   // [a * width + x]: won with x lost; the rest cannot happen
    std::vector<double> lost;  // [a * (defenders + 1) + e]: not won, e left
};

template <int W>
struct Position {
    std::vector<int> armies;
    Set<W> mine;
};

// 128 bits that stand for a state, or for what of it matters: the sum of those of its parts. They are
// told apart by these alone: of 10^8 states no two are likely to have the same in 10^22 searches.
struct StateKey {
    uint64_t a = 0, b = 0;

    void add(uint64_t part) {
        a += part;
        b += mixed(part ^ 0x5bd1e995);
    }
    bool operator==(const StateKey&) const = default;
    struct Hash {
        size_t operator()(const StateKey& key) const { return key.a; }
    };
};

template <int W>
StateKey key_of(const Position<W>& s) {
    StateKey key;
    for (size_t t = 0; t < s.armies.size(); ++t) {
        key.add(mixed(uint64_t(t) << 40 | uint64_t(s.armies[t]) << 1 | s.mine.has(int(t))));
    }
    return key;
}

template <int W>
class Game {
  public:
    explicit Game(const iacta_problem& p);

    int lands, kinds, free, most_dice = 1;
    std::vector<int> keep, kind;
    std::vector<Set<W>> out, into;
    Set<W> field, resting;  // what may be attacked at the start, and who may not attack
    Position<W> start;
    std::vector<uint8_t> whole;
    double price;
    bool once;
    std::vector<double> pays;
    std::vector<RewardSet<W>> sets;
    Set<W> paying;        // all lands that pay, or belong to a set that does
    bool answers_differ;  // whether the defender has a choice
    bool has_ends;        // whether the turn ends, and pays, only when all of these are taken
    Set<W> until;

    int attack_dice(int land) const { return attack_[kind[land]]; }
    int defence_dice(int land) const { return defence_[kind[land]]; }
    int spare(const Position<W>& s, int v) const { return s.armies[v] - keep[v]; }
    Set<W> left(const Position<W>& s) const { return field - s.mine; }

    bool over(const Position<W>& s) const {
        if (has_ends) return until.within(s.mine);
        if (once) return paying.meets(s.mine & field);
        return !paying.meets(left(s));
    }
    bool live(const Position<W>& s, int v) const {
        return s.armies[v] > keep[v] && !resting.has(v) && out[v].meets(field - s.mine);
    }
    Set<W> live_stacks(const Position<W>& s) const {
        Set<W> found, rest = s.mine - resting, open = left(s);
        while (rest.any()) {
            int v = rest.pop();
            if (s.armies[v] > keep[v] && out[v].meets(open)) found.add(v);
        }
        return found;
    }
    // The part of a set that can be reached from v through the set.
    Set<W> reached(int v, const Set<W>& part) const {
        Set<W> seen = out[v] & part, fresh = seen;
        while (fresh.any()) {
            Set<W> more = (out[fresh.pop()] & part) - seen;
            seen |= more;
            fresh |= more;
        }
        return seen;
    }
    bool connects(int v, const Set<W>& part) const { return reached(v, part) == part; }

    // What taking c pays, when `open` is left before it.
    double paid(int c, const Set<W>& open) const {
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

    // The most dice that v may roll at c; 0 if none. With fewer dice see `allowed`.
    int most_dice_of(const Position<W>& s, int v, int c) const {
        int k = whole[kind[c]] ? (spare(s, v) > 0) : std::min(s.armies[v] - free, attack_dice(c));
        while (k > 0 && !allowed(s, v, c, k)) --k;
        return std::max(k, 0);
    }
    bool allowed(const Position<W>& s, int v, int c, int k) const {
        int room = spare(s, v), d = s.armies[c];
        if (room <= 0) return false;
        if (whole[kind[c]]) return true;
        int compared = std::min(k, std::min(d, defence_dice(c)));
        return compared <= room && (compared < d || least(c, k) <= room);
    }
    // How many must move in after a conquest with k dice, unless fewer are left able to move.
    int least(int c, int k) const {
        int r = kind[c];
        return least_[whole[r] ? dice_first_[r] : dice_first_[r] + (k - 1) * defence_[r]];
    }
    // 1 where an army remains for good once c is taken, or 0.
    int stays(int c) const {
        int fewest = std::min(keep[c], 1);
        for (int k = whole[kind[c]] ? 1 : attack_dice(c); k > 0; --k) fewest = std::min(fewest, least(c, k));
        return fewest;
    }
    Span throws(int c, int k, int d) const {
        int r = kind[c];
        int i = dice_first_[r] + (k - 1) * defence_[r] + std::min(d, defence_[r]) - 1;
        return {throw_first_[i], throw_first_[i + 1]};
    }
    double throw_chance(int t) const { return throw_chance_[t]; }
    Span answers(int t) const { return {answer_first_[t], answer_first_[t + 1]}; }
    Span results(int a) const { return {result_first_[a], result_first_[a + 1]}; }
    const Result& result(int i) const { return results_[i]; }
    // Where an attack is a whole battle, those against some defenders.
    const Battle& battle(int c, int defenders) const { return battles_[battle_first_[kind[c]] + defenders - 1]; }
    int able() const { return able_; }

  private:
    std::vector<int> attack_, defence_, dice_first_, least_;
    std::vector<int> throw_first_, answer_first_, result_first_, battle_first_;
    std::vector<double> throw_chance_;
    std::vector<Result> results_;
    std::vector<Battle> battles_;
    int able_;
};

template <int W>
Game<W>::Game(const iacta_problem& p)
    : lands(p.lands), kinds(p.kinds), free(p.garrison), keep(p.keep, p.keep + p.lands), kind(p.kind, p.kind + p.lands),
      out(p.lands), into(p.lands), whole(p.whole, p.whole + p.kinds), price(p.price), once(p.once != 0),
      pays(p.pays, p.pays + p.lands), attack_(p.attack_dice, p.attack_dice + p.kinds),
      defence_(p.defence_dice, p.defence_dice + p.kinds), dice_first_(p.dice_first, p.dice_first + p.kinds),
      least_(p.least, p.least + p.rows), throw_first_(p.throw_first, p.throw_first + p.rows + 1),
      answer_first_(p.answer_first, p.answer_first + p.throws + 1),
      result_first_(p.result_first, p.result_first + p.answers + 1),
      battle_first_(p.battle_first, p.battle_first + p.kinds), throw_chance_(p.throw_chance, p.throw_chance + p.throws),
      able_(p.able) {
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
    answers_differ = p.answers > p.throws;
    has_ends = p.until != nullptr;
    for (int r = 0; r < kinds; ++r) most_dice = std::max(most_dice, attack_[r]);
    for (int i = 0; i < p.results; ++i)
        results_.push_back({p.result_chance[i], p.result_attackers[i], p.result_defenders[i]});
    size_t side = size_t(p.able) + 1, ends = size_t(p.defenders) + 1, width = size_t(p.width);
    for (int i = 0; i < p.battles; ++i) {
        const double* won = p.won + i * side * width;
        const double* lost = p.lost + i * side * ends;
        Battle each{p.able, p.defenders, 1, {}, {lost, lost + side * ends}};
        for (size_t a = 1; a < side; ++a)
            for (size_t x = 0; x < std::min(a, width); ++x)
                if (won[a * width + x] > 0.0) each.width = std::max(each.width, int(x) + 1);
        each.won.assign(side * each.width, 0.0);
        for (size_t a = 1; a < side; ++a)
            for (size_t x = 0; x < std::min(a, size_t(each.width)); ++x)
                each.won[a * each.width + x] = won[a * width + x];
        battles_.push_back(std::move(each));
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
