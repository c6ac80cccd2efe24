// Routes to wanted territories, such as all territories of a player or all capitals: the territories that must be taken,
// the stacks that take them, and the order of the attacks.
//
// The goal consists of the wanted territories and of other territories on the way to them. It is divided into connected
// parts. The cost of a part is the estimated number of armies that a stack loses or leaves behind on a walk
// through the part: for each territory, the mean losses of its battle and a garrison; for each dead end, the additional
// armies that must advance to it. Attacks, advances and placements are compared by the estimated chance that the armies
// suffice for every part.
#pragma once

#include <cmath>
#include <utility>

#include "war/rules.hpp"

namespace iacta {

template <int W>
class Routes {
  public:
    explicit Routes(const WarRules<W>& rules)
        : rules_(rules), prices_(size_t(rules.lands)), costs_(size_t(rules.lands)), free_(size_t(rules.lands)),
          rooms_(size_t(rules.lands)), from_(size_t(rules.lands)) {}

    struct Attack {
        int v = -1, c = -1;
    };
    struct Wish {
        int land, armies;
    };

    // Finds routes to all wanted territories, which the mover does not own. Returns false if a territory cannot be
    // reached, or has no armies and cannot be attacked.
    // new_armies: the new armies that the mover may still place. stay: the armies that must stay on each conquered territory,
    // and on each territory that has at least so many.
    bool find(const War<W>& s, const Set<W>& wanted, int new_armies, int stay) {
        const Game<W>& g = rules_.game(s);
        for (Set<W> rest = wanted; rest.any();)
            if (!s.at.armies[rest.pop()]) return false;
        goal_ = wanted;
        stay_ = stay;
        find_rooms(s, g, new_armies);
        targets_.clear();
        for (Set<W> rest = wanted; rest.any();) {
            Target target{find_part(g, wanted, rest.first()), 1.0};
            rest -= target.lands;
            for (Set<W> each = target.lands; each.any();) target.need += prices_[each.pop()];
            targets_.push_back(target);
        }
        std::stable_sort(targets_.begin(), targets_.end(),
                         [](const Target& a, const Target& b) { return a.need > b.need; });
        double left = new_armies;
        for (const Target& target : targets_) add_way(s, g, target, left);
        if ((wanted - flood(g)).any()) return false;
        find_parts(s, g);
        return true;
    }
    // Returns the ratio of available to needed armies, where `new_armies` new armies are available. The ratio is smaller if
    // the parts lack more armies than the new armies.
    double measure(int new_armies) const {
        double need = 0.0, lack = 0.0, supply = 0.0;
        for (const Part& part : parts_) {
            need += part.need + RESERVE, supply += part.supply;
            lack += std::max(0.0, part.need + RESERVE - part.supply);
        }
        double ratio = (supply + new_armies) / need;
        return lack > new_armies ? std::min(ratio, (need - (lack - new_armies)) / need) : ratio;
    }
    // Returns the attack after which all wanted territories are most likely to be taken.
    Attack choose_attack(const War<W>& s) {
        const Game<W>& g = rules_.game(s);
        attacks_.clear();
        for (size_t i = 0; i < parts_.size(); ++i)
            for (Set<W> lands = parts_[i].lands; lands.any();) {
                int c = lands.pop();
                if (rules_.is_losing_conquest(s, c)) continue;
                for (Set<W> near = g.into[c] & parts_[i].starts; near.any();) {
                    int v = near.pop(), room = rooms_[v];
                    if (room < 1 || !rules_.max_dice(s, v, c)) continue;
                    attacks_.push_back({{v, c}, i, rules_.odds(c, room, s.at.armies[c])});
                }
            }
        if (attacks_.size() == 1) return attacks_.front().attack;
        Attack best, last;
        double most = -1e300;
        for (const auto& [attack, i, row] : attacks_) {
            auto [v, c] = attack;
            if (c != last.c) split(s, g, i, c);
            last = attack;
            double score = row.won * estimate_after(g, v, c, rooms_[v] - row.lost - 1.0);
            // If the battle is lost, the other stacks may still succeed against fewer armies.
            if (row.won < SURE) {
                double killed = (row.killed - row.won * s.at.armies[c]) / (1.0 - row.won);
                score += (1.0 - row.won) * estimate_without(v, i, LOST_FOR_KILLED * killed);
            }
            if (score > most) most = score, best = attack;
        }
        return best;
    }
    // Returns how many of the `most` armies that may leave v advance to the conquered territory c.
    int choose_advance(const War<W>& s, int v, int c, int most) {
        const Game<W>& g = rules_.game(s);
        Part here{}, there{};
        for (const Part& part : parts_) {
            bool is_here = g.out[v].meets(part.lands), is_there = g.out[c].meets(part.lands);
            if (!is_here && !is_there) continue;
            double others = 0.0;
            for (Set<W> rest = part.starts; rest.any();)
                if (int u = rest.pop(); u != v && u != c) others += count_useful(rooms_[u]);
            double from_v = is_here ? walk(g, part.lands, v) : FAR, from_c = is_there ? walk(g, part.lands, c) : FAR;
            Part& side = from_c <= from_v ? there : here;
            side.need += std::min(from_v, from_c), side.supply += others, side.variance += part.variance;
        }
        int movable = std::max(rules_.spare(s, v), 0);
        here.supply += movable - rules_.limit_advance(s, movable);  // the armies that may not advance
        if (here.variance == 0.0) return most;
        if (there.variance == 0.0) return 0;
        double has = std::max(rules_.spare(s, c, stay_), 0);
        int best = most;
        double likeliest = -1.0;
        for (int i = 0; i <= STEPS; ++i) {
            int moved = most * i / STEPS;
            double chance = estimate(here.supply + most - moved - here.need, here.variance) *
                            estimate(there.supply + has + moved - there.need, there.variance);
            if (chance >= likeliest) likeliest = chance, best = moved;
        }
        return best;
    }
    // Distributes `new_armies` new armies among the stacks. Each army goes to a stack beside the
    // part that is least likely to be taken. Only territories from s.first on can get armies.
    std::vector<Wish> list_wishes(const War<W>& s, int new_armies) {
        const Game<W>& g = rules_.game(s);
        std::vector<Wish> found;
        Set<W> allowed;
        for (int t = s.first; t < rules_.lands; ++t) allowed.add(t);
        for (Part& part : parts_) found.push_back({find_base(g, part, part.starts & allowed), 0});
        for (int left = found.empty() ? 0 : new_armies; left > 0; --left) {
            size_t poorest = 0;
            double least = 1e300;
            for (size_t i = 0; i < parts_.size(); ++i) {
                const Part& part = parts_[i];
                double excess = (part.supply + found[i].armies - part.need) / std::sqrt(part.variance);
                if (excess < least && found[i].land >= 0) least = excess, poorest = i;
            }
            ++found[poorest].armies;
        }
        std::erase_if(found, [](const Wish& each) { return each.land < 0; });
        return found;
    }

