#include "search/pooled_armies.hpp"

#include <algorithm>
#include <utility>

namespace iacta {

double PooledArmies::bound(const std::vector<int>& lands, int pool) {
    for (int c : lands) pool -= left_behind_[c];
    if (pool < 0) return 0.0;
    if (pool >= MAX_POOL) return 1.0;
    // [u]: the chance to take the territories so far with a loss of at most u armies
    std::vector<double> chance(size_t(pool) + 1, 1.0);
    for (int c : lands) {
        deadline_.spend(int64_t(chance.size() * chance.size()));
        const std::vector<double>& losses = find_losses(dice_.kind[c], armies_[c]);
        for (size_t u = chance.size(); u-- > 0;) {
            double sum = losses[0] * chance[u];
            for (size_t x = 1; x <= u; ++x) sum += (losses[x] - losses[x - 1]) * chance[u - x];
            chance[u] = sum;
        }
    }
    return chance.back();
}

std::vector<double> PooledArmies::find_losses_on(const std::vector<int>& lands, int taken, int able) {
    std::vector<double> found(size_t(able) + 1, 0.0), most(found);
    found[0] = 1.0;
    if (able >= MAX_POOL) return found;
    for (int c : lands) {
        const std::vector<double>& losses = find_losses(dice_.kind[c], 1);
        for (size_t u = 0; u < most.size(); ++u) most[u] = std::max(most[u], losses[u]);
    }
    most.back() = 1.0;
    while (taken-- > 0) {
        deadline_.spend(int64_t(most.size() * most.size()));
        std::vector<double> next(most.size(), 0.0);
        for (size_t x = 0; x < most.size(); ++x)
            for (size_t y = 0; y < most.size(); ++y)
                next[std::min(x + y, most.size() - 1)] += found[y] * (most[x] - (x ? most[x - 1] : 0.0));
        found.swap(next);
    }
    return found;
}

const std::vector<double>& PooledArmies::find_losses(int kind, int defenders) {
    auto& known = losses_[kind];
    if (known.empty()) known.push_back(std::vector<double>(MAX_POOL, 1.0));
    while (int(known.size()) <= defenders) {
        int d = int(known.size());
        std::vector<double> losses(MAX_POOL, 0.0);
        for (int u = 0; u < MAX_POOL; ++u) {
            if (u) losses[u] = losses[u - 1];
            for (const Choice& choice : rolls_.row(kind, d).choices)
                losses[u] = std::max(losses[u], find_chance(choice, u, d, known, losses));
        }
        known.push_back(std::move(losses));
    }
    return known[defenders];
}

double PooledArmies::find_chance(const Choice& choice, int u, int d, const std::vector<std::vector<double>>& known,
                                 const std::vector<double>& current) const {
    double sum = 0.0;
    for (const Throw& thrown : choice.throws) {
        double most = 0.0;
        for (const auto& answer : thrown.answers) {
            double mean = answer.size() > MAX_RESULTS ? 1.0 : 0.0;
            deadline_.spend(5 * int64_t(answer.size()));
            for (const Losses& result : answer)
                if (result.attackers <= u && mean < 1.0)
                    mean += result.chance *
                            (result.defenders ? known[d - result.defenders] : current)[u - result.attackers];
            most = std::max(most, mean);
        }
        sum += thrown.chance * most;
    }
    return std::min(sum, 1.0);
}

}  // namespace iacta
