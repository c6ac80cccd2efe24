// Upper bounds on the value of all policies for a turn. The difference between the bound and the value of a plan limits
// how much better any other plan can be. On large boards there is no other way to prove such a limit.
//
// The expected payment for a set of territories is the amount times the chance to take the set. Therefore upper bounds
// on chances suffice for all goals. If T is a subset of S, then P(S taken) ≤ P(T taken), and each upper bound for T is
// an upper bound for S. A goal with several sets and single territories gets a bound for each set and each territory.
// If the first payment ends the turn (`once`), the chance to take *any* territory matters. Subsets do not bound that
// chance and are not used.
//
// A relaxed game is a simpler game in which the player can do at least as well as in the true game. It has few states,
// and its value can be computed exactly. It combines stacks to groups and territories to items:
//   Groups: the stacks of a group share one budget of armies and attack from any territory of the group. A conquest
//   reduces the budget by the garrison that must remain, or by the whole advance if no attack from there is left.
//   Items: an item is a set of territories of the goal, or an extra territory. The state contains the defenders of
//   these territories, and which groups own territories of each item. All territories of an item are treated as
//   connected.
//   Light territories: all other territories. The state contains only n_i, the number of light territories that group
//   i has taken, and D, the number of defenders destroyed on light territories, without the last defender of each. A
//   light territory may be attacked at any time, with any number of defenders.
//
// Group i needs light territories to connect its starts with a set Q of items. Let N_i(Q) be their minimum number,
// E_i(Q) the minimum sum of their defenders minus one each, and K_i(Q) the minimum sum of their defenders. These minima
// are node-weighted Steiner trees (Dreyfus & Wagner 1971). If group i owns territories of the items Q_i, it may attack
// c only if
//
//     n_i ≥ N_i(Q_i + c),   D ≥ E_i(Q_i + c) + Σ_{j≠i} E_j(Q_j),   n_i + D − Σ_{j≠i} E_j(Q_j) ≥ K_i(Q_i + c).
//
// Each roll of the true game is a legal roll of the relaxed game, because the light territories that a group has taken
// connect its territories. The results of the roll correspond to results that are at least as good, because values do
// not decrease if a budget or a count increases. By induction, the relaxed value is at least the true value. A count
// may have a cap, which then stands for all larger numbers.
//   Away stacks: stacks that would lose all their armies before they reach an item. They take no items, and light
//   territories within their reach are treated as if they had one defender.
//   Tolls: let T_i(Q) be the minimum of N_i over all non-empty sets of items that contain Q. A group that owns Q_i has
//   taken at least max(n_i, T_i(Q_i)) light territories, and its budget pays for them. When it attacks c, its
//   territories are connected with c. Therefore it pays T_i(Q_i + c) before the attack. Once n_i is at its cap, further
//   light territories are free. With caps of 0, light territories are not counted and there are few states. Then a
//   group without items attacks only items, and may pay T_i(∅) at the start.
//   Losses on the way: with caps of 0, a stack that must take m territories before it borders an item attacks each of
//   them, against at least one defender. Let Z be the sum of m independent losses with the distribution F_1 of `Purse`.
//   Consider the mean over Z of the value with the budget reduced by the rest of Z. Until the stack attacks an item,
//   its own rolls do not increase this mean: the chance of a loss of at most u is at most F_1(u), and values do not
//   decrease if a budget increases. Rolls of another stack do not increase the mean either, because they are rolls of
//   the relaxed game for each Z. Therefore the mean over the losses of all stacks is an upper bound.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "game.hpp"

namespace iacta {

constexpr int UNREACHABLE = 1 << 28;    // larger than any number of light territories or defenders
constexpr int64_t WORK_PER_LAND = 100;  // the work of a search for paths, for each territory of the board

// A result of a roll: its chance, the losses of both sides, and the required advance after a conquest.
struct Cost {
    double chance;
    int attackers, defenders, advance;
};

// A throw of the dice: its chance, and the results of each possible answer of the defender.
struct Toss {
    double chance;
    std::vector<std::vector<Cost>> answers;
};

// A roll, with the results of all its throws. It is legal for stacks with `from` to `to` - 1 armies, not counting
// armies that must stay.
struct Choice {
    int from, to;
    std::vector<Toss> tosses;
};

// The rolls against a fixed number of defenders. `choices` contains all rolls. `plain` contains the rolls that optimal
// play can need if the number of advancing armies does not matter; it is empty if these are all rolls.
struct Row {
    std::vector<Choice> choices, plain;
};

// Tables of all rolls in a game, by kind of rules and number of defenders.
template <int W>
class Rolls {
  public:
    Rolls(const Game<W>& game, Deadline& deadline)
        : game_(game), deadline_(deadline), rows_(game.kinds), land_(game.kinds, -1) {
        for (int keep : game.keep) more_ = std::max(more_, keep - game.garrison);
        for (int v : game.start.mine) most_ = std::max(most_, game.start.armies[v] - game.keep[v]);
        double size = 0.0;
        for (int c : game.field) {
            land_[game.kind[c]] = c;
            if (game.whole[game.kind[c]]) size = std::max(size, double(game.start.armies[c]));
        }
        fits = size * most_ * (most_ + size) * game.kinds <= MAX_COSTS;
        for (int c : game.field) {
            auto& rows = rows_[game.kind[c]];
            while (fits && int(rows.size()) <= number(game.kind[c], game.start.armies[c]))
                rows.push_back(make_row(c, int(rows.size()) + 1));
        }
    }

    int step = 0;  // the maximum number of defenders that one roll can destroy
    bool fits;     // whether the tables fit in the memory limit; otherwise they are empty

    const Row& row(int kind, int defenders) const { return rows_[kind][number(kind, defenders)]; }

  private:
    static constexpr double MAX_COSTS = 8e6;

    int number(int kind, int defenders) const {
        if (game_.whole[kind]) return defenders - 1;
        return std::min(defenders, game_.defence_dice(land_[kind]) + 1) - 1;
    }

    Row make_row(int c, int d) {
        std::vector<Choice> choices;
        if (game_.whole[game_.kind[c]]) {
            for (int a = 1; a <= std::min(most_, game_.able()); ++a) choices.push_back(make_battle(c, d, a));
        } else {
            for (int k = game_.attack_dice(c); k > 0; --k) {
                int compared = std::min(k, std::min(d, game_.defence_dice(c)));
                int able = std::max(std::max(1, k - more_), compared);
                if (compared == d) able = std::max(able, game_.least_advance(c, k));
                if (able <= most_) choices.push_back(make_roll(c, d, k, able));
            }
            std::stable_sort(choices.begin(), choices.end(),
                             [](const Choice& a, const Choice& b) { return a.from < b.from; });
        }
        for (const Choice& choice : choices)
            for (const Toss& toss : choice.tosses)
                for (const auto& answer : toss.answers)
                    for (const Cost& cost : answer) step = std::max(step, cost.defenders);
        std::vector<Choice> plain = pick_likeliest(choices);
        return {std::move(choices), std::move(plain)};
    }

    Choice make_roll(int c, int d, int k, int able) const {
        Choice choice{able, UNREACHABLE, {}};
        Span throws = game_.throws(c, k, d);
        for (int t = throws.first; t < throws.last; ++t) {
            deadline_.spend();
            Toss toss{game_.throw_chance(t), {}};
            Span answers = game_.answers(t);
            for (int a = answers.first; a < answers.last; ++a) {
                toss.answers.emplace_back();
                Span results = game_.results(a);
                for (int i = results.first; i < results.last; ++i) {
                    const Result& r = game_.result(i);
                    int advance = std::min(game_.least_advance(c, k), able - r.attackers);
                    toss.answers.back().push_back({r.chance, r.attackers, r.defenders, advance});
                }
            }
            choice.tosses.push_back(std::move(toss));
        }
        return choice;
    }

    Choice make_battle(int c, int d, int a) const {
        const Battle& battle = game_.battle(c, d);
        deadline_.spend(10 * (a + d));
        std::vector<Cost> costs;
        int least = game_.least_advance(c, 1);
        for (int x = 0; x < std::min(a, battle.width); ++x) {
            double chance = battle.won[size_t(a) * battle.width + x];
            if (chance > 0.0) costs.push_back({chance, x, d, std::min(least, a - x)});
        }
        for (int e = 1; e <= d; ++e) {
            double chance = battle.lost[size_t(a) * (battle.defenders + 1) + e];
            if (chance > 0.0) costs.push_back({chance, a, d - e, 0});
        }
        return {a, UNREACHABLE, {{1.0, {std::move(costs)}}}};
    }