  private:
    // The mean number of attackers lost for each defender destroyed in large battles.
    static constexpr double LOST_FOR_KILLED = 0.85;
    // The number of armies that advance to a dead end in addition to its garrison.
    static constexpr double DEAD_END = 2.0;
    static constexpr double FAR = 1e6;       // the cost of a part that cannot be reached
    static constexpr double UNKNOWN = -1.0;  // the cost of a part that has not been computed
    static constexpr double MIN_VARIANCE = 0.5;
    static constexpr double RESERVE = 1.0;  // armies that are wanted for each part in addition to its mean cost
    // choose_attack ignores the case of a defeat if the chance to win is at least SURE
    static constexpr double SURE = 0.995;
    static constexpr double LACK =
        3.0;                          // the additional cost of a path for each army that the stack at its start lacks
    static constexpr int STEPS = 24;  // choose_advance compares STEPS + 1 numbers of armies
    static constexpr int SHARES = 4;  // the number of portions into which the surplus armies of a stack are divided

    struct Part {
        Set<W> lands, starts;
        double need, supply;  // need: the mean cost of the part; supply: the armies of adjacent stacks for the part
        double variance;      // the variance of the cost of the part
    };

    struct Choice {
        Attack attack;
        size_t part;  // the index of the part that contains the attacked territory
        Odds::Row row;
    };
    struct Target {
        Set<W> lands;  // connected wanted territories
        double need;   // the number of armies needed to take the target
    };

    const WarRules<W>& rules_;
    Set<W> goal_;
    int stay_ = 0;
    std::vector<Target> targets_;
    std::vector<Choice> attacks_;
    // parts_: the parts of the goal; split_, after_: the parts after a conquest
    std::vector<Part> parts_, split_, after_;
    // prices_: the cost of each territory; costs_: the cost of a path to each territory; free_: the armies of each
    // stack that are not yet needed for a target
    std::vector<double> prices_, costs_, free_;
    std::vector<int> rooms_, from_, path_;
    Set<W> bases_;  // the territories from which attacks may begin

