// A policy for positions that are too large for exact search: it compares the rolls that may help by lookahead, usually
// of one step. The value after a roll is estimated by the value of an assignment of targets to stacks (assignment.hpp).
//
// Let H(s) be the expected payment of the assignment in state s. The action value of a roll is
//
//     Q(s, roll) = Σ_z P(z) · (r(z) + H(z)),
//
// where z runs over the results, each with the best advance found, and r is the immediate payment. In every state, even
// in the middle of a battle, the policy chooses the roll with the greatest Q among these rolls; its style decides between
// nearly equal values. After a conquest, the policy chooses the best advance for the assignment of the state before the
// last roll.
//
// The policy depends only on the state, on its style, and on its base, which is the assignment at the start. In each
// state the base is repaired and improved by hill climbing. Two processes with the same base and style therefore make
// the same decisions.
//
// Simulated games estimate the value of the policy. In a game with T rolls, let s_t be the state before roll t, Q_t the
// action value of this roll, r_t its payment, and h_t the value H(s_t) that was used in Q_{t−1}, with h_0 = H(s_0). The
// mean of r_t + h_{t+1} given s_t is Q_t. Therefore
//
//     V(s_0) = h_0 + E (Σ_t (Q_t − h_t) − h_T)
//
// for any numbers h, which serve as control variates. The terms Q_t − h_t are small. Therefore a few games suffice.
#pragma once

#include <bit>
#include <unordered_map>

#include "search/assignment.hpp"
#include "search/flow.hpp"

namespace iacta {

// How to choose between nearly equal attacks: the attack with the greatest value, or an attack by the stack that is
// least likely to take all its targets.
enum class Order {
    value,
    risk
};

// The parameters of the policy. depth: how many rolls to look ahead if values are close. idle: the bonus for each idle
// army, which has no target but is near targets. order: the choice between nearly equal attacks.
struct Style {
    int depth;
    double idle;
    Order order;
};

template <int W>
class Lookahead {
  public:
    Lookahead(const Game<W>& game, int64_t bytes, Deadline& deadline)
        : game_(game), deadline_(deadline), rows_(game, choose_joint(game), bytes, deadline),
          assigner_(game, rows_, deadline), margin_(game.margin_price, count_armies(game)) {
        if (rows_.joint() == Joint::product) {
            for (const auto& set : game.sets) goals_.push_back(set);
            if (game.wins)
                for (const auto& way : game.ways) goals_.push_back({way.lands, 1.0});
            std::stable_sort(goals_.begin(), goals_.end(),
                             [](const auto& a, const auto& b) { return a.lands.count() < b.lands.count(); });
        } else {
            goals_.push_back({game.paying, 1.0});
        }
        base_ = make_empty();
    }

    static constexpr int STEPS_AFTER_RESULT = 8;  // the maximum number of hill-climbing steps after a roll
    static constexpr int STEPS_OF_STATE = 40;     // the maximum number of hill-climbing steps in a new state
    // The maximum number of targets of one stack, if conquests pay separately.
    static constexpr int MAX_PART = 9;
    // Attacks within this fraction of the best value are compared by deeper lookahead.
    static constexpr double DEPTH_MARGIN = 0.05;
    // Style::order decides between attacks within this fraction of the best value.
    static constexpr double ORDER_MARGIN = 0.03;
    static constexpr double EQUAL = 0.0005;      // values that differ by less than this number count as equal
    static constexpr double NOISE = 1e-9;        // smaller differences between values are errors of rounding
    static constexpr double IDLE_BONUS = 0.002;  // the bonus for idle armies while find_base searches

