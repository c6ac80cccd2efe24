// Victory: the winner of a game, and the territories that a player still has to take to win.
#pragma once

#include <climits>
#include <tuple>
#include <utility>

#include "war/rules.hpp"

namespace iacta {

constexpr int MAX_WANTED = 12;    // a player who lacks more territories is not expected to win soon
constexpr int MAX_ROUTE = 30;     // the largest number of territories for which the mover looks for a way to win now
constexpr int MAX_DEALS = 1000;   // the maximum number of attempts to deal hidden missions
constexpr int ATTACK_MARGIN = 1;  // armies wanted for an attack on several territories in addition to its cost
// The values, in armies, of a win and of preventing a rival's win.
constexpr double WIN_PRIZE = 100.0, STOP_PRIZE = 10.0;

// Returns whether a player wins by a mission: the player fulfils the mission, and the rules check it at this moment.
template <int W>
bool WarRules<W>::is_fulfilled(const War<W>& s, int player) const {
    if (is_checked_at_end && (s.phase != IACTA_PHASE_OVER || player != s.mover)) return false;
    return has_fulfilled(s, player);
}

// Returns whether a player fulfils a mission, even if the rules do not check it at this moment.
template <int W>
bool WarRules<W>::has_fulfilled(const War<W>& s, int player) const {
    if (common_lands > 0 && player < players && s.lands[player] >= common_lands) return true;
    if (!s.lands[player] || s.mission[player] < 0) return false;
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
        case IACTA_MISSION_PARTS:
            for (const int32_t* each = first; each != last; each += 2)
                if (s.held[size_t(each[0] * OWNERS + player)] < each[1]) return false;
            return mission.number == 0 || find_trio(s, mission, player, [](int) { return 1; }).second == 0;
        default: return false;
    }
}

