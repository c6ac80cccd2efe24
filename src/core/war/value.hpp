// The value function V: an estimate of each player's chance to win, learnt from games.
//
// A neural network maps the features of each player to a score. The chances are the softmax of the scores of the
// surviving players. The code does not use the system's mathematical library, so that V is identical on every machine.
#pragma once

#include "war/player.hpp"

namespace iacta {

constexpr int FEATURES = IACTA_FEATURES, HIDDEN = IACTA_HIDDEN;
constexpr int VALUE_WEIGHTS = HIDDEN * FEATURES + HIDDEN + HIDDEN;
static_assert(VALUE_WEIGHTS == IACTA_VALUE_WEIGHTS);

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
    Wins<W> wins(rules, s);
    Need need = wins.find_need(player);
    double armies = s.armies[player] + (player == s.mover ? s.place : 0), all = armies + need.cost;
    return {&wins.find_mission(player), need.number, all > 0.0 ? armies / all : 0.0};
}

// Maps a ratio r to (r - 1) / (r + 1).
inline double squash_ratio(double x) { return x > 0.0 ? (x - 1.0) / (x + 1.0) : -1.0; }

using Counts = std::array<int, MAX_PLAYERS>;
using Amounts = std::array<double, MAX_PLAYERS>;

// The features of each player in the value function V, computed at the start of a turn. `iacta.war.value` describes
// them.
template <int W>
class Features {
  public:
    // viewer: the player whose knowledge of hidden missions is used, or ALL_KNOWN.
    Features(const WarRules<W>& rules, const War<W>& s, Tactics<W>& tactics, int viewer)
        : rules_(rules), s_(s), tactics_(tactics) {
        count_totals();
        for (int v = 0; v < rules.lands; ++v)
            if (s.owner[v] < rules.players) count_territory(v);
        for (size_t k = 0; k < rules.continents.size(); ++k)
            if (rules.bonus[k] > 0 && rules.size(int(k))) measure_continent(k);
        measure_opponents();
        if (!rules.missions.empty())
            for (int i = 0; i < rules.players; ++i) progress_[i] = find_progress(rules, s, i, viewer);
    }

    // Writes the features of a player: seen[IACTA_FEATURE_...].
    void write(int i, std::array<float, FEATURES>& seen) const {
        seen.fill(0.0f);
        if (!s_.lands[i]) return;
        write_armies(i, seen.data());
        write_cards(i, seen.data());
        write_stacks(i, seen.data());
        write_continents(i, seen.data());
        write_opponents(i, seen.data());
        write_game(seen.data());
        if (!rules_.missions.empty()) write_missions(i, seen.data());
    }

  private:
    const WarRules<W>& rules_;
    const War<W>& s_;
    Tactics<W>& tactics_;
    // All players: their number, their armies, territories, new armies per turn and greatest number of armies.
    int alive_, armies_ = 0, lands_ = 0, incomes_ = 0, top_armies_ = 0;
    double mean_, mean_income_, mean_lands_, set_;  // means for each player, and the armies of the next set
    Counts income_{}, bonus_{};
    // The largest stack, and the armies on territories with and without hostile neighbours.
    Counts largest_{}, front_{}, inside_{};
    Counts borders_{};         // the number of territories with hostile neighbours
    Counts over_{}, under_{};  // how far stacks exceed their largest neighbours, or fall short of them
    Counts danger_{};          // how far the largest neighbour of a stack exceeds it
    Counts edges_{}, own_edges_{};
    Amounts near_bonus_{}, best_near_{}, shared_{}, broken_{}, whole_{};
    Amounts reach_{};
    double best_reach_ = 0.0, best_cards_ = 0.0;
    std::array<Progress, MAX_PLAYERS> progress_;

    static constexpr double WITHIN_REACH = 1.2, MAX_REACH = 3.0;