    // Returns the rolls that optimal play can need if the number of advancing armies does not matter. If each roll
    // destroys exactly one army, these are the rolls with the greatest chance to destroy a defender. Otherwise returns
    // no rolls, because all rolls can be needed.
    static std::vector<Choice> pick_likeliest(const std::vector<Choice>& choices) {
        std::vector<Choice> found;
        double best = -1.0;
        for (const Choice& choice : choices) {
            if (choice.tosses.size() > 1 || choice.tosses[0].answers.size() > 1) return {};
            double chance = 0.0;
            for (const Cost& cost : choice.tosses[0].answers[0]) {
                if (cost.attackers + cost.defenders != 1) return {};
                if (cost.defenders) chance = cost.chance;
            }
            if (chance <= best) continue;
            if (!found.empty()) found.back().to = choice.from;
            found.push_back(choice);
            best = chance;
        }
        return found;
    }

    const Game<W>& game_;
    Deadline& deadline_;
    std::vector<std::vector<Row>> rows_;
    std::vector<int> land_;  // for each kind of rules: an attackable territory with these rules
    // The maximum over all territories of the armies that may roll but must stay, and the maximum over all stacks of
    // the armies that may leave.
    int more_ = 0, most_ = 0;
};

// The borders of a game, and the territories that stacks can reach over these borders.
template <int W>
class Ways {
  public:
    explicit Ways(const Game<W>& game) : game(game), places(game.find_live_stacks(game.start)) {
        for (int v = 0; v < game.lands; ++v) {
            near.push_back(game.out[v] | game.into[v]);
            left_behind.push_back(game.count_left_behind(v));
        }
    }

    const Game<W>& game;
    std::vector<Set<W>> near;
    std::vector<int> left_behind;  // for each territory: 1 if an army must remain after a conquest, otherwise 0
    Set<W> places;                 // the stacks that can attack a neighbour at the start

    int able(int v) const { return game.start.armies[v] - game.keep[v]; }
    Set<W> find_neighbours(const Set<W>& all) const {
        Set<W> found;
        for (int v : all) found |= near[v];
        return found;
    }
    Set<W> find_targets(const Set<W>& all) const {
        Set<W> found;
        for (int v : all) found |= game.out[v];
        return found;
    }
    Set<W> find_reached(const Set<W>& from, const Set<W>& part) const {
        Set<W> found;
        for (int v : from) found |= game.find_reached(v, part);
        return found;
    }
    std::vector<Set<W>> find_components(Set<W> part) const {
        std::vector<Set<W>> found;
        while (part.any()) {
            Set<W> each, fresh = Set<W>::of(part.first());
            while (fresh.any()) {
                each |= fresh;
                fresh = (find_neighbours(fresh) & part) - each;
            }
            found.push_back(each);
            part -= each;
        }
        return found;
    }
    // Returns the territories that can help to take a goal, and the goal itself. A connected region that borders only
    // one stack or territory of the goal cannot help, because a stack could leave the region only where it entered.
    Set<W> find_useful(const Set<W>& goal) const {
        Set<W> field = find_reached(places, game.field);
        for (const Set<W>& part : find_components(field - goal))
            if ((find_neighbours(part) & ((goal & field) | places)).count() <= 1) field -= part;
        return field | goal;
    }
    // Returns all territories that a stack on v could attack before it runs out of armies. If an army must remain on
    // every territory, each conquest costs an army.
    Set<W> find_reach(int v, const Set<W>& field) const {
        for (int c : field)
            if (left_behind[c] < 1) return game.find_reached(v, field);
        Set<W> reach = game.out[v] & field;
        for (int taken = 1; taken < able(v); ++taken) {
            Set<W> more = reach | (find_targets(reach) & field);
            if (more == reach) break;
            reach = more;
        }
        return reach;
    }
    // Returns the number of territories that a stack on v must take before it borders a goal. The number is at most the
    // number of its armies.
    int count_steps_to(const Set<W>& goal, int v, const Set<W>& field) const {
        int steps = 0;
        for (Set<W> reach = game.out[v] & field; steps < able(v) && !reach.meets(goal); ++steps)
            reach |= find_targets(reach) & field;
        return steps;
    }
};

// The definition of a relaxed game: its groups, items and away stacks, the cap `most_light` on the number of light
// territories taken, and the cap `most_lost` on the number of defenders destroyed there.
template <int W>
struct Level {
    std::vector<Set<W>> groups, items;
    Set<W> goal, away;  // the territories to take, and the stacks that reach no item
    int most_light, most_lost;

    Set<W> inside() const {
        Set<W> found;
        for (const Set<W>& item : items) found |= item;
        return found;
    }
};

// Two adjacent values in a table, which SIMD instructions process together.
typedef double Pair __attribute__((vector_size(16)));

// A state of a relaxed game, packed into the bits of one integer.
using Code = unsigned __int128;
constexpr int CODE_BITS = 127;

// A hash table of the codes of states. It can number the codes in ascending order.
class Codes {
  public:
    explicit Codes(Deadline& deadline) : deadline_(deadline), keys_(FIRST_SIZE, NONE) {}

    // Adds the code of a state. Returns whether it is new.
    bool add(Code code) {
        if (is_full()) grow();
        size_t place = find_slot(code);
        if (keys_[place] != NONE) return false;
        keys_[place] = code;
        ++count_;
        return true;
    }
    // Numbers all codes in ascending order. Returns the codes in this order.
    std::vector<Code> number_codes() {
        std::vector<Code> found;
        found.reserve(count_);
        for (Code key : keys_) {
            deadline_.spend(5);
            if (key != NONE) found.push_back(key);
        }
        std::sort(found.begin(), found.end(), [this](Code a, Code b) {
            deadline_.spend(5);
            return a < b;
        });
        numbers_ = fill_vector(keys_.size(), int32_t{0}, deadline_);
        for (size_t r = 0; r < found.size(); ++r) {
            deadline_.spend(100);
            numbers_[find_slot(found[r])] = int32_t(r);
        }
        return found;
    }
    int32_t number(Code code) const { return numbers_[find_slot(code)]; }
    // Returns the peak memory, in bytes, while another code is added. While the table grows, the old table stays in
    // memory.
    size_t bytes() const { return keys_.size() * (sizeof(Code) + sizeof(int32_t)) * (is_full() ? 3 : 1); }

  private:
    static constexpr Code NONE = ~Code{0};
    static constexpr size_t FIRST_SIZE = 1024;

    bool is_full() const { return 2 * (count_ + 1) > keys_.size(); }

    size_t find_slot(Code code) const {
        size_t place = hash_number(uint64_t(code) ^ hash_number(uint64_t(code >> 64))) & (keys_.size() - 1);
        while (keys_[place] != NONE && keys_[place] != code) place = (place + 1) & (keys_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Code> old = fill_vector(2 * keys_.size(), NONE, deadline_);
        old.swap(keys_);
        for (Code key : old) {
            deadline_.spend(100);
            if (key != NONE) keys_[find_slot(key)] = key;
        }
    }

    Deadline& deadline_;
    std::vector<Code> keys_;
    std::vector<int32_t> numbers_;
    size_t count_ = 0;
};

// An upper bound on the chance to take a set of territories, computed as if all stacks shared their armies (a purse)
// and every territory bordered every stack.
//
// Let F_d(u) be the greatest chance to destroy d defenders with a loss of at most u armies. Let V be the chance that
// independent losses Z_c with these distributions, one for each territory c, sum to at most the armies in the purse
// minus the garrisons that must remain. A roll at c gives Σ p F_{d−y}(u − x) ≤ F_d(u) for each u, where p is the chance
// that it costs x attackers and y defenders. Therefore V does not increase on average, whatever the order of attacks,
// and V at the start is an upper bound. If the defender can choose between answers, the bound assumes the best answer
// for the attacker.
template <int W>
class Purse {
  public:
    Purse(const Ways<W>& ways, const Rolls<W>& rolls, Deadline& deadline)
        : game_(ways.game), left_behind_(ways.left_behind), rolls_(rolls), deadline_(deadline), lost_(ways.game.kinds) {
    }

