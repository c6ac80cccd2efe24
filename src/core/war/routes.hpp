// The routes of an elimination: the territories that must be taken, the stacks that take them, and the order.
//
// The goal consists of the victim's territories and of other territories on the way to them. It is divided into
// connected parts. A part needs about as many armies as defend it, plus one for each territory. A stack first takes
// dead ends, with as few armies as possible.
#pragma once

#include <cmath>

#include "war/rules.hpp"

namespace iacta {

template <int W>
class Routes {
  public:
    explicit Routes(const WarRules<W>& rules)
        : rules_(rules), costs_(size_t(rules.lands)), from_(size_t(rules.lands)) {}

    struct Attack {
        int v = -1, c = -1;
    };
    struct Wish {
        int land, armies;
    };

    // Finds routes to all territories of a player. Returns false if a territory cannot be reached.
    bool find(const War<W>& s, int victim) {
        const Game<W>& g = rules_.game(s);
        Set<W> wanted;
        for (int t = 0; t < rules_.lands; ++t)
            if (s.owner[t] == victim) wanted.add(t);
        goal_ = wanted;
        while (true) {
            Set<W> reached = flood(s, g);
            Set<W> rest = wanted - reached;
            if (!rest.any()) break;
            if (!add_way(s, g, reached, rest)) return false;
        }
        find_parts(s, g);
        return true;
    }
    bool is_done() const { return !goal_.any(); }
    // Returns the available armies, including `news` new armies, divided by the armies needed.
    double measure(const War<W>& s, int news) const {
        double need = 0.0, lack = 0.0;
        int supply = 0;
        Set<W> starts;
        for (const Part& part : parts_) {
            need += part.need, lack += std::max(0.0, part.need - part.supply);
            starts |= part.starts;
        }
        for (Set<W> rest = starts; rest.any();) supply += rules_.spare(s, rest.pop());
        double ratio = (supply + news) / need;
        return lack > news ? std::min(ratio, (need - (lack - news)) / need) : ratio;
    }
    double need() const {
        double total = 0.0;
        for (const Part& part : parts_) total += part.need;
        return total;
    }
    // Returns the next attack of the elimination. Dead ends come first.
    Attack choose_attack(const War<W>& s) const {
        const Game<W>& g = rules_.game(s);
        Attack best;
        double most = -1e300;
        for (const Part& part : parts_)
            for (Set<W> starts = part.starts; starts.any();) {
                int v = starts.pop(), room = rules_.spare(s, v);
                if (room < 1) continue;
                for (Set<W> near = g.out[v] & part.lands; near.any();) {
                    int c = near.pop();
                    double won = rules_.odds(c, room, s.at.armies[c]).won;
                    if (won < LEAST_CHANCE) continue;
                    double score = 9.0 * won + 0.01 * std::min(room, 200) - 10.0 * count_exits(g, v, c);
                    if (won < FAIR_CHANCE) score -= 1000.0;
                    if (score > most && rules_.max_dice(s, v, c) > 0) most = score, best = {v, c};
                }
            }
        return best;
    }
    // Returns how many of the `most` armies that may leave v advance to the conquered territory c.
    int choose_advance(const War<W>& s, int v, int c, int most) const {
        const Game<W>& g = rules_.game(s);
        double here = 0.0, there = 0.0;
        for (const Part& part : parts_) {
            int others = 0;
            for (Set<W> rest = part.starts; rest.any();) {
                int u = rest.pop();
                if (u != v && u != c) others += rules_.spare(s, u);
            }
            double need = std::max(0.0, part.need - others);
            bool is_here = g.out[v].meets(part.lands), is_there = g.out[c].meets(part.lands);
            if (is_here && is_there) (count_more(g, c, v, part.lands) ? there : here) += need;
            else if (is_here) here += need;
            else if (is_there) there += need;
        }
        if (here == 0.0) return most;
        if (there == 0.0) return 0;
        return most - int(most * here / (here + there) + 0.5);
    }
    // Lists the placements of new armies. Each army goes to the part with the smallest ratio of armies to need.
    void list_wishes(const War<W>& s, std::vector<Wish>& found) {
        found.clear();
        for (Part& part : parts_) {
            int base = find_base(s, part);
            if (base >= 0) found.push_back({base, 0});
            else part.need = 0.0;
        }
        for (int left = found.empty() ? 0 : s.place; left > 0; --left) {
            size_t poorest = 0, at = 0;
            double least = 1e300;
            for (Part& part : parts_) {
                if (part.need == 0.0) continue;
                double ratio = (part.supply + found[at].armies) / part.need;
                if (ratio < least) least = ratio, poorest = at;
                ++at;
            }
            ++found[poorest].armies;
        }
    }

