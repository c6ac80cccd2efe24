// Victory: the winner of a game, and the territories that a player still has to take to win.
#pragma once

#include "war/rules.hpp"

namespace iacta {

constexpr int MAX_WANTED = 12;    // players with more missing territories cannot win soon
constexpr int MAX_DEALS = 1000;   // the maximum number of attempts to deal hidden missions
constexpr int ATTACK_MARGIN = 1;  // armies for an attack on a group of territories in addition to its cost
constexpr double WIN_PRIZE = 100.0, STOP_PRIZE = 10.0;  // the values of winning and of stopping a rival, in armies

// Returns whether a player fulfils their mission.
template <int W>
bool WarRules<W>::is_fulfilled(const War<W>& s, int player) const {
    if (!s.lands[player] || s.mission[player] < 0) return false;
    if (is_checked_at_end_ && (s.phase != IACTA_PHASE_OVER || player != s.mover)) return false;
    const Mission& mission = missions[size_t(s.mission[player])];
    const int32_t *first = entries.data() + mission.first, *last = entries.data() + mission.last;
    switch (mission.kind) {
        case IACTA_MISSION_LANDS: return count_held(s, player, mission) >= mission.number;
        case IACTA_MISSION_CONTINENTS: {
            int others = 0;
            for (int k = 0; k < int(continents.size()); ++k) {
                bool is_named = std::find(first, last, k) != last;
                if (is_named && !owns(s, k, player)) return false;
                others += !is_named && owns(s, k, player);
            }
            return others >= mission.number;
        }
        case IACTA_MISSION_CAPITALS:
            return s.owner[size_t(*first)] == player &&
                   std::count_if(first, last, [&](int v) { return s.owner[size_t(v)] == player; }) >= mission.number;
        case IACTA_MISSION_ELIMINATE: return s.lands[size_t(*first)] == 0;
        default: return false;
    }
}

// Returns the winner, or -1 if there is none yet. Of several players who fulfil their missions, the mover comes first,
// and then the next player in the order of play.
template <int W>
int WarRules<W>::find_winner(const War<W>& s) const {
    int alive = 0, last = -1;
    for (int i = 0; i < players; ++i)
        if (s.lands[i] > 0) ++alive, last = i;
    if (alive == 1) return last;
    if (missions.empty()) return -1;
    for (int i = 0; i < players; ++i) {
        int player = (s.mover + i) % players;
        if (is_fulfilled(s, player)) return player;
    }
    return -1;
}

// Replaces the other players' missions to eliminate `loser`, whom the mover has eliminated.
template <int W>
void WarRules<W>::replace_missions(War<W>& s, int loser) const {
    for (int q = 0; q < players; ++q) {
        if (q == s.mover || s.mission[q] < 0) continue;
        const Mission& mission = missions[size_t(s.mission[q])];
        if (mission.kind == IACTA_MISSION_ELIMINATE && entries[size_t(mission.first)] == loser && mission.instead >= 0)
            s.mission[q] = mission.instead;
    }
}

// Deals hidden missions at random. A deal in which a player already fulfils their mission is rejected.
template <int W>
void WarRules<W>::deal_missions(War<W>& s, Random& random) const {
    std::array<int, MAX_PLAYERS> given = s.mission;
    if (std::find(given.begin(), given.begin() + players, IACTA_MISSION_HIDDEN) == given.begin() + players) return;
    std::vector<int> deck(deck_);
    for (int tries = 0; tries < MAX_DEALS; ++tries) {
        size_t next = 0;
        bool is_possible = true;
        for (int q = 0; q < players; ++q) {
            if (given[size_t(q)] != IACTA_MISSION_HIDDEN || !s.lands[q]) continue;
            std::swap(deck[next], deck[next + size_t(random.draw_below(int(deck.size() - next)))]);
            int card = deck[next++];
            const Mission& mission = missions[size_t(card)];
            bool is_own = mission.kind == IACTA_MISSION_ELIMINATE && entries[size_t(mission.first)] == q;
            s.mission[q] = is_own ? mission.own : card;
        }
        count_strong(s);
        for (int q = 0; q < players; ++q)
            is_possible = is_possible && (given[size_t(q)] != IACTA_MISSION_HIDDEN || !is_fulfilled(s, q));
        if (is_possible) return;
    }
}

// Counts each owner's territories with at least the armies that the owner's mission requires.
template <int W>
void WarRules<W>::count_strong(War<W>& s) const {
    s.strong.fill(0);
    for (int v = 0; v < lands; ++v) {
        int o = s.owner[size_t(v)], least = find_least_armies(s, o);
        s.strong[size_t(o)] += least > 0 && s.at.armies[size_t(v)] >= least;
    }
}

// The territories that a player must take to win, and their cost: the armies on them plus one for each territory.
template <int W>
struct Wanted {
    Set<W> lands;
    int number = 0, cost = 0;

