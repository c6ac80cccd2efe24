// An upper bound on the value of all policies if each conquest pays, from a price for armies (Lagrangian relaxation).
//
// Let λ be the price of each army that is spent, that is, lost or permanently left behind. Only the A armies in excess
// of the garrisons can be spent. Therefore every policy satisfies
//
//     E paid ≤ λ A + Σ_c E (paid for c − λ · spent on c) ≤ λ A + Σ_c g_c(λ),
//
// where g_c is the optimal gain at territory c alone, for a player with unlimited armies who may stop at any time. Let
// c' = λ + the price of a lost army, k the armies that must remain on c, and r the payment for c. If p is the chance
// that a roll costs x attackers and y defenders, then
//
//     V(d) = max(0, max over rolls Σ p · (V(d − y) − c' x)),   V(0) = r − λ k,   g_c = V(defenders).
//
// The payment for a set is divided among its territories, because the set pays only when all its members are conquered.
// Other upper bounds, on the chances to take territories and sets, also limit the payment for c. The bound is a convex
// function of λ. A search finds its minimum.
#pragma once

#include "search/policy.hpp"

namespace iacta {

template <int W>
class Prices {
  public:
    // chances: upper bounds, from Bounds::chances, on the chances to take each territory with a payment and then each
    // set; an empty vector counts as bounds of 1.
    Prices(const Game<W>& game, const std::vector<double>& chances, Deadline& deadline)
        : game_(game), deadline_(deadline), pays_(game.lands), limit_(game.lands) {
        size_t next = 0;
        std::vector<double> chance(game.lands, 1.0);
        for (int c = 0; c < game.lands; ++c)
            if (game.field.has(c) && game.pays[c] > 0.0) {
                if (next < chances.size()) chance[c] = chances[next++];
                pays_[c] = game.pays[c];
                limit_[c] = game.pays[c] * chance[c];
            }
        for (const auto& set : game.sets) {
            if (!(set.pays > 0.0 && (set.lands & game.field).any())) continue;
            Set<W> missing = set.lands & game.field;
            double whole = next < chances.size() ? chances[next++] : 1.0, size = 0.0;
            for (Set<W> rest = missing; rest.any();) size += weight(rest.pop());
            for (Set<W> rest = missing; rest.any();) {
                int c = rest.pop();
                double share = set.pays * weight(c) / size;
                pays_[c] += share;
                limit_[c] += share * std::min(whole, chance[c]);
            }
        }
        for (double each : pays_) most_ = std::max(most_, each);
        for (Set<W> rest = game.find_live_stacks(game.start); rest.any();)
            armies_ += game.spare(game.start, rest.pop());
    }

    // Returns the smallest bound that a golden-section search over λ finds. Every λ gives a valid bound.
    double minimise() {
        double low = 0.0, high = most_, least = std::min(bound(low), bound(high));
        double a = high - RATIO * (high - low), b = low + RATIO * (high - low);
        double at_a = bound(a), at_b = bound(b);
        for (int i = 0; i < STEPS; ++i) {
            least = std::min({least, at_a, at_b});
            if (at_a < at_b) {
                high = b, b = a, at_b = at_a;
                a = high - RATIO * (high - low);
                at_a = bound(a);
            } else {
                low = a, a = b, at_a = at_b;
                b = low + RATIO * (high - low);
                at_b = bound(b);
            }
        }
        return least;
    }

  private:
    static constexpr double RATIO = 0.6180339887498949;
    static constexpr int STEPS = 30, ROUNDS = 40;

    double weight(int c) const { return 1.0 + game_.start.armies[c]; }

    double bound(double price) {
        double sum = price * armies_;
        for (Set<W> rest = game_.field; rest.any();) {
            int c = rest.pop();
            if (pays_[c] > 0.0) sum += std::min(gain(c, price), limit_[c]);
        }
        return sum;
    }

    double gain(int c, double price) {
        int defenders = game_.start.armies[c];
        double won = pays_[c] - price * game_.count_left_behind(c), lost = price + game_.price;
        if (won <= 0.0) return 0.0;
        std::vector<double> v(defenders + 1, won);
        for (int d = 1; d <= defenders; ++d)
            for (int i = 0; i < ROUNDS; ++i) {  // each iteration gives a smaller upper bound on V(d)
                double next = game_.whole[game_.kind[c]] ? value_battle(c, d, lost, v) : value_roll(c, d, lost, v);
                if (v[d] - next <= SAME * most_) break;
                v[d] = std::max(next, 0.0);
            }
        return v[defenders];
    }

    double value_roll(int c, int d, double lost, const std::vector<double>& v) {
        deadline_.spend(Deadline::STATE);
        double best = 0.0;
        for (int k = game_.attack_dice(c); k > 0; --k)
            best =
                std::max(best, roll_value(game_, Roll{-1, c, k}, d, [&](int x, int y) { return v[d - y] - lost * x; }));
        return best;
    }

    double value_battle(int c, int d, double lost, const std::vector<double>& v) {
        double best = 0.0;
        for (int a = 1; a <= std::min(game_.able(), armies_); ++a) {
            deadline_.spend(Deadline::STATE);
            best = std::max(best, battle_value(game_, c, a, d, [&](int x, int y) { return v[d - y] - lost * x; }));
        }
        return best;
    }

    const Game<W>& game_;
    Deadline& deadline_;
    std::vector<double> pays_, limit_;  // for each territory: the payment, and an upper bound on the mean payment
    double most_ = 0.0;
    int armies_ = 0;
};

}  // namespace iacta
