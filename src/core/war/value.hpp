// The value function V: an estimate of each player's chance to win, learnt from games.
//
// A neural network maps the features of each player to a score. The chances are the softmax of the scores of the
// surviving players. The code does not use the system's mathematical library, so that V is identical on every machine.
#pragma once

#include "war/player.hpp"

namespace iacta {

constexpr int FEATURES = IACTA_FEATURES, HIDDEN = 32;
constexpr int WEIGHTS = HIDDEN * FEATURES + HIDDEN + HIDDEN;

// Returns e^x by a power series in the remainder r of x = k ln 2 + r.
inline double exponential(double x) {
    if (x < -700.0) return 0.0;
    int k = int(x / 0.6931471805599453 + (x < 0.0 ? -0.5 : 0.5));
    double rest = x - k * 0.6931471805599453, term = 1.0, sum = 1.0;
    for (int i = 1; i < 18; ++i) term *= rest / i, sum += term;
    double power = k < 0 ? 0.5 : 2.0;
    for (int i = k < 0 ? -k : k; i > 0; i >>= 1, power *= power)
        if (i & 1) sum *= power;
    return sum;
}

constexpr int ALL_KNOWN = -1;  // instead of a player: nothing is hidden

// How close a player is to fulfilling their mission: 0 for unknown missions, otherwise the player's armies, divided by
// the sum of these armies and the cost of the mission.
struct Progress {
    const Mission* mission = nullptr;
    int number = 0;
    double share = 0.0;
};

// Returns the progress of a player, as known to `viewer`.
template <int W>
Progress find_progress(const WarRules<W>& rules, const War<W>& s, int player, int viewer) {
    bool is_known = viewer == ALL_KNOWN || player == viewer || !rules.is_hidden[size_t(player)];
    if (!s.lands[player] || s.mission[player] < 0 || !is_known) return {};
    Need need = Wins<W>(rules, s).find_need(player);
    double armies = s.armies[player] + (player == s.mover ? s.place : 0), all = armies + need.cost;
    return {&rules.missions[size_t(s.mission[player])], need.number, all > 0.0 ? armies / all : 0.0};
}

// Computes the features of each player at the start of a turn. `iacta.war.value.FEATURES_OF_PLAYERS` describes them.
// viewer: the player whose knowledge of hidden missions is used, or ALL_KNOWN.
template <int W>
void find_features(const WarRules<W>& rules, const War<W>& s, Tactics<W>& tactics, int viewer,
                   std::array<float, FEATURES>* seen) {
    auto ratio = [](double x) { return x > 0.0 ? (x - 1.0) / (x + 1.0) : -1.0; };
    const Game<W>& g = rules.later;
    int alive = rules.count_alive(s), P = rules.players, all = s.count_armies(), lands = 0;
    std::array<int, MAX_PLAYERS> income{}, bonus{}, largest{}, inside{}, front{}, borders{}, over{}, under{}, own{},
        edges{}, danger{};
    int armies = 0, incomes = 0, top_armies = 0;
    for (int i = 0; i < P; ++i) {
        if (!s.lands[i]) continue;
        income[i] = rules.count_income(s, i);
        armies += s.armies[i], incomes += income[i];
        lands += s.lands[i];
        top_armies = std::max(top_armies, s.armies[i]);
    }
    for (int v = 0; v < rules.lands; ++v) {
        int i = s.owner[v], most = 0, a = s.at.armies[v];
        if (i >= P) continue;
        bool at_border = false;
        for (Set<W> near = g.out[v]; near.any();) {
            int c = near.pop();
            ++edges[i];
            if (s.owner[c] == i) ++own[i];
            else if (s.at.armies[c] > 0) {
                at_border = true;
                if (s.owner[c] < P) most = std::max(most, s.at.armies[c]);
            }
        }
        largest[i] = std::max(largest[i], a);
        (at_border ? front : inside)[i] += a;
        borders[i] += at_border;
        over[i] += std::max(a - most, 0) * at_border;
        under[i] += std::max(most - a, 0) * at_border;
        danger[i] = std::max(danger[i], most - a);
    }
    std::array<double, MAX_PLAYERS> near_bonus{}, best_near{}, shared{}, broken{}, whole{}, reach{};
    for (size_t k = 0; k < rules.continents.size(); ++k) {
        if (rules.bonus[k] < 1 || !rules.size(int(k))) continue;
        int total = 0, b = rules.bonus[k];
        for (int o = 0; o < OWNERS; ++o) total += s.strength[k * OWNERS + size_t(o)];
        for (int i = 0; i < P; ++i) {
            if (!s.held[k * OWNERS + size_t(i)]) continue;
            double share = total ? double(s.strength[k * OWNERS + size_t(i)]) / total : 0.0;
            double part = double(s.held[k * OWNERS + size_t(i)]) / rules.size(int(k));
            near_bonus[i] += b * share * share;
            best_near[i] = std::max(best_near[i], b * share * share);
            shared[i] += b * part * part;
            if (!rules.owns(s, int(k), i)) continue;
            bonus[i] += b, whole[i] += 1.0;
            double worst = 0.0;
            for (int v : rules.continents[k])
                for (Set<W> near = g.into[v]; near.any();) {
                    int c = near.pop();
                    if (s.owner[c] != i && s.owner[c] < P)
                        worst = std::max(worst, rules.odds(v, s.at.armies[c] - g.garrison, s.at.armies[v]).won);
                }
            broken[i] += b * worst;
        }
    }
    tactics.count_beside(s, s.place);
    double best_reach = 0.0, best_cards = 0.0;
    for (int i = 0; i < P; ++i)
        if (i != s.mover && s.lands[i]) {
            reach[i] = std::min(tactics.measure_reach(s, i), 3.0);
            best_reach = std::max(best_reach, reach[i]);
            if (reach[i] > 1.2) best_cards = std::max(best_cards, double(s.count_cards(i)));
        }
    std::array<Progress, MAX_PLAYERS> progress;
    if (!rules.missions.empty())
        for (int i = 0; i < P; ++i) progress[i] = find_progress(rules, s, i, viewer);
    double mean = std::max(double(armies) / alive, 1.0), mean_income = std::max(double(incomes) / alive, 1.0);
    double mean_lands = double(lands) / alive, set = rules.count_next_set(s);
    static constexpr double HAS_SET[] = {0.0, 0.0, 0.0, 0.42, 0.82, 1.0};
    for (int i = 0; i < P; ++i) {
        std::array<float, FEATURES>& f = seen[i];
        f.fill(0.0f);
        if (!s.lands[i]) continue;
        int rival = 0, rival_income = 0, cards = rules.has_cards ? s.count_cards(i) : 0;
        for (int j = 0; j < P; ++j)
            if (j != i && s.lands[j])
                rival = std::max(rival, s.armies[j]), rival_income = std::max(rival_income, income[j]);
        int seat = 0;
        for (int j = s.mover; j != i; j = (j + 1) % P) seat += s.lands[j] > 0;
        double mine = std::max(s.armies[i], 1), more = i == s.mover ? s.place : 0;
        int at = 0;
        auto put = [&](double x) { f[size_t(at++)] = float(x); };
        put(std::min(mine / mean - 1.0, 3.0));
        put(ratio((mine + more) / mean));
        put(s.lands[i] / mean_lands - 1.0);
        put(double(s.lands[i]) / rules.lands);
        put(income[i] / mean_income - 1.0);
        put(std::min(income[i] / mine, 2.0));
        put(income[i] / double(std::max(incomes, 1)));
        put(cards / 5.0);
        put(HAS_SET[std::min(cards, 5)] * set / (set + mean));
        put(cards / 3.0 * set / (set + mean));
        for (int j = 0; j < MAX_PLAYERS; ++j) put(j == seat);
        put(more / (more + mean));
        put(largest[i] / mine);
        put(ratio(largest[i] / mean));
        put(inside[i] / mine);
        put(front[i] / mine);
        put(double(borders[i]) / s.lands[i]);
        put(std::min(under[i] / mine, 3.0));
        put(over[i] / mine);
        put(edges[i] ? double(own[i]) / edges[i] : 1.0);
        put(bonus[i] / mean_income);
        put(near_bonus[i] / mean_income);
        put(best_near[i] / mean_income);
        put(shared[i] / mean_income);
        put(broken[i] / mean_income);
        put(whole[i] / 3.0);
        put(reach[i]);
        put(reach[i] > 1.2);
        put(i == s.mover ? best_reach : 0.0);
        put(i == s.mover ? best_cards / 5.0 : 0.0);
        put(ratio(danger[i] > 0 ? 1.0 + danger[i] / mean : 1.0));
        put(ratio(mine / std::max(rival, 1)));
        put(ratio(income[i] / double(std::max(rival_income, 1))));
        put(s.armies[i] == top_armies);
        put(alive == 2);
        put(alive == 3);
        put(alive > 3);
        put(rules.has_cards ? set / (set + mean) : 0.0);
        put(all / (all + 100.0));
        put(rules.is_fixed);
        put(rules.has_cards);
        put(1.0 - double(lands) / rules.lands);
        put(double(alive) / rules.lands);
        if (rules.missions.empty()) continue;
        double rival_share = 0.0;
        for (int j = 0; j < P; ++j)
            if (j != i) rival_share = std::max(rival_share, progress[j].share);
        put(rival_share);
        if (!progress[i].mission) continue;
        for (int kind :
             {IACTA_MISSION_LANDS, IACTA_MISSION_CONTINENTS, IACTA_MISSION_CAPITALS, IACTA_MISSION_ELIMINATE})
            put(progress[i].mission->kind == kind);
        put(double(progress[i].number) / rules.lands);
        put(progress[i].share);
    }
}

// Computes each player's chance to win according to V. The winner has the chance 1, an eliminated player 0.
// viewer: the player whose knowledge of hidden missions is used, or ALL_KNOWN.
template <int W>
void judge(const WarRules<W>& rules, const War<W>& s, Tactics<W>& tactics, const float* weights, int viewer,
           double* chances) {
    std::fill(chances, chances + rules.players, 0.0);
    if (int winner = rules.find_winner(s); winner >= 0) {
        chances[winner] = 1.0;
        return;
    }
    std::array<std::array<float, FEATURES>, MAX_PLAYERS> seen;
    find_features(rules, s, tactics, viewer, seen.data());
    const float *first = weights, *bias = weights + HIDDEN * FEATURES, *second = bias + HIDDEN;
    double most = -1e300;
    for (int i = 0; i < rules.players; ++i) {
        if (!s.lands[i]) continue;
        float sums[HIDDEN];
        std::copy(bias, bias + HIDDEN, sums);
        for (int j = 0; j < FEATURES; ++j) {
            float x = seen[size_t(i)][size_t(j)];
            if (x == 0.0f) continue;
            // Unroll the loop to keep the sums in registers.
#pragma GCC unroll 16
            for (int h = 0; h < HIDDEN; ++h) sums[h] += first[j * HIDDEN + h] * x;
        }
        float score = 0.0f;
        for (int h = 0; h < HIDDEN; ++h) score += second[h] * std::max(sums[h], 0.0f);
        chances[i] = score;
        most = std::max(most, chances[i]);
    }
    double total = 0.0;
    for (int i = 0; i < rules.players; ++i)
        if (s.lands[i]) total += chances[i] = exponential(chances[i] - most);
    for (int i = 0; i < rules.players; ++i) chances[i] /= total;
}

}  // namespace iacta
