// A policy for positions that are too large for exact search: one-step lookahead on an assignment.
//
// Let H(s) be what an assignment still pays in a state s. A roll has the action value
//
//     Q(s, roll) = Σ_z P(z) · (r(z) + H(z)),
//
// where z goes over its results, each with the best advance that is found, and r is what they pay
// at once. The policy takes the greatest Q in every state, also in the middle of a battle. After a
// conquest it advances as is best for the assignment of the state in which one last defender was left,
// whatever the dice were.
//
// What it does is a function of the state and of the assignment at the start, the base: in each
// state the base is repaired, and climbs. So a policy is the base and a few numbers, and any
// process that is given them plays the same.
//
// Its value is estimated by games. Along one, let h_t be the H that was used for s_t in the Q of the
// roll before, and h_0 = H(s_0). As the mean of r_t + h_{t+1} given s_t is Q_t,
//
//     V(s_0) = h_0 + E (Σ_t (Q_t − h_t) − h_T),
//
// for any numbers h: they are control variates. The terms are small, so that few games suffice.
#pragma once

#include <unordered_map>

#include "assignment.hpp"
#include "flow.hpp"

namespace iacta {

template <int W>
class Lookahead {
  public:
    Lookahead(const Game<W>& game, int64_t bytes, Deadline& deadline)
        : game_(game), deadline_(deadline), rows_(game, joint_of(game), bytes, deadline),
          assigner_(game, rows_, deadline) {
        if (rows_.joint() == Joint::product) {
            for (const auto& set : game.sets) goals_.push_back(set);
            std::stable_sort(goals_.begin(), goals_.end(), [](const auto& a, const auto& b) {
                return a.lands.count() < b.lands.count();
            });
        } else {
            goals_.push_back({game.paying, 1.0});
        }
        bases_ = {{0.0, nothing()}};
    }

    static constexpr int CLIMB = 8;       // improvements of an assignment after a result
    static constexpr int SETTLE = 40;     // improvements of the assignment of a state
    static constexpr int OWN = 9;         // lands that one stack may have where each conquest pays
    // How many rolls are looked at again, with fewer dice and a climb after each, as far as their
    // values are near to the best one; fewer in the states that are looked at on the way.
    static constexpr int DEEP = 6, DEEP_BELOW = 3;
    static constexpr double NEAR = 0.3, NEAR_BELOW = 0.05;
    static constexpr double CLOSE = 0.05;   // values between which deeper lookahead decides
    static constexpr double GIVEN_UP = 2.0;  // the base, where another assignment is so much better
    static constexpr double ALIKE = 1e-9;   // values of assignments that count as one

    // An assignment at the start, and what it pays.
    struct Base {
        double value;
        std::vector<Parts<W>> parts;
    };

    // Looks for assignments at the start: the different ones that some starts lead to, the best one
    // first. If it is stopped at the first, that stays as far as it has come. Returns whether all
    // starts were tried.
    bool find_bases(int starts) {
        const Position<W>& s = game_.start;
        Random random(0);
        std::vector<Parts<W>> parts = nothing();
        std::vector<Base> found;
        bool done = false;
        forget();
        try {
            for (int i = 0; i < starts; ++i) {
                if (i > 0) deadline_.go_on();
                rows_.make_room();
                parts = nothing();
                int own = OWN;
                if (rows_.joint() == Joint::product) {
                    if (i > 0) scatter(s, goals_.back().lands, parts, random);
                } else if (i > 0 && size_t(i) <= game_.sets.size()) {
                    scatter(s, game_.sets[i - 1].lands, parts, random);
                    own = std::max(own, (game_.sets[i - 1].lands & game_.left(s)).count() + 3);
                } else if (i > 0) {
                    own = 3 + 4 * (i % 3);
                }
                double value = std::max(settled(s, parts, own), 0.0);
                auto place = found.begin();
                while (place != found.end() && place->value > value * (1.0 + ALIKE)) ++place;
                if (place == found.end() || place->value < value * (1.0 - ALIKE))
                    found.insert(place, {value, parts});
            }
            done = true;
        } catch (const Stopped&) {
            if (found.empty()) found.push_back({0.0, std::move(parts)});
        }
        bases_ = std::move(found);
        return done;
    }
    const std::vector<Base>& bases() const { return bases_; }
    size_t goals() const { return goals_.size(); }
    // Takes an assignment that was found before.
    // depth: rolls of lookahead where the values of several are close.
    void set_base(std::vector<Parts<W>> base, int depth) {
        bases_ = {{0.0, std::move(base)}};
        depth_ = depth;
        forget();
    }