    double bound(Set<W> lands, int armies) {
        for (int c : lands) armies -= left_behind_[c];
        if (armies < 0) return 0.0;
        if (armies >= MAX_ARMIES) return 1.0;
        // [u]: the chance to take the territories so far with a loss of at most u armies
        std::vector<double> chance(size_t(armies) + 1, 1.0);
        while (lands.any()) {
            int c = lands.pop();
            deadline_.spend(int64_t(chance.size() * chance.size()));
            const std::vector<double>& own = find_losses(game_.kind[c], game_.start.armies[c]);
            for (size_t u = chance.size(); u-- > 0;) {
                double sum = own[0] * chance[u];
                for (size_t x = 1; x <= u; ++x) sum += (own[x] - own[x - 1]) * chance[u - x];
                chance[u] = sum;
            }
        }
        return chance.back();
    }

    // Returns the chances that a stack of `able` armies loses 0, 1, 2, ... or all armies while it takes `taken` of the
    // territories `lands`, each defended by one army.
    std::vector<double> find_losses_on(Set<W> lands, int taken, int able) {
        std::vector<double> found(size_t(able) + 1, 0.0), most(found);
        found[0] = 1.0;
        if (able >= MAX_ARMIES) return found;
        while (lands.any()) {
            const std::vector<double>& own = find_losses(game_.kind[lands.pop()], 1);
            for (size_t u = 0; u < most.size(); ++u) most[u] = std::max(most[u], own[u]);
        }
        most.back() = 1.0;
        while (taken-- > 0) {
            deadline_.spend(int64_t(most.size() * most.size()));
            std::vector<double> next(most.size(), 0.0);
            for (size_t x = 0; x < most.size(); ++x)
                for (size_t y = 0; y < most.size(); ++y)
                    next[std::min(x + y, most.size() - 1)] += found[y] * (most[x] - (x ? most[x - 1] : 0.0));
            found.swap(next);
        }
        return found;
    }

  private:
    static constexpr int MAX_ARMIES = 400;
    static constexpr size_t MAX_COSTS = 1000;

    const std::vector<double>& find_losses(int kind, int defenders) {
        auto& known = lost_[kind];
        if (known.empty()) known.push_back(std::vector<double>(MAX_ARMIES, 1.0));
        while (int(known.size()) <= defenders) {
            int d = int(known.size());
            std::vector<double> own(MAX_ARMIES, 0.0);
            for (int u = 0; u < MAX_ARMIES; ++u) {
                if (u) own[u] = own[u - 1];
                for (const Choice& choice : rolls_.row(kind, d).choices)
                    own[u] = std::max(own[u], find_chance(choice, u, d, known, own));
            }
            known.push_back(std::move(own));
        }
        return known[defenders];
    }
    double find_chance(const Choice& choice, int u, int d, const std::vector<std::vector<double>>& known,
                       const std::vector<double>& own) const {
        double sum = 0.0;
        for (const Toss& toss : choice.tosses) {
            double most = 0.0;
            for (const auto& answer : toss.answers) {
                double mean = answer.size() > MAX_COSTS ? 1.0 : 0.0;
                deadline_.spend(5 * int64_t(answer.size()));
                for (const Cost& cost : answer)
                    if (cost.attackers <= u && mean < 1.0)
                        mean += cost.chance * (cost.defenders ? known[d - cost.defenders] : own)[u - cost.attackers];
                most = std::max(most, mean);
            }
            sum += toss.chance * most;
        }
        return std::min(sum, 1.0);
    }

    const Game<W>& game_;
    const std::vector<int>& left_behind_;
    const Rolls<W>& rolls_;
    Deadline& deadline_;
    std::vector<std::vector<std::vector<double>>> lost_;  // [kind of rules][d][u]: the greatest chance F_d(u)
};

template <int W>
class Relaxed {
  public:
    // field: the territories that can help to take the goal. any: whether the conquest of one territory of the goal is
    // enough.
    Relaxed(const Ways<W>& ways, const Rolls<W>& rolls, Purse<W>& purse, const Set<W>& field, const Level<W>& level,
            bool any, Deadline& deadline)
        : ways_(ways), game_(ways.game), rolls_(rolls), deadline_(deadline), any_(any), items_(level.items),
          codes_(deadline) {
        Set<W> inside = level.inside(), light = field - inside, weakened;
        find_groups(level, field, inside, purse);
        for (int v : level.away) weakened |= ways_.find_reach(v, field);
        std::vector<int> lands, armies, held_most(size_t(game_.kinds), 0);
        for (int u : light) {
            lands.push_back(u);
            armies.push_back(weakened.has(u) ? 1 : game_.start.armies[u]);
            held_most[game_.kind[u]] = std::max(held_most[game_.kind[u]], armies.back());
            light_kept_ = std::min(light_kept_, game_.keep[u]);
            light_least_ = std::min(light_least_, ways_.left_behind[u]);
        }
        for (int kind = 0; kind < game_.kinds; ++kind)
            for (int d = 1; d <= std::min(held_most[kind], rolls_.step + 1); ++d) light_rows_.push_back({kind, d});
        for (const Set<W>& item : items_) {
            is_goal_.push_back(item.meets(level.goal));
            beyond_.push_back(ways_.find_neighbours(item));
            is_open_.push_back(item.count() > 1 || light.meets(beyond_.back()));
            int least_left = 1;
            std::vector<Inner> own;
            for (int c : item) {
                least_left = std::min(least_left, ways_.left_behind[c]);
                own.push_back({game_.kind[c], game_.keep[c], game_.start.armies[c]});
            }
            left_behind_.push_back(least_left);
            std::sort(own.begin(), own.end());
            first_.push_back(inner_.size());
            inner_.insert(inner_.end(), own.begin(), own.end());
        }
        first_.push_back(inner_.size());
        connect(level, lands, armies);
        int64_t spare = 0;
        for (int n : armies) spare += n - 1;
        is_capped_ = is_capped_ || level.most_lost < spare;
        int bits = 0;
        auto digit = [&](int64_t most) {
            int own = 1;
            while (most >> own) ++own;
            shift_.push_back(bits);
            mask_.push_back((int64_t{1} << own) - 1);
            place_.push_back(bits < CODE_BITS ? Code{1} << bits : Code{0});
            if (bits + own <= CODE_BITS) start_ += Code(uint64_t(most)) << bits;
            bits += own;
        };
        for (const Inner& land : inner_) digit(land.defenders);
        for (size_t i = 0; i < items_.size(); ++i) digit((int64_t{1} << groups_.size()) - 1);
        for (size_t g = 0; g < groups_.size(); ++g) {
            caps_.push_back(useful_[g][0]);
            digit(caps_.back());
        }
        caps_.push_back(int(std::min<int64_t>(level.most_lost, spare)));
        digit(caps_.back());
        is_sound_ = bits <= CODE_BITS;
    }

    int64_t values() const { return values_; }
    // Whether the true counts can exceed a cap, so that greater caps can improve the bound.
    bool is_capped() const { return is_capped_; }

    // Returns the work of `explore` and `value`, in units of the work for one value.
    int64_t work() const { return values_ + WORK_PER_STATE * states_; }
    // Whether `explore` failed because the game needs too many values, too much memory, or too many bits for a state.
    bool is_large() const { return is_large_; }

    // Finds all reachable states. Returns false if this would exceed the limit of `most` values, of `work`, or of
    // memory in bytes.
    bool explore(int64_t most, int64_t work, int64_t bytes) {
        is_large_ = true;
        if (!is_sound_) return false;
        std::vector<Code> waiting{start_};
        codes_.add(start_);
        std::vector<Attack> attacks;
        View view;
        while (!waiting.empty()) {
            deadline_.spend();
            Code code = waiting.back();
            waiting.pop_back();
            decode(code, view);
            double size = 1.0;
            for (int able : view.able) size *= able + 1;
            if (double(values_) + size > double(most)) return false;
            values_ += int64_t(size);
            if (WORK_PER_STATE * ++states_ > work) return is_large_ = false;
            int64_t each = int64_t(sizeof(Code) + sizeof(size_t) * (1 + groups_.size()));
            if (values_ * int64_t(sizeof(double)) + states_ * each + int64_t(codes_.bytes()) > bytes) return false;
            if (is_won(view)) continue;
            find_attacks(code, view, attacks);
            for (size_t a = 0; a < attacks.size(); ++a)
                for (int lost = 1; lost <= std::min(attacks[a].defenders, rolls_.step); ++lost) {
                    deadline_.spend(50);
                    Code next = after_[a * (rolls_.step + 1) + lost];
                    if (codes_.add(next)) waiting.push_back(next);
                }
        }
        return true;
    }