    void count_totals() {
        alive_ = rules_.count_alive(s_);
        for (int i = 0; i < rules_.players; ++i) {
            if (!s_.lands[i]) continue;
            income_[i] = rules_.count_income(s_, i);
            armies_ += s_.armies[i], incomes_ += income_[i];
            lands_ += s_.lands[i];
            top_armies_ = std::max(top_armies_, s_.armies[i]);
        }
        mean_ = std::max(double(armies_) / alive_, 1.0);
        mean_income_ = std::max(double(incomes_) / alive_, 1.0);
        mean_lands_ = double(lands_) / alive_;
        set_ = rules_.count_next_set(s_);
    }
    void count_territory(int v) {
        int i = s_.owner[v], most = 0, armies = s_.at.armies[v];
        bool is_border = false;
        for (Set<W> near = rules_.later.out[v]; near.any();) {
            int c = near.pop();
            ++edges_[i];
            if (s_.owner[c] == i) ++own_edges_[i];
            else if (s_.at.armies[c] > 0) {
                is_border = true;
                if (s_.owner[c] < rules_.players) most = std::max(most, s_.at.armies[c]);
            }
        }
        largest_[i] = std::max(largest_[i], armies);
        (is_border ? front_ : inside_)[i] += armies;
        borders_[i] += is_border;
        over_[i] += std::max(armies - most, 0) * is_border;
        under_[i] += std::max(most - armies, 0) * is_border;
        danger_[i] = std::max(danger_[i], most - armies);
    }
    void measure_continent(size_t k) {
        int total = 0, bonus = rules_.bonus[k];
        for (int o = 0; o < OWNERS; ++o) total += s_.strength[k * OWNERS + size_t(o)];
        for (int i = 0; i < rules_.players; ++i) {
            if (!s_.held[k * OWNERS + size_t(i)]) continue;
            double share = total ? double(s_.strength[k * OWNERS + size_t(i)]) / total : 0.0;
            double part = double(s_.held[k * OWNERS + size_t(i)]) / rules_.size(int(k));
            near_bonus_[i] += bonus * share * share;
            best_near_[i] = std::max(best_near_[i], bonus * share * share);
            shared_[i] += bonus * part * part;
            if (!rules_.owns(s_, int(k), i)) continue;
            bonus_[i] += bonus, whole_[i] += 1.0;
            broken_[i] += bonus * find_chance_to_break(k, i);
        }
    }
    // Returns the best chance of a neighbour to conquer a territory of a continent that a player owns.
    double find_chance_to_break(size_t k, int player) const {
        double worst = 0.0;
        for (int v : rules_.continents[k])
            for (Set<W> near = rules_.later.into[v]; near.any();) {
                int c = near.pop();
                if (s_.owner[c] == player || s_.owner[c] >= rules_.players) continue;
                worst = std::max(worst, rules_.odds(v, s_.at.armies[c] - rules_.later.garrison, s_.at.armies[v]).won);
            }
        return worst;
    }
    void measure_opponents() {
        tactics_.count_beside(s_, s_.place);
        for (int i = 0; i < rules_.players; ++i) {
            if (i == s_.mover || !s_.lands[i]) continue;
            reach_[i] = std::min(tactics_.measure_reach(s_, i), MAX_REACH);
            best_reach_ = std::max(best_reach_, reach_[i]);
            if (reach_[i] > WITHIN_REACH) best_cards_ = std::max(best_cards_, double(s_.count_cards(i)));
        }
    }

    double count_mine(int i) const { return std::max(s_.armies[i], 1); }
    double count_more(int i) const { return i == s_.mover ? s_.place : 0; }

