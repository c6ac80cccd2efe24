// A policy for positions that are too large for exact search: one-step lookahead on an assignment.
//
// Let H(s) be what an assignment still pays in a state s. A roll has the action value
//
//     Q(s, roll) = Σ_z P(z) · (r(z) + H(z)),
//
// where z goes over its results, each with the best advance that is found, and r is what they pay
// at once. The policy takes the greatest Q in every state, also in the middle of a battle, or of those
// that are nearly as great the one that its style puts first. After a conquest it advances as is best
// for the assignment of the state in which one last defender was left, whatever the dice were.
//
// What it does is a function of the state, of its style, and of the assignment at the start, the
// base: in each state the base is repaired, and climbs. So a policy is the base and a few numbers,
// and any process that is given them plays the same.
//
// Its value is estimated by games. Along one, let h_t be the H that was used for s_t in the Q of the
// roll before, and h_0 = H(s_0). As the mean of r_t + h_{t+1} given s_t is Q_t,
//
//     V(s_0) = h_0 + E (Σ_t (Q_t − h_t) − h_T),
//
// for any numbers h: they are control variates. The terms are small, so that few games suffice.
#pragma once

#include <bit>
#include <tuple>
#include <unordered_map>

#include "search/assignment.hpp"
#include "search/flow.hpp"

namespace iacta {

// Which of nearly equal attacks comes first: the one of the greatest value, or of the stack that is
// least likely to take all that it is to take.
enum class Order {
    value,
    risk
};

// How a lookahead policy looks: rolls ahead where the values of several are close, the price of an
// army that stays idle though it could help, and the order among equals.
struct Style {
    int depth;
    double idle;
    Order order;
};

template <int W>
class Lookahead {
  public:
    Lookahead(const Game<W>& game, int64_t bytes, Deadline& deadline)
        : game_(game), deadline_(deadline), rows_(game, joint_of(game), bytes, deadline),
          assigner_(game, rows_, deadline) {
        if (rows_.joint() == Joint::product) {
            for (const auto& set : game.sets) goals_.push_back(set);
            std::stable_sort(goals_.begin(), goals_.end(),
                             [](const auto& a, const auto& b) { return a.lands.count() < b.lands.count(); });
        } else {
            goals_.push_back({game.paying, 1.0});
        }
        base_ = nothing();
    }

    static constexpr int CLIMB = 8;          // improvements of an assignment after a result
    static constexpr int SETTLE = 40;        // improvements of the assignment of a state
    static constexpr int OWN = 9;            // lands that one stack may have where each conquest pays
    static constexpr double CLOSE = 0.05;    // values between which deeper lookahead decides
    static constexpr double NEARLY = 0.03;   // values between which the order of the style decides
    static constexpr double EQUAL = 0.0005;  // difference of values that count as equal
    static constexpr double IDLE = 0.002;    // the price of idle armies while a base is looked for

