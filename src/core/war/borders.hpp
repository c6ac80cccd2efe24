// The borders of the mover (the player to move): the threats of other players, the guards against them, and the
// last move of a turn.
//
// A territory is at the front if it borders hostile armies. The stake of a territory is the sum of the continent
// bonuses that depend on it.
#pragma once

#include "war/rules.hpp"

namespace iacta {

template <int W>
class Borders {
  public:
    explicit Borders(const WarRules<W>& rules)
        : rules_(rules), wanted_(size_t(rules.lands)), stake_(size_t(rules.lands)), danger_(size_t(rules.lands)) {}

    struct Move {
        int from = -1, to = -1, armies = 0;
    };

    // Returns the largest number of armies with which another player could attack v from one territory.
    int find_threat(const War<W>& s, int v) const {
        int most = 0;
        for (Set<W> near = rules_.later.into[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (s.owner[c] < rules_.players) most = std::max(most, s.at.armies[c] - rules_.later.garrison);
        }
        return most;
    }
    bool is_at_front(const War<W>& s, int v) const {
        for (Set<W> near = (rules_.later.into[v] | rules_.later.out[v]) - s.at.mine; near.any();)
            if (s.at.armies[near.pop()] > 0) return true;
        return false;
    }
    // Returns the number of armies that may leave v. At least one army must stay.
    int count_movable(const War<W>& s, int v) const {
        return std::max(rules_.spare(s, v) - (rules_.game(s).keep[v] == 0), 0);
    }
    // Returns the sum of the bonuses that the mover would lose by losing v. Continent `also`, unless -1, counts as
    // owned.
    int find_stake(const War<W>& s, int v, int also) const {
        int found = 0;
        for (int k : rules_.continents_of[v])
            if (rules_.bonus[k] > 0 && (k == also || rules_.owns(s, k, s.mover))) found += rules_.bonus[k];
        return found;
    }
    // Returns a last move for the largest stack that has no hostile neighbours. It moves to the front territory with
    // the greatest lack of armies, or one step towards the front if moves may only reach neighbours.
    Move find_inner_move(const War<W>& s) const {
        Move best;
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop();
            if (count_movable(s, v) > best.armies && !is_at_front(s, v) && rules_.may_move(s, v))
                best.armies = count_movable(s, v), best.from = v;
        }
        if (best.from < 0) return best;
        if (rules_.fortify == IACTA_FORTIFY_ADJACENT) best.to = find_step_to_front(s, best.from);
        int lack = 0;
        if (rules_.fortify == IACTA_FORTIFY_CONNECTED)
            for (Set<W> rest = rules_.find_fortify_targets(s, best.from); rest.any();) {
                int t = rest.pop();
                if (!is_at_front(s, t)) continue;
                int missing = find_threat(s, t) - s.at.armies[t];
                if (best.to < 0 || missing > lack) best.to = t, lack = missing;
            }
        return best;
    }
    // Returns the last move, from any stack to any front territory, that reduces the total danger most. level: the
    // armies wanted on a border for each threatening army.
    Move find_guarding_move(const War<W>& s, double level) {
        Set<W> front;
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop();
            if (is_at_front(s, v)) front.add(v);
            wanted_[v] = level * find_threat(s, v);
            stake_[v] = OTHER_STAKE + find_stake(s, v, -1);
            danger_[v] = find_danger(v, s.at.armies[v]);
        }
        Move best;
        double most = MIN_GAIN;
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop(), armies = s.at.armies[v], room = count_movable(s, v);
            if (room < 1 || !rules_.may_move(s, v)) continue;
            int spare = room - std::max(std::min(room, int(wanted_[v] + 0.999) - (armies - room)), 0);
            int moves[] = {room, spare}, choices = spare < 1 || spare == room ? 1 : 2;
            double gains[2] = {}, inner = front.has(v) ? 0.0 : INNER;
            for (int i = 0; i < choices; ++i)
                gains[i] = inner * moves[i] + danger_[v] - find_danger(v, armies - moves[i]);
            for (Set<W> near = rules_.find_fortify_targets(s, v) & front; near.any();) {
                int t = near.pop();
                for (int i = 0; i < choices; ++i) {
                    double after = danger_[t] > 0.0 ? find_danger(t, s.at.armies[t] + moves[i]) : 0.0;
                    double gain = gains[i] + danger_[t] - after;
                    if (gain > most) most = gain, best = {v, t, moves[i]};
                }
            }
        }
        if (best.from < 0 && rules_.fortify == IACTA_FORTIFY_ADJACENT) return find_inner_move(s);
        return best;
    }

  private:
    static constexpr double MIN_GAIN = 0.01, INNER = 0.03, OTHER_STAKE = 0.4;

    const WarRules<W>& rules_;

    // For each territory of the mover: the number of armies wanted there, the bonuses at stake, and the danger.
    std::vector<double> wanted_, stake_, danger_;

    // Returns the danger to v if it has a given number of armies: the bonuses at stake times the missing fraction of
    // the wanted armies.
    double find_danger(int v, int armies) const {
        return wanted_[v] > 0.0 ? stake_[v] * std::max(0.0, 1.0 - armies / wanted_[v]) : 0.0;
    }
    // Returns the next territory on a shortest path from a territory of the mover to the front, or -1 without a path.
    int find_step_to_front(const War<W>& s, int from) const {
        Set<W> near = rules_.later.out[from] & s.at.mine;
        for (Set<W> rest = near; rest.any();) {
            int t = rest.pop();
            if (is_at_front(s, t)) return t;
        }
        int best = -1, shortest = rules_.lands + 1;
        for (Set<W> rest = near; rest.any();) {
            int t = rest.pop(), steps = 0;
            Set<W> seen = Set<W>::of(from) | Set<W>::of(t), edge = Set<W>::of(t);
            for (bool found = false; edge.any() && !found; ++steps) {
                Set<W> fresh;
                while (edge.any()) {
                    int each = edge.pop();
                    found |= is_at_front(s, each);
                    fresh |= rules_.later.out[each] & s.at.mine;
                }
                edge = fresh - seen;
                seen |= fresh;
                if (found && steps < shortest) shortest = steps, best = t;
            }
        }
        return best;
    }
};

}  // namespace iacta