    // Returns the value of the relaxed game at its start. Call `explore` first.
    double value() {
        solve();
        View start;
        decode(start_, start);
        return average_losses(0, start, begin_.back());
    }

  private:
    struct Group {
        Set<W> places;
        int able;
        Set<W> reach;
        std::vector<double> lost;  // [x]: the chance to lose x armies on the way to the first item
    };

    // A territory of an item: its kind of rules, the armies that must remain on it, and its defenders.
    struct Inner {
        int kind, keep, defenders;
        auto operator<=>(const Inner&) const = default;
    };

    // An attack of a group on a territory. kept: the number of advancing armies that must stay on the territory. toll:
    // the number of armies that the group must first pay for light territories.
    struct Attack {
        int group, kind, defenders, kept, toll;
    };

    // A state of the relaxed game, decoded from its code.
    struct View {
        std::vector<int> defenders, light, able;  // `defenders` is indexed like inner_, the others by group
        std::vector<uint32_t> owned;
        std::vector<uint64_t> outside;
        int lost;
    };

    void find_groups(const Level<W>& level, const Set<W>& field, const Set<W>& inside, Purse<W>& purse) {
        for (const Set<W>& places : level.groups) {
            Group group{places, 0, {}, {1.0}};
            for (int v : places) {
                deadline_.spend(WORK_PER_LAND * game_.lands);
                group.able += ways_.able(v);
                group.reach |= ways_.find_reach(v, field);
            }
            if (int v = places.first(); !level.most_light && places.count() == 1)
                group.lost = purse.find_losses_on(field - inside, ways_.count_steps_to(inside, v, field), group.able);
            groups_.push_back(group);
        }
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group& a, const Group& b) { return a.able < b.able; });
    }

    // Computes N, E, K and T, as defined at the top of this file, for each group and each set of items.
    void connect(const Level<W>& level, const std::vector<int>& lands, const std::vector<int>& armies) {
        size_t sets = size_t{1} << items_.size();
        std::vector<int> ones(lands.size(), 1), spare = armies;
        for (int& n : spare) --n;
        nodes_ = spare_ = whole_ = connect_items(lands, ones);
        if (level.most_light) {
            spare_ = connect_items(lands, spare);
            whole_ = connect_items(lands, armies);
        }
        toll_ = nodes_;
        for (size_t g = 0; g < groups_.size(); ++g) {
            useful_.emplace_back(sets, 0);
            for (size_t q = sets; q-- > 0;) {
                deadline_.spend(10 * int64_t(items_.size()));
                int most = std::max(nodes_[g][q], whole_[g][q]);
                int need = nodes_[g][q] < UNREACHABLE ? std::min(most, level.most_light) : 0;
                is_capped_ = is_capped_ || need < (nodes_[g][q] < UNREACHABLE ? most : 0);
                for (size_t i = 0; i < items_.size(); ++i) {
                    need = std::max(need, useful_[g][q | size_t{1} << i]);
                    toll_[g][q] = std::min(toll_[g][q], toll_[g][q | size_t{1} << i]);
                }
                useful_[g][q] = need;
            }
            if (level.most_light) continue;
            // If light territories are not counted, the first attack of a group is on an item.
            toll_[g][0] = UNREACHABLE;
            for (size_t i = 0; i < items_.size(); ++i) toll_[g][0] = std::min(toll_[g][0], toll_[g][size_t{1} << i]);
        }
    }

    // Returns, for each group and each set of items, the minimum sum of the weights of light territories that connect
    // the group with the items: the weight of a Steiner tree (Dreyfus & Wagner). A minimum tree at an item or group
    // either joins two smaller trees or extends the tree of a neighbour. The tree of a light territory includes this
    // territory.
    std::vector<std::vector<int>> connect_items(const std::vector<int>& lands, const std::vector<int>& weights) const {
        size_t count = lands.size(), items = items_.size(), sets = size_t{1} << items;
        // The neighbours of each item, then the territories that each group can attack first.
        std::vector<Set<W>> around;
        for (const Set<W>& item : items_) around.push_back(ways_.find_neighbours(item));
        for (const Group& group : groups_) around.push_back(ways_.find_targets(group.places));
        // For each light territory, the light territories next to it. For each item or group, the light territories
        // next to it.
        std::vector<std::vector<size_t>> light(count), joined(around.size());
        for (size_t u = 0; u < count; ++u) {
            for (size_t w = 0; w < count; ++w)
                if (ways_.near[lands[u]].has(lands[w])) light[u].push_back(w);
            for (size_t r = 0; r < around.size(); ++r)
                if (around[r].has(lands[u])) joined[r].push_back(u);
        }
        // The weights of minimum trees that connect a light territory with a set of items, and an item or group with a
        // set of other items.
        std::vector<int> of_light(sets * count + 1, UNREACHABLE);
        std::vector<std::vector<int>> found(around.size(), std::vector<int>(sets, UNREACHABLE));
        std::copy(weights.begin(), weights.end(), of_light.begin());
        for (auto& each : found) each[0] = 0;
        for (size_t whole = 1; whole < sets; ++whole) {
            int* own = &of_light[whole * count];
            // A set without the lowest item of `whole`. Its subsets visit each pair of complementary parts of `whole`
            // only once.
            size_t most = whole & (whole - 1);
            for (size_t part = most; part; part = (part - 1) & most) {
                deadline_.spend(int64_t(count));
                const int *a = &of_light[part * count], *b = &of_light[(whole ^ part) * count];
                for (size_t u = 0; u < count; ++u) own[u] = std::min(own[u], a[u] + b[u] - weights[u]);
            }
            for (size_t i = 0; i < items; ++i)
                if (whole >> i & 1)
                    for (size_t u : joined[i]) own[u] = std::min(own[u], found[i][whole ^ size_t{1} << i] + weights[u]);
            for (bool better = true; better;) {
                better = false;
                deadline_.spend(10 * int64_t(count));
                for (size_t u = 0; u < count; ++u)
                    for (size_t w : light[u])
                        if (own[w] + weights[u] < own[u]) own[u] = own[w] + weights[u], better = true;
            }
            for (size_t r = 0; r < around.size(); ++r) {
                if (r < items && whole >> r & 1) continue;
                deadline_.spend((int64_t{1} << std::popcount(whole)) + int64_t(joined[r].size()));
                int best = UNREACHABLE;
                for (size_t part = most; part; part = (part - 1) & most)
                    best = std::min(best, found[r][part] + found[r][whole ^ part]);
                for (size_t i = 0; i < items; ++i)
                    if (whole >> i & 1 && around[r].meets(items_[i]))
                        best = std::min(best, found[i][whole ^ size_t{1} << i]);
                for (size_t u : joined[r]) best = std::min(best, own[u]);
                found[r][whole] = best;
            }
        }
        found.erase(found.begin(), found.begin() + int(items));
        for (size_t g = 0; g < groups_.size(); ++g)
            for (size_t i = 0; i < items; ++i)
                for (size_t whole = 0; whole < sets && !groups_[g].reach.meets(items_[i]); ++whole)
                    if (whole >> i & 1) found[g][whole] = UNREACHABLE;
        return found;
    }

    int digit(Code code, size_t i) const { return int(int64_t(code >> shift_[i]) & mask_[i]); }

    void decode(Code code, View& view) const {
        size_t n = groups_.size(), digits = inner_.size();
        view.defenders.resize(inner_.size());
        view.outside.resize(items_.size());
        view.light.resize(n);
        view.able.resize(n);
        view.owned.assign(n, 0);
        for (size_t j = 0; j < inner_.size(); ++j) view.defenders[j] = digit(code, j);
        for (size_t i = 0; i < items_.size(); ++i) {
            view.outside[i] = uint64_t(digit(code, digits++));
            for (size_t g = 0; g < n; ++g)
                if (!(view.outside[i] >> g & 1)) view.owned[g] |= 1u << i;
        }
        for (size_t g = 0; g < n; ++g) {
            view.light[g] = caps_[g] - digit(code, digits++);
            int able = groups_[g].able - count_toll(view, g, view.owned[g]);
            for (size_t i = 0; i < items_.size(); ++i)
                if (view.owned[g] >> i & 1) able -= left_behind_[i];
            view.able[g] = std::max(able, 0);
        }
        view.lost = caps_[n] - digit(code, digits);
    }

