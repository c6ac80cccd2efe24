// What is reported of a policy: how often each border is rolled over and taken, and how it ends.
#pragma once

#include <map>
#include <vector>

#include "policy.hpp"

namespace iacta {

// What happens at one border.
struct Visit {
    int start, to;
    double reached = 0.0;    // the chance that it is ever rolled over
    double conquered = 0.0;  // the chance that a roll over it conquers
    double arrived = 0.0;    // the mean of the armies that move in, 0 counted elsewhere
    double ended = 0.0;      // the chance that the turn ends with a roll over it, the goal not reached
    std::map<int, std::pair<double, double>> advances{};  // by armies able to move: chance, mean moved

    Visit(int from, int into) : start(from), to(into) {}
};

// Counts what happens, each time with a weight: the chance of it, or a share of the games.
template <int W>
class Tally {
  public:
    explicit Tally(const Game<W>& game)
        : owned(game.lands, 0.0), armies(game.lands, 0.0), taken(game.sets.size(), 0.0), game_(game) {}

    std::vector<Visit> visits;
    std::vector<double> owned, armies;  // by land, at the end
    std::vector<double> taken;          // by set that pays

    size_t border(const Roll& roll) {
        for (size_t i = 0; i < visits.size(); ++i)
            if (visits[i].start == roll.start && visits[i].to == roll.to) return i;
        visits.emplace_back(roll.start, roll.to);
        return visits.size() - 1;
    }
    void conquest(size_t border, int able, int moved, double weight) {
        Visit& visit = visits[border];
        visit.conquered += weight;
        visit.arrived += weight * moved;
        auto& [sum, total] = visit.advances[able];
        sum += weight;
        total += weight * moved;
    }
    void end(const Position<W>& s, double weight) {
        for (int t = 0; t < game_.lands; ++t)
            if (s.mine.has(t)) owned[t] += weight, armies[t] += weight * s.armies[t];
        Set<W> left = game_.left(s);
        for (size_t i = 0; i < game_.sets.size(); ++i)
            if (!game_.sets[i].lands.meets(left)) taken[i] += weight;
    }

  private:
    const Game<W>& game_;
};

}  // namespace iacta