    void add(const War<W>& s, int land) {
        if (lands.has(land)) return;
        lands.add(land);
        ++number, cost += s.at.armies[size_t(land)] + 1;
    }
};

// Finds wins within reach of the mover, and threats of other players to win.
template <int W>
class Wins {
  public:
    Wins(const WarRules<W>& rules, const War<W>& s) : rules_(rules), s_(s) {}

    // Computes how urgent it is to take each territory, in armies, to win now or to stop a rival who is about to win.
    // Returns WIN_PRIZE if the mover can win with `news` new armies, otherwise 0.
    double find_urgency(int news, std::vector<double>& urgency) const {
        std::fill(urgency.begin(), urgency.end(), 0.0);
        double prize = 0.0;
        for (int q = 0; q < rules_.players; ++q) {
            bool is_mover = q == s_.mover;
            if (!s_.lands[size_t(q)] || s_.mission[size_t(q)] < 0 || (!is_mover && rules_.is_hidden[size_t(q)]))
                continue;
            Wanted<W> wanted = find_wanted(q, is_mover ? news : rules_.count_income(s_, q));
            if (!wanted.number) continue;
            if (is_mover) prize = WIN_PRIZE;
            for (Set<W> rest = is_mover ? wanted.lands : find_winning_lands(q); rest.any();)
                urgency[size_t(rest.pop())] += is_mover ? WIN_PRIZE / wanted.number : STOP_PRIZE;
        }
        return prize;
    }

    // Returns the next placement that helps the mover to win this turn, a territory and armies, or {-1, 0}.
    std::pair<int, int> find_winning_placement() const {
        auto winning = find_placement_without_attacks();
        return winning.first >= 0 ? winning : find_placement_for_attacks();
    }
    // Whether the last move of the turn can win.
    bool may_win_by_move() const { return count_missing() == 1; }
    // Returns the smallest number of armies whose move between two of the mover's territories wins, or -1.
    int find_winning_move(int from, int to, int most) const {
        int need = count_missing();
        if (need < 0) return -1;
        int before = s_.at.armies[size_t(from)], there = s_.at.armies[size_t(to)],
            moved = std::max(armies() - there, 0);
        if (moved > most) return -1;
        int gain = (there < armies()) - (before >= armies() && before - moved < armies());
        return gain >= need ? moved : -1;
    }

  private:
    const WarRules<W>& rules_;
    const War<W>& s_;