    // Returns whether all territories of an item are taken.
    bool is_taken(const View& view, size_t item) const {
        for (size_t j = first_[item]; j < first_[item + 1]; ++j)
            if (view.defenders[j]) return false;
        return true;
    }

    // Returns the number of armies that a group must leave on light territories, which are outside all items, if it
    // owns territories of the items in `owned`.
    int count_toll(const View& view, size_t g, uint32_t owned) const {
        return light_least_ * std::max(view.light[g], toll_[g][owned]);
    }

    bool is_won(const View& view) const {
        uint64_t everyone = (uint64_t{1} << groups_.size()) - 1;
        for (size_t i = 0; i < items_.size(); ++i) {
            if (any_ && is_goal_[i] && view.outside[i] != everyone) return true;
            if (!any_ && is_goal_[i] && !is_taken(view, i)) return false;
        }
        return !any_;
    }

    bool is_dead_end(const View& view, size_t item) const {
        bool ends = !is_open_[item];
        for (size_t k = 0; k < items_.size(); ++k)
            ends = ends && (is_taken(view, k) || !beyond_[item].meets(items_[k]));
        return ends;
    }

    // Lists the attacks that are possible in a state. Writes the states after losses of 0, 1, 2, ... defenders in each
    // attack to `after_`.
    void find_attacks(Code code, const View& view, std::vector<Attack>& attacks) {
        attacks.clear();
        after_.clear();
        size_t n = groups_.size();
        int cap = caps_[n], step = rolls_.step;
        const Code *outside = &place_[inner_.size()], *light = outside + items_.size(), pool = light[n];
        int64_t spent = 0;
        for (size_t g = 0; g < n; ++g) spent += spare_[g][view.owned[g]];
        for (size_t g = 0; g < n; ++g) {
            if (!view.able[g]) continue;
            deadline_.spend(20 * int64_t(items_.size()));
            uint32_t owned = view.owned[g];
            int64_t others = spent - spare_[g][owned];
            bool wanted = view.light[g] < caps_[g] && view.light[g] < useful_[g][owned];
            for (auto [kind, defenders] : light_rows_) {
                bool useful = false;
                after_.push_back(code);
                for (int lost = 1; lost <= step; ++lost) {
                    Code next = code;
                    if (lost <= defenders) {
                        next -= Code(std::min(lost, std::min(defenders - 1, cap - view.lost))) * pool;
                        if (lost == defenders && wanted) next -= light[g];
                        useful = useful || next != code;
                    }
                    after_.push_back(next);
                }
                if (useful) attacks.push_back({int(g), kind, defenders, wanted ? light_kept_ : 0, 0});
                else after_.resize(attacks.size() * (step + 1));
            }
            for (size_t i = 0; i < items_.size(); ++i) {
                uint32_t more = owned | 1u << i;
                if (nodes_[g][more] >= UNREACHABLE || is_taken(view, i)) continue;
                if (view.light[g] < std::min(nodes_[g][more], caps_[g])) continue;
                int64_t whole = std::min<int64_t>(whole_[g][more] + others - view.lost, caps_[g]);
                if (view.lost < cap && (view.lost < spare_[g][more] + others || view.light[g] < whole)) continue;
                // The armies that advance to a dead end cannot return.
                int kept = is_dead_end(view, i) ? UNREACHABLE : 0;
                int toll = count_toll(view, g, more) - count_toll(view, g, owned);
                for (size_t j = first_[i]; j < first_[i + 1]; ++j) {
                    int defenders = view.defenders[j];
                    if (!defenders || (is_alike(i, j) && view.defenders[j - 1] == defenders)) continue;
                    deadline_.spend(10 * step);
                    attacks.push_back({int(g), inner_[j].kind, defenders, std::max(kept, inner_[j].keep), toll});
                    after_.push_back(code);
                    for (int lost = 1; lost <= step; ++lost) {
                        after_.push_back(code);
                        if (lost > defenders) continue;
                        size_t k = j;  // keep interchangeable territories sorted by their defenders
                        for (; is_alike(i, k) && view.defenders[k - 1] > defenders - lost; --k)
                            after_.back() -= Code(view.defenders[k] - view.defenders[k - 1]) * place_[k];
                        after_.back() -= Code(view.defenders[k] - defenders + lost) * place_[k];
                        if (lost == defenders && !(owned >> i & 1)) after_.back() -= outside[i] << g;
                    }
                }
            }
        }
    }
    // Returns whether territory j of an item is interchangeable with territory j - 1 except for the number of
    // defenders.
    bool is_alike(size_t item, size_t j) const {
        return j > first_[item] && inner_[j - 1].kind == inner_[j].kind && inner_[j - 1].keep == inner_[j].keep;
    }

    // A result of a roll in the current state. `after` is the index of the next state in Plan::next. `back` is the
    // number of elements of values_at_ by which the lost armies move the index of the value. `from` is the index of the
    // value of the result if the last group has the budget 0. `is_last` marks the last result of an answer of the
    // defender. `thrown` is the chance of the throw in the last result of this throw, otherwise -1.
    struct Part {
        double chance;
        size_t after, back;
        bool is_last;
        double thrown;
        size_t from;
    };

    // The result of a roll of the last group in which no defender is lost. It leads to the same state with `back` fewer
    // armies, whose value is already known. Several rolls may share a Return. rest[x] is the greatest value of the
    // other results of these rolls if the group has the budget x: 0 without other results, and -1 if no such roll is
    // legal.
    struct Return {
        double chance;
        size_t back;
        std::vector<double> rest;
    };

    // A roll in the current state, legal if its group has a budget of `from` to `to` - 1 armies. `again` is the index
    // of its Return in the plan, or NONE. Its other results are the `count` elements of Plan::parts that begin with
    // index `first`.
    struct Action {
        size_t group;
        int from, to;
        size_t first, count, again;
    };

    // All rolls in the current state, with their results.
    struct Plan {
        std::vector<Action> actions;
        std::vector<Part> parts;
        std::vector<Return> returns;
        // next: the numbers of the next states. place: the index in values_at_ of the value of each next state if the
        // last group has the budget 0.
        std::vector<size_t> next, place;
    };

    void find_plan(const std::vector<Attack>& attacks, Plan& plan) const {
        plan.actions.clear();
        plan.parts.clear();
        plan.returns.clear();
        plan.next.clear();
        for (size_t a = 0; a < attacks.size(); ++a) {
            const Attack& attack = attacks[a];
            const Row& row = rolls_.row(attack.kind, attack.defenders);
            size_t first = plan.next.size(), g = size_t(attack.group);
            for (int lost = 0; lost <= std::min(attack.defenders, rolls_.step); ++lost)
                plan.next.push_back(size_t(codes_.number(after_[a * (rolls_.step + 1) + lost])));
            for (const Choice& choice : attack.kept <= 1 && !row.plain.empty() ? row.plain : row.choices) {
                plan.actions.push_back(
                    {g, attack.toll + choice.from, attack.toll + choice.to, plan.parts.size(), 0, NONE});
                const Cost* same = g + 1 == groups_.size() ? find_only_return(choice) : nullptr;
                if (same) plan.actions.back().again = find_return(same->chance, size_t(same->attackers), plan.returns);
                for (const Toss& toss : choice.tosses) {
                    for (const auto& answer : toss.answers) {
                        for (const Cost& cost : answer) {
                            deadline_.spend(10);
                            if (&cost == same) continue;
                            int gone = cost.attackers;
                            if (cost.defenders == attack.defenders)
                                gone += attack.toll + std::min(cost.advance, attack.kept);
                            size_t after = first + size_t(cost.defenders);
                            size_t back = size_t(gone) * strides_[plan.next[after] * groups_.size() + g];
                            plan.parts.push_back({cost.chance, after, back, false, -1.0, 0});
                        }
                        if (plan.parts.size() > plan.actions.back().first) plan.parts.back().is_last = true;
                    }
                    if (plan.parts.size() > plan.actions.back().first) plan.parts.back().thrown = toss.chance;
                }
                plan.actions.back().count = plan.parts.size() - plan.actions.back().first;
            }
        }
        plan.place.resize(plan.next.size());
    }

