#include "search/prices.hpp"

namespace iacta {

namespace {

constexpr double RATIO = 0.6180339887498949;
constexpr int STEPS = 30, ROUNDS = 40;

}  // namespace

Prices::Prices(const Dice& dice, const std::vector<int>& armies, int spare, double price, Payments payments,
               Deadline& deadline)
    : dice_(dice), armies_(armies), spare_(spare), price_(price), payments_(std::move(payments)), deadline_(deadline) {
    for (double payment : payments_.most) most_ = std::max(most_, payment);
}

double Prices::minimise() {
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

double Prices::bound(double price) {
    double sum = price * spare_;
    for (int c = 0; c < dice_.lands; ++c)
        if (payments_.most[c] > 0.0) sum += std::min(gain(c, price), payments_.mean[c]);
    return sum;
}

double Prices::gain(int c, double price) {
    int defenders = armies_[c];
    double won = payments_.most[c] - price * dice_.count_left_behind(c), lost = price + price_;
    if (won <= 0.0) return 0.0;
    std::vector<double> v(defenders + 1, won);
    for (int d = 1; d <= defenders; ++d)
        for (int i = 0; i < ROUNDS; ++i) {  // each iteration gives a smaller upper bound on V(d)
            double next = dice_.whole[dice_.kind[c]] ? value_battle(c, d, lost, v) : value_roll(c, d, lost, v);
            if (v[d] - next <= SAME * most_) break;
            v[d] = std::max(next, 0.0);
        }
    return v[defenders];
}

double Prices::value_roll(int c, int d, double lost, const std::vector<double>& v) {
    deadline_.spend(Deadline::STATE);
    double best = 0.0;
    for (int k = dice_.attack_dice(c); k > 0; --k)
        best = std::max(best, roll_value(dice_, Roll{-1, c, k}, d, [&](int x, int y) { return v[d - y] - lost * x; }));
    return best;
}

double Prices::value_battle(int c, int d, double lost, const std::vector<double>& v) {
    double best = 0.0;
    for (int a = 1; a <= std::min(dice_.able(), spare_); ++a) {
        deadline_.spend(Deadline::STATE);
        best = std::max(best, battle_value(dice_, c, a, d, [&](int x, int y) { return v[d - y] - lost * x; }));
    }
    return best;
}

}  // namespace iacta
