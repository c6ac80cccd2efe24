// An upper bound on chances, as if all stacks shared their armies.
#pragma once

#include <vector>

#include "search/rolls.hpp"

namespace iacta {

// An upper bound on the chance to take a set of territories, computed as if all stacks shared their armies (a pool)
// and every territory bordered every stack.
//
// Let F_d(u) be the greatest chance to destroy d defenders with a loss of at most u armies. Let V be the chance that
// independent losses Z_c with these distributions, one for each territory c, sum to at most the armies in the pool
// minus the garrisons that must remain. A roll at c gives Σ p F_{d−y}(u − x) ≤ F_d(u) for each u, where p is the chance
// that it costs x attackers and y defenders. Therefore V does not increase on average, whatever the order of attacks,
// and V at the start is an upper bound. If the defender can choose between answers, the bound assumes the best answer
// for the attacker.
class PooledArmies {
  public:
    // armies: the armies on each territory. left_behind: for each territory, 1 if an army must remain after a conquest,
    // otherwise 0.
    PooledArmies(const Dice& dice, const std::vector<int>& armies, const std::vector<int>& left_behind,
                 const Rolls& rolls, Deadline& deadline)
        : dice_(dice), armies_(armies), left_behind_(left_behind), rolls_(rolls), deadline_(deadline),
          losses_(dice.kinds) {}

    // Returns an upper bound on the chance to take all territories in `lands` with a pool of armies.
    double bound(const std::vector<int>& lands, int pool);

    // Returns the chances that a stack of `able` armies loses 0, 1, 2, ... or all armies while it takes `taken` of the
    // territories `lands`, each defended by one army.
    std::vector<double> find_losses_on(const std::vector<int>& lands, int taken, int able);

  private:
    static constexpr int MAX_POOL = 400;         // a greater pool counts as large enough
    static constexpr size_t MAX_RESULTS = 1000;  // a roll with more results counts as a certain success

    const std::vector<double>& find_losses(int kind, int defenders);
    double find_chance(const Choice& choice, int u, int d, const std::vector<std::vector<double>>& known,
                       const std::vector<double>& current) const;

    const Dice& dice_;
    const std::vector<int>&armies_, &left_behind_;
    const Rolls& rolls_;
    Deadline& deadline_;
    std::vector<std::vector<std::vector<double>>> losses_;  // [kind of rules][d][u]: the greatest chance F_d(u)
};

}  // namespace iacta