    // Returns the result of a roll in which no defender is lost, or null if there are several such results or if the
    // defender can choose between answers.
    static const Cost* find_only_return(const Choice& choice) {
        const Cost* found = nullptr;
        if (choice.tosses.size() > 1 || choice.tosses[0].answers.size() > 1) return nullptr;
        for (const Cost& cost : choice.tosses[0].answers[0])
            if (!cost.defenders) {
                if (found) return nullptr;
                found = &cost;
            }
        return found;
    }
    static size_t find_return(double chance, size_t back, std::vector<Return>& returns) {
        for (size_t i = 0; i < returns.size(); ++i)
            if (returns[i].chance == chance && returns[i].back == back) return i;
        returns.push_back({chance, back, {}});
        return returns.size() - 1;
    }

    void solve() {
        std::vector<Code> states = codes_.number_codes();
        size_t n = groups_.size(), last = n - 1, total = 0;
        strides_ = fill_vector(states.size() * n, size_t{1}, deadline_);
        begin_.reserve(states.size());
        View view;
        for (size_t r = 0; r < states.size(); ++r) {
            deadline_.spend();
            decode(states[r], view);
            for (size_t g = last; g > 0; --g) strides_[r * n + g - 1] = strides_[r * n + g] * size_t(view.able[g] + 1);
            begin_.push_back(total);
            total += strides_[r * n] * size_t(view.able[0] + 1);
        }
        values_at_ = fill_vector(total, 0.0, deadline_);
        std::vector<Attack> attacks;
        Plan plan;
        std::vector<int> budgets(n);
        for (size_t r = 0; r < states.size(); ++r) {
            decode(states[r], view);
            double* own = &values_at_[begin_[r]];
            double* end = values_at_.data() + (r + 1 < states.size() ? begin_[r + 1] : total);
            if (is_won(view)) {
                std::fill(own, end, 1.0);
                continue;
            }
            find_attacks(states[r], view, attacks);
            find_plan(attacks, plan);
            std::fill(budgets.begin(), budgets.end(), 0);
            int width = view.able[last] + 1;
            for (; own < end; own += width) {
                for (size_t i = 0; i < plan.next.size(); ++i) {
                    plan.place[i] = begin_[plan.next[i]];
                    for (size_t h = 0; h < last; ++h)
                        plan.place[i] += size_t(budgets[h]) * strides_[plan.next[i] * n + h];
                }
                for (Part& part : plan.parts) part.from = plan.place[part.after] - part.back;
                solve_line(own, width, &strides_[r * n], budgets, plan);
                for (size_t g = last; g-- > 0;) {
                    if (++budgets[g] <= view.able[g]) break;
                    budgets[g] = 0;
                }
            }
        }
    }

    // Computes the values of a state for all budgets of the last group. The budgets of the other groups are fixed.
    void solve_line(double* own, int width, const size_t* stride, const std::vector<int>& budgets, Plan& plan) const {
        size_t last = groups_.size() - 1;
        bool is_hard = false;
        deadline_.spend(int64_t(budgets.size() * plan.next.size() + plan.parts.size()));
        for (size_t g = 0; g < last; ++g)  // a value is at least the value for a smaller budget
            for (int x = 0; budgets[g] && x < width; ++x) own[x] = std::max(own[x], (own - stride[g])[x]);
        for (Return& each : plan.returns) each.rest.assign(size_t(width), -1.0);
        for (const Action& action : plan.actions) {
            if (action.group != last) {
                if (budgets[action.group] >= action.from && budgets[action.group] < action.to)
                    raise(own, 0, width, action, plan);
            } else if (action.again != NONE) {
                raise(plan.returns[action.again].rest.data(), action.from, std::min(action.to, width), action, plan);
            } else {
                is_hard = true;
            }
        }
        // Compute the values in ascending order, because rolls of the last group lead to smaller budgets.
        for (int x = 1; x < width; ++x) {
            double best = std::max(own[x], own[x - 1]);
            for (const Return& each : plan.returns)
                if (each.rest[size_t(x)] >= 0.0)
                    best = std::max(best, each.rest[size_t(x)] + each.chance * own[size_t(x) - each.back]);
            deadline_.spend(int64_t(plan.returns.size() + is_hard * 2 * plan.parts.size()));
            if (is_hard)
                for (const Action& action : plan.actions)
                    if (action.group == last && action.again == NONE && action.from <= x && x < action.to)
                        best = std::max(best, value_of<double>(action, x, plan));
            own[x] = best;
        }
    }

    // Raises values[x] to the value of a roll, if that is greater, for budgets x from `first` to `end` - 1 of the last
    // group.
    void raise(double* values, int first, int end, const Action& action, const Plan& plan) const {
        deadline_.spend(std::max(end - first, 0) * int64_t(action.count));
        const Part* parts = plan.parts.data() + action.first;
        auto at = [&](size_t i, int x) {
            Pair found;
            std::memcpy(&found, &values_at_[parts[i].from + size_t(x)], sizeof found);
            return parts[i].chance * found;
        };
        auto raise_by = [&](auto value) {
            int x = first;
            for (; x + 1 < end; x += 2) {
                Pair old, best = value(x);
                std::memcpy(&old, values + x, sizeof old);
                best = best > old ? best : old;
                std::memcpy(values + x, &best, sizeof best);
            }
            if (x < end) values[x] = std::max(values[x], value_of<double>(action, x, plan));
        };
        // Most rolls have only one or two results besides a Return. Separate code for these cases halves the time.
        bool is_sum = action.count > 0 && parts[action.count - 1].thrown == 1.0;
        if (is_sum && action.count == 1) raise_by([&](int x) { return at(0, x); });
        else if (is_sum && action.count == 2 && !parts[0].is_last) raise_by([&](int x) { return at(0, x) + at(1, x); });
        else raise_by([&](int x) { return value_of<Pair>(action, x, plan); });
    }

    // Returns the value of a roll if the defender gives the worst answers for the attacker, and the last group has the
    // budget x. If `Values` is Pair, returns the values for the budgets x and x + 1.
    template <class Values>
    Values value_of(const Action& action, int x, const Plan& plan) const {
        Values value{}, mean{}, least = Values{} + 2.0, each;
        for (const Part *part = plan.parts.data() + action.first, *end = part + action.count; part < end; ++part) {
            std::memcpy(&each, &values_at_[part->from + size_t(x)], sizeof each);
            mean += part->chance * each;
            if (!part->is_last) continue;
            least = mean < least ? mean : least;
            mean = Values{};
            if (part->thrown < 0.0) continue;
            value += part->thrown * least;
            least = Values{} + 2.0;
        }
        return value;
    }

    // Returns the value at the start, averaged over the losses that the groups suffer before they reach items.
    double average_losses(size_t g, const View& start, size_t place) const {
        if (g == groups_.size()) return values_at_[place];
        const std::vector<double>& lost = groups_[g].lost;
        size_t stride = strides_[strides_.size() - groups_.size() + g];
        double sum = 0.0;
        deadline_.spend(int64_t(lost.size()));
        for (size_t x = 0; x < lost.size(); ++x)
            if (lost[x] > 0.0)
                sum += lost[x] *
                       average_losses(g + 1, start, place + size_t(std::max(start.able[g] - int(x), 0)) * stride);
        return sum;
    }

    static constexpr size_t NONE = ~size_t{0};
    // The work to find a state, in units of the work for one value.
    static constexpr int64_t WORK_PER_STATE = 100;