    // What the assignment of a state pays.
    double value(const Position<W>& s) {
        std::vector<Parts<W>> parts = projected(s);
        return game_.over(s) ? 0.0 : std::max(settled(s, parts, OWN), 0.0);
    }
    // A legal roll of a state, with its value and its outcomes.
    Decision judge(const Position<W>& state, const Roll& roll) {
        Position<W> s = state;
        rows_.make_room();
        std::vector<Parts<W>> parts = parts_of(s);
        stand(s, parts);
        return with_advances(state, evaluated(s, parts, roll, CLIMB));
    }
    const Decision& decide(const Position<W>& s) {
        StateKey key = key_of(s);
        auto found = decided_.find(key);
        if (found != decided_.end()) return found->second;
        Decision d = with_advances(s, look(s, depth_));
        return decided_[key] = std::move(d);
    }
    // How many armies the policy moves in: the last defender of c has fallen to those of v.
    int advance(Position<W> s, int v, int c, int least) {
        s.armies[c] = 1;
        std::vector<Parts<W>> parts = parts_of(s);
        return after_conquest(s, parts, v, c, least, CLIMB).second;
    }
    int advance(Position<W> s, const Roll& roll, int lost) {
        s.armies[roll.start] -= lost;
        return advance(s, roll.start, roll.to, game_.least(roll.to, roll.dice));
    }
    // What to do, but for the advances.
    const Decision& look(const Position<W>& s) { return look(s, depth_); }
    const Decision& look(const Position<W>& s, int depth) {
        StateKey key = key_of(s);
        key.a ^= mixed(depth);
        auto found = known_.find(key);
        if (found != known_.end()) return found->second;
        if (known_.size() > MOST_KNOWN || outcomes_ > MOST_OUTCOMES) forget();
        rows_.make_room();
        Decision d = decided(s, depth);
        outcomes_ += d.outcomes.size();
        return known_[key] = std::move(d);
    }

  private:
    static constexpr size_t MOST_KNOWN = 200'000, MOST_OUTCOMES = 2'000'000;  // that are kept

