// Statistics of a policy: for each border, the chances of an attack and of a conquest; for each territory, the chance
// to own it at the end of the turn, and the mean number of armies on it.
#pragma once

#include <vector>

#include "search/policy.hpp"

namespace iacta {

// The statistics of attacks from one territory on one neighbour.
struct Visit {
    struct Advance {
        double chance = 0.0, moved = 0.0;
    };
    int start, to;
    double reached = 0.0;    // the chance of at least one attack over the border
    double conquered = 0.0;  // the chance of a conquest over the border
    double arrived = 0.0;    // the mean number of armies that advance over the border, counted as 0 without a conquest
    double ended = 0.0;      // the chance that the turn ends after an attack over the border, with the goal not reached
    // [armies that may advance]: the chance of a conquest with this number, and the chance times the mean advance
    std::vector<Advance> advances;
};

// Accumulates the statistics of a policy. Each conquest and each end of a turn is added with a weight: its probability,
// or 1 / games for simulated games.
template <int W>
class Tally {
  public:
    explicit Tally(const Game<W>& game)
        : game_(game), owned_(game.lands, 0.0), armies_(game.lands, 0.0), taken_(game.sets.size(), 0.0) {}

    double value = 0.0;  // the expected payment of the turn
    std::vector<Visit> visits;

    size_t find_border(const Roll& roll) {
        for (size_t i = 0; i < visits.size(); ++i)
            if (visits[i].start == roll.start && visits[i].to == roll.to) return i;
        visits.push_back(
            {.start = roll.start, .to = roll.to, .advances = std::vector<Visit::Advance>(game_.able() + 1)});
        return visits.size() - 1;
    }
    void add_conquest(size_t border, int able, int moved, double weight) {
        Visit& visit = visits[border];
        visit.conquered += weight;
        visit.arrived += weight * moved;
        visit.advances[able].chance += weight;
        visit.advances[able].moved += weight * moved;
    }
    void add_end(const Position<W>& s, double weight) {
        for (int t = 0; t < game_.lands; ++t)
            if (s.mine.has(t)) owned_[t] += weight, armies_[t] += weight * s.armies[t];
        if (game_.is_lost(s)) return;  // a rival has won, so no set pays
        Set<W> left = game_.unconquered(s);
        for (size_t i = 0; i < game_.sets.size(); ++i)
            if (!game_.sets[i].lands.meets(left)) taken_[i] += weight;
    }

    // count_borders and count_numbers return the lengths of `order` and `numbers` in an iacta_report.
    int64_t count_borders() const {
        int64_t count = 0;
        for (const Set<W>& out : game_.out) count += out.count();
        return count;
    }
    int64_t count_numbers() const {
        return 1 + 2 * int64_t(game_.lands) + int64_t(taken_.size()) +
               count_borders() * (4 + 2 * (int64_t(game_.able()) + 1));
    }
    void write(int32_t* order, double* numbers) const {
        *numbers++ = value;
        for (const auto* each : {&owned_, &armies_, &taken_}) numbers = std::copy(each->begin(), each->end(), numbers);
        double* advances = numbers + 4 * count_borders();
        int64_t rows = 2 * (int64_t(game_.able()) + 1);
        std::fill(numbers, advances + rows * count_borders(), 0.0);
        std::fill(order, order + count_borders(), std::numeric_limits<int32_t>::max());
        for (size_t i = 0; i < visits.size(); ++i) {
            const Visit& visit = visits[i];
            int64_t border = 0;
            for (int v = 0; v < visit.start; ++v) border += game_.out[v].count();
            for (Set<W> rest = game_.out[visit.start]; rest.pop() != visit.to;) ++border;
            order[border] = int32_t(i);
            const double sums[] = {visit.reached, visit.conquered, visit.arrived, visit.ended};
            std::copy(sums, sums + 4, numbers + 4 * border);
            double* row = advances + rows * border;
            for (const Visit::Advance& each : visit.advances) *row++ = each.chance, *row++ = each.moved;
        }
    }

  private:
    const Game<W>& game_;
    // For each territory, at the end of the turn: the chance to own it, and the mean armies on it.
    std::vector<double> owned_, armies_;
    std::vector<double> taken_;  // for each set with a payment: the chance to take the whole set
};

}  // namespace iacta