    const Ways<W>& ways_;
    const Game<W>& game_;
    const Rolls<W>& rolls_;
    Deadline& deadline_;
    bool any_, is_sound_ = true, is_capped_ = false;
    std::vector<Group> groups_;
    std::vector<Set<W>> items_;
    std::vector<int> left_behind_;  // for each item: the minimum number of armies that must remain on a territory
    std::vector<Inner> inner_;      // the territories of all items, item by item
    std::vector<size_t> first_;  // for each item: the index of its first territory in inner_; then the size of inner_
    // The minimum of `keep`, and the minimum of `left_behind`, over all light territories.
    int light_kept_ = UNREACHABLE, light_least_ = 1;
    // The pairs of a kind of rules and a number of defenders for attacks on light territories. `step` + 1 defenders
    // stand for all larger numbers, because no roll destroys them all.
    std::vector<std::pair<int, int>> light_rows_;
    std::vector<uint8_t> is_goal_, is_open_;
    std::vector<Set<W>> beyond_;  // for each item: the neighbours of its territories
    // [group][set of items]: N, E, K and T, as defined at the top of this file, and the highest useful count of light
    // territories
    std::vector<std::vector<int>> nodes_, spare_, whole_, toll_, useful_;
    std::vector<int> caps_;
    std::vector<int> shift_;
    std::vector<int64_t> mask_;
    std::vector<Code> place_;
    Code start_ = 0;
    Codes codes_;
    bool is_large_ = false;
    int64_t values_ = 0, states_ = 0;
    std::vector<Code> after_;
    // begin_[state]: the index of the first value of the state in values_at_. strides_[state * groups + group]: the
    // distance in values_at_ between the values for two budgets of the group that differ by 1.
    std::vector<size_t> begin_, strides_;
    std::vector<double> values_at_;
};

// An upper bound on the chance to take all territories of a goal, or at least one territory if `any` is true.
//
// The bound is the smallest value of many relaxed games. The chance to take the whole goal is at most the chance to
// take a part of it. Therefore there are games for the whole goal and games for parts. A part is a territory of the
// goal with the nearest other territories of the goal, at most MAX_ITEMS in all, each in its own item. Each of the
// strongest stacks is a group of its own, and all other stacks form one group. The first games for the whole goal have
// either all territories in one item, which has few states because territories with equal defence are interchangeable,
// or each territory in its own item. A game with one more group, item or extra territory, or with greater caps, usually
// has more states and a smaller value. The next game to solve is the game that promises a small value for little work.
// A game with more work than estimated is postponed. Half of the work is for games in which the whole goal is to be
// taken and each stack is a group of its own.
template <int W>
class Chance {
  public:
    static constexpr size_t MAX_ITEMS = 12;

    Chance(const Ways<W>& ways, const Rolls<W>& rolls, Purse<W>& purse, const Set<W>& goal, const Set<W>& field,
           bool any, Deadline& deadline)
        : ways_(ways), rolls_(rolls), purse_(purse), any_(any), deadline_(deadline) {
        if (!any && !goal.is_within(field)) best = 0.0;
        add_part(goal, field);
        for (int size = 1; !any && size < goal.count(); ++size)
            for (int c : goal) {
                deadline_.spend(WORK_PER_LAND * ways_.game.lands);
                Set<W> part = find_nearest(c, goal, size);
                bool is_new = part.count() == size;
                for (const Part& other : parts_) is_new = is_new && other.goal != part;
                if (is_new) add_part(part, ways_.find_useful(part));
            }
    }

    double best = 1.0;
    int64_t values = 0;  // the number of values computed so far in all games

    bool is_done() const { return best <= 0.0 || waiting_.empty(); }

    // Solves the most promising relaxed game, if any is left. Removes games that need more than `most` values, too much
    // memory, or too many bits for a state. If the call is stopped, the next call repeats the game.
    void improve(int64_t most) {
        while (!is_done()) {
            deadline_.spend();
            auto next = find_cheapest();
            Node node = *next;
            const Part& part = parts_[node.part];
            Relaxed<W> game(ways_, rolls_, purse_, part.field, make_level(part, node), any_, deadline_);
            if (!game.explore(most, GROWTH * node.size, deadline_.bytes())) {
                if (game.is_large()) waiting_.erase(next);
                else next->size *= GROWTH;
                continue;
            }
            next->size = node.size = game.work();
            if (find_cheapest() != next) continue;
            double value = game.value();
            values += game.values();
            if (node.is_apart) apart_ += node.size;
            else others_ += node.size;
            best = std::min(best, value > 0.0 ? value + ROUNDING : 0.0);
            node.value = std::min(value, node.value);
            std::erase_if(waiting_, [&](const Node& other) { return other.is_within(node); });
            node.size = std::max(node.size, FIRST_SIZE);
            if (Node finer = node; ++finer.groups <= std::min(part.stacks.size(), MAX_GROUPS)) add(finer);
            if (Node finer = node; ++finer.counts, game.is_capped()) add(finer);
            if (Node finer = node; ++finer.items <= std::min(size_t(part.goal.count()), MAX_ITEMS)) add(finer);
            bool is_whole = node.items == size_t(part.goal.count()) || (node.is_apart && node.items == 1);
            if (is_whole && node.items + size_t(node.extras.count()) < MAX_ITEMS)
                for (int extra : part.extras) {
                    Node finer = node;
                    finer.extras.add(extra);
                    if (finer.extras == node.extras) continue;
                    add(finer);
                    if (!node.is_apart) break;
                }
            return;
        }
    }

  private:
    static constexpr size_t MAX_GROUPS = 6, MAX_EXTRAS = 10;
    static constexpr int LIGHT = 4, LOST = 3, MAX_COUNTS = 8;
    static constexpr int64_t FIRST_SIZE = 5000, GROWTH = 4;
    // For the choice of the next game, values below LOW count as equal. ROUNDING is the margin for rounding errors.
    static constexpr double LOW = 0.5, ROUNDING = 1e-12;

    struct Part {
        Set<W> goal, field;
        std::vector<int> stacks{};  // the stacks that can reach the goal, the strongest stack first
        Set<W> away{};              // the stacks that cannot reach the goal
        std::vector<int> extras{};  // candidates for extra territories, the most useful first
    };

    // A relaxed game that may be solved next: the index of its part of the goal, the numbers of items and groups, the
    // level of the caps on light territories and destroyed defenders (`counts`; the caps are 0 at level 0 and double
    // with each further level), the extra territories, the value of the coarser game that it refines, and an estimate
    // of the work (`size`).
    struct Node {
        size_t part, items, groups;
        int counts;
        Set<W> extras;
        bool is_apart;  // whether the game is for the whole goal, with each stack as a group of its own
        double value;
        int64_t size;

        double cost() const {
            return double(size << (counts + (is_apart ? 2 : 4) * extras.count())) * std::pow(std::max(value, LOW), 8);
        }
        // Returns whether game `o` has at least as many items, groups and extra territories, and at least as great
        // caps.
        bool is_within(const Node& o) const {
            return part == o.part && is_apart == o.is_apart && items <= o.items && groups <= o.groups &&
                   counts <= o.counts && extras.is_within(o.extras);
        }
        bool operator==(const Node& o) const { return is_within(o) && o.is_within(*this); }
    };

    void add_part(const Set<W>& goal, const Set<W>& field) {
        Part part{goal, field};
        int armies = 0;
        Set<W> starts;
        for (int v : ways_.places) {
            deadline_.spend(WORK_PER_LAND * ways_.game.lands);
            Set<W> reach = ways_.find_reach(v, field);
            if (reach.meets(goal)) {
                starts.add(v);
                part.stacks.push_back(v);
                armies += ways_.able(v);
            } else {
                part.away.add(v);
            }
        }
        if (part.stacks.empty()) best = 0.0;
        if (double most = purse_.bound(goal, armies); !any_) best = std::min(best, most > 0.0 ? most + ROUNDING : 0.0);
        std::stable_sort(part.stacks.begin(), part.stacks.end(),
                         [&](int a, int b) { return ways_.able(a) > ways_.able(b); });
        part.extras = find_extras(goal, starts, field, field - goal);
        size_t size = std::min(size_t(goal.count()), MAX_ITEMS), groups = std::min(part.stacks.size(), MAX_GROUPS);
        if (parts_.empty()) {
            for (size_t items : {size_t{1}, size}) {
                add({0, items, 1, 0, {}, false, 1.0, FIRST_SIZE});
                add({0, items, groups, 0, {}, true, 1.0, FIRST_SIZE});
            }
        } else if (goal.count() <= int(MAX_ITEMS)) {
            add({parts_.size(), size, 1, 0, {}, false, 1.0, FIRST_SIZE});
        }
        parts_.push_back(part);
    }
    // Returns the most promising game with `is_apart` or the most promising other game, whichever kind has had less
    // work so far.
    typename std::vector<Node>::iterator find_cheapest() {
        auto first = [this](bool is_apart) {
            return std::min_element(waiting_.begin(), waiting_.end(), [=](const Node& a, const Node& b) {
                return std::pair(a.is_apart != is_apart, a.cost()) < std::pair(b.is_apart != is_apart, b.cost());
            });
        };
        auto spent = [this](const Node& node) { return node.size + (node.is_apart ? apart_ : others_); };
        auto apart = first(true), other = first(false);
        return spent(*other) < spent(*apart) ? other : apart;
    }
    void add(Node node) {
        int64_t trees = 2;  // an estimate of the work to find the Steiner trees
        for (size_t i = 0; i < node.items + size_t(node.extras.count()); ++i) trees *= 3;
        node.size = std::max(GROWTH * node.size, trees);
        if (node.counts >= MAX_COUNTS || std::find(known_.begin(), known_.end(), node) != known_.end()) return;
        known_.push_back(node);
        waiting_.push_back(node);
    }

