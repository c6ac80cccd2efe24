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
// number of attackers up to `able`. A whole battle is fought until one side has lost. Attackers exclude the garrison.
struct Battle {
    int able, defenders, width;
    std::vector<double> won;   // [a * width + x]: the chance that `a` attackers win and lose x armies
    std::vector<double> lost;  // [a * (defenders + 1) + e]: the chance that `a` attackers lose and e defenders remain
};

// The dice rules for attacks on each territory, and the chances of the results of each roll.
class Dice {
  public:
    explicit Dice(const iacta_problem& p);

    int lands, kinds, garrison;
    std::vector<int> keep, kind;  // for each territory: the armies that must stay, and the kind of rules for attacks
    std::vector<uint8_t> whole;   // for each kind of rules: whether each attack is a whole battle
    bool answers_differ;          // whether the defender can choose between several answers to a throw

    int attack_dice(int land) const { return attack_[kind[land]]; }
    int defence_dice(int land) const { return defence_[kind[land]]; }
    // Returns how many armies must advance after a conquest of c with k dice. If fewer armies are available, all of
    // them advance.
    int least_advance(int c, int k) const {
        int r = kind[c];
        return least_[whole[r] ? dice_first_[r] : dice_first_[r] + (k - 1) * defence_[r]];
    }
    // Returns how many of `armies` armies may advance after a conquest of c.
    int limit_advance(int c, int armies) const { return std::min(armies, most_[kind[c]]); }
    // Returns 1 if every conquest of c leaves an army on c that can never leave it, otherwise 0.
    int count_left_behind(int c) const {
        int fewest = std::min(keep[c], 1);
        for (int k = whole[kind[c]] ? 1 : attack_dice(c); k > 0; --k) fewest = std::min(fewest, least_advance(c, k));
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
    // Returns the chances of whole battles for c against a number of defenders.
    const Battle& battle(int c, int defenders) const { return battles_[battle_first_[kind[c]] + defenders - 1]; }
    int able() const { return able_; }

  private:
    std::vector<int> attack_, defence_, dice_first_, least_, most_;
    std::vector<int> throw_first_, answer_first_, result_first_, battle_first_;
    std::vector<double> throw_chance_;
    std::vector<Result> results_;
    std::vector<Battle> battles_;
    int able_;
};

}  // namespace iacta
