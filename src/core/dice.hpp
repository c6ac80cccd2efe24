// Tables of the dice, the losses and the whole battles of a turn.
//
// Dice rules are data in these tables, so that a new rule needs no code here. Nothing in this file depends on the size
// of the board, so that its code is compiled once.
#pragma once

#include <algorithm>
#include <vector>

#include "iacta.h"

namespace iacta {

struct Result {
    double chance;
    int attackers, defenders;
};

struct Span {
    int first, last;  // a range of indices i: first <= i < last
};

// The chances of all outcomes of whole battles against a fixed number of defenders, at most `defenders`, for each
// number of attackers up to `able`. A whole battle is fought until one side has lost, or until the attackers may not
// roll. Attackers exclude the garrison.
struct Battle {
    int able, defenders, width, stops;
    std::vector<double> won;  // [a * width + x]: the chance that `a` attackers win and lose x armies
    // [(a * (defenders + 1) + e) * stops + s]: the chance that `a` attackers do not win, e defenders remain, and s
    // attackers remain
    std::vector<double> lost;

    // Calls visit(chance, x, y) for each result of a battle of `a` attackers against d defenders with a positive chance.
    // x and y are the losses of the attackers and of the defenders.
    template <class Visit>
    void visit_results(int a, int d, Visit visit) const {
        for (int x = 0; x < std::min(a, width); ++x) {
            double chance = won[size_t(a) * size_t(width) + size_t(x)];
            if (chance > 0.0) visit(chance, x, d);
        }
        for (int e = 1; e <= d; ++e)
            for (int s = 0; s < std::min(stops, a + 1); ++s) {
                double chance = lost[(size_t(a) * size_t(defenders + 1) + size_t(e)) * size_t(stops) + size_t(s)];
                if (chance > 0.0) visit(chance, a - s, d - e);
            }
    }
    // Returns whether a battle of `a` attackers is legal.
    bool is_legal(int a, int d) const {
        bool found = false;
        visit_results(a, d, [&](double, int, int) { found = true; });
        return found;
    }
};

// The dice rules for attacks on each territory, and the chances of the results of each roll.
class Dice {
  public:
    explicit Dice(const iacta_problem& p);

    int lands, kinds, garrison, battle_stops;
    std::vector<int> keep, kind;  // for each territory: the armies that must stay, and the kind of rules for attacks
    std::vector<uint8_t> whole;   // for each kind of rules: whether each attack is a whole battle
    bool answers_differ;          // whether the defender can choose between several answers to a throw

    int attack_dice(int land) const { return attack_[kind[land]]; }
    // Returns the largest number of defenders of a territory with its own rolls; more defenders change no roll.
    int columns(int land) const { return columns_[kind[land]]; }
    // Returns whether a roll of all attack dice against c requires two armies for each defender.
    bool is_at_double(int c) const { return at_double_[kind[c]] != 0; }
    // Returns the largest number of dice that attackers of c may roll against any number of defenders.
    int usual_dice(int c) const { return attack_dice(c) - is_at_double(c); }
    // Returns how many armies must advance after a conquest of c with k dice. If fewer armies are available, all of
    // them advance.
    int least_advance(int c, int k) const {
        int r = kind[c];
        return least_[whole[r] ? dice_first_[r] : dice_first_[r] + (k - 1) * columns_[r]];
    }
    // Returns how many of `armies` armies may advance after a conquest of c.
    int limit_advance(int c, int armies) const { return std::min(armies, most_[kind[c]]); }
    // Returns 1 if every conquest of c leaves an army on c that can never leave it, otherwise 0.
    int count_left_behind(int c) const {
        int fewest = std::min(keep[c], 1);
        for (int k = whole[kind[c]] ? 1 : attack_dice(c); k > 0; --k) fewest = std::min(fewest, least_advance(c, k));
        return fewest;
    }
    // Returns the throws of k dice against d defenders of c. An illegal roll has no throws.
    Span throws(int c, int k, int d) const {
        int i = find_row(c, k, d);
        return {throw_first_[i], throw_first_[i + 1]};
    }
    // Returns whether `able` attackers, garrison excluded, may roll k dice against d defenders of c.
    bool may_roll(int c, int k, int d, int able) const {
        if (k > able || most_lost_[find_row(c, k, d)] == ILLEGAL) return false;
        return k < attack_dice(c) || !is_at_double(c) || able + garrison >= 2 * d;
    }
    // Returns the largest number of dice that `able` attackers, garrison excluded, may roll against d defenders of c,
    // or 0 if they may not attack.
    int largest_roll(int c, int able, int d) const {
        int k = std::min(able, attack_dice(c));
        while (k > 0 && !may_roll(c, k, d, able)) --k;
        return k;
    }
    // Returns the number of armies that a roll of k dice against d defenders of c requires: the largest loss, or the
    // largest sum of the loss and of the required advance if the roll can conquer c.
    int count_needed(int c, int k, int d) const {
        int i = find_row(c, k, d);
        return d > columns(c) ? most_lost_[i] : std::max(most_lost_[i], most_moved_[i]);
    }
    double throw_chance(int t) const { return throw_chance_[t]; }
    Span answers(int t) const { return {answer_first_[t], answer_first_[t + 1]}; }
    Span results(int a) const { return {result_first_[a], result_first_[a + 1]}; }
    const Result& result(int i) const { return results_[i]; }
    // Returns the chances of whole battles for c against a number of defenders.
    const Battle& battle(int c, int defenders) const { return battles_[battle_first_[kind[c]] + defenders - 1]; }
    int able() const { return able_; }

  private:
    int find_row(int c, int k, int d) const {
        int r = kind[c];
        return dice_first_[r] + (k - 1) * columns_[r] + std::min(d, columns_[r]) - 1;
    }

    std::vector<int> attack_, columns_, dice_first_, least_, most_;
    std::vector<uint8_t> at_double_;
    static constexpr int ILLEGAL = 1 << 28;  // larger than any number of armies
    std::vector<int> most_lost_;  // for each row: the largest loss of the attackers, or ILLEGAL for an illegal roll
    // For each row: the largest sum of the loss of the attackers and of the required advance, in results that kill all
    // defenders of the row.
    std::vector<int> most_moved_;
    std::vector<int> throw_first_, answer_first_, result_first_, battle_first_;
    std::vector<double> throw_chance_;
    std::vector<Result> results_;
    std::vector<Battle> battles_;
    int able_;
};

}  // namespace iacta