    // Lists candidates for extra territories: the territories with many defenders near the goal and the stacks come
    // first. Even a territory with one defender can matter: if all paths lead through it, only the group that owns it
    // can pass.
    std::vector<int> find_extras(const Set<W>& goal, const Set<W>& starts, const Set<W>& field, Set<W> lands) const {
        std::vector<int> to = find_distances(goal, field), from = find_distances(starts, field), found;
        std::vector<double> score(to.size(), 0.0);
        while (lands.any()) {
            int u = lands.pop();
            if (to[u] == UNREACHABLE || from[u] == UNREACHABLE) continue;
            score[u] = ways_.game.start.armies[u] / std::pow(to[u] + from[u], 2);
            found.push_back(u);
        }
        std::stable_sort(found.begin(), found.end(), [&](int a, int b) { return score[a] > score[b]; });
        if (found.size() > MAX_EXTRAS) found.resize(MAX_EXTRAS);
        return found;
    }
    std::vector<int> find_distances(Set<W> from, const Set<W>& field) const {
        std::vector<int> found(size_t(ways_.game.lands), UNREACHABLE);
        Set<W> seen;
        for (int d = 1; from.any(); ++d) {
            from = (ways_.find_neighbours(from) & field) - seen;
            seen |= from;
            for (int v : from) found[v] = d;
        }
        return found;
    }

    // Returns territory c with the nearest territories of the goal, `size` territories in all, or fewer if no path
    // leads to further territories.
    Set<W> find_nearest(int c, const Set<W>& goal, int size) const {
        Set<W> part = Set<W>::of(c), seen = part;
        for (Set<W> fresh = seen; fresh.any() && part.count() < size; seen |= fresh) {
            fresh = ways_.find_neighbours(seen) - seen;
            for (Set<W> rest = fresh & goal; rest.any() && part.count() < size;) part.add(rest.pop());
        }
        return part;
    }

    // Divides a goal into items: the most isolated territories and all extra territories get their own items, and all
    // other territories share an item.
    std::vector<Set<W>> make_items(Set<W> goal, const Node& node) const {
        std::vector<Set<W>> items;
        Set<W> own = node.extras;
        for (size_t i = 1; i < node.items; ++i) {
            int best = goal.first();
            for (int c : goal)
                if (rank_isolation(c, goal) < rank_isolation(best, goal)) best = c;
            goal.remove(best);
            own.add(best);
        }
        items.push_back(goal);
        while (own.any()) items.push_back(Set<W>::of(own.pop()));
        return items;
    }
    std::pair<int, int> rank_isolation(int c, const Set<W>& goal) const {
        return {(ways_.near[c] & goal).count(), -ways_.game.start.armies[c]};
    }

    Level<W> make_level(const Part& part, const Node& node) const {
        Level<W> level{{},
                       make_items(part.goal, node),
                       part.goal,
                       part.away,
                       node.counts ? LIGHT << (node.counts - 1) : 0,
                       node.counts ? LOST << (node.counts - 1) : 0};
        for (size_t g = 0; g < part.stacks.size(); ++g) {
            if (g < node.groups) level.groups.emplace_back();
            level.groups.back().add(part.stacks[g]);
        }
        for (int v : part.away) {
            deadline_.spend(WORK_PER_LAND * ways_.game.lands);
            if (!ways_.find_reach(v, part.field).meets(part.goal | node.extras)) continue;
            level.away -= Set<W>::of(v);
            if (node.is_apart) level.groups.emplace_back();
            level.groups.back().add(v);
        }
        return level;
    }

    const Ways<W>& ways_;
    const Rolls<W>& rolls_;
    Purse<W>& purse_;
    bool any_;
    Deadline& deadline_;
    std::vector<Part> parts_;
    std::vector<Node> waiting_;
    std::vector<Node> known_;
    int64_t apart_ = 0, others_ = 0;  // the work so far on games with Node::is_apart, and on other games
};

// An upper bound on the value of all policies: the sum over territories and sets of the payment times an upper bound on
// the chance to take them. Each call of `improve` can make it smaller. The bound ignores the price of lost armies.
template <int W>
class Bounds {
  public:
    Bounds(const Game<W>& game, Deadline& deadline)
        : deadline_(deadline), ways_(game), rolls_(game, deadline), purse_(ways_, rolls_, deadline) {
        if (!rolls_.fits) {
            limit_ = bound_at_once(game);
            return;
        }
        Set<W> reach = ways_.find_reached(ways_.places, game.field);
        if (game.number) {
            if (reach.any()) add(reach, reach, true, 1.0);
            return;
        }
        if (game.once) {
            double most = 0.0;
            Set<W> goal;
            for (int c : reach) {
                double paid = game.find_payment(c, game.field);
                if (paid <= 0.0) continue;
                goal.add(c);
                most = std::max(most, paid);
            }
            if (goal.any()) add(goal, reach, true, most);
            return;
        }
        for (int c = 0; c < game.lands; ++c)
            if (game.field.has(c) && game.pays[c] > 0.0) add(Set<W>::of(c), game.pays[c]);
        for (const auto& set : game.sets)
            if (set.pays > 0.0 && (set.lands & game.field).any()) add(set.lands & game.field, set.pays);
    }

    // Returns a rough upper bound that needs no search: the sum of all payments, or the greatest payment if the first
    // payment ends the turn.
    static double bound_at_once(const Game<W>& game) {
        double sum = 0.0, most = 0.0;
        for (int c : game.field) {
            sum += std::max(game.pays[c], 0.0);
            most = std::max(most, game.find_payment(c, game.field));
        }
        for (const auto& set : game.sets) sum += std::max(set.pays, 0.0);
        if (game.number) return game.field.any() ? 1.0 : 0.0;
        return game.once ? most : sum;
    }

    // Returns upper bounds on the chances to take each territory with a payment, and then each set with a payment.
    std::vector<double> chances() const {
        std::vector<double> found;
        for (const Term& term : terms_) found.push_back(term.search->best);
        return found;
    }

    double best() const {
        double sum = limit_;
        for (const Term& term : terms_) sum += term.pays * term.search->best;
        return sum;
    }
    int64_t values() const {
        int64_t sum = 0;
        for (const Term& term : terms_) sum += term.search->values;
        return sum;
    }

    // Solves another relaxed game. Returns whether more games are left.
    bool improve() {
        Term* next = nullptr;
        for (Term& term : terms_)
            if (!term.search->is_done() && (!next || term.rank() > next->rank())) next = &term;
        if (!next) return false;
        int64_t room = deadline_.bytes() / int64_t(sizeof(double));
        next->search->improve(std::min(room, deadline_.states() - values()));
        return std::any_of(terms_.begin(), terms_.end(), [](const Term& term) { return !term.search->is_done(); });
    }

  private:
    struct Term {
        double pays;
        std::unique_ptr<Chance<W>> search;

        double rank() const { return pays * search->best / double(search->values + 10000); }
    };

    void add(const Set<W>& goal, double pays) { add(goal, ways_.find_useful(goal), false, pays); }
    void add(const Set<W>& goal, const Set<W>& field, bool any, double pays) {
        deadline_.spend(WORK_PER_LAND * ways_.game.lands);
        terms_.push_back({pays, std::make_unique<Chance<W>>(ways_, rolls_, purse_, goal, field, any, deadline_)});
    }

    Deadline& deadline_;
    Ways<W> ways_;
    Rolls<W> rolls_;
    Purse<W> purse_;
    std::vector<Term> terms_;
    double limit_ = 0.0;  // a rough bound if the tables of rolls are too large, otherwise 0
};

}  // namespace iacta