    // Returns the next placement, a territory and armies, if placing new armies can win at once, or {-1, 0}.
    std::pair<int, int> find_placement_without_attacks() const {
        int need = count_missing(), last = -1;
        if (need < 1) return {-1, 0};
        std::vector<std::pair<int, int>> weak;  // pairs of the missing armies and a territory
        for (Set<W> rest = s_.at.mine; rest.any();) {
            int v = last = rest.pop();
            if (v >= s_.first && s_.at.armies[size_t(v)] < armies())
                weak.emplace_back(armies() - s_.at.armies[size_t(v)], v);
        }
        if (int(weak.size()) < need) return {-1, 0};
        std::sort(weak.begin(), weak.end());
        int total = 0, first = rules_.lands, number = 0;
        for (int i = 0; i < need; ++i) {
            auto [missing, v] = weak[size_t(i)];
            total += missing;
            if (v < first) first = v, number = missing;
        }
        if (total > s_.place) return {-1, 0};
        return {first, first == last ? s_.place : number};
    }
    // Returns the next placement, a territory and armies, for attacks on the wanted territories, or {-1, 0}. The
    // strongest stack beside each group of connected wanted territories attacks the group. Each new army goes to the
    // stack with the smallest ratio of armies to need.
    std::pair<int, int> find_placement_for_attacks() const {
        if (s_.mission[s_.mover] < 0) return {-1, 0};
        const Game<W>& g = rules_.game(s_);
        std::vector<int> room(size_t(rules_.lands)), need(size_t(rules_.lands)), more(size_t(rules_.lands));
        for (int v = 0; v < rules_.lands; ++v) room[size_t(v)] = rules_.spare(s_, v);
        for (Set<W> wanted = find_wanted(s_.mover, s_.place).lands; wanted.any();) {
            Set<W> group, fresh = Set<W>::of(Set<W>(wanted).pop());
            int cost = ATTACK_MARGIN, best = -1;
            while (fresh.any()) {
                int c = fresh.pop();
                group.add(c);
                cost += s_.at.armies[size_t(c)] + 1;
                fresh |= (g.out[size_t(c)] & wanted) - group;
            }
            wanted -= group;
            for (Set<W> rest = s_.at.mine - g.resting; rest.any();) {
                int v = rest.pop();
                if (!g.out[size_t(v)].meets(group)) continue;
                bool is_enough = room[size_t(v)] >= cost || v >= s_.first;
                if (is_enough && (best < 0 || room[size_t(v)] > room[size_t(best)])) best = v;
            }
            if (best >= 0) need[size_t(best)] += cost, room[size_t(best)] -= cost;
        }
        for (int left = s_.place; left > 0; --left) {
            int poorest = -1, least = 0;
            for (int v = s_.first; v < rules_.lands; ++v) {
                int lack = need[size_t(v)], armies = room[size_t(v)] + lack + more[size_t(v)];
                if (lack && (poorest < 0 || armies * need[size_t(poorest)] < least * lack)) poorest = v, least = armies;
            }
            if (poorest < 0) return {-1, 0};
            ++more[size_t(poorest)];
        }
        auto first = std::find_if(more.begin(), more.end(), [](int armies) { return armies > 0; });
        if (first == more.end()) return {-1, 0};
        return {int(first - more.begin()), *first};
    }

    int armies() const { return rules_.missions[size_t(s_.mission[s_.mover])].armies; }
    // Returns how many territories with enough armies the mover lacks, or -1 for a mission of another kind.
    int count_missing() const {
        if (s_.mission[s_.mover] < 0) return -1;
        const Mission& mission = rules_.missions[size_t(s_.mission[s_.mover])];
        if (mission.kind != IACTA_MISSION_LANDS || mission.armies < 1) return -1;
        return std::max(mission.number - rules_.count_held(s_, s_.mover, mission), 0);
    }

