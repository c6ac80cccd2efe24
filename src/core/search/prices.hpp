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

#include <algorithm>
#include <vector>

#include "search/policy.hpp"

namespace iacta {

// Upper bounds on what each territory pays: the payment, with its share of the payments for sets, and the greatest mean
// payment. They are 0 for a territory without a payment.
struct Payments {
    std::vector<double> most, mean;
};

class Prices {
  public:
    // armies: the armies on each territory. spare: the number A of armies that can be spent. price: the price of a lost
    // army.
    Prices(const Dice& dice, const std::vector<int>& armies, int spare, double price, Payments payments,
           Deadline& deadline);

    // Returns the smallest bound that a golden-section search over λ finds. Every λ gives a valid bound.
    double minimise();

  private:
    double bound(double price);
    double gain(int c, double price);
    double value_roll(int c, int d, double lost, const std::vector<double>& v);
    double value_battle(int c, int d, double lost, const std::vector<double>& v);

    const Dice& dice_;
    const std::vector<int>& armies_;
    int spare_;
    double price_;
    Payments payments_;
    Deadline& deadline_;
    double most_ = 0.0;
};

// Divides the payments of a game among its territories.
// chances: the upper bounds from Bounds::chances, one for each territory with a payment, and then
// one for each set with a payment. If the vector is empty, each upper bound is 1.
template <int W>
Payments divide_payments(const Game<W>& game, const std::vector<double>& chances) {
    Payments payments{std::vector<double>(game.lands), std::vector<double>(game.lands)};
    auto weight = [&](int c) { return 1.0 + game.start.armies[c]; };
    size_t next = 0;
    std::vector<double> chance(game.lands, 1.0);
    for (int c = 0; c < game.lands; ++c)
        if (game.field.has(c) && game.pays[c] > 0.0) {
            if (next < chances.size()) chance[c] = chances[next++];
            payments.most[c] = game.pays[c];
            payments.mean[c] = game.pays[c] * chance[c];
        }
    for (const auto& set : game.sets) {
        if (!(set.pays > 0.0 && (set.lands & game.field).any())) continue;
        Set<W> missing = set.lands & game.field;
        double whole = next < chances.size() ? chances[next++] : 1.0, size = 0.0;
        for (Set<W> rest = missing; rest.any();) size += weight(rest.pop());
        for (Set<W> rest = missing; rest.any();) {
            int c = rest.pop();
            double share = set.pays * weight(c) / size;
            payments.most[c] += share;
            payments.mean[c] += share * std::min(whole, chance[c]);
        }
    }
    return payments;
}

}  // namespace iacta