    // Computes how many armies may leave each territory of the mover, and the cost of conquering each other territory.
    // During an advance, all armies that may leave the attacking territory also count for the conquered territory.
    void find_rooms(const War<W>& s, const Game<W>& g, int new_armies) {
        bases_ = Set<W>{};
        for (Set<W> rest = s.at.mine - g.resting; rest.any();) {
            int v = rest.pop();
            rooms_[v] = std::max(rules_.spare(s, v, stay_), 0);
            if (rooms_[v] + new_armies > 0) bases_.add(v);
        }
        if (s.phase == IACTA_PHASE_ADVANCE && !g.resting.has(s.pending.start)) {
            rooms_[s.pending.to] =
                rules_.limit_advance(s, rooms_[s.pending.start]) + std::max(rules_.spare(s, s.pending.to, stay_), 0);
            if (rooms_[s.pending.to] > 0) bases_.add(s.pending.to);
        }
        for (Set<W> rest = bases_; rest.any();) {
            int v = rest.pop();
            free_[v] = count_useful(rooms_[v]);
        }
        for (int t = 0; t < rules_.lands; ++t)
            if (int n = s.at.armies[t]; n > 0 && !s.at.mine.has(t))
                prices_[t] = rules_.estimate_losses(t, n) + std::max(stay_, 1);
    }
    // Returns how many armies of a stack to count for a goal. A small stack counts for three quarters, because
    // it is less likely to help.
    static double count_useful(int room) { return room > 3 ? room - 0.5 : 0.75 * room; }
    // Estimates the chance that armies suffice for a part from their excess over its mean cost. The formula
    // approximates the normal distribution.
    static double estimate(double excess, double variance) {
        double z = excess / std::sqrt(variance), y = z * (0.8 + 0.2 * z * z);
        return 0.5 + 0.5 * y / std::sqrt(1.0 + y * y);
    }
    // Returns the approximate variance of the armies that a strong attacker loses in a battle.
    static double find_variance(int defenders) { return 1.9 * defenders - 0.9; }
    // Returns the territories of a set that are connected with t by territories of the set.
    static Set<W> find_part(const Game<W>& g, const Set<W>& lands, int t) {
        Set<W> part = Set<W>::of(t);
        for (Set<W> fresh = part; fresh.any();) {
            int u = fresh.pop();
            Set<W> more = ((g.out[u] | g.into[u]) & lands) - part;
            part |= more;
            fresh |= more;
        }
        return part;
    }
    // Returns the territories of the goal that the mover can reach by attacks on territories of the goal only.
    Set<W> flood(const Game<W>& g) const {
        Set<W> seen, fresh = bases_;
        while (fresh.any()) {
            Set<W> more = (g.out[fresh.pop()] & goal_) - seen;
            seen |= more;
            fresh |= more;
        }
        return seen;
    }
    // Adds the territories on the cheapest path to a target to the goal, unless the stacks next to the target have
    // enough armies. The armies that a stack lacks add to the cost of its paths. The armies needed for this target are
    // no longer free for other targets. new_armies: the new armies that are not needed for other targets.
    void add_way(const War<W>& s, const Game<W>& g, const Target& target, double& new_armies) {
        Set<W> beside;
        for (Set<W> each = target.lands; each.any();) beside |= g.into[each.pop()] & bases_;
        double supply = new_armies;
        for (Set<W> each = beside; each.any();) supply += free_[each.pop()];
        if (beside.any() && supply >= target.need) {
            double need = target.need;
            while (beside.any() && need > 0.0) {
                int largest = beside.first();
                for (Set<W> each = beside; each.any();)
                    if (int v = each.pop(); free_[v] > free_[largest]) largest = v;
                beside.remove(largest);
                double used = std::min(free_[largest], need);
                free_[largest] -= used, need -= used;
            }
            new_armies -= std::max(0.0, need);
            return;
        }
        std::fill(costs_.begin(), costs_.end(), FAR);
        Set<W> open = bases_, done;
        for (Set<W> each = open; each.any();) {
            int t = each.pop();
            double lack = std::max(0.0, target.need - free_[t]);
            costs_[t] = std::min(lack, new_armies) + LACK * std::max(0.0, lack - new_armies), from_[t] = -1;
        }
        while (open.any()) {
            int t = -1;
            for (Set<W> each = open; each.any();) {
                int u = each.pop();
                if (t < 0 || costs_[u] < costs_[t]) t = u;
            }
            open.remove(t);
            done.add(t);
            if (target.lands.has(t)) {
                double need = target.need;
                for (; from_[t] >= 0; t = from_[t])
                    if (!goal_.has(t)) goal_.add(t), need += prices_[t];
                double used = std::min(free_[t], need);
                free_[t] -= used;
                new_armies -= std::min(new_armies, need - used);
                return;
            }
            for (Set<W> near = g.out[t] - s.at.mine - done; near.any();) {
                int c = near.pop();
                if (!s.at.armies[c]) continue;
                double cost = costs_[t] + (goal_.has(c) ? 0.0 : prices_[c]);
                if (cost < costs_[c]) costs_[c] = cost, from_[c] = t, open.add(c);
            }
        }
    }
    Part make_part(const War<W>& s, const Game<W>& g, const Set<W>& lands) const {
        Part part{lands, {}, 0.0, 0.0, MIN_VARIANCE};
        for (Set<W> each = lands; each.any();) {
            int t = each.pop();
            part.starts |= g.into[t] & bases_;
            part.variance += find_variance(s.at.armies[t]);
        }
        return part;
    }
    // Divides the goal into parts, and the armies of each stack among the adjacent parts.
    void find_parts(const War<W>& s, const Game<W>& g) {
        parts_.clear();
        for (Set<W> rest = goal_; rest.any();) {
            Part part = make_part(s, g, find_part(g, goal_, rest.first()));
            rest -= part.lands;
            part.need = UNKNOWN;
            find_need(g, part);
            // During an advance, find_rooms counts the armies of the attacking territory for the conquered territory.
            if (s.phase == IACTA_PHASE_ADVANCE && part.starts.has(s.pending.to)) part.starts.remove(s.pending.start);
            parts_.push_back(part);
        }
        divide(parts_);
    }
    // Divides the armies of each stack among the adjacent parts. Surplus armies go to the parts that are least likely
    // to be taken.
    void divide(std::vector<Part>& parts) const {
        Set<W> used, shared;
        for (Part& part : parts) {
            shared |= used & part.starts;
            used |= part.starts;
            part.supply = 0.0;
        }
        for (Part& part : parts)
            for (Set<W> each = part.starts - shared; each.any();) part.supply += count_useful(rooms_[each.pop()]);
        for (Set<W> each = shared; each.any();) {
            int v = each.pop();
            double left = count_useful(rooms_[v]);
            for (Part& part : parts) {
                if (!part.starts.has(v)) continue;
                double given = std::clamp(part.need - part.supply, 0.0, left);
                part.supply += given, left -= given;
            }
            if (left <= 0.0) continue;
            for (int i = 0; i < SHARES; ++i) {
                Part* poorest = nullptr;
                double least = 0.0;
                for (Part& part : parts) {
                    if (!part.starts.has(v)) continue;
                    double excess = (part.supply - part.need) / std::sqrt(part.variance);
                    if (!poorest || excess < least) least = excess, poorest = &part;
                }
                poorest->supply += left / SHARES;
            }
        }
    }
    // Returns the mean cost of taking all territories of `rest` with a stack on the adjacent territory `at`. The stack
    // goes first to territories with few exits, and returns from dead ends to the last territory with an exit.
    double walk(const Game<W>& g, Set<W> rest, int at) {
        double cost = 0.0;
        bool is_end = false;
        path_.assign(1, at);
        while (rest.any() && !path_.empty()) {
            Set<W> next = g.out[path_.back()] & rest;
            if (!next.any()) {
                if (is_end) cost += DEAD_END, is_end = false;
                path_.pop_back();
                continue;
            }
            int best = -1, fewest = 0;
            while (next.any()) {
                int c = next.pop(), exits = (g.out[c] & rest).count();
                if (best < 0 || exits < fewest) best = c, fewest = exits;
            }
            cost += prices_[best];
            rest.remove(best);
            path_.push_back(best);
            is_end = true;
        }
        while (rest.any()) cost += prices_[rest.pop()];
        return cost;
    }
    // Computes the parts of the goal after the conquest of c, which belongs to part i.
    void split(const War<W>& s, const Game<W>& g, size_t i, int c) {
        split_.clear();
        for (size_t j = 0; j < parts_.size(); ++j)
            if (j != i) split_.push_back(parts_[j]);
        Set<W> rest = parts_[i].lands;
        rest.remove(c);
        for (Set<W> all = rest; rest.any();) {
            split_.push_back(make_part(s, g, find_part(g, all, rest.first())));
            split_.back().need = UNKNOWN;
            rest -= split_.back().lands;
        }
    }
    // Estimates the chance to take all parts after a conquest of c from v, with `left` armies on v and c together.
    double estimate_after(const Game<W>& g, int v, int c, double left) {
        bool has_exit = split_.empty();
        after_.resize(split_.size());
        for (size_t i = 0; i < split_.size(); ++i) {
            Part& part = split_[i];
            bool is_here = g.out[v].meets(part.lands), is_there = g.out[c].meets(part.lands);
            has_exit |= is_there;
            double need = part.need == UNKNOWN && (is_here || is_there) ? FAR : find_need(g, part);
            if (is_there) need = std::min(need, walk(g, part.lands, c));
            if (is_here) need = std::min(need, walk(g, part.lands, v));
            after_[i] = part;
            after_[i].need = need;
            is_here || is_there ? after_[i].starts.add(v) : after_[i].starts.remove(v);
        }
        int room = std::exchange(rooms_[v], std::max(int(has_exit ? left : left - DEAD_END), 0));
        divide(after_);
        rooms_[v] = room;
        return multiply_chances(after_);
    }
    // Returns the mean cost of a part if the best adjacent stack takes it.
    double find_need(const Game<W>& g, Part& part) {
        if (part.need != UNKNOWN) return part.need;
        int base = find_base(g, part, part.starts);
        return part.need = base < 0 ? FAR : walk(g, part.lands, base);
    }
    // Estimates the chance to take all parts without the armies of v, if part i costs `fewer` armies less.
    double estimate_without(int v, size_t i, double fewer) {
        after_ = parts_;
        for (Part& part : after_) part.starts.remove(v);
        after_[i].need -= fewer;
        divide(after_);
        return multiply_chances(after_);
    }
    static double multiply_chances(const std::vector<Part>& parts) {
        double chance = 1.0;
        for (const Part& part : parts) chance *= estimate(part.supply - part.need, part.variance);
        return chance;
    }
    // Returns the territory among `bases`, next to a part, whose armies exceed the cost of its share of the part by the
    // largest number. Returns -1 if there is no such territory.
    int find_base(const Game<W>& g, const Part& part, const Set<W>& bases) {
        int best = -1;
        double least = 1e300;
        bool is_alone = part.starts.count() < 2;
        for (Set<W> rest = bases; rest.any();) {
            int v = rest.pop();
            double cost = walk(g, is_alone ? part.lands : find_rest(g, part, v), v) - rooms_[v];
            if (cost < least) least = cost, best = v;
        }
        return best;
    }
    // Returns the territories of a part that are left for v. The other stacks, the smallest first, take as many
    // territories as they can without separating v from the remaining territories.
    Set<W> find_rest(const Game<W>& g, const Part& part, int v) const {
        Set<W> rest = part.lands;
        Set<W> others = part.starts;
        others.remove(v);
        while (others.any()) {
            int u = others.first();
            for (Set<W> each = others; each.any();)
                if (int other = each.pop(); rooms_[other] < rooms_[u]) u = other;
            others.remove(u);
            double left = rooms_[u];
            for (bool has_taken = left >= 2.0; has_taken && rest.any();) {
                has_taken = false;
                for (Set<W> near = g.out[u] & rest; near.any() && !has_taken;) {
                    int t = near.pop();
                    if (prices_[t] + 0.5 > left) continue;
                    Set<W> fewer = rest;
                    fewer.remove(t);
                    if (!is_reached(g, v, fewer)) continue;
                    rest = fewer, left -= prices_[t], u = t, has_taken = true;
                }
            }
        }
        return rest;
    }
    // Returns whether a stack on v can reach all given territories by attacks on these territories only.
    static bool is_reached(const Game<W>& g, int v, const Set<W>& lands) {
        Set<W> seen, fresh = Set<W>::of(v);
        while (fresh.any()) {
            Set<W> more = (g.out[fresh.pop()] & lands) - seen;
            seen |= more;
            fresh |= more;
        }
        return seen == lands;
    }
};

}  // namespace iacta