    // Returns the territories that a player must take to win, if `news` new armies make the player strong enough.
    Wanted<W> find_wanted(int player, int news) const {
        const Mission& mission = rules_.missions[size_t(s_.mission[size_t(player)])];
        Wanted<W> found;
        if (mission.kind == IACTA_MISSION_LANDS)
            found = find_cheap_lands(player, mission.number - rules_.count_held(s_, player, mission));
        else found = find_ways(player, news, mission);
        return is_in_reach(player, found, news) ? found : Wanted<W>{};
    }
    // Returns `number` territories that a player can take one after another, with few armies on them.
    Wanted<W> find_cheap_lands(int player, int number) const {
        Wanted<W> found;
        if (number > MAX_WANTED) return found;
        Set<W> own = find_lands(player), beside;
        for (Set<W> rest = own; rest.any();) beside |= rules_.later.out[size_t(rest.pop())];
        while (found.number < number) {
            int best = -1;
            for (Set<W> rest = beside - own - found.lands; rest.any();) {
                int c = rest.pop(), armies = s_.at.armies[size_t(c)];
                if (armies && (best < 0 || armies < s_.at.armies[size_t(best)])) best = c;
            }
            if (best < 0) return {};
            found.add(s_, best);
            beside |= rules_.later.out[size_t(best)];
        }
        return found;
    }
    // Returns the territories that a mission names, and the territories on the cheapest paths to them.
    Wanted<W> find_ways(int player, int news, const Mission& mission) const {
        Wanted<W> found;
        int most = s_.armies[size_t(player)] + news;
        std::vector<int> cost(size_t(rules_.lands), most + 1), before(size_t(rules_.lands), -1);
        Set<W> own = find_lands(player), open;
        for (int v = 0; v < rules_.lands; ++v) {
            if (own.has(v)) cost[size_t(v)] = 0;
            if (own.has(v) || s_.at.armies[size_t(v)]) open.add(v);
        }
        while (open.any()) {
            int best = -1;
            for (Set<W> rest = open; rest.any();) {
                int v = rest.pop();
                if (best < 0 || cost[size_t(v)] < cost[size_t(best)]) best = v;
            }
            if (cost[size_t(best)] > most) break;
            open.remove(best);
            for (Set<W> near = rules_.later.out[size_t(best)] & open; near.any();) {
                int c = near.pop(), more = cost[size_t(best)] + s_.at.armies[size_t(c)] + 1;
                if (more < cost[size_t(c)]) cost[size_t(c)] = more, before[size_t(c)] = best;
            }
        }
        Set<W> targets = find_targets(player, mission, cost);
        if (targets.count() > MAX_WANTED) return found;
        for (Set<W> rest = targets; rest.any();) {
            int v = rest.pop();
            if (cost[size_t(v)] > most) return {};
            for (; !own.has(v); v = before[size_t(v)]) found.add(s_, v);
        }
        return found;
    }
    // Returns the territories of other players that a mission requires. `cost` is the cost of reaching each territory.
    Set<W> find_targets(int player, const Mission& mission, const std::vector<int>& cost) const {
        const int32_t *first = rules_.entries.data() + mission.first, *last = rules_.entries.data() + mission.last;
        Set<W> found, own = find_lands(player);
        if (mission.kind == IACTA_MISSION_ELIMINATE) return find_lands(*first);
        if (mission.kind == IACTA_MISSION_CAPITALS) {
            std::vector<std::pair<int, int>> others;  // pairs of a cost and a territory
            int need = mission.number;
            for (const int32_t* each = first; each != last; ++each) {
                if (own.has(*each)) --need;
                else if (each == first) found.add(*each), --need;
                else others.emplace_back(cost[size_t(*each)], *each);
            }
            std::sort(others.begin(), others.end());
            for (int i = 0; i < std::min(need, int(others.size())); ++i) found.add(others[size_t(i)].second);
            return found;
        }
        std::vector<std::pair<int, int>> others;  // pairs of the cost of the missing territories and a continent
        int need = mission.number;
        for (int k = 0; k < int(rules_.continents.size()); ++k) {
            if (std::find(first, last, k) != last) {
                for (int v : rules_.continents[size_t(k)]) found.add(v);
            } else if (rules_.owns(s_, k, player)) {
                --need;
            } else if (rules_.size(k) > 0) {
                int total = 0;
                for (int v : rules_.continents[size_t(k)])
                    if (!own.has(v)) total += s_.at.armies[size_t(v)] + 1;
                others.emplace_back(total, k);
            }
        }
        std::sort(others.begin(), others.end());
        for (int i = 0; i < std::min(need, int(others.size())); ++i)
            for (int v : rules_.continents[size_t(others[size_t(i)].second)]) found.add(v);
        return found - own;
    }
    // Returns the territories of a player that count for their mission.
    Set<W> find_winning_lands(int player) const {
        const Mission& mission = rules_.missions[size_t(s_.mission[size_t(player)])];
        Set<W> own = find_lands(player), named;
        if (mission.kind == IACTA_MISSION_LANDS) return own;
        for (int i = mission.first; i < mission.last; ++i) {
            int entry = rules_.entries[size_t(i)];
            if (mission.kind == IACTA_MISSION_CAPITALS) named.add(entry);
            if (mission.kind == IACTA_MISSION_CONTINENTS)
                for (int v : rules_.continents[size_t(entry)]) named.add(v);
        }
        return own & named;
    }
    // Returns whether a player with `news` new armies is strong enough to take the wanted territories.
    bool is_in_reach(int player, const Wanted<W>& wanted, int news) const {
        if (!wanted.number) return false;
        const Game<W>& g = player == s_.mover ? rules_.game(s_) : rules_.later;
        int strength = news;
        for (Set<W> rest = find_lands(player); rest.any();) {
            int v = rest.pop();
            Set<W> near = g.out[size_t(v)];
            // After a conquest, the armies that may still advance also count beside the conquered territory.
            if (s_.phase == IACTA_PHASE_ADVANCE && v == s_.pending.start) near |= g.out[size_t(s_.pending.to)];
            if (!near.meets(wanted.lands) || (player == s_.mover && g.resting.has(v))) continue;
            strength += std::max(s_.at.armies[size_t(v)] - g.keep[size_t(v)], 0);
        }
        return strength >= wanted.cost;
    }
    Set<W> find_lands(int player) const {
        Set<W> found;
        for (int v = 0; v < rules_.lands; ++v)
            if (s_.owner[size_t(v)] == player) found.add(v);
        return found;
    }
};

}  // namespace iacta
