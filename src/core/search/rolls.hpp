// Tables of the rolls of a game, for the upper bounds.
#pragma once

#include <vector>

#include "deadline.hpp"
#include "dice.hpp"

namespace iacta {

// A result of a roll: its chance, the losses of both sides, and the required advance after a conquest.
struct Losses {
    double chance;
    int attackers, defenders, advance;
};

// A throw of the dice: its chance, and the results of each possible answer of the defender.
struct Throw {
    double chance;
    std::vector<std::vector<Losses>> answers;
};

// A roll, with the results of all its throws. It is legal for stacks with `from` to `to` - 1 armies, not counting
// armies that must stay.
struct Choice {
    int from, to;
    std::vector<Throw> throws;
};

// The rolls against a fixed number of defenders. `choices` contains all rolls. `plain` contains the rolls that optimal
// play can need if the number of advancing armies does not matter; it is empty if these are all rolls.
struct Row {
    std::vector<Choice> choices, plain;
};

// Tables of all rolls in a game, by kind of rules and number of defenders.
class Rolls {
  public:
    // armies: the armies on each territory. stacks: the territories of the player. targets: the attackable territories.
    Rolls(const Dice& dice, const std::vector<int>& armies, const std::vector<int>& stacks,
          const std::vector<int>& targets, Deadline& deadline);

    int step = 0;  // the maximum number of defenders that one roll can destroy
    bool fits;     // whether the tables fit in the memory limit; otherwise they are empty

    const Row& row(int kind, int defenders) const { return rows_[kind][find_row(kind, defenders)]; }
    // Returns the largest number of defenders with its own row for a kind of rules; more defenders change no result.
    int count_rows(int kind) const { return dice_.columns(land_[kind]) + 1; }

  private:
    int find_row(int kind, int defenders) const {
        if (dice_.whole[kind]) return defenders - 1;
        return std::min(defenders, count_rows(kind)) - 1;
    }
    Row make_row(int c, int d);
    Choice make_roll(int c, int d, int k, int able) const;
    Choice make_battle(int c, int d, int a) const;

    const Dice& dice_;
    Deadline& deadline_;
    std::vector<std::vector<Row>> rows_;
    std::vector<int> land_;  // for each kind of rules: an attackable territory with these rules
    // The maximum over all territories of the armies that may roll but must stay, and the maximum over all stacks of
    // the armies that may leave.
    int most_staying_ = 0, most_leaving_ = 0;
};

}  // namespace iacta