  private:
    static constexpr double LOST_FOR_KILLED = 0.85;  // attackers lost for each defender destroyed in large battles
    static constexpr double LEAST_CHANCE = 0.15, FAIR_CHANCE = 0.6;

    struct Part {
        Set<W> lands, starts;
        double need;
        int supply;
    };

    const WarRules<W>& rules_;
    Set<W> goal_;
    std::vector<Part> parts_;
    std::vector<int> costs_, from_;

    // Returns the territories of the goal that the mover can reach by attacking only the goal.
    Set<W> flood(const War<W>& s, const Game<W>& g) const {
        Set<W> seen, fresh = s.at.mine - g.resting;
        while (fresh.any()) {
            Set<W> more = (g.out[fresh.pop()] & goal_) - seen;
            seen |= more;
            fresh |= more;
        }
        return seen;
    }
    // Adds to the goal the cheapest route to one of the territories in `rest`. Returns false if there is no route.
    bool add_way(const War<W>& s, const Game<W>& g, const Set<W>& reached, const Set<W>& rest) {
        constexpr int FAR = 1 << 29;
        std::fill(costs_.begin(), costs_.end(), FAR);
        Set<W> open = (s.at.mine - g.resting) | reached, done;
        for (Set<W> each = open; each.any();) {
            int t = each.pop();
            costs_[t] = 0, from_[t] = -1;
        }
        while (open.any()) {
            int t = -1;
            for (Set<W> each = open; each.any();) {
                int u = each.pop();
                if (t < 0 || costs_[u] < costs_[t]) t = u;
            }
            open.remove(t);
            done.add(t);
            if (rest.has(t)) {
                for (; t >= 0 && costs_[t] > 0; t = from_[t]) goal_.add(t);
                return true;
            }
            for (Set<W> near = g.out[t] - s.at.mine - done; near.any();) {
                int c = near.pop();
                if (!s.at.armies[c]) continue;
                int cost = costs_[t] + s.at.armies[c] + 1;
                if (cost < costs_[c]) costs_[c] = cost, from_[c] = t, open.add(c);
            }
        }
        return false;
    }
    void find_parts(const War<W>& s, const Game<W>& g) {
        parts_.clear();
        for (Set<W> rest = goal_; rest.any();) {
            Part part{Set<W>::of(rest.first()), {}, 0.0, 0};
            for (Set<W> fresh = part.lands; fresh.any();) {
                int t = fresh.pop();
                Set<W> more = ((g.out[t] | g.into[t]) & goal_) - part.lands;
                part.lands |= more;
                fresh |= more;
            }
            rest -= part.lands;
            int armies = 0, lands = 0;
            for (Set<W> each = part.lands; each.any(); ++lands) {
                int t = each.pop();
                armies += s.at.armies[t];
                part.starts |= (g.into[t] & s.at.mine) - g.resting;
            }
            for (Set<W> each = part.starts; each.any();) part.supply += rules_.spare(s, each.pop());
            part.need = LOST_FOR_KILLED * armies + lands + 1.0;
            parts_.push_back(part);
        }
    }
    // Returns the number of territories of the goal that border c but not v.
    int count_exits(const Game<W>& g, int v, int c) const {
        Set<W> exits = (g.out[c] & goal_) - g.out[v];
        exits.remove(c);
        return exits.count();
    }
    static bool count_more(const Game<W>& g, int c, int v, const Set<W>& lands) {
        return (g.out[c] & lands).count() > (g.out[v] & lands).count();
    }
    // Returns the mover's territory beside a part with the most armies, or -1 if there is none.
    int find_base(const War<W>& s, const Part& part) const {
        int best = -1;
        for (Set<W> rest = part.starts; rest.any();) {
            int v = rest.pop();
            if (best < 0 || s.at.armies[v] > s.at.armies[best]) best = v;
        }
        return best;
    }
};

}  // namespace iacta