    static Joint joint_of(const Game<W>& game) {
        if (game.once) return Joint::any;
        bool alone = game.price == 0.0 && !game.sets.empty();
        for (double pays : game.pays) alone = alone && pays == 0.0;
        std::vector<Set<W>> sets;
        for (const auto& set : game.sets) sets.push_back(set.lands);
        std::sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.count() < b.count(); });
        for (size_t i = 1; i < sets.size(); ++i) alone = alone && sets[i - 1].within(sets[i]);
        return alone ? Joint::product : Joint::sum;
    }
    std::vector<Parts<W>> nothing() const {
        return std::vector<Parts<W>>(goals_.size(), Parts<W>(game_.lands));
    }
    void forget() {
        known_.clear();
        decided_.clear();
        outcomes_ = 0;
    }

    // Gives targets to stacks in a random order, each to one of those that can do with it.
    void scatter(const Position<W>& s, const Set<W>& goal, std::vector<Parts<W>>& parts, Random& random) {
        Set<W> left = game_.left(s), taken;
        std::vector<int> targets;
        for (Set<W> rest = goal & left; rest.any();) targets.push_back(rest.pop());
        for (size_t i = targets.size(); i > 1; --i) std::swap(targets[i - 1], targets[random.below(int(i))]);
        Parts<W>& mine = parts.back();
        for (int t : targets) {
            if (taken.has(t)) continue;
            double best = -1.0;
            int chosen = NOWHERE;
            Set<W> whole;
            for (Set<W> stacks = game_.live_stacks(s); stacks.any();) {
                int v = stacks.pop();
                Set<W> part = assigner_.joined(s, v, mine[v], t, left - taken);
                if (!part.any()) continue;
                double before = rows_.pooled(s.armies.data(), v, s.armies[v], mine[v]);
                double rank = before > 0.0 ? rows_.pooled(s.armies.data(), v, s.armies[v], part) / before : 0.0;
                rank *= 0.5 + 0.5 * random.uniform();
                if (rank > best) best = rank, chosen = v, whole = part;
            }
            if (chosen == NOWHERE) continue;
            mine[chosen] = whole;
            taken |= whole;
        }
        for (size_t j = 0; j + 1 < parts.size(); ++j) parts[j] = mine;
    }

    // What an assignment pays, repaired and improved; it is changed in place.
    double settled(const Position<W>& s, std::vector<Parts<W>>& parts, int own) {
        return worth(s, parts, SETTLE, own);
    }

    // The same with at most so many improvements.
    double worth(const Position<W>& s, std::vector<Parts<W>>& parts, int climb, int own) {
        if (rows_.joint() != Joint::product) {
            assigner_.keep_live(s, parts[0]);
            return climb ? assigner_.grow(s, parts[0], own, climb) : assigner_.gain(s, parts[0]);
        }
        double total = 0.0;
        Set<W> left = game_.left(s);
        for (size_t j = 0; j < goals_.size(); ++j) {
            const auto& goal = goals_[j];
            if (!goal.lands.meets(left) || !goal.lands.within(game_.field | s.mine)) continue;
            if (!assigner_.repair(s, goal.lands, parts[j])) continue;
            double chance = climb ? assigner_.climb(s, goal.lands, parts[j], climb)
                                  : assigner_.chance(s, parts[j]);
            total += goal.pays * chance * (1.0 + game_.help * help(s, parts[j], goal.lands));
        }
        return total;
    }

    // Idle armies: those that are next to what others are to take in full, and half as much one land
    // farther away. Without what they add, those who can help for nothing never begin.
    double help(const Position<W>& s, const Parts<W>& parts, const Set<W>& goal, std::vector<double>* weights = nullptr) {
        Set<W> left = game_.left(s), reach = goal & left, idle, all;
        for (const auto& part : parts) reach |= part;
        for (Set<W> rest = game_.live_stacks(s); rest.any();) {
            int v = rest.pop();
            if (!parts[v].any()) idle.add(v);
        }
        double total = 0.0, weight = 1.0;
        Set<W> edge = reach & left;
        for (int step = 0; step < 4 && idle.any() && edge.any(); ++step) {
            Set<W> from;
            for (Set<W> rest = edge; rest.any();) from |= game_.into[rest.pop()];
            for (Set<W> rest = idle & from; rest.any();) {
                int v = rest.pop();
                total += weight * game_.spare(s, v);
                if (weights) (*weights)[v] = weight;
                idle.remove(v);
            }
            weight *= 0.5;
            Set<W> next = (from & left) - reach;
            reach |= next;
            edge = next;
        }
        return total;
    }

    // The base as far as it applies to a state: what is left of the set of a stack belongs to the
    // largest of the stacks that have come out of it.
    std::vector<Parts<W>> projected(const Position<W>& s) const {
        std::vector<Parts<W>> parts = nothing();
        Set<W> live = game_.live_stacks(s), left = game_.left(s);
        const std::vector<Parts<W>>& base = bases_[0].parts;
        for (size_t j = 0; j < base.size(); ++j)
            for (int v = 0; v < game_.lands; ++v) {
                if (!base[j][v].any()) continue;
                Set<W> mine = base[j][v] & live, rest = base[j][v] & left;
                if (live.has(v)) mine.add(v);
                while (mine.any() && rest.any()) {
                    int largest = NOWHERE;
                    for (Set<W> each = mine; each.any();) {
                        int u = each.pop();
                        if (largest == NOWHERE || game_.spare(s, u) > game_.spare(s, largest)) largest = u;
                    }
                    mine.remove(largest);
                    parts[j][largest] = game_.reached(largest, rest);
                    rest -= parts[j][largest];
                }
            }
        return parts;
    }

    // The assignment of a state.
    std::vector<Parts<W>> parts_of(const Position<W>& s) {
        std::vector<Parts<W>> parts = projected(s);
        double value = settled(s, parts, OWN);
        std::vector<Parts<W>> other = nothing();
        return settled(s, other, OWN) > GIVEN_UP * value ? other : parts;
    }

    Decision decided(const Position<W>& start, int depth) {
        Decision best;
        if (game_.over(start)) return best;
        Position<W> s = start;
        std::vector<Parts<W>> parts = parts_of(s);
        stand(s, parts);
        struct Option {
            Roll roll;
            double value;
        };
        std::vector<Option> options;
        Set<W> left = game_.left(s);
        for (Set<W> stacks = game_.live_stacks(s); stacks.any();) {
            int v = stacks.pop();
            for (Set<W> near = game_.out[v] & left; near.any();) {
                int c = near.pop(), k = game_.most_dice_of(s, v, c);
                if (!k) continue;
                Roll roll{v, c, k};
                double q = evaluated(s, parts, roll, 0).value;
                // Of equally good battles the one that is begun goes on; those of the assignment come
                // next, and then those of large stacks, which can be of more help.
                if (s.armies[c] < game_.start.armies[c]) q *= 1.0 + TIE;
                bool assigned = false;
                for (const auto& each : parts) assigned = assigned || each[v].has(c);
                if (!assigned) q *= 1.0 - TIE * (1.0 + 1.0 / s.armies[v]);
                options.push_back({roll, q});
            }
        }
        std::stable_sort(options.begin(), options.end(),
                         [](const Option& a, const Option& b) { return a.value > b.value; });
        std::vector<Decision> found_all;
        bool is_top = depth == depth_;
        int deep = is_top ? DEEP : DEEP_BELOW;
        double wide = is_top ? NEAR : NEAR_BELOW;
        for (size_t i = 0; i < options.size() && int(i) < deep; ++i) {
            Decision top;
            if (options[i].value < options[0].value * (1.0 - wide)) break;
            Roll roll = options[i].roll;
            int two = std::min(2, game_.attack_dice(roll.to));
            int fewest = game_.whole[game_.kind[roll.to]] || game_.least(roll.to, two) < 2 ? roll.dice : 1;
            for (; roll.dice >= fewest; --roll.dice) {
                if (!game_.allowed(s, roll.start, roll.to, roll.dice)) continue;
                Decision found = evaluated(s, parts, roll, CLIMB);
                if (found.value > top.value * (1.0 + TIE)) top = found;
            }
            if (!top.stops()) found_all.push_back(top);
            if (top.value > best.value * (1.0 + TIE)) best = top;
        }
        if (depth > 1) {
            int near = 0;
            for (auto& each : found_all) near += each.value >= best.value * (1.0 - CLOSE);
            if (near > 1) {
                Decision deeper;
                double limit = best.value * (1.0 - CLOSE);
                for (auto& each : found_all) {
                    if (each.value < limit) continue;
                    double q = 0.0;
                    for (auto& o : each.outcomes) {
                        Position<W> next = start;
                        double paid = -game_.price * o.attackers;
                        if (o.defenders == start.armies[each.roll.to]) paid += game_.paid(each.roll.to, left);
                        apply(next, each.roll, o);
                        o.value = paid + (game_.over(next) ? 0.0 : look(next, depth - 1).value);
                        q += o.chance * o.value;
                    }
                    each.value = q;
                    if (q > deeper.value * (1.0 + TIE)) deeper = each;
                }
                return deeper;
            }
        }
        return best;
    }

    // What an assignment pays now, so that what it pays after a roll is found quickly.
    struct Holder {
        int v;
        Set<W> part;
        const double* row;
        double value;
    };
    struct Share {
        double pays;
        std::vector<Holder> holders;
        std::vector<double> idle;
        double idle_total;
    };
    void stand(const Position<W>& s, const std::vector<Parts<W>>& parts) {
        standing_.clear();
        if (rows_.joint() != Joint::product) return;
        Set<W> left = game_.left(s);
        for (size_t j = 0; j < goals_.size(); ++j) {
            if (!goals_[j].lands.meets(left) || !covers(parts[j], goals_[j].lands & left)) continue;
            Share share{goals_[j].pays, {}, std::vector<double>(game_.lands, 0.0), 0.0};
            for (int v = 0; v < game_.lands; ++v)
                if (parts[j][v].any()) {
                    const double* row = rows_.alone(s.armies.data(), v, parts[j][v]);
                    share.holders.push_back({v, parts[j][v], row, row[s.armies[v]]});
                }
            share.idle_total = help(s, parts[j], goals_[j].lands, &share.idle);
            standing_.push_back(std::move(share));
        }
    }

    // A roll with its action value and its outcomes.
    Decision evaluated(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll, int climb) {
        struct Known {
            int x, y, moved;
            double value;
        };
        std::vector<Known> known;
        auto find = [&](int x, int y) -> const Known& {
            for (const auto& each : known)
                if (each.x == x && each.y == y) return each;
            auto [value, moved] = after(s, parts, roll, x, y, climb);
            known.push_back({x, y, moved, value});
            return known.back();
        };
        return decision_of(
            game_, roll, game_.spare(s, roll.start), s.armies[roll.to],
            [&](int x, int y) { return find(x, y).value; },
            [&](int x, int y) { return find(x, y).moved; });
    }

    // What a result pays with what the assignment pays after it, and how many move in.
    std::pair<double, int> after(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll,
                                 int x, int y, int climb) {
        auto [v, c, k] = roll;
        int armies = s.armies[v], held = s.armies[c];
        s.armies[v] -= x;
        s.armies[c] -= y;
        double paid = -game_.price * x;
        int moved = 0;
        if (y < held) {
            if (!climb && rows_.joint() == Joint::product && game_.live(s, v)) {
                for (const auto& share : standing_) {
                    double chance = share.pays;
                    for (const auto& holder : share.holders) {
                        double value = holder.value;
                        if (y && holder.part.has(c))
                            value = rows_.alone(s.armies.data(), holder.v, holder.part)[s.armies[holder.v]];
                        else if (holder.v == v)
                            value = holder.row[s.armies[v]];
                        chance *= value;
                    }
                    paid += chance * (1.0 + game_.help * (share.idle_total - share.idle[v] * x));
                }
            } else {
                std::vector<Parts<W>> then = parts;
                paid += worth(s, then, climb, OWN);
            }
        } else {
            paid += game_.paid(c, game_.left(s));
            double follows;
            std::tie(follows, moved) = after_conquest(s, parts, v, c, game_.least(c, k), climb);
            paid += follows;
        }
        s.armies[v] = armies;
        s.armies[c] = held;
        return {paid, moved};
    }

    // What the assignment pays after the best advance that is found, and that advance.
    std::pair<double, int> after_conquest(Position<W>& s, const std::vector<Parts<W>>& parts, int v, int c,
                                          int least, int climb) {
        s.mine.add(c);
        int armies = s.armies[v], held = s.armies[c], b = game_.spare(s, v), moved = b;
        double best = 0.0;
        if (!game_.over(s)) {
            best = -1.0;
            Set<W> left = game_.left(s);
            for (int m : advances(s, left, parts, v, c, b, std::min(least, b))) {
                std::vector<Parts<W>> then = parts;
                for (auto& each : then) {
                    if (each[v].has(c)) {
                        auto split = rows_.advance(s.armies.data(), left, v, c, each[v] - Set<W>::of(c), b, m, m);
                        each[c] = split.first;
                        each[v] = split.second;
                    } else if (rows_.joint() != Joint::product && m == b) {
                        each[c] = game_.reached(c, each[v]);
                        each[v] = {};
                    }
                    for (auto& part : each) part.remove(c);
                }
                s.armies[v] = armies - m;
                s.armies[c] = m;
                double value = worth(s, then, climb, OWN);
                if (value > best) best = value, moved = m;
            }
        }
        s.mine.remove(c);
        s.armies[v] = armies;
        s.armies[c] = held;
        return {best, moved};
    }

    // The advances into c that are looked at: the best ones for what is assigned to v, or all and few.
    std::vector<int> advances(const Position<W>& s, const Set<W>& left, const std::vector<Parts<W>>& parts, int v,
                              int c, int b, int least) {
        std::vector<int> found;
        Set<W> only = Set<W>::of(c);
        for (const auto& each : parts)
            if (each[v].has(c) && !(rows_.joint() != Joint::product && each[v] == only))
                found.push_back(rows_.advance(s.armies.data(), left, v, c, each[v] - only, b, least, b).moved);
        if (found.empty()) found = {b, least};
        return found;
    }

    // The same decision with the advances that the policy makes.
    Decision with_advances(const Position<W>& s, Decision d) {
        for (auto* all : {&d.outcomes, &d.others})
            for (Outcome& each : *all)
                if (each.defenders == s.armies[d.roll.to]) each.moved = advance(s, d.roll, each.attackers);
        return d;
    }

    static bool covers(const Parts<W>& parts, const Set<W>& goal) {
        Set<W> all;
        for (const auto& part : parts) all |= part;
        return goal.within(all);
    }

    static constexpr double TIE = 1e-6;

    const Game<W>& game_;
    int depth_ = 1;
    Deadline& deadline_;
    Rows<W> rows_;
    Assigner<W> assigner_;
    std::vector<RewardSet<W>> goals_;  // of each an assignment of its own
    std::vector<Base> bases_;  // the first is followed
    std::vector<Share> standing_;
    std::unordered_map<StateKey, Decision, StateKey::Hash> known_, decided_;
    size_t outcomes_ = 0;  // of all decisions that are known
};

}  // namespace iacta