    void write_armies(int i, float* seen) const {
        double mine = count_mine(i), more = count_more(i);
        int seat = 0;
        for (int j = s_.mover; j != i; j = (j + 1) % rules_.players) seat += s_.lands[j] > 0;
        seen[IACTA_FEATURE_ARMIES] = float(std::min(mine / mean_ - 1.0, 3.0));
        seen[IACTA_FEATURE_ARMIES_WITH_NEW_ONES] = float(squash_ratio((mine + more) / mean_));
        seen[IACTA_FEATURE_TERRITORIES] = float(s_.lands[i] / mean_lands_ - 1.0);
        seen[IACTA_FEATURE_SHARE_OF_TERRITORIES] = float(double(s_.lands[i]) / rules_.lands);
        seen[IACTA_FEATURE_INCOME] = float(income_[i] / mean_income_ - 1.0);
        seen[IACTA_FEATURE_INCOME_FOR_ARMIES] = float(std::min(income_[i] / mine, 2.0));
        seen[IACTA_FEATURE_SHARE_OF_INCOME] = float(income_[i] / double(std::max(incomes_, 1)));
        seen[IACTA_FEATURE_SEAT_0 + seat] = 1.0f;
        seen[IACTA_FEATURE_NEW_ARMIES] = float(more / (more + mean_));
    }
    void write_cards(int i, float* seen) const {
        static constexpr double HAS_SET[] = {0.0, 0.0, 0.0, 0.42, 0.82, 1.0};
        int cards = rules_.has_cards ? s_.count_cards(i) : 0;
        seen[IACTA_FEATURE_CARDS] = float(cards / 5.0);
        seen[IACTA_FEATURE_HAND] = float(HAS_SET[std::min(cards, 5)] * set_ / (set_ + mean_));
        seen[IACTA_FEATURE_CARDS_FOR_SETS] = float(cards / 3.0 * set_ / (set_ + mean_));
    }
    void write_stacks(int i, float* seen) const {
        double mine = count_mine(i);
        seen[IACTA_FEATURE_STACK_FOR_ARMIES] = float(largest_[i] / mine);
        seen[IACTA_FEATURE_STACK] = float(squash_ratio(largest_[i] / mean_));
        seen[IACTA_FEATURE_INSIDE] = float(inside_[i] / mine);
        seen[IACTA_FEATURE_FRONT] = float(front_[i] / mine);
        seen[IACTA_FEATURE_BORDER] = float(double(borders_[i]) / s_.lands[i]);
        seen[IACTA_FEATURE_OUTNUMBERED] = float(std::min(under_[i] / mine, 3.0));
        seen[IACTA_FEATURE_OUTNUMBERING] = float(over_[i] / mine);
        seen[IACTA_FEATURE_OWN_EDGES] = float(edges_[i] ? double(own_edges_[i]) / edges_[i] : 1.0);
        seen[IACTA_FEATURE_DANGER] = float(squash_ratio(danger_[i] > 0 ? 1.0 + danger_[i] / mean_ : 1.0));
    }
    void write_continents(int i, float* seen) const {
        seen[IACTA_FEATURE_BONUS] = float(bonus_[i] / mean_income_);
        seen[IACTA_FEATURE_BONUS_BY_ARMIES] = float(near_bonus_[i] / mean_income_);
        seen[IACTA_FEATURE_BEST_BONUS_BY_ARMIES] = float(best_near_[i] / mean_income_);
        seen[IACTA_FEATURE_BONUS_BY_TERRITORIES] = float(shared_[i] / mean_income_);
        seen[IACTA_FEATURE_BONUS_IN_DANGER] = float(broken_[i] / mean_income_);
        seen[IACTA_FEATURE_CONTINENTS] = float(whole_[i] / 3.0);
    }
    void write_opponents(int i, float* seen) const {
        int rival = 0, rival_income = 0;
        for (int j = 0; j < rules_.players; ++j)
            if (j != i && s_.lands[j])
                rival = std::max(rival, s_.armies[j]), rival_income = std::max(rival_income, income_[j]);
        seen[IACTA_FEATURE_IN_REACH] = float(reach_[i]);
        seen[IACTA_FEATURE_WITHIN_REACH] = reach_[i] > WITHIN_REACH;
        seen[IACTA_FEATURE_BEST_REACH] = float(i == s_.mover ? best_reach_ : 0.0);
        seen[IACTA_FEATURE_BEST_CARDS_IN_REACH] = float(i == s_.mover ? best_cards_ / 5.0 : 0.0);
        seen[IACTA_FEATURE_ARMIES_FOR_RIVALS] = float(squash_ratio(count_mine(i) / std::max(rival, 1)));
        seen[IACTA_FEATURE_INCOME_FOR_RIVALS] = float(squash_ratio(income_[i] / double(std::max(rival_income, 1))));
        seen[IACTA_FEATURE_FIRST] = s_.armies[i] == top_armies_;
    }
    void write_game(float* seen) const {
        int all = s_.count_armies();
        seen[IACTA_FEATURE_TWO_ALIVE] = alive_ == 2;
        seen[IACTA_FEATURE_THREE_ALIVE] = alive_ == 3;
        seen[IACTA_FEATURE_MORE_ALIVE] = alive_ > 3;
        seen[IACTA_FEATURE_NEXT_SET] = float(rules_.has_cards ? set_ / (set_ + mean_) : 0.0);
        seen[IACTA_FEATURE_ALL_ARMIES] = float(all / (all + 100.0));
        seen[IACTA_FEATURE_FIXED_SETS] = rules_.is_fixed;
        seen[IACTA_FEATURE_CARDS_ARE_PLAYED] = rules_.has_cards;
        seen[IACTA_FEATURE_NEUTRAL] = float(1.0 - double(lands_) / rules_.lands);
        seen[IACTA_FEATURE_PLAYERS_FOR_TERRITORIES] = float(double(alive_) / rules_.lands);
    }
    void write_missions(int i, float* seen) const {
        double rival_share = 0.0;
        for (int j = 0; j < rules_.players; ++j)
            if (j != i) rival_share = std::max(rival_share, progress_[j].share);
        seen[IACTA_FEATURE_BEST_RIVALS_MISSION] = float(rival_share);
        const auto& [mission, number, share] = progress_[i];
        if (!mission) return;
        seen[IACTA_FEATURE_MISSION_OF_TERRITORIES] = mission->kind == IACTA_MISSION_LANDS;
        seen[IACTA_FEATURE_MISSION_OF_CONTINENTS] =
            mission->kind == IACTA_MISSION_CONTINENTS || mission->kind == IACTA_MISSION_PARTS;
        seen[IACTA_FEATURE_MISSION_OF_CAPITALS] = mission->kind == IACTA_MISSION_CAPITALS;
        seen[IACTA_FEATURE_MISSION_TO_ELIMINATE] = mission->kind == IACTA_MISSION_ELIMINATE;
        seen[IACTA_FEATURE_MISSING] = float(double(number) / rules_.lands);
        seen[IACTA_FEATURE_PROGRESS] = float(share);
    }
};

// Computes the features of each player.
template <int W>
void find_features(const WarRules<W>& rules, const War<W>& s, Tactics<W>& tactics, int viewer,
                   std::array<float, FEATURES>* seen) {
    Features<W> features(rules, s, tactics, viewer);
    for (int i = 0; i < rules.players; ++i) features.write(i, seen[i]);
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