    // Searches for the best assignment at the start by hill climbing from `starts` different assignments, and makes it
    // the base. Returns false if the search is stopped early; the base is then the best assignment so far.
    bool find_base(int starts) {
        const Position<W>& s = game_.start;
        Random random(0);
        std::vector<Parts<W>> parts;
        double best = -1.0;
        style_ = {1, IDLE_BONUS, Order::value};
        try {
            for (int i = 0; i < starts; ++i) {
                if (i > 0) deadline_.spend();
                rows_.make_room();
                parts = make_empty();
                int own = MAX_PART;
                if (rows_.joint() == Joint::product) {
                    if (i > 0) scatter_goals(s, parts, random);
                } else if (i > 0 && size_t(i) <= game_.sets.size()) {
                    scatter(s, game_.sets[i - 1].lands, parts.back(), random);
                    own = std::max(own, (game_.sets[i - 1].lands & game_.unconquered(s)).count() + 3);
                } else if (i > 0) {
                    own = 3 + 4 * (i % 3);
                }
                double value = improve_fully(s, parts, own);
                if (value > best * (1.0 + TIE_FACTOR)) best = value, base_ = parts;
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
    size_t count_goals() const { return goals_.size(); }
    // Sets the base and the style. If the base does not change, cached decisions are kept.
    void follow(std::vector<Parts<W>> base, const Style& style) {
        style_ = style;
        if (base == base_) return;
        base_ = std::move(base);
        forget();
    }

    // Returns H(s), the expected payment of the assignment in a state.
    double value(const Position<W>& s) {
        std::vector<Parts<W>> parts = project_base(s);
        return game_.is_over(s) ? 0.0 : improve_fully(s, parts, MAX_PART);
    }
    // Returns the decision to make a given legal roll, with its action value and its outcomes.
    Decision evaluate_roll(const Position<W>& state, const Roll& roll) {
        Position<W> s = state;
        rows_.make_room();
        std::vector<Parts<W>> parts = find_parts(s);
        Afters known;
        return add_advances(state, evaluate(s, parts, roll, known));
    }
    const Decision& decide(const Position<W>& s) {
        StateKey key = make_style_key(s, style_.depth);
        auto found = decided_.find(key);
        if (found != decided_.end()) return found->second;
        Decision d = add_advances(s, decide_roll(s));
        return decided_[key] = std::move(d);
    }
    // Returns how many armies advance after a conquest of c from v.
    int advance(Position<W> s, int v, int c, int least) {
        s.armies[c] = 1;
        std::vector<Parts<W>> parts = find_parts(s);
        return value_after_conquest(s, parts, v, c, least).moved;
    }
    int advance(Position<W> s, const Roll& roll, int lost) {
        s.armies[roll.start] -= lost;
        return advance(s, roll.start, roll.to, game_.least_advance(roll.to, roll.dice));
    }
    // Returns the decision in a state. Unlike `decide`, it does not compute the exact advances in the outcomes, because
    // this takes time.
    const Decision& decide_roll(const Position<W>& s) { return decide_roll(s, style_.depth); }
    const Decision& decide_roll(const Position<W>& s, int depth) {
        StateKey key = make_style_key(s, depth);
        auto found = known_.find(key);
        if (found != known_.end()) return found->second;
        if (known_.size() > MAX_CACHED || outcomes_ > MAX_OUTCOMES) forget();
        rows_.make_room();
        Decision d = search_decision(s, depth);
        outcomes_ += d.outcomes.size();
        return known_[key] = std::move(d);
    }

  private:
    static constexpr size_t MAX_CACHED = 200'000, MAX_OUTCOMES = 2'000'000;  // the limits of the cache of decisions

    StateKey make_style_key(const Position<W>& s, int depth) const {
        StateKey key = make_key(s);
        key.a ^= hash_number(hash_number(std::bit_cast<uint64_t>(style_.idle)) + uint64_t(depth) * 4 +
                             uint64_t(style_.order));
        return key;
    }
    static int count_armies(const Game<W>& game) {
        int sum = 0;
        for (int armies : game.start.armies) sum += armies;
        return sum;
    }
    static Joint choose_joint(const Game<W>& game) {
        if (game.once) return Joint::any;
        if (game.wins && std::all_of(game.ways.begin(), game.ways.end(), [](auto& way) { return way.lands.any(); }))
            return Joint::product;
        bool alone = game.price == 0.0 && !game.sets.empty();
        for (double pays : game.pays) alone = alone && pays == 0.0;
        std::vector<Set<W>> sets;
        for (const auto& set : game.sets) sets.push_back(set.lands);
        std::sort(sets.begin(), sets.end(), [](auto& a, auto& b) { return a.count() < b.count(); });
        for (size_t i = 1; i < sets.size(); ++i) alone = alone && sets[i - 1].is_within(sets[i]);
        return alone ? Joint::product : Joint::sum;
    }
    std::vector<Parts<W>> make_empty() const { return std::vector<Parts<W>>(goals_.size()); }
    void forget() {
        known_.clear();
        decided_.clear();
        outcomes_ = 0;
    }

    // Makes a random assignment: assigns the targets in random order, each target to a stack that is likely to take it.
    void scatter(const Position<W>& s, const Set<W>& goal, Parts<W>& mine, Random& random) {
        Set<W> left = game_.unconquered(s), taken;
        std::vector<int> targets;
        for (Set<W> rest = goal & left; rest.any();) targets.push_back(rest.pop());
        for (size_t i = targets.size(); i > 1; --i) std::swap(targets[i - 1], targets[random.draw_below(int(i))]);
        for (int t : targets) {
            if (taken.has(t)) continue;
            double best = -1.0;
            int chosen = NOWHERE;
            Set<W> whole;
            for (Set<W> stacks = game_.find_live_stacks(s); stacks.any();) {
                int v = stacks.pop();
                Set<W> part = assigner_.join(s, v, mine[v], t, left - taken);
                if (!part.any()) continue;
                double before = rows_.bound_pooled(s.armies.data(), v, s.armies[v], mine[v]);
                double rank = before > 0.0 ? rows_.bound_pooled(s.armies.data(), v, s.armies[v], part) / before : 0.0;
                rank *= 0.5 + 0.5 * random.draw_uniform();
                if (rank > best) best = rank, chosen = v, whole = part;
            }
            if (chosen == NOWHERE) continue;
            mine.give(chosen, whole);
            taken |= whole;
        }
    }
    // Makes random assignments for all goals: one for each way to win, or one for nested sets.
    void scatter_goals(const Position<W>& s, std::vector<Parts<W>>& parts, Random& random) {
        if (game_.wins) {
            for (size_t j = 0; j < parts.size(); ++j) scatter(s, goals_[j].lands, parts[j], random);
            return;
        }
        scatter(s, goals_.back().lands, parts.back(), random);
        for (size_t j = 0; j + 1 < parts.size(); ++j) parts[j] = parts.back();
    }

    // Adapts an assignment to a state, improves it by hill climbing, and returns its expected payment.
    double improve_fully(const Position<W>& s, std::vector<Parts<W>>& parts, int own) {
        Set<W> all = s.mine;
        return std::max(improve(s, parts, STEPS_OF_STATE, own, [&](size_t) { return all; }), 0.0);
    }

    // Adapts an assignment to a state, and improves it by at most `most` steps of hill climbing. changed(j) returns the
    // stacks whose parts for goal j have changed since the assignment was a local optimum.
    template <class Changed>
    double improve(const Position<W>& s, std::vector<Parts<W>>& parts, int most, int own, Changed changed) {
        Set<W> left = game_.unconquered(s), live = game_.find_live_stacks(s);
        if (rows_.joint() != Joint::product) {
            assigner_.keep_live(s, live, parts[0]);
            return assigner_.grow(s, live, parts[0], own, most, changed(0));
        }
        double total = 0.0;
        for (size_t j = 0; j < goals_.size(); ++j) {
            const auto& goal = goals_[j];
            if (!goal.lands.meets(left) || !goal.lands.is_within(game_.field | s.mine)) continue;
            if (!assigner_.repair(s, live, goal.lands, parts[j])) continue;
            double chance = assigner_.climb(s, live, goal.lands, parts[j], most, changed(j));
            double worth = goal.pays * chance * (1.0 + style_.idle * count_idle(s, live, parts[j], goal.lands));
            // One way to win is enough; the value of the best way is a lower bound on the value of all.
            total = game_.wins ? std::max(total, worth) : total + worth;
        }
        return total;
    }

    // Estimates the armies lost by an assignment in a state; 0 without a margin.
    double estimate_losses(const Position<W>& s, const std::vector<Parts<W>>& parts) {
        if (margin_.is_free() || game_.is_over(s)) return 0.0;
        size_t chosen = parts.size() - 1;
        if (game_.wins) {  // the way to win with the greatest chance
            double top = -1.0;
            for (size_t j = 0; j < parts.size(); ++j) {
                double chance = parts[j].owners().any() ? assigner_.find_chance(s, parts[j]) : 0.0;
                if (chance > top) top = chance, chosen = j;
            }
        } else {  // the largest set that can still be taken
            while (chosen > 0 && !parts[chosen].owners().any()) --chosen;
        }
        return assigner_.estimate_losses(s, parts[chosen]);
    }

    // Returns the weighted number of idle armies, which are near targets but have no target of their own. Armies beside
    // a target have the weight 1. Each further step of distance halves the weight. Without a bonus for idle armies, the
    // policy would never move armies that could help at no cost.
    double count_idle(const Position<W>& s, const Set<W>& live, const Parts<W>& parts, const Set<W>& goal) {
        Set<W> left = game_.unconquered(s), reach = (goal & left) | parts.unite(), idles = live - parts.owners();
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

    // Returns the base without the conquered territories. The remaining territories of a part go to the largest of the
    // stacks that started with the part or have moved into it.
    std::vector<Parts<W>> project_base(const Position<W>& s) const {
        std::vector<Parts<W>> parts = make_empty();
        Set<W> live = game_.find_live_stacks(s), left = game_.unconquered(s);
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
                    parts[j].give(largest, game_.find_reached(largest, rest));
                    rest -= parts[j][largest];
                }
            }
        return parts;
    }

    // Returns the improved assignment of targets to stacks in a state.
    std::vector<Parts<W>> find_parts(const Position<W>& s) {
        std::vector<Parts<W>> parts = project_base(s);
        improve_fully(s, parts, MAX_PART);
        return parts;
    }

    // The evaluation of the state after a result of an attack.
    struct After {
        double value;       // the value of the assignment in the new state
        int moved;          // the number of armies that advance
        double cost = 0.0;  // with a margin, an estimate of the armies lost by the attack and later
    };
    // A cache of the values after the results of attacks in one state. The key is a hash of the changed territories.
    using Afters = std::unordered_map<uint64_t, After>;

    struct Option {
        Decision roll;
        // Whether the target pays or is assigned to the attacking stack, or a result increases the value.
        bool is_useful;
        bool is_assigned;  // whether the target is assigned to the attacking stack
        bool is_begun;     // whether the target has lost armies in this turn
        int armies;        // the armies on the attacking territory
        double place;      // how much the style prefers the attack; only the most preferred attacks are compared
    };
    Decision search_decision(const Position<W>& start, int depth) {
        if (game_.is_over(start)) return {};
        Position<W> s = start;
        std::vector<Parts<W>> parts = project_base(s);
        double now = improve_fully(s, parts, MAX_PART) * (1.0 + TIE_FACTOR);
        std::vector<Option> options;
        Afters known;
        Set<W> left = game_.unconquered(s);
        for (Set<W> stacks = game_.find_live_stacks(s); stacks.any();) {
            int v = stacks.pop();
            const Set<W>& own = parts.back()[v];
            double place = style_.order == Order::risk && own.any() ? 1.0 - assigner_.value(s, v, own) : 0.0;
            for (Set<W> near = game_.out[v] & left; near.any();) {
                int c = near.pop();
                Decision best = find_best_dice(s, parts, v, c, known);
                if (best.is_stop()) continue;
                bool is_assigned = false;
                for (const auto& each : parts) is_assigned = is_assigned || each[v].has(c);
                bool is_begun = s.armies[c] < game_.start.armies[c];
                bool is_useful = is_assigned || game_.paying.has(c);
                for (const Outcome& each : best.outcomes) is_useful = is_useful || each.value > now;
                options.push_back({std::move(best), is_useful, is_assigned, is_begun, s.armies[v], place});
            }
        }
        // Drop useless attacks if there are useful attacks. A useless attack keeps the value of the state, which may
        // look better than the value of a useful attack.
        auto is_useful = [](const Option& each) { return each.is_useful; };
        if (std::any_of(options.begin(), options.end(), is_useful))
            std::erase_if(options, [=](const Option& each) { return !is_useful(each); });
        if (depth > 1) deepen(start, options, depth);
        const Option* best = pick_first(options);
        return best ? best->roll : Decision{};
    }

    // Returns the attack from v on c with the best number of dice, or a stop if no number of dice has a positive value.
    Decision find_best_dice(Position<W>& s, const std::vector<Parts<W>>& parts, int v, int c, Afters& known) {
        Decision best;
        int most = game_.max_dice(s, v, c), two = std::min(2, game_.attack_dice(c));
        int fewest = game_.whole[game_.kind[c]] || game_.least_advance(c, two) < 2 ? most : 1;
        for (int k = most; k >= std::max(fewest, 1); --k) {
            if (!game_.is_allowed(s, v, c, k)) continue;
            Decision found = evaluate(s, parts, {v, c, k}, known);
            if (rank(found) > rank(best) * (1.0 + TIE_FACTOR)) best = std::move(found);
        }
        return best;
    }

    // Returns the rank of a decision: its value less the price of the margin for its losses.
    double rank(const Decision& d) const { return margin_.rank({d.value, d.cost}); }

    // Returns the best attack. Among the attacks that the style prefers, ranks within EQUAL of the highest rank count
    // as equal. Ties are broken in favour of targets that are assigned to the attacking stack, then of a battle that
    // has begun, then of the highest rank, then of the largest stack, and then of the first attack in the order of the
    // board. Without this order, errors of rounding could lead from one battle to another of the same value.
    const Option* pick_first(const std::vector<Option>& options) const {
        constexpr double LOWEST = std::numeric_limits<double>::lowest();
        double limit = LOWEST, place = -1.0, top = LOWEST, equal = margin_.is_free() ? EQUAL : 0.0;
        for (const Option& each : options) {
            Worth worth{each.roll.value, each.roll.cost};
            limit = std::max(limit, worth.value * (1.0 - ORDER_MARGIN) - margin_.charge(worth));
        }
        for (const Option& each : options)
            if (rank(each.roll) >= limit) place = std::max(place, each.place);
        for (const Option& each : options)
            if (rank(each.roll) >= limit && each.place == place) top = std::max(top, rank(each.roll));
        auto is_before = [this](const Option& one, const Option& other) {
            double more = rank(one.roll) - rank(other.roll);
            if (one.is_assigned != other.is_assigned) return one.is_assigned;
            if (one.is_begun != other.is_begun) return one.is_begun;
            return std::abs(more) > NOISE ? more > 0.0 : one.armies > other.armies;
        };
        const Option* first = nullptr;
        for (const Option& each : options) {
            if (rank(each.roll) < std::max(limit, top - equal) || each.place != place) continue;
            if (!first || is_before(each, *first)) first = &each;
        }
        return first;
    }

    // Drops attacks whose values are clearly below the best value, and evaluates the remaining attacks by deeper
    // lookahead.
    void deepen(const Position<W>& s, std::vector<Option>& options, int depth) {
        double best = 0.0;
        for (const Option& each : options) best = std::max(best, each.roll.value);
        std::erase_if(options, [=](const Option& each) { return each.roll.value < best * (1.0 - DEPTH_MARGIN); });
        if (options.size() < 2) return;
        for (Option& option : options) {
            Decision& d = option.roll;
            d.value = d.cost = 0.0;
            for (auto& o : d.outcomes) {
                Position<W> next = s;
                o.value = -game_.price * o.attackers;
                if (o.defenders == s.armies[d.roll.to]) o.value += game_.find_payment(d.roll.to, game_.unconquered(s));
                bool is_taken = o.defenders == s.armies[d.roll.to];
                apply(next, d.roll, o);
                if (is_taken) o.value += game_.find_end_payment(next);
                double lost = o.attackers;
                if (!game_.is_over(next)) {
                    const Decision& then = decide_roll(next, depth - 1);
                    o.value += then.value;
                    lost += then.cost;
                }
                d.value += o.chance * o.value;
                d.cost += o.chance * lost;
            }
        }
    }

    // Returns the decision to make a roll, with its action value and its outcomes.
    Decision evaluate(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll, Afters& known) {
        auto find = [&](int x, int y) -> const After& {
            auto [v, c, k] = roll;
            bool is_taken = y == s.armies[c];
            uint64_t least = is_taken ? 1 + std::min(game_.least_advance(c, k), game_.spare(s, v) - x) : 0;
            uint64_t key = x || is_taken ? hash_number(uint64_t(v) << 32 | x) : 0;
            if (y) key ^= hash_number(hash_number(uint64_t(c) << 32 | y) + least);
            auto [place, is_new] = known.try_emplace(key);
            if (is_new) place->second = value_after(s, parts, roll, x, y);
            return place->second;
        };
        Decision d = make_decision(
            game_, roll, game_.spare(s, roll.start), s.armies[roll.to], [&](int x, int y) { return find(x, y).value; },
            [&](int x, int y) { return find(x, y).moved; });
        if (margin_.is_free()) return d;
        for (const Outcome& each : d.outcomes) d.cost += each.chance * find(each.attackers, each.defenders).cost;
        return d;
    }

    After value_after(Position<W>& s, const std::vector<Parts<W>>& parts, const Roll& roll, int x, int y) {
        auto [v, c, k] = roll;
        int armies = s.armies[v], held = s.armies[c];
        s.armies[v] -= x;
        s.armies[c] -= y;
        After found{-game_.price * x, 0};
        if (y < held) {
            std::vector<Parts<W>> then = parts;
            found.value += improve_after(s, parts, then, v, c);
            found.cost = x + estimate_losses(s, then);
        } else {
            found.value += game_.find_payment(c, game_.unconquered(s));
            After follows = value_after_conquest(s, parts, v, c, game_.least_advance(c, k));
            found = {found.value + follows.value, follows.moved, x + follows.cost};
        }
        s.armies[v] = armies;
        s.armies[c] = held;
        return found;
    }

    // Improves an assignment after an attack of v on c, and returns its value. `before` is the assignment before the
    // attack, a local optimum.
    double improve_after(const Position<W>& s, const std::vector<Parts<W>>& before, std::vector<Parts<W>>& parts, int v,
                         int c) {
        auto changed = [&](size_t j) {
            Set<W> found = Set<W>::of(v) | Set<W>::of(c) | before[j].find_differences(parts[j]);
            for (Set<W> owners = before[j].owners(); owners.any();) {
                int u = owners.pop();
                if (before[j][u].has(c)) found.add(u);
            }
            return found;
        };
        return std::max(improve(s, parts, STEPS_AFTER_RESULT, MAX_PART, changed), 0.0);
    }

    // Returns the best advance after a conquest of c from v, and the value of the assignment after this advance.
    After value_after_conquest(Position<W>& s, const std::vector<Parts<W>>& parts, int v, int c, int least) {
        s.mine.add(c);
        int armies = s.armies[v], held = s.armies[c], b = game_.spare(s, v);
        int most = game_.limit_advance(c, b);
        After best{0.0, most};
        if (!game_.is_over(s)) {
            best.value = -1.0;
            Set<W> left = game_.unconquered(s);
            for (int m : list_advances(s, left, parts, v, c, b, std::min(least, most), most)) {
                std::vector<Parts<W>> then = parts;
                for (auto& each : then) {
                    if (each[v].has(c)) {
                        auto split = rows_.advance(s.armies.data(), left, v, c, each[v] - Set<W>::of(c), b, m, m);
                        each.give(c, split.first);
                        each.give(v, split.second);
                    } else if (m == b) {
                        each.give(c, game_.find_reached(c, each[v]));
                        each.give(v, {});
                    }
                    each.remove(c);
                }
                s.armies[v] = armies - m;
                s.armies[c] = m;
                double value = improve_after(s, parts, then, v, c), cost = estimate_losses(s, then);
                bool is_better = margin_.rank({value, cost}) > margin_.rank({best.value, best.cost});
                if (best.value < 0.0 || is_better) best = {value, m, cost};
            }
            s.armies[v] = armies;
            s.armies[c] = held;
        }
        best.value += game_.find_end_payment(s);
        s.mine.remove(c);
        s.armies[v] = armies;
        s.armies[c] = held;
        return best;
    }

    // Lists the numbers of armies to compare for an advance into c: the best advance for the other targets of v in each
    // assignment with c as a target of v. Without such targets, lists the largest and the smallest advance.
    std::vector<int> list_advances(const Position<W>& s, const Set<W>& left, const std::vector<Parts<W>>& parts, int v,
                                   int c, int b, int least, int most) {
        std::vector<int> found;
        Set<W> only = Set<W>::of(c);
        for (const auto& each : parts)
            if (each[v].has(c) && !(rows_.joint() != Joint::product && each[v] == only))
                found.push_back(rows_.advance(s.armies.data(), left, v, c, each[v] - only, b, least, most).moved);
        if (found.empty()) found = {most, least};
        return found;
    }

    // Sets the number of advancing armies in each outcome of a decision that conquers the target.
    Decision add_advances(const Position<W>& s, Decision d) {
        for (auto* all : {&d.outcomes, &d.others})
            for (Outcome& each : *all)
                if (each.defenders == s.armies[d.roll.to]) each.moved = advance(s, d.roll, each.attackers);
        return d;
    }

    static constexpr double TIE_FACTOR = 1e-6;

    const Game<W>& game_;
    Deadline& deadline_;
    Rows<W> rows_;
    Assigner<W> assigner_;
    Margin margin_;
    std::vector<RewardSet<W>> goals_;  // the sets of territories to take; each set has its own assignment
    std::vector<Parts<W>> base_;
    Style style_{1, IDLE_BONUS, Order::value};
    std::unordered_map<StateKey, Decision, StateKey::Hash> known_, decided_;
    size_t outcomes_ = 0;  // the number of outcomes in all cached decisions
};

}  // namespace iacta