// Returns the cheapest set of three territories, outside the continents of a mission, that border one another, and its
// cost to a player. The player's own territories cost 0, and `cost` returns the costs of other territories.
template <int W>
template <class Cost>
std::pair<Set<W>, int> WarRules<W>::find_trio(const War<W>& s, const Mission& mission, int player, Cost cost) const {
    Set<W> free;
    for (int v = 0; v < lands; ++v)
        if (s.owner[size_t(v)] == player || s.at.armies[size_t(v)] > 0) free.add(v);
    for (int i = mission.first; i < mission.last; i += 2)
        for (int v : continents[size_t(entries[size_t(i)])]) free.remove(v);
    auto price = [&](int v) { return s.owner[size_t(v)] == player ? 0 : cost(v); };
    auto near = [&](int v) { return (later.out[size_t(v)] | later.into[size_t(v)]) & free; };
    std::pair<Set<W>, int> best{Set<W>{}, INT_MAX};
    for (Set<W> all = free; all.any();) {
        int u = all.pop();
        for (Set<W> second = near(u) & all; second.any();) {
            int v = second.pop();
            for (Set<W> third = near(v) & second; third.any();) {
                int w = third.pop(), total = price(u) + price(v) + price(w);
                if (total >= best.second) continue;
                Set<W> trio = Set<W>::of(u);
                trio.add(v), trio.add(w);
                best = {trio, total};
            }
        }
    }
    return best;
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

// Returns whether another player, whose mission is to eliminate `victim`, wins if the mover eliminates `victim`. Returns
// false if the mover wins by this elimination.
template <int W>
bool WarRules<W>::lets_rival_win(const War<W>& s, int victim) const {
    bool is_target = false;
    for (int q = 0; q < players && !missions.empty(); ++q) {
        if (q == s.mover || !s.lands[q] || s.mission[q] < 0) continue;
        const Mission& mission = missions[size_t(s.mission[q])];
        is_target |= mission.kind == IACTA_MISSION_ELIMINATE && entries[size_t(mission.first)] == victim;
    }
    if (!is_target) return false;
    War<W> after = s;
    for (int v = 0; v < lands; ++v) {
        if (s.owner[size_t(v)] != victim) continue;
        after.owner[size_t(v)] = s.mover;
        after.at.armies[size_t(v)] = 1;
        for (int k : continents_of[v])
            --after.held[size_t(k * OWNERS + victim)], ++after.held[size_t(k * OWNERS + s.mover)];
        --after.lands[victim], ++after.lands[s.mover];
    }
    replace_missions(after, victim);
    count_strong(after);
    int winner = find_winner(after);
    return winner >= 0 && winner != s.mover;
}

// Gives new missions to the other players whose missions were to eliminate `loser`, whom the mover has eliminated.
template <int W>
void WarRules<W>::replace_missions(War<W>& s, int loser) const {
    for (int q = 0; q < players; ++q) {
        if (q == s.mover || s.mission[q] < 0) continue;
        const Mission& mission = missions[size_t(s.mission[q])];
        if (mission.kind == IACTA_MISSION_ELIMINATE && entries[size_t(mission.first)] == loser && mission.instead >= 0)
            s.mission[q] = mission.instead;
    }
}

// Deals hidden missions at random. Repeats a deal in which a player already fulfils a dealt mission.
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

// Counts the territories of each owner with at least the armies that the owner's mission requires.
template <int W>
void WarRules<W>::count_strong(War<W>& s) const {
    s.strong.fill(0);
    for (int v = 0; v < lands; ++v) {
        int o = s.owner[size_t(v)], least = find_least_armies(s, o);
        s.strong[size_t(o)] += least > 0 && s.at.armies[size_t(v)] >= least;
    }
}

// The territories that a player must take to win. Their cost is the number of armies on them, plus a garrison for each.
template <int W>
struct Wanted {
    Set<W> lands;
    int number = 0, cost = 0;
    double lack = 0.0;         // how many armies the stacks of the player lack
    bool is_in_reach = false;  // whether the player is strong enough to win; also true if no territory is missing

    void add(const War<W>& s, int land, int stay) {
        if (lands.has(land)) return;
        lands.add(land);
        ++number, cost += s.at.armies[size_t(land)] + stay;
    }
};

// The number of territories that a player must still take to win, and their cost, as in `Wanted`.
struct Need {
    int number = 0, cost = 0;
};

// Finds out how the mover can win in this turn, and which other players are about to win.
template <int W>
class Wins {
  public:
    Wins(const WarRules<W>& rules, const War<W>& s) : rules_(rules), s_(s) {}

    // Fills `urgency` with the value, in armies, of taking each territory in order to win now, or to stop a rival who is
    // about to win. Returns WIN_PRIZE if the mover is strong enough to win with `new_armies` new armies, otherwise 0.
    double find_urgency(int new_armies, std::vector<double>& urgency) const {
        std::fill(urgency.begin(), urgency.end(), 0.0);
        double prize = 0.0;
        for (int q = 0; q < rules_.players; ++q) {
            bool is_mover = q == s_.mover;
            if (!s_.lands[size_t(q)] || s_.mission[size_t(q)] < 0 || (!is_mover && rules_.is_hidden[size_t(q)]))
                continue;
            Wanted<W> wanted = find_wanted(q, is_mover ? new_armies : rules_.count_income(s_, q));
            if (!wanted.is_in_reach) continue;
            if (is_mover) prize = WIN_PRIZE;
            for (Set<W> rest = is_mover ? wanted.lands : find_winning_lands(q); rest.any();)
                urgency[size_t(rest.pop())] += is_mover ? WIN_PRIZE / wanted.number : STOP_PRIZE;
        }
        return prize;
    }

    // Returns the next placement, a territory and a number of armies, that helps the mover to win in this turn. Returns
    // {-1, 0} without such a placement.
    std::pair<int, int> find_winning_placement() const {
        auto winning = find_placement_without_attacks();
        return winning.first >= 0 ? winning : find_placement_for_attacks();
    }
    // Returns the mission that a player pursues: the player's own mission, or the common number of territories if it
    // costs fewer armies.
    const Mission& find_mission(int player) const {
        const Mission*& found = pursued_[size_t(player)];
        if (found) return *found;
        found = &rules_.missions[size_t(s_.mission[size_t(player)])];
        bool is_nearer =
            rules_.common_lands > 0 && find_need(player, rules_.common).cost < find_need(player, *found).cost;
        if (is_nearer) found = &rules_.common;
        return *found;
    }
    // Returns the number of armies that a territory needs to count for the mission that its owner pursues, or 0.
    int find_least_armies(int player) const { return s_.mission[size_t(player)] < 0 ? 0 : find_mission(player).armies; }
    // Returns the territories that a player still has to take and their cost, without the territories on the way to them.
    Need find_need(int player) const { return find_need(player, find_mission(player)); }
    // Returns the territories that a player still has to take for a given mission, and their cost. For a mission that
    // counts territories, these are the cheapest territories.
    Need find_need(int player, const Mission& mission) const {
        std::vector<int> cost(size_t(rules_.lands));
        for (int v = 0; v < rules_.lands; ++v)
            cost[size_t(v)] = s_.at.armies[size_t(v)] ? s_.at.armies[size_t(v)] + std::max(mission.armies, 1) : 0;
        Need need;
        if (mission.kind != IACTA_MISSION_LANDS) {
            for (Set<W> rest = find_targets(player, mission, cost); rest.any();)
                ++need.number, need.cost += cost[size_t(rest.pop())];
            return need;
        }
        for (Set<W> owned = find_lands(player); owned.any();) {
            int v = owned.pop();
            cost[size_t(v)] = std::max(mission.armies - s_.at.armies[size_t(v)], 0);
        }
        std::erase(cost, 0);
        std::sort(cost.begin(), cost.end());
        need.number = std::max(mission.number - rules_.count_held(s_, player, mission), 0);
        for (int i = 0; i < std::min(need.number, int(cost.size())); ++i) need.cost += cost[size_t(i)];
        return need;
    }
    // Returns the territories that the mover must take to win in this turn, without the territories on the way to them.
    // Returns no territories if the mission requires an elimination. For a mission that counts armies, new armies and the
    // last move of the turn first strengthen territories of the mover; such new armies are subtracted from `new_armies`.
    Set<W> find_missing_lands(int& new_armies) const {
        if (s_.mission[s_.mover] < 0 || wins_at_end()) return {};
        const Mission& mission = find_mission(s_.mover);
        if (mission.kind == IACTA_MISSION_ELIMINATE) return {};
        if (mission.kind == IACTA_MISSION_LANDS) {
            int need = count_lands_to_take(s_.mover, new_armies);
            return find_cheapest_lands(need, new_armies);
        }
        if (mission.kind == IACTA_MISSION_CAPITALS)
            return find_nearest_capitals(mission, s_.armies[s_.mover] + new_armies);
        return find_targets(s_.mover, mission, {});
    }
    // A territory with too few armies to count for its owner's mission, and the number of armies that it lacks.
    struct Weak {
        int missing, land;
        bool operator<(const Weak& other) const {
            return missing != other.missing ? missing < other.missing : land < other.land;
        }
    };
    // Returns the territories of a player that `new_armies` new armies can make strong enough to count for the mission, at
    // most as many as the mission requires. The territories that lack the fewest armies come first.
    std::vector<Weak> list_weak(int player, int new_armies) const {
        const Mission& mission = find_mission(player);
        std::vector<Weak> found;
        if (mission.kind != IACTA_MISSION_LANDS || mission.armies < 1 || new_armies < 1) return found;
        for (Set<W> rest = find_lands(player); rest.any();) {
            int v = rest.pop(), missing = mission.armies - s_.at.armies[size_t(v)];
            if (missing > 0 && (player != s_.mover || v >= s_.first)) found.push_back({missing, v});
        }
        std::sort(found.begin(), found.end());
        size_t number = 0, most = size_t(std::max(mission.number - rules_.count_held(s_, player, mission), 0));
        while (number < std::min(most, found.size()) && found[number].missing <= new_armies)
            new_armies -= found[number++].missing;
        found.resize(number);
        return found;
    }
    // Returns whether the last move of the turn can fulfil the mission of the mover.
    bool may_win_by_move() const { return count_missing() == 1; }
    // Returns whether the mover wins if the turn ends now.
    bool wins_at_end() const { return rules_.is_checked_at_end && rules_.has_fulfilled(s_, s_.mover); }
    // Returns the smallest number of armies with which a move between two territories of the mover wins, or -1.
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
    mutable std::array<const Mission*, MAX_PLAYERS> pursued_{};  // for each player: the result of find_mission, or null

    // Returns the next placement, a territory and a number of armies, if the mover can win without attacks. Returns
    // {-1, 0} otherwise.
    std::pair<int, int> find_placement_without_attacks() const {
        int need = count_missing();
        if (need < 1) return {-1, 0};
        std::vector<Weak> weak = list_weak(s_.mover, s_.place);
        if (weak.empty() || int(weak.size()) + can_raise_by_move(weak) < need) return {-1, 0};
        auto first = std::min_element(weak.begin(), weak.end(), [](Weak a, Weak b) { return a.land < b.land; });
        return {first->land, count_placed(first->land, first->missing)};
    }
    // Returns the next placement, a territory and a number of armies, before attacks on the wanted territories, or {-1,
    // 0}. Territories with too few armies for the mission get the armies that they lack. The strongest stack beside
    // each group of connected wanted territories attacks the group. Each remaining army goes to the stack with the
    // smallest ratio of armies to need.
    std::pair<int, int> find_placement_for_attacks() const {
        if (s_.mission[s_.mover] < 0) return {-1, 0};
        Wanted<W> found = find_wanted(s_.mover, s_.place);
        if (!found.number) return {-1, 0};
        const Game<W>& g = rules_.game(s_);
        std::vector<int> room(size_t(rules_.lands)), need(size_t(rules_.lands)), more(size_t(rules_.lands));
        for (Set<W> rest = s_.at.mine; rest.any();) {
            int v = rest.pop();
            room[size_t(v)] = count_spare(s_.mover, v);
        }
        int left = s_.place, stay = std::max(find_least_armies(s_.mover), 1);
        for (auto [missing, v] : list_weak(s_.mover, s_.place)) more[size_t(v)] += missing, left -= missing;
        for (Set<W> wanted = found.lands; wanted.any();) {
            Set<W> group, fresh = Set<W>::of(Set<W>(wanted).pop());
            int cost = ATTACK_MARGIN, best = -1;
            while (fresh.any()) {
                int c = fresh.pop();
                group.add(c);
                cost += s_.at.armies[size_t(c)] + stay;
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
        for (; left > 0; --left) {
            int poorest = -1, least = 0;
            for (int v = s_.first; v < rules_.lands; ++v) {
                int lack = need[size_t(v)], armies = room[size_t(v)] + lack + more[size_t(v)];
                if (lack && (poorest < 0 || armies * need[size_t(poorest)] < least * lack)) poorest = v, least = armies;
            }
            if (poorest < 0) break;
            ++more[size_t(poorest)];
        }
        auto first = std::find_if(more.begin(), more.end(), [](int armies) { return armies > 0; });
        if (first == more.end()) return {-1, 0};
        return {int(first - more.begin()), count_placed(int(first - more.begin()), *first)};
    }
    // Returns `armies`, or all armies that are left to place if `land` is the last territory of the mover.
    int count_placed(int land, int armies) const {
        Set<W> later = s_.at.mine;
        while (later.any() && later.first() <= land) later.pop();
        return later.any() ? armies : s_.place;
    }

    int armies() const { return find_mission(s_.mover).armies; }
    // Returns how many more territories with enough armies the mission of the mover requires, or -1 if the mission does
    // not count armies.
    int count_missing() const {
        if (s_.mission[s_.mover] < 0) return -1;
        const Mission& mission = find_mission(s_.mover);
        if (mission.kind != IACTA_MISSION_LANDS || mission.armies < 1) return -1;
        return std::max(mission.number - rules_.count_held(s_, s_.mover, mission), 0);
    }
    // Returns whether the last move of the turn can make a territory outside `raised` strong enough to count for the
    // mission.
    bool can_raise_by_move(const std::vector<Weak>& raised) const {
        int least = find_least_armies(s_.mover);
        if (least < 2 || s_.phase == IACTA_PHASE_ADVANCE) return false;
        for (Set<W> rest = s_.at.mine - rules_.game(s_).resting; rest.any();) {
            int u = rest.pop(), spare = count_spare(s_.mover, u);
            if (spare < 1) continue;
            for (Set<W> ends = rules_.find_fortify_targets(s_, u); ends.any();) {
                int v = ends.pop(), missing = least - s_.at.armies[size_t(v)];
                bool is_raised = std::any_of(raised.begin(), raised.end(), [&](Weak each) { return each.land == v; });
                if (missing > 0 && missing <= spare && !is_raised) return true;
            }
        }
        return false;
    }
    // Returns how many armies the conquered territory still lacks to count for the mover's mission, if these armies may
    // advance; otherwise 0.
    int count_missing_after_advance(int player) const {
        if (player != s_.mover || s_.phase != IACTA_PHASE_ADVANCE) return 0;
        int lacks = find_least_armies(player) - s_.at.armies[size_t(s_.pending.to)];
        return lacks <= rules_.limit_advance(s_, count_spare(player, s_.pending.start)) ? lacks : 0;
    }
    // Returns how many armies of a player may leave a territory. If the territory counts for the player's mission, the
    // required armies must stay.
    int count_spare(int player, int v) const {
        const Game<W>& g = player == s_.mover ? rules_.game(s_) : rules_.later;
        int armies = s_.at.armies[size_t(v)], least = find_least_armies(player);
        return std::max(armies - (armies >= least ? std::max(g.keep[size_t(v)], least) : g.keep[size_t(v)]), 0);
    }

    // Returns the territories that a player must take to win, and whether `new_armies` new armies make the player strong
    // enough to win.
    Wanted<W> find_wanted(int player, int new_armies) const {
        const Mission& mission = find_mission(player);
        Wanted<W> found;
        if (rules_.is_checked_at_end && rules_.has_fulfilled(s_, player)) {
            found.is_in_reach = true;
            return found;
        }
        if (mission.kind == IACTA_MISSION_LANDS) {
            int need = count_lands_to_take(player, new_armies);
            if (need > MAX_WANTED) return found;
            int stay = std::max(mission.armies, 1);
            found =
                find_cheap_lands(player, need, new_armies, -1, [&](int c) { return s_.at.armies[size_t(c)] + stay; });
            found.is_in_reach = found.number >= need && found.lack == 0.0;
            return found.is_in_reach ? found : Wanted<W>{};
        }
        found = find_wanted_with_paths(player, new_armies, mission);
        found.is_in_reach = found.number && is_strong_enough(player, found, new_armies);
        return found.is_in_reach ? found : Wanted<W>{};
    }
    // Returns how many territories a player must take for a mission that counts territories. The new armies that
    // strengthen territories of the player, and the armies that a conquered territory lacks, are subtracted from `new_armies`,
    // which may become negative.
    int count_lands_to_take(int player, int& new_armies) const {
        const Mission& mission = find_mission(player);
        int need = mission.number - rules_.count_held(s_, player, mission);
        std::vector<Weak> weak = list_weak(player, new_armies);
        for (const Weak& each : weak) --need, new_armies -= each.missing;
        if (need > 0 && player == s_.mover) need -= can_raise_by_move(weak);
        if (int lacks = count_missing_after_advance(player); lacks > 0) --need, new_armies -= lacks;
        return need;
    }
    // Returns `number` territories that the mover can take at a low cost. New armies may strengthen any stack, or all go
    // to one of the largest stacks; the cheapest choice is returned. Returns no territories if `number` exceeds MAX_ROUTE
    // or the territories within reach, or if the mover lacks armies for the garrisons.
    Set<W> find_cheapest_lands(int number, int new_armies) const {
        int stay = std::max(find_least_armies(s_.mover), 1), all = new_armies;
        std::vector<int> stacks;
        for (Set<W> rest = s_.at.mine - rules_.game(s_).resting; rest.any();) {
            int v = rest.pop();
            all += count_spare(s_.mover, v);
            if (new_armies > 0 && v >= s_.first) stacks.push_back(v);
        }
        if (number > MAX_ROUTE || all < number * stay) return {};
        auto estimate_cost = [&](int c) { return rules_.estimate_losses(c, s_.at.armies[size_t(c)]) + stay; };
        auto add_costs = [&](Set<W> lands) {
            double cost = 0.0;
            while (lands.any()) cost += estimate_cost(lands.pop());
            return cost;
        };
        rules_.keep_largest(s_, stacks);
        Wanted<W> best = find_cheap_lands(s_.mover, number, new_armies, -1, estimate_cost);
        if (best.number < number) return {};
        double least = add_costs(best.lands);
        for (int base : stacks) {
            Wanted<W> found = find_cheap_lands(s_.mover, number, new_armies, base, estimate_cost);
            double cost = add_costs(found.lands);
            bool is_better = found.lack < best.lack || (found.lack == best.lack && cost < least);
            if (found.number == number && is_better) best = found, least = cost;
        }
        return best.lands;
    }
    // Returns `number` territories for a player to take, or fewer if there are not so many. Each step adds the territory
    // with the fewest armies that one stack can take, or else the adjacent territory with the fewest armies, for which
    // all adjacent stacks and new armies are used.
    // new_armies, base: the new armies, and the territory where they are placed, or -1 if they may strengthen any stack.
    // estimate_cost: the armies that a territory costs, including its garrison.
    template <class Cost>
    Wanted<W> find_cheap_lands(int player, int number, double new_armies, int base, Cost estimate_cost) const {
        Wanted<W> found;
        struct Stack {
            double room;
            Set<W> near;  // the territories that the stack can attack, now or after conquests
        };
        const Game<W>& g = player == s_.mover ? rules_.game(s_) : rules_.later;
        Set<W> owned = find_lands(player);
        std::vector<Stack> stacks;
        double placed = base < 0 ? 0.0 : std::exchange(new_armies, 0.0);
        for (Set<W> rest = owned; rest.any();) {
            int v = rest.pop();
            if (player == s_.mover && g.resting.has(v)) continue;
            Set<W> near = g.out[size_t(v)];
            if (s_.phase == IACTA_PHASE_ADVANCE && v == s_.pending.start) near |= g.out[size_t(s_.pending.to)];
            double room = count_spare(player, v) + (v == base ? placed : 0.0);
            if (room > 0.0 || new_armies > 0.0) stacks.push_back({room, near - owned});
        }
        while (found.number < number) {
            Stack* best = nullptr;
            int land = -1, cheapest = -1;
            Set<W> all;
            for (Stack& each : stacks) {
                all |= each.near;
                for (Set<W> rest = each.near - found.lands; rest.any();) {
                    int c = rest.pop(), armies = s_.at.armies[size_t(c)];
                    if (!armies || estimate_cost(c) > each.room + new_armies) continue;
                    bool is_better = land < 0 || armies < s_.at.armies[size_t(land)];
                    if (is_better || (armies == s_.at.armies[size_t(land)] && each.room > best->room))
                        best = &each, land = c;
                }
            }
            if (land < 0) {
                for (Set<W> rest = all - found.lands; rest.any();) {
                    int c = rest.pop(), armies = s_.at.armies[size_t(c)];
                    if (armies && (cheapest < 0 || armies < s_.at.armies[size_t(cheapest)])) cheapest = c;
                }
                land = cheapest;
            }
            if (land < 0) return found;
            double cost = estimate_cost(land);
            for (Stack& each : stacks) {
                if ((best && &each != best) || !each.near.has(land)) continue;
                double used = std::min(each.room, cost);
                each.room -= used, cost -= used;
                each.near |= g.out[size_t(land)] - owned;
            }
            found.lack += std::max(cost - new_armies, 0.0);
            new_armies = std::max(new_armies - cost, 0.0);
            found.add(s_, land, 1);
        }
        return found;
    }
    // The cheapest path from a player's territories to each territory: its cost, which is the number of armies on the
    // path plus a garrison for each territory, and the last territory before its end.
    struct CheapestPaths {
        std::vector<int> cost, before;
    };
    // Finds the cheapest paths from the territories `owned` to all others. Paths that cost more than `most` have the cost
    // `most` + 1.
    CheapestPaths find_cheapest_paths(const Set<W>& owned, int most) const {
        CheapestPaths found{std::vector<int>(size_t(rules_.lands), most + 1),
                            std::vector<int>(size_t(rules_.lands), -1)};
        auto& [cost, before] = found;
        Set<W> open;
        for (int v = 0; v < rules_.lands; ++v) {
            if (owned.has(v)) cost[size_t(v)] = 0;
            if (owned.has(v) || s_.at.armies[size_t(v)]) open.add(v);
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
        return found;
    }
    // Returns the territories that a mission requires, and the territories on the cheapest paths to them.
    Wanted<W> find_wanted_with_paths(int player, int new_armies, const Mission& mission) const {
        Wanted<W> found;
        int most = s_.armies[size_t(player)] + new_armies;
        Set<W> owned = find_lands(player);
        auto [cost, before] = find_cheapest_paths(owned, most);
        Set<W> targets = find_targets(player, mission, cost);
        if (targets.count() > MAX_WANTED) return found;
        for (Set<W> rest = targets; rest.any();) {
            int v = rest.pop();
            if (cost[size_t(v)] > most) return {};
            for (; !owned.has(v); v = before[size_t(v)]) found.add(s_, v, 1);
        }
        return found;
    }
    // Returns the capitals that the mover must still take. If there is a choice, each step adds the nearest capital; the
    // path to it is free for the other capitals.
    Set<W> find_nearest_capitals(const Mission& mission, int most) const {
        const int32_t *first = rules_.entries.data() + mission.first, *last = rules_.entries.data() + mission.last;
        Set<W> owned = find_lands(s_.mover), others, found;
        int need = mission.number;
        for (const int32_t* each = first; each != last; ++each)
            if (owned.has(*each)) --need;
            else others.add(*each);
        bool is_own_missing = others.has(*first);
        if (is_own_missing) need = std::max(need, 1);
        if (need >= others.count()) return others;
        for (; need > 0; --need) {
            auto [cost, before] = find_cheapest_paths(owned, most);
            int best = is_own_missing ? *first : -1;
            for (Set<W> rest = others; !is_own_missing && rest.any();)
                if (int v = rest.pop(); best < 0 || cost[size_t(v)] < cost[size_t(best)]) best = v;
            is_own_missing = false;
            found.add(best);
            others.remove(best);
            for (int v = best; v >= 0 && !owned.has(v); v = before[size_t(v)]) owned.add(v);
        }
        return found;
    }
    // Returns the territories that a player must still take for a mission. If the mission leaves a choice, the cheapest
    // capitals (by `cost`, a cost for each territory) or the continents with the fewest armies in the way are chosen.
    Set<W> find_targets(int player, const Mission& mission, const std::vector<int>& cost) const {
        const int32_t *first = rules_.entries.data() + mission.first, *last = rules_.entries.data() + mission.last;
        Set<W> found, owned = find_lands(player);
        if (mission.kind == IACTA_MISSION_ELIMINATE) return find_lands(*first);
        if (mission.kind == IACTA_MISSION_CAPITALS) {
            std::vector<std::pair<int, int>> others;  // pairs: the cost of a path to a capital, and the capital
            int need = mission.number;
            for (const int32_t* each = first; each != last; ++each) {
                if (owned.has(*each)) --need;
                else if (each == first) found.add(*each), --need;
                else others.emplace_back(cost[size_t(*each)], *each);
            }
            std::sort(others.begin(), others.end());
            for (int i = 0; i < std::min(need, int(others.size())); ++i) found.add(others[size_t(i)].second);
            return found;
        }
        if (mission.kind == IACTA_MISSION_PARTS) return find_parts(player, mission, owned, cost);
        // Pairs: the cost of a continent's missing territories, and the continent.
        std::vector<std::pair<int, int>> others;
        int need = mission.number;
        for (int k = 0; k < int(rules_.continents.size()); ++k) {
            if (std::find(first, last, k) != last) {
                for (int v : rules_.continents[size_t(k)]) found.add(v);
            } else if (rules_.owns(s_, k, player)) {
                --need;
            } else if (rules_.size(k) > 0) {
                int total = 0;
                for (int v : rules_.continents[size_t(k)])
                    if (!owned.has(v)) total += s_.at.armies[size_t(v)] + 1;
                others.emplace_back(total, k);
            }
        }
        std::sort(others.begin(), others.end());
        for (int i = 0; i < std::min(need, int(others.size())); ++i)
            for (int v : rules_.continents[size_t(others[size_t(i)].second)]) found.add(v);
        return found - owned;
    }
    // Returns the cheapest territories that a player must still take for a mission of parts of continents.
    // owned: the territories of the player.
    // cost: a cost for each territory, or empty for the number of armies.
    Set<W> find_parts(int player, const Mission& mission, const Set<W>& owned, const std::vector<int>& cost) const {
        Set<W> found;
        auto price = [&](int v) { return cost.empty() ? s_.at.armies[size_t(v)] + 1 : cost[size_t(v)]; };
        for (int i = mission.first; i < mission.last; i += 2) {
            int k = rules_.entries[size_t(i)], need = rules_.entries[size_t(i + 1)];
            std::vector<std::tuple<bool, int, int>> others;  // whether v has no armies, the cost of v, and v
            for (int v : rules_.continents[size_t(k)]) {
                if (owned.has(v)) --need;
                else others.emplace_back(s_.at.armies[size_t(v)] == 0, price(v), v);
            }
            std::sort(others.begin(), others.end());
            for (int j = 0; j < std::min(need, int(others.size())); ++j) found.add(std::get<2>(others[size_t(j)]));
        }
        if (mission.number > 0) found |= rules_.find_trio(s_, mission, player, price).first;
        return found - owned;
    }
    // Returns the territories of a player that count for the player's mission.
    Set<W> find_winning_lands(int player) const {
        const Mission& mission = find_mission(player);
        Set<W> owned = find_lands(player), named;
        bool is_survival = mission.kind == IACTA_MISSION_ELIMINATE && rules_.has_fulfilled(s_, player);
        if (mission.kind == IACTA_MISSION_LANDS || is_survival) return owned;
        bool is_parts = mission.kind == IACTA_MISSION_PARTS;
        if (is_parts && mission.number > 0) named = rules_.find_trio(s_, mission, player, [](int) { return 1; }).first;
        for (int i = mission.first; i < mission.last; i += is_parts ? 2 : 1) {
            int entry = rules_.entries[size_t(i)];
            if (mission.kind == IACTA_MISSION_CAPITALS) named.add(entry);
            if (mission.kind == IACTA_MISSION_CONTINENTS || is_parts)
                for (int v : rules_.continents[size_t(entry)]) named.add(v);
        }
        return owned & named;
    }
    // Returns whether a player with `new_armies` new armies is strong enough to take the wanted territories.
    bool is_strong_enough(int player, const Wanted<W>& wanted, int new_armies) const {
        const Game<W>& g = player == s_.mover ? rules_.game(s_) : rules_.later;
        int strength = new_armies;
        for (Set<W> rest = find_lands(player); rest.any();) {
            int v = rest.pop();
            Set<W> near = g.out[size_t(v)];
            // Armies that may still advance also count for attacks from the conquered territory.
            if (s_.phase == IACTA_PHASE_ADVANCE && v == s_.pending.start) near |= g.out[size_t(s_.pending.to)];
            if (!near.meets(wanted.lands) || (player == s_.mover && g.resting.has(v))) continue;
            strength += count_spare(player, v);
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