    // Looks for the best assignment at the start, of those that some starts lead to, and takes it. If it
    // is stopped at the first, that stays as far as it has come. Returns whether all starts were tried.
    bool find_base(int starts) {
        const Position<W>& s = game_.start;
        Random random(0);
        std::vector<Parts<W>> parts;
        double best = -1.0;
        style_ = {1, IDLE, Order::value};
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
                double value = settled(s, parts, own);
                if (value > best * (1.0 + TIE)) best = value, base_ = parts;
            }
            forget();
            return true;
        } catch (const Stopped&) {
            if (best < 0.0) base_ = std::move(parts);
            forget();
            return false;
        }
    }
    const std::vector<Parts<W>>& base() const { return base_; }
    size_t goals() const { return goals_.size(); }
    // Takes an assignment that was found before, and a style. What is known of other styles stays.
    void follow(std::vector<Parts<W>> base, const Style& style) {
        style_ = style;
        if (base == base_) return;
        base_ = std::move(base);
        forget();
    }

    // What the assignment of a state pays.
    double value(const Position<W>& s) {
        std::vector<Parts<W>> parts = projected(s);
        return game_.over(s) ? 0.0 : settled(s, parts, OWN);
    }
    // A legal roll of a state, with its value and its outcomes.
    Decision judge(const Position<W>& state, const Roll& roll) {
        Position<W> s = state;
        rows_.make_room();
        std::vector<Parts<W>> parts = parts_of(s);
        Afters known;
        return with_advances(state, evaluated(s, parts, roll, known));
    }
    const Decision& decide(const Position<W>& s) {
        StateKey key = key_at(s, style_.depth);
        auto found = decided_.find(key);
        if (found != decided_.end()) return found->second;
        Decision d = with_advances(s, look(s));
        return decided_[key] = std::move(d);
    }
    // How many armies the policy moves in: the last defender of c has fallen to those of v.
    int advance(Position<W> s, int v, int c, int least) {
        s.armies[c] = 1;
        std::vector<Parts<W>> parts = parts_of(s);
        return after_conquest(s, parts, v, c, least).moved;
    }
    int advance(Position<W> s, const Roll& roll, int lost) {
        s.armies[roll.start] -= lost;
        return advance(s, roll.start, roll.to, game_.least(roll.to, roll.dice));
    }
    // What to do, but for the advances.
    const Decision& look(const Position<W>& s) { return look(s, style_.depth); }
    const Decision& look(const Position<W>& s, int depth) {
        StateKey key = key_at(s, depth);
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

    StateKey key_at(const Position<W>& s, int depth) const {
        StateKey key = key_of(s);
        key.a ^= mixed(mixed(std::bit_cast<uint64_t>(style_.idle)) + uint64_t(depth) * 4 + uint64_t(style_.order));
        return key;
    }
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
    std::vector<Parts<W>> nothing() const { return std::vector<Parts<W>>(goals_.size()); }
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
            mine.give(chosen, whole);
            taken |= whole;
        }
        for (size_t j = 0; j + 1 < parts.size(); ++j) parts[j] = mine;
    }

    // What an assignment pays, repaired and improved; it is changed in place.
    double settled(const Position<W>& s, std::vector<Parts<W>>& parts, int own) {
        Set<W> all = s.mine;
        return std::max(improved(s, parts, SETTLE, own, [&](size_t) { return all; }), 0.0);
    }

    // The same with at most so many improvements. `changed(j)` says which stacks or sets for the goal j
    // have changed since it could not be improved.
    template <class Changed>
    double improved(const Position<W>& s, std::vector<Parts<W>>& parts, int most, int own, Changed changed) {
        Set<W> left = game_.left(s), live = game_.live_stacks(s);
        if (rows_.joint() != Joint::product) {
            assigner_.keep_live(s, live, parts[0]);
            return assigner_.grow(s, live, parts[0], own, most, changed(0));
        }
        double total = 0.0;
        for (size_t j = 0; j < goals_.size(); ++j) {
            const auto& goal = goals_[j];
            if (!goal.lands.meets(left) || !goal.lands.within(game_.field | s.mine)) continue;
            if (!assigner_.repair(s, live, goal.lands, parts[j])) continue;
            double chance = assigner_.climb(s, live, goal.lands, parts[j], most, changed(j));
            total += goal.pays * chance * (1.0 + style_.idle * idle(s, live, parts[j], goal.lands));
        }
        return total;
    }

    // Idle armies: those that are next to what others are to take in full, and half as much one land
    // farther away. Without what they add, those who can help for nothing never begin.
    double idle(const Position<W>& s, const Set<W>& live, const Parts<W>& parts, const Set<W>& goal) {
        Set<W> left = game_.left(s), reach = (goal & left) | parts.all(), idles = live - parts.owners();
        double total = 0.0, weight = 1.0;
        Set<W> edge = reach & left;
        for (int step = 0; step < 4 && idles.any() && edge.any(); ++step) {
            Set<W> from;
            for (Set<W> rest = edge; rest.any();) from |= game_.into[rest.pop()];
            for (Set<W> rest = idles & from; rest.any();) {
                int v = rest.pop();
                total += weight * game_.spare(s, v);
                idles.remove(v);
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
        for (size_t j = 0; j < base_.size(); ++j)
            for (Set<W> owners = base_[j].owners(); owners.any();) {
                int v = owners.pop();
                Set<W> mine = base_[j][v] & live, rest = base_[j][v] & left;
                if (live.has(v)) mine.add(v);
                while (mine.any() && rest.any()) {
                    int largest = NOWHERE;
                    for (Set<W> each = mine; each.any();) {
                        int u = each.pop();
                        if (largest == NOWHERE || game_.spare(s, u) > game_.spare(s, largest)) largest = u;
                    }
                    mine.remove(largest);
                    parts[j].give(largest, game_.reached(largest, rest));
                    rest -= parts[j][largest];
                }
            }
        return parts;
    }

    // The assignment of a state.
    std::vector<Parts<W>> parts_of(const Position<W>& s) {
        std::vector<Parts<W>> parts = projected(s);
        settled(s, parts, OWN);
        return parts;
    }

    // What a result pays with what the assignment pays after it, and how many move in.
    struct After {
        double value;
        int moved;
    };
    // What is known of a state, by the lands that a result changes.
    using Afters = std::unordered_map<uint64_t, After>;

    struct Option {
        Decision roll;
        bool is_assigned;  // the attacked land belongs to the part of the stack
        bool is_begun;     // the battle has begun
        int armies;        // on the attacking land
        double place;      // in the order of the style, the greatest first
    };
    Decision decided(const Position<W>& start, int depth) {
        if (game_.over(start)) return {};
        Position<W> s = start;
        std::vector<Parts<W>> parts = parts_of(s);
        std::vector<Option> options;
        Afters known;
        Set<W> left = game_.left(s);
        for (Set<W> stacks = game_.live_stacks(s); stacks.any();) {
            int v = stacks.pop();
            const Set<W>& own = parts.back()[v];
            double place = style_.order == Order::risk && own.any() ? 1.0 - assigner_.value(s, v, own) : 0.0;
            for (Set<W> near = game_.out[v] & left; near.any();) {
                int c = near.pop();
                Decision best = best_over(s, parts, v, c, known);
                if (best.stops()) continue;
                bool is_assigned = false;
                for (const auto& each : parts) is_assigned = is_assigned || each[v].has(c);
                bool is_begun = s.armies[c] < game_.start.armies[c];
                options.push_back({std::move(best), is_assigned, is_begun, s.armies[v], place});
            }
        }
        if (depth > 1) deepen(start, options, depth);
        const Option* best = first_of(options);
        return best ? best->roll : Decision{};
    }

    // The best number of dice over a border; a stop where nothing is gained there.
    Decision best_over(Position<W>& s, const std::vector<Parts<W>>& parts, int v, int c, Afters& known) {
        Decision best;
        int most = game_.most_dice_of(s, v, c), two = std::min(2, game_.attack_dice(c));
        int fewest = game_.whole[game_.kind[c]] || game_.least(c, two) < 2 ? most : 1;
        for (int k = most; k >= std::max(fewest, 1); --k) {
            if (!game_.allowed(s, v, c, k)) continue;
            Decision found = evaluated(s, parts, {v, c, k}, known);
            if (found.value > best.value * (1.0 + TIE)) best = std::move(found);
        }
        return best;
    }

    // The attack to make: of the attacks that the order of the style puts first, those within EQUAL of
    // the greatest value; of these an attack of the assignment, which costs only armies that it costs
    // anyway, then a battle that has begun, then the greatest value, then the largest stack.
    static const Option* first_of(const std::vector<Option>& options) {
        double limit = 0.0, place = -1.0, top = 0.0;
        for (const Option& each : options) limit = std::max(limit, each.roll.value * (1.0 - NEARLY));
        for (const Option& each : options)
            if (each.roll.value >= limit) place = std::max(place, each.place);
        for (const Option& each : options)
            if (each.roll.value >= limit && each.place == place) top = std::max(top, each.roll.value);
        const Option* first = nullptr;
        for (const Option& each : options) {
            if (each.roll.value < std::max(limit, top - EQUAL) || each.place != place) continue;
            auto rank = [](const Option& it) {
                return std::tuple(it.is_assigned, it.is_begun, it.roll.value, it.armies);
            };
            if (!first || rank(each) > rank(*first)) first = &each;
        }
        return first;
    }

    // Leaves only the attacks of close values, if there are several, each with the value of what is
    // done after it.
    void deepen(const Position<W>& s, std::vector<Option>& options, int depth) {
        double best = 0.0;
        for (const Option& each : options) best = std::max(best, each.roll.value);
        std::erase_if(options, [=](const Option& each) { return each.roll.value < best * (1.0 - CLOSE); });
        if (options.size() < 2) return;
        for (Option& option : options) {
            Decision& d = option.roll;
            d.value = 0.0;
            for (auto& o : d.outcomes) {
                Position<W> next = s;
                o.value = -game_.price * o.attackers;
                if (o.defenders == s.armies[d.roll.to]) o.value += game_.paid(d.roll.to, game_.left(s));
                apply(next, d.roll, o);
                if (!game_.over(next)) o.value += look(next, depth - 1).value;
                d.value += o.chance * o.value;
            }
        }
    }

    // A roll with its action value and its outcomes.
    Decision evaluated(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll, Afters& known) {
        auto find = [&](int x, int y) -> const After& {
            auto [v, c, k] = roll;
            bool is_taken = y == s.armies[c];
            uint64_t least = is_taken ? 1 + std::min(game_.least(c, k), game_.spare(s, v) - x) : 0;
            uint64_t key = x || is_taken ? mixed(uint64_t(v) << 32 | x) : 0;
            if (y) key ^= mixed(mixed(uint64_t(c) << 32 | y) + least);
            auto [place, is_new] = known.try_emplace(key);
            if (is_new) place->second = after(s, parts, roll, x, y);
            return place->second;
        };
        return decision_of(
            game_, roll, game_.spare(s, roll.start), s.armies[roll.to], [&](int x, int y) { return find(x, y).value; },
            [&](int x, int y) { return find(x, y).moved; });
    }

    After after(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll, int x, int y) {
        auto [v, c, k] = roll;
        int armies = s.armies[v], held = s.armies[c];
        s.armies[v] -= x;
        s.armies[c] -= y;
        After found{-game_.price * x, 0};
        if (y < held) {
            std::vector<Parts<W>> then = parts;
            found.value += improved_after(s, parts, then, v, c);
        } else {
            found.value += game_.paid(c, game_.left(s));
            After follows = after_conquest(s, parts, v, c, game_.least(c, k));
            found = {found.value + follows.value, follows.moved};
        }
        s.armies[v] = armies;
        s.armies[c] = held;
        return found;
    }

    // What the assignment pays after a roll of v at c, where `before` could not be improved before it.
    double improved_after(const Position<W>& s, const std::vector<Parts<W>>& before, std::vector<Parts<W>>& parts,
                          int v, int c) {
        auto changed = [&](size_t j) {
            Set<W> found = Set<W>::of(v) | Set<W>::of(c) | before[j].differing(parts[j]);
            for (Set<W> owners = before[j].owners(); owners.any();) {
                int u = owners.pop();
                if (before[j][u].has(c)) found.add(u);
            }
            return found;
        };
        return std::max(improved(s, parts, CLIMB, OWN, changed), 0.0);
    }

    // What the assignment pays after the best advance that is found, and that advance.
    After after_conquest(Position<W>& s, const std::vector<Parts<W>>& parts, int v, int c, int least) {
        s.mine.add(c);
        int armies = s.armies[v], held = s.armies[c], b = game_.spare(s, v);
        After best{0.0, b};
        if (!game_.over(s)) {
            best.value = -1.0;
            Set<W> left = game_.left(s);
            for (int m : advances(s, left, parts, v, c, b, std::min(least, b))) {
                std::vector<Parts<W>> then = parts;
                for (auto& each : then) {
                    if (each[v].has(c)) {
                        auto split = rows_.advance(s.armies.data(), left, v, c, each[v] - Set<W>::of(c), b, m, m);
                        each.give(c, split.first);
                        each.give(v, split.second);
                    } else if (m == b) {
                        each.give(c, game_.reached(c, each[v]));
                        each.give(v, {});
                    }
                    each.remove(c);
                }
                s.armies[v] = armies - m;
                s.armies[c] = m;
                double value = improved_after(s, parts, then, v, c);
                if (value > best.value) best = {value, m};
            }
        }
        s.mine.remove(c);
        s.armies[v] = armies;
        s.armies[c] = held;
        return best;
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

    static constexpr double TIE = 1e-6;

    const Game<W>& game_;
    Deadline& deadline_;
    Rows<W> rows_;
    Assigner<W> assigner_;
    std::vector<RewardSet<W>> goals_;  // of each an assignment of its own
    std::vector<Parts<W>> base_;
    Style style_{1, IDLE, Order::value};
    std::unordered_map<StateKey, Decision, StateKey::Hash> known_, decided_;
    size_t outcomes_ = 0;  // of all decisions that are known
};

}  // namespace iacta
