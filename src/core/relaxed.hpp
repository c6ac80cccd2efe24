// Upper bounds on what any play of a turn is worth.
//
// In a relaxed game each step is easier for the player, and there are few states, so that its
// value is found exactly.
//   Groups: the stacks of a group have one budget, with which it attacks from any of its lands. A
//   conquest takes out of it what must remain, and all that advance where nothing is left to attack.
//   Items: some lands, the goal among them, are put into items. Of an item is known how many
//   defenders its lands have, and which groups own some of it.
//   Light lands: all others. Of them is only known how many each group has taken, n_i, and how many
//   defenders fell there apart from the last of each land, D. A light land may be attacked at any
//   time, as if it had any number of defenders.
// Let N, E, K be the fewest light lands by which the starts of group i and a set Q of items can be
// connected, the least sum of their defenders but one each, and the least sum of their defenders:
// node-weighted Steiner trees (Dreyfus & Wagner 1971). Group i with the items Q_i may attack c only if
//
//     n_i ≥ N_i(Q_i + c),   D ≥ E_i(Q_i + c) + Σ_{j≠i} E_j(Q_j),   n_i + D − Σ_{j≠i} E_j(Q_j) ≥ K_i(Q_i + c).
//
// Each roll of the true game is a roll here, allowed as above since what a group owns is connected by
// light lands of its own; its results are mapped to results that are at least as good, as values do
// not fall with a budget or a count. By induction the value here is at least the true one. Counts
// may stop at a cap, which then counts as any number.
//   Small stacks take light lands without loss: what must remain on the fewest that they need is
//   taken out of their budget. Light lands that they can reach count as if they had one defender.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "game.hpp"

namespace iacta {

constexpr int FAR = 1 << 28;  // more than any number of light lands and of their defenders
constexpr int ENDLESS = std::numeric_limits<int>::max();
constexpr int64_t WAYS = 100;  // how long it takes to look for ways, for each land of the board

// What one of the results of a roll costs, and how many must move in at least if it conquers.
struct Cost {
    double chance;
    int attackers, defenders, advance;
};

// A throw of the attack dice: for each answer of the defender its results.
struct Toss {
    double chance;
    std::vector<std::vector<Cost>> answers;
};

// A roll that may be chosen with at least `able` armies.
struct Choice {
    int able;
    std::vector<Toss> tosses;

    bool is_plain() const { return tosses.size() == 1 && tosses[0].answers.size() == 1; }
    const std::vector<Cost>& costs() const { return tosses[0].answers[0]; }
};

// A choice is looked at with budgets from `from` to `to` - 1.
struct Use {
    int choice, from, to;
};

// The rolls against a number of defenders. Where advances do not matter, fewer may be looked at.
struct Row {
    std::vector<Choice> choices;
    std::vector<Use> uses, plain;
};

// The rolls of all battles of a game.
template <int W>
class Rolls {
  public:
    Rolls(const Game<W>& game, Deadline& deadline)
        : game_(game), deadline_(deadline), rows_(game.kinds), land_(game.kinds, -1) {
        int most_kept = game.free, most = 0;
        for (int v = 0; v < game.lands; ++v) most_kept = std::max(most_kept, game.keep[v]);
        more_ = most_kept - game.free;
        for (Set<W> rest = game.start.mine; rest.any();) {
            int v = rest.pop();
            most = std::max(most, game.start.armies[v] - game.keep[v]);
        }
        most_ = most;
        for (Set<W> rest = game.field; rest.any();) {
            int c = rest.pop();
            land_[game.kind[c]] = c;
        }
        double size = 0.0;
        for (Set<W> rest = game.field; rest.any();) {
            int c = rest.pop();
            if (game.whole[game.kind[c]]) size = std::max(size, double(game.start.armies[c]));
        }
        fits = size * most * (most + size) * game.kinds <= MOST_COSTS;
        for (Set<W> rest = game.field; fits && rest.any();) {
            int c = rest.pop(), last = number(game.kind[c], game.start.armies[c]);
            auto& rows = rows_[game.kind[c]];
            while (int(rows.size()) <= last) rows.push_back(row_of(c, int(rows.size()) + 1));
        }
        for (const auto& rows : rows_)
            for (const Row& row : rows)
                for (const Choice& choice : row.choices)
                    for (const Toss& toss : choice.tosses)
                        for (const auto& answer : toss.answers)
                            for (const Cost& cost : answer) step = std::max(step, cost.defenders);
    }

    int step = 0;  // the most defenders that a roll can cost
    bool fits;     // where whole battles are too large there are no rolls

    const Row& row(int kind, int defenders) const { return rows_[kind][number(kind, defenders)]; }

  private:
    static constexpr double MOST_COSTS = 8e6;

    int number(int kind, int defenders) const {
        if (game_.whole[kind]) return defenders - 1;
        return std::min(defenders, game_.defence_dice(land_[kind]) + 1) - 1;
    }

    Row row_of(int c, int d) const {
        Row row;
        if (game_.whole[game_.kind[c]]) {
            for (int a = 1; a <= std::min(most_, game_.able()); ++a)
                row.choices.push_back(battle_of(c, d, a));
        } else {
            for (int k = game_.attack_dice(c); k > 0; --k) {
                int compared = std::min(k, std::min(d, game_.defence_dice(c)));
                int able = std::max(std::max(1, k - more_), compared);
                if (compared == d) able = std::max(able, game_.least(c, k));
                if (able <= most_) row.choices.push_back(roll_of(c, d, k, able));
            }
            std::stable_sort(row.choices.begin(), row.choices.end(),
                             [](const Choice& a, const Choice& b) { return a.able < b.able; });
        }
        for (size_t i = 0; i < row.choices.size(); ++i)
            row.uses.push_back({int(i), row.choices[i].able, ENDLESS});
        row.plain = best_of(row);
        return row;
    }

    Choice roll_of(int c, int d, int k, int able) const {
        Choice choice{able, {}};
        Span throws = game_.throws(c, k, d);
        for (int t = throws.first; t < throws.last; ++t) {
            deadline_.go_on();
            Toss toss{game_.throw_chance(t), {}};
            Span answers = game_.answers(t);
            for (int a = answers.first; a < answers.last; ++a) {
                toss.answers.emplace_back();
                Span results = game_.results(a);
                for (int i = results.first; i < results.last; ++i) {
                    const Result& r = game_.result(i);
                    int advance = std::min(game_.least(c, k), able - r.attackers);
                    toss.answers.back().push_back({r.chance, r.attackers, r.defenders, advance});
                }
            }
            choice.tosses.push_back(std::move(toss));
        }
        return choice;
    }

    Choice battle_of(int c, int d, int a) const {
        const Battle& battle = game_.battle(c, d);
        deadline_.go_on(10 * (a + d));
        std::vector<Cost> costs;
        int least = game_.least(c, 1);
        for (int x = 0; x < std::min(a, battle.width); ++x) {
            double chance = battle.won[size_t(a) * battle.width + x];
            if (chance > 0.0) costs.push_back({chance, x, d, std::min(least, a - x)});
        }
        for (int e = 1; e <= d; ++e) {
            double chance = battle.lost[size_t(a) * (battle.defenders + 1) + e];
            if (chance > 0.0) costs.push_back({chance, a, d - e, 0});
        }
        return {a, {{1.0, {std::move(costs)}}}};
    }

    // The rolls to look at where the advance does not matter: if each costs a single army on one
    // side, the one most likely to conquer.
    static std::vector<Use> best_of(const Row& row) {
        std::vector<Use> found;
        int best = -1;
        double chance = -1.0;
        for (size_t i = 0; i < row.choices.size(); ++i) {
            const Choice& choice = row.choices[i];
            double each = 0.0;
            bool single = choice.is_plain();
            for (size_t j = 0; single && j < choice.costs().size(); ++j) {
                const Cost& cost = choice.costs()[j];
                single = cost.attackers + cost.defenders == 1;
                if (cost.defenders) each = cost.chance;
            }
            if (!single) return row.uses;
            if (each <= chance) continue;
            if (best >= 0 && row.choices[best].able < choice.able)
                found.push_back({best, row.choices[best].able, choice.able});
            best = int(i);
            chance = each;
        }
        if (best >= 0) found.push_back({best, row.choices[best].able, ENDLESS});
        return found;
    }

    const Game<W>& game_;
    Deadline& deadline_;
    std::vector<std::vector<Row>> rows_;
    std::vector<int> land_;  // of each kind
    int more_, most_;        // more may roll than may be lost; the most armies of a stack
};

// The borders of a game, in both directions.
template <int W>
class Ways {
  public:
    explicit Ways(const Game<W>& game) : game(game) {
        for (int v = 0; v < game.lands; ++v) {
            near.push_back(game.out[v] | game.into[v]);
            stays.push_back(game.stays(v));
        }
        for (Set<W> rest = game.live_stacks(game.start); rest.any();) {
            int v = rest.pop();
            places.add(v);
            stacks.push_back(v);
        }
    }

    const Game<W>& game;
    std::vector<Set<W>> near;
    std::vector<int> stays;   // 1 where an army remains for good once a land is taken, or 0
    std::vector<int> stacks;  // that can attack something
    Set<W> places;

    int able(int v) const { return game.start.armies[v] - game.keep[v]; }
    int able(Set<W> all) const {
        int sum = 0;
        while (all.any()) sum += able(all.pop());
        return sum;
    }
    Set<W> around(Set<W> all) const {
        Set<W> found;
        while (all.any()) found |= near[all.pop()];
        return found;
    }
    Set<W> out(Set<W> all) const {
        Set<W> found;
        while (all.any()) found |= game.out[all.pop()];
        return found;
    }
    Set<W> reached(Set<W> from, const Set<W>& part) const {
        Set<W> found;
        while (from.any()) found |= game.reached(from.pop(), part);
        return found;
    }
    std::vector<Set<W>> components(Set<W> part) const {
        std::vector<Set<W>> found;
        while (part.any()) {
            Set<W> each, fresh = Set<W>::of(part.first());
            while (fresh.any()) {
                each |= fresh;
                fresh = (around(fresh) & part) - each;
            }
            found.push_back(each);
            part -= each;
        }
        return found;
    }
    // What can be of use to take all of a goal: each part that is left out has a single neighbour,
    // and whoever went in could only come out where they went in.
    Set<W> useful(const Set<W>& goal) const {
        Set<W> field = reached(places, game.field);
        for (const Set<W>& part : components(field - goal))
            if ((around(part) & ((goal & field) | places)).count() <= 1) field -= part;
        return field | goal;
    }
    // What a stack may come to attack before its armies are used up, and how many of them remain on
    // lands that it must take before it comes next to any of the items.
    std::pair<Set<W>, int> reach_of(int v, const Set<W>& field, const Set<W>& items) const {
        for (Set<W> rest = field; rest.any();)
            if (stays[rest.pop()] < 1) return {game.reached(v, field), 0};
        Set<W> reach = game.out[v] & field;
        int steps = 0;
        for (int taken = 1; taken < able(v); ++taken) {
            if (!reach.meets(items)) steps = taken;
            Set<W> more = reach | (out(reach) & field);
            if (more == reach) break;
            reach = more;
        }
        return {reach, steps};
    }
};

// How a game is relaxed: the groups, where those left out are small, and the items. The counts of
// light lands of a group, and of defenders lost there, stop; and small stacks that may come to an item
// with at most a few armies are one group.
template <int W>
struct Level {
    static constexpr int MOST_LIGHT = 4, MOST_LOST = 3, FEW = 3;
    std::vector<Set<W>> groups, items;

    bool operator==(const Level& o) const { return groups == o.groups && items == o.items; }
    Set<W> inside() const { return all_of(items); }
    Set<W> large() const { return all_of(groups); }

  private:
    static Set<W> all_of(const std::vector<Set<W>>& sets) {
        Set<W> found;
        for (const auto& each : sets) found |= each;
        return found;
    }
};

// Two numbers at once; sums are the same one by one.
typedef double Pair __attribute__((vector_size(16)));
constexpr int PAD = 2;
typedef int Quad __attribute__((vector_size(16)));

inline Pair load(const double* from) {
    Pair found;
    std::memcpy(&found, from, sizeof found);
    return found;
}
inline void store(double* to, const Pair& pair) { std::memcpy(to, &pair, sizeof pair); }

// line[x] = max(line[x], Σ_i chance[i] · from[i][x]) for all x below a width, rounded up to pairs.
template <int N>
void raise(double* line, int width, const double* chance, const double* const* from, int count) {
    const int n = N ? N : count;
    for (int x = 0; x < width; x += PAD) {
        Pair sum = load(from[0] + x) * chance[0];
        for (int i = 1; i < n; ++i) sum += load(from[i] + x) * chance[i];
        Pair old = load(line + x);
        store(line + x, sum > old ? sum : old);
    }
}
inline void raise(double* line, int width, const double* chance, const double* const* from, int count) {
    if (count == 1) raise<1>(line, width, chance, from, count);
    else if (count == 2) raise<2>(line, width, chance, from, count);
    else if (count == 3) raise<3>(line, width, chance, from, count);
    else if (count > 0) raise<0>(line, width, chance, from, count);
}

// The digits of a state, each in some bits of its own.
using Code = unsigned __int128;
constexpr int CODE_BITS = 127;

// States by code, each with a number.
class Codes {
  public:
    explicit Codes(Deadline& deadline) : deadline_(deadline), keys_(FIRST, NONE) {}

    // Whether a code is new; then it is added.
    bool add(Code code) {
        if (is_full()) grow();
        size_t place = slot(code);
        if (keys_[place] != NONE) return false;
        keys_[place] = code;
        ++count_;
        return true;
    }
    // All codes in order; each then has its place there for a number.
    std::vector<Code> numbered() {
        std::vector<Code> found;
        found.reserve(count_);
        for (Code key : keys_) {
            deadline_.go_on(5);
            if (key != NONE) found.push_back(key);
        }
        std::sort(found.begin(), found.end(), [this](Code a, Code b) {
            deadline_.go_on(5);
            return a < b;
        });
        numbers_ = filled(keys_.size(), int32_t{0}, deadline_);
        for (size_t r = 0; r < found.size(); ++r) {
            deadline_.go_on(100);
            numbers_[slot(found[r])] = int32_t(r);
        }
        return found;
    }
    int32_t number(Code code) const { return numbers_[slot(code)]; }
    // What they take, and the next one: while the table grows, the old one is there too.
    size_t bytes() const { return keys_.size() * (sizeof(Code) + sizeof(int32_t)) * (is_full() ? 3 : 1); }

  private:
    static constexpr Code NONE = ~Code{0};
    static constexpr size_t FIRST = 1024;

    bool is_full() const { return 2 * (count_ + 1) > keys_.size(); }

    size_t slot(Code code) const {
        size_t place = mixed(uint64_t(code) ^ mixed(uint64_t(code >> 64))) & (keys_.size() - 1);
        while (keys_[place] != NONE && keys_[place] != code) place = (place + 1) & (keys_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Code> old = filled(2 * keys_.size(), NONE, deadline_);
        old.swap(keys_);
        for (Code key : old) {
            deadline_.go_on(100);
            if (key != NONE) keys_[slot(key)] = key;
        }
    }

    Deadline& deadline_;
    std::vector<Code> keys_;
    std::vector<int32_t> numbers_;
    size_t count_ = 0;
};

// A kind of land of a multiset: by which rules it is defended, by how many, and what must remain.
struct Class {
    int kind, defenders, kept;
};

// What defenders an item may have, the empty multiset first.
struct Multisets {
    int step;                    // the most defenders that a roll can cost
    std::vector<int> first;      // of each multiset, its first class; and their number
    std::vector<Class> classes;  // of each multiset, without repetition
    std::vector<int> following;  // for each class, the multisets after 0 .. `step` of its defenders are lost

    int size() const { return int(first.size()) - 1; }
    const int* after(int c) const { return &following[size_t(c) * (step + 1)]; }
};

// The least weights of trees that hold a set of items, and a light land or an item of the set.
struct Trees {
    std::vector<int> of_light, of_item;
};

// What is known of items, found once: their multisets, and the trees that connect them.
class Items {
  public:
    Items(int step, Deadline& deadline) : step_(step), deadline_(deadline) {}

    // Those of some key, empty if they are new.
    Trees& trees(const std::vector<int>& key) {
        if (trees_.size() >= MOST_TREES && !trees_.count(key)) trees_.clear();
        return trees_[key];
    }
    // Whether sets of so many items and light lands are few enough to connect.
    static bool connects(size_t items, size_t lands) {
        return items <= 16 && (lands + items) << items <= MOST_CONNECTED;
    }

    // Those that follow from the classes of an item's lands; none if there are more than `most`.
    std::shared_ptr<const Multisets> of(std::vector<std::vector<int>> lands, int64_t most) {
        std::sort(lands.begin(), lands.end());
        auto known = found_.find(lands);
        if (known != found_.end()) return known->second->size() <= most ? known->second : nullptr;
        auto all = find(lands, std::min(most, MOST));
        if (!all) return nullptr;
        if ((numbers_ += all->following.size()) > MOST_NUMBERS) {
            found_.clear();
            numbers_ = all->following.size();
        }
        return found_[lands] = all;
    }

  private:
    static constexpr int64_t MOST = 100000;
    static constexpr size_t MOST_TREES = 16, MOST_CONNECTED = 2'000'000;
    static constexpr size_t MOST_NUMBERS = 16'000'000;  // of `following`, in all
    using Key = std::u16string;  // the numbers of its classes, in order

    std::shared_ptr<const Multisets> find(const std::vector<std::vector<int>>& lands, int64_t most) const {
        std::vector<Class> classes;  // by number; of one kind in a row, from few defenders to many
        std::map<std::pair<int, int>, int> held;
        for (const auto& each : lands) {
            int& defenders = held[{each[0], each[2]}];
            defenders = std::max(defenders, each[1]);
        }
        Key start;
        std::map<std::pair<int, int>, int> base;
        for (auto [kind, defenders] : held) {
            base[kind] = int(classes.size());
            for (int d = 1; d <= defenders; ++d) classes.push_back({kind.first, d, kind.second});
        }
        if (classes.size() > 60000) return nullptr;
        for (const auto& each : lands) start += char16_t(base[{each[0], each[2]}] + each[1] - 1);
        std::sort(start.begin(), start.end());
        auto after = [&](const Key& key, size_t i, int lost) {
            Key next = key;
            if (classes[key[i]].defenders == lost) return next.erase(i, 1);
            char16_t less = char16_t(key[i] - lost);
            for (; i > 0 && next[i - 1] > less; --i) next[i] = next[i - 1];
            next[i] = less;
            return next;
        };
        std::unordered_map<Key, int> number{{start, 0}};
        std::vector<Key> keys{start};
        for (size_t n = 0; n < keys.size(); ++n) {
            if (int64_t(keys.size()) > most) return nullptr;
            Key key = keys[n];
            for (size_t i = 0; i < key.size(); ++i) {
                if (i && key[i] == key[i - 1]) continue;
                for (int lost = 1; lost <= std::min(step_, classes[key[i]].defenders); ++lost) {
                    deadline_.go_on();
                    Key next = after(key, i, lost);
                    if (number.emplace(next, 0).second) keys.push_back(std::move(next));
                }
            }
        }
        std::vector<int> total(keys.size(), 0), order(keys.size());
        for (size_t n = 0; n < keys.size(); ++n) {
            order[n] = int(n);
            for (char16_t c : keys[n]) total[n] += classes[c].defenders;
        }
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return total[a] < total[b]; });
        deadline_.go_on();
        for (size_t n = 0; n < keys.size(); ++n) number[keys[order[n]]] = int(n);
        auto all = std::make_shared<Multisets>();
        all->step = step_;
        for (int n : order) {
            const Key& key = keys[n];
            all->first.push_back(int(all->classes.size()));
            for (size_t i = 0; i < key.size(); ++i) {
                if (i && key[i] == key[i - 1]) continue;
                all->classes.push_back(classes[key[i]]);
                if (all->following.size() + size_t(step_) + 1 > MOST_NUMBERS) return nullptr;
                for (int lost = 0; lost <= step_; ++lost) {
                    deadline_.go_on();
                    bool possible = lost <= classes[key[i]].defenders;
                    all->following.push_back(possible ? number[lost ? after(key, i, lost) : key] : 0);
                }
            }
        }
        all->first.push_back(int(all->classes.size()));
        return all;
    }

    int step_;
    Deadline& deadline_;
    size_t numbers_ = 0;
    std::map<std::vector<int>, Trees> trees_;
    std::map<std::vector<std::vector<int>>, std::shared_ptr<const Multisets>> found_;
};

template <int W>
class Relaxed {
  public:
    // `field` is what may be of use to attack; with `any`, any land of the goal is enough. It is
    // not sound if it is too large, or surely has more than `most` values.
    Relaxed(const Ways<W>& ways, const Rolls<W>& rolls, const Set<W>& field, const Set<W>& goal,
            Items& items, const Level<W>& level, bool any, int64_t most, Deadline& deadline)
        : ways_(ways), game_(ways.game), rolls_(rolls), deadline_(deadline), any_(any), codes_(deadline) {
        Set<W> inside = level.inside();
        find_groups(level, field, inside);
        if (!sound_) return;
        items_ = int(level.items.size());
        Set<W> light = field - inside;
        if (!Items::connects(level.items.size(), size_t(light.count()))) {
            sound_ = false;
            return;
        }
        Set<W> touched;
        for (int v : ways_.stacks) {
            deadline_.go_on(WAYS * game_.lands);
            if (!level.large().has(v)) touched |= ways_.reach_of(v, field, Set<W>{}).first;
        }
        std::vector<int> lands, armies;
        for (Set<W> rest = light; rest.any();) {
            int u = rest.pop();
            lands.push_back(u);
            armies.push_back(touched.has(u) ? 1 : game_.start.armies[u]);
        }
        std::vector<int> held_most(game_.kinds, 0);
        for (size_t i = 0; i < lands.size(); ++i)
            held_most[game_.kind[lands[i]]] = std::max(held_most[game_.kind[lands[i]]], armies[i]);
        for (int kind = 0; kind < game_.kinds; ++kind)
            for (int d = 1; d <= std::min(held_most[kind], rolls_.step + 1); ++d)
                light_rows_.push_back({kind, d});
        if (!lands.empty()) {
            light_kept_ = FAR;
            for (int u : lands) light_kept_ = std::min(light_kept_, game_.keep[u]);
            light_least_ = 1;
            for (int u : lands) light_least_ = std::min(light_least_, ways_.stays[u]);
        }
        for (const Set<W>& item : level.items) {
            int least = 1;
            for (Set<W> rest = item; rest.any();) least = std::min(least, ways_.stays[rest.pop()]);
            item_least_.push_back(least);
            is_goal_.push_back(item.meets(goal));
            Set<W> near = ways_.around(item);
            uint32_t beyond = 0;
            for (int k = 0; k < items_; ++k)
                if (k != int(item_least_.size()) - 1 && near.meets(level.items[k])) beyond |= 1u << k;
            beyond_.push_back(beyond);
            is_open_.push_back(item.count() > 1 || light.meets(near));
        }
        for (const Set<W>& item : level.items) {
            std::vector<std::vector<int>> held;
            for (Set<W> rest = item; rest.any();) {
                int c = rest.pop();
                held.push_back({game_.kind[c], game_.start.armies[c], game_.keep[c]});
            }
            multisets_.push_back(items.of(std::move(held), most));
            if (!multisets_.back()) {
                sound_ = false;
                return;
            }
        }
        connect(level, items, lands, armies);
        int64_t spare = 0;
        for (int n : armies) spare += n - 1;
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
        for (int i = 0; i < items_; ++i) {
            digit(multisets_[i]->size() - 1);
            digit((int64_t{1} << groups_.size()) - 1);
        }
        for (size_t g = 0; g < groups_.size(); ++g) {
            caps_.push_back(useful_[g][0]);
            digit(caps_.back());
        }
        caps_.push_back(int(std::min<int64_t>(level.MOST_LOST, spare)));
        digit(caps_.back());
        sound_ = bits <= CODE_BITS;
        if (!sound_) return;
        light_ = light;
    }

    int64_t values() const { return values_; }

    // Finds the states; returns whether there are at most so many values, and room for them.
    bool explore(int64_t most, int64_t bytes) {
        if (!sound_) return false;
        if (groups_.empty()) return true;
        std::vector<Code> waiting{start_};
        codes_.add(start_);
        std::vector<Attack> attacks;
        View view;
        while (!waiting.empty()) {
            deadline_.go_on();
            Code code = waiting.back();
            waiting.pop_back();
            see(code, view);
            double size = 1.0;
            for (int able : view.able) size *= able + 1;
            if (double(values_) + size > double(most)) return false;
            values_ += int64_t(size);
            int64_t lines = int64_t(size / (view.able.back() + 1)), width = (view.able.back() + PAD) / PAD * PAD;
            bytes_ += lines * width * int64_t(sizeof(double));
            bytes_ += int64_t(sizeof(Code) + sizeof(size_t) + 2 * sizeof(int) * groups_.size());
            if (bytes_ + int64_t(codes_.bytes()) > bytes) return false;
            if (is_won(view)) continue;
            find_attacks(code, view, attacks);
            for (size_t a = 0; a < attacks.size(); ++a)
                for (int lost = 1; lost <= std::min(attacks[a].defenders, rolls_.step); ++lost) {
                    deadline_.go_on(50);
                    Code next = after_[a * (rolls_.step + 1) + lost];
                    if (codes_.add(next)) waiting.push_back(next);
                }
        }
        return true;
    }

    // The value at the start, if the states are found.
    double value() {
        if (groups_.empty()) return 0.0;
        solve();
        // What small stacks lose on their ways is drawn at the start.
        budgets_.clear();
        for (const Group& group : groups_) budgets_.push_back(budget_of(group, light_));
        return mean(0, begin_.back());
    }

  private:

    struct Group {
        Set<W> places;
        int able;
        Set<W> reach;
        bool small = false;
        int paid = 0;
        std::vector<std::pair<int, int>> ways{};  // of small stacks: armies left without loss, lands taken

        int most() const {
            int found = 0;
            for (const auto& way : ways) found = std::max(found, way.first);
            return found;
        }
    };

    // What an attack of a group takes.
    struct Attack {
        int group, kind, defenders, kept, toll;
        bool dead_end;
    };

    // A state, taken apart.
    struct View {
        std::vector<int> multiset, light, able;
        std::vector<uint32_t> owned;
        std::vector<uint64_t> outside;
        int lost;
    };

    void find_groups(const Level<W>& level, const Set<W>& field, const Set<W>& inside) {
        Set<W> large = level.large();
        for (const Set<W>& places : level.groups)
            groups_.push_back({places, ways_.able(places), game_.field});
        std::vector<Group> small;
        for (int v : ways_.stacks) {
            if (large.has(v)) continue;
            deadline_.go_on(WAYS * game_.lands);
            auto [reach, steps] = ways_.reach_of(v, field, inside);
            if (!reach.meets(inside)) continue;
            int able = ways_.able(v) - steps;
            Group group{Set<W>::of(v), able, reach, true, steps, {{able, steps}}};
            std::vector<Group> others;
            int own = able;
            for (Group& other : small) {
                if (std::max(other.most(), own) > level.FEW) {
                    others.push_back(std::move(other));
                    continue;
                }
                group.places |= other.places;
                group.able += other.able;
                group.reach |= other.reach;
                group.paid += other.paid;
                group.ways.insert(group.ways.end(), other.ways.begin(), other.ways.end());
            }
            others.push_back(std::move(group));
            small.swap(others);
        }
        groups_.insert(groups_.end(), small.begin(), small.end());
        std::stable_sort(groups_.begin(), groups_.end(),
                         [](const Group& a, const Group& b) { return a.able < b.able; });
        sound_ = groups_.size() < 32 && level.items.size() <= 16;
    }

    // The least weights by which sets of items can be connected, for each group.
    void connect(const Level<W>& level, Items& items, const std::vector<int>& lands,
                 const std::vector<int>& armies) {
        size_t sets = size_t{1} << items_;
        std::vector<int> ones(lands.size(), 1), spare = armies;
        for (int& n : spare) --n;
        nodes_ = needed(level, items, lands, ones);
        toll_ = nodes_;
        spare_ = needed(level, items, lands, spare);
        whole_ = needed(level, items, lands, armies);
        for (size_t g = 0; g < groups_.size(); ++g) {
            useful_.emplace_back(sets, 0);
            if (!light_least_)
                for (int& n : toll_[g]) n = n < FAR ? 0 : n;
            for (size_t q = sets; q-- > 0;)
                for (int i = 0; i < items_; ++i)
                    toll_[g][q] = std::min(toll_[g][q], toll_[g][q | size_t{1} << i]);
            for (size_t q = 0; q < sets; ++q)
                toll_[g][q] = groups_[g].small ? std::max(toll_[g][q] - groups_[g].paid, 0) : 0;
            if (groups_[g].small)
                for (auto* weighed : {&nodes_, &spare_, &whole_})
                    for (int& n : (*weighed)[g]) n = n < FAR ? 0 : n;
            for (size_t q = sets; q-- > 0;) {
                deadline_.go_on(10 * items_);
                int most = std::max(nodes_[g][q], whole_[g][q]);
                int need = nodes_[g][q] < FAR ? std::min(most, level.MOST_LIGHT) : 0;
                for (int i = 0; i < items_; ++i) need = std::max(need, useful_[g][q | size_t{1} << i]);
                useful_[g][q] = need;
            }
        }
    }

    // By Dreyfus and Wagner: a tree that holds a light land or an item, and a set of items, is two
    // trees that meet there, or a tree that holds a neighbour, and itself.
    Trees trees(const Level<W>& level, const std::vector<int>& lands, const std::vector<int>& weights) const {
        size_t count = lands.size(), row = (count + 3) / 4 * 4, sets = size_t{1} << items_;
        std::vector<std::vector<int>> light(count), joins(count), joined(items_);  // neighbours
        for (size_t u = 0; u < count; ++u) {
            for (size_t w = 0; w < count; ++w)
                if (ways_.near[lands[u]].has(lands[w])) light[u].push_back(int(w));
            for (int i = 0; i < items_; ++i)
                if (ways_.near[lands[u]].meets(level.items[i])) {
                    joins[u].push_back(i);
                    joined[i].push_back(int(u));
                }
        }
        std::vector<int> of_light(sets * row + 1, FAR), of_item(sets * items_, FAR), padded(weights);
        padded.resize(row, 0);
        std::copy(weights.begin(), weights.end(), of_light.begin());
        for (size_t whole = 1; whole < sets; ++whole) {
            for (int i = 0; i < items_; ++i) {
                deadline_.go_on(int64_t{10} << __builtin_popcountll(whole));
                size_t own = size_t{1} << i, rest = whole & ~own, low = rest & -rest;
                if (rest == whole) continue;
                int best = rest ? FAR : 0;
                for (size_t part = (rest - 1) & rest; rest && part; part = (part - 1) & rest)
                    if (part & low)
                        best = std::min(best, of_item[(part | own) * items_ + i] +
                                                  of_item[((rest ^ part) | own) * items_ + i]);
                for (int j = 0; j < items_; ++j)
                    if (rest >> j & 1 && beyond_[i] >> j & 1)
                        best = std::min(best, of_item[rest * items_ + j]);
                for (int u : joined[i])
                    if (rest) best = std::min(best, of_light[rest * row + u]);
                of_item[whole * items_ + i] = best;
            }
            int* own = &of_light[whole * row];
            size_t low = whole & -whole;
            for (size_t part = (whole - 1) & whole; part; part = (part - 1) & whole) {
                if (!(part & low)) continue;
                deadline_.go_on(int64_t(row));
                const int *a = &of_light[part * row], *b = &of_light[(whole ^ part) * row];
                for (size_t u = 0; u < row; u += 4) {
                    Quad best, x, y, weight;
                    std::memcpy(&best, own + u, sizeof best);
                    std::memcpy(&x, a + u, sizeof x);
                    std::memcpy(&y, b + u, sizeof y);
                    std::memcpy(&weight, &padded[u], sizeof weight);
                    x += y - weight;
                    best = x < best ? x : best;
                    std::memcpy(own + u, &best, sizeof best);
                }
            }
            for (size_t u = 0; u < count; ++u)
                for (int i : joins[u])
                    if (whole >> i & 1) own[u] = std::min(own[u], of_item[whole * items_ + i] + weights[u]);
            for (bool better = true; better;) {
                better = false;
                deadline_.go_on(10 * int64_t(count));
                for (size_t u = 0; u < count; ++u)
                    for (int w : light[u])
                        if (own[w] + weights[u] < own[u]) own[u] = own[w] + weights[u], better = true;
            }
        }
        return {std::move(of_light), std::move(of_item)};
    }

    // For each group the least weight that connects each set of items.
    std::vector<std::vector<int>> needed(const Level<W>& level, Items& items, const std::vector<int>& lands,
                                         const std::vector<int>& weights) const {
        std::vector<int> key = weights;
        for (const Set<W>& item : level.items) {
            key.push_back(-1);
            for (Set<W> rest = item; rest.any();) key.push_back(rest.pop());
        }
        Trees& known = items.trees(key);
        if (known.of_light.empty()) known = trees(level, lands, weights);
        const auto& [of_light, of_item] = known;
        size_t count = lands.size(), row = (count + 3) / 4 * 4, sets = size_t{1} << items_;
        std::vector<std::vector<int>> found;
        for (const Group& group : groups_) {
            Set<W> out = ways_.out(group.places);
            std::vector<int> best(sets, FAR);
            best[0] = 0;
            size_t beyond = 0;
            for (int i = 0; i < items_; ++i)
                if (!level.items[i].meets(group.reach)) beyond |= size_t{1} << i;
            for (size_t whole = 1; whole < sets; ++whole) {
                size_t low = whole & -whole;
                deadline_.go_on((int64_t{1} << __builtin_popcountll(whole)) + int64_t(count));
                int each = FAR;
                for (size_t part = (whole - 1) & whole; part; part = (part - 1) & whole)
                    if (part & low) each = std::min(each, best[part] + best[whole ^ part]);
                for (int i = 0; i < items_; ++i)
                    if (whole >> i & 1 && out.meets(level.items[i]))
                        each = std::min(each, of_item[whole * items_ + i]);
                for (size_t u = 0; u < count; ++u)
                    if (out.has(lands[u])) each = std::min(each, of_light[whole * row + u]);
                best[whole] = each;
            }
            for (size_t whole = 1; whole < sets; ++whole)
                if (whole & beyond) best[whole] = FAR;
            found.push_back(std::move(best));
        }
        return found;
    }

    // The distribution of a budget when its stacks come next to an item, as if all defenders on
    // their ways were single.
    std::vector<double> budget_of(const Group& group, const Set<W>& light) const {
        std::vector<double> budget(size_t(group.able) + 1, 0.0);
        budget.back() = 1.0;
        if (!group.small) return budget;
        std::vector<const Row*> rows;
        for (int kind = 0; kind < game_.kinds; ++kind)
            for (Set<W> rest = light; rest.any();)
                if (game_.kind[rest.pop()] == kind) {
                    rows.push_back(&rolls_.row(kind, 1));
                    break;
                }
        std::vector<double> conquered(size_t(group.able) + 1, 0.0);  // at a loss of at most x
        for (int x = 0; x <= group.able; ++x)
            for (const Row* row : rows)
                for (const Choice& choice : row->choices) {
                    deadline_.go_on();
                    double chance = 0.0;
                    for (const Toss& toss : choice.tosses) {
                        double least = 2.0;
                        for (const auto& answer : toss.answers) {
                            double sum = 0.0;
                            for (const Cost& each : answer) {
                                int left = x - each.attackers;
                                if (left >= 0) sum += each.chance * (each.defenders ? 1.0 : conquered[left]);
                            }
                            least = std::min(least, sum);
                        }
                        chance += toss.chance * least;
                    }
                    conquered[x] = std::max(conquered[x], chance);
                }
        budget.assign(1, 1.0);
        for (auto [able, steps] : group.ways) {
            std::vector<double> lost(size_t(able) + 1, 0.0);
            lost[0] = 1.0;
            for (int i = 0; i < steps; ++i) {
                std::vector<double> next(lost.size(), 0.0);
                for (size_t x = 0; x < lost.size(); ++x) {
                    deadline_.go_on(int64_t(lost.size()));
                    double step = conquered[x] - (x ? conquered[x - 1] : 0.0);
                    for (size_t y = x; y < lost.size(); ++y) next[y] += step * lost[y - x];
                }
                lost.swap(next);
            }
            double sum = 0.0;
            for (double each : lost) sum += each;
            std::reverse(lost.begin(), lost.end());
            lost[0] += std::max(1.0 - sum, 0.0);
            std::vector<double> both(budget.size() + lost.size() - 1, 0.0);
            deadline_.go_on(int64_t(budget.size() * lost.size()));
            for (size_t x = 0; x < budget.size(); ++x)
                for (size_t y = 0; y < lost.size(); ++y) both[x + y] += budget[x] * lost[y];
            budget.swap(both);
        }
        return budget;
    }

    int digit(Code code, size_t i) const { return int(int64_t(code >> shift_[i]) & mask_[i]); }

    void see(Code code, View& view) const {
        size_t n = groups_.size();
        view.multiset.resize(items_);
        view.outside.resize(items_);
        view.light.resize(n);
        view.able.resize(n);
        view.owned.assign(n, 0);
        for (int i = 0; i < items_; ++i) {
            view.multiset[i] = digit(code, 2 * i);
            view.outside[i] = uint64_t(digit(code, 2 * i + 1));
            for (size_t g = 0; g < n; ++g)
                if (!(view.outside[i] >> g & 1)) view.owned[g] |= 1u << i;
        }
        for (size_t g = 0; g < n; ++g) {
            view.light[g] = caps_[g] - digit(code, 2 * items_ + g);
            int able = groups_[g].able - view.light[g] * light_least_ - toll_[g][view.owned[g]];
            for (int i = 0; i < items_; ++i)
                if (view.owned[g] >> i & 1) able -= item_least_[i];
            view.able[g] = std::max(able, 0);
        }
        view.lost = caps_[n] - digit(code, 2 * items_ + n);
    }

    bool is_won(const View& view) const {
        uint64_t everyone = (uint64_t{1} << groups_.size()) - 1;
        for (int i = 0; i < items_; ++i) {
            if (!is_goal_[i]) continue;
            if (any_ && view.outside[i] != everyone) return true;
            if (!any_ && view.multiset[i]) return false;
        }
        return !any_;
    }

    bool is_dead_end(const View& view, int item) const {
        if (is_open_[item]) return false;
        for (int k = 0; k < items_; ++k)
            if (beyond_[item] >> k & 1 && view.multiset[k]) return false;
        return true;
    }

    // Finds what may be attacked in a state, and in `after_` the states after 0, 1, 2 ... defenders
    // are lost.
    void find_attacks(Code code, const View& view, std::vector<Attack>& attacks) {
        attacks.clear();
        after_.clear();
        size_t n = groups_.size();
        int cap = caps_[n], step = rolls_.step;
        Code pool = place_[2 * items_ + n];
        int64_t spent = 0;
        for (size_t g = 0; g < n; ++g) spent += spare_[g][view.owned[g]];
        for (size_t g = 0; g < n; ++g) {
            if (!view.able[g]) continue;
            deadline_.go_on(20 * items_);
            uint32_t owned = view.owned[g];
            int64_t others = spent - spare_[g][owned];
            bool wanted = view.light[g] < caps_[g] && view.light[g] < useful_[g][owned];
            if (!groups_[g].small)
                for (auto [kind, defenders] : light_rows_) {
                    bool useful = false;
                    after_.push_back(code);
                    for (int lost = 1; lost <= step; ++lost) {
                        Code next = code;
                        if (lost <= defenders) {
                            next -= Code(std::min(lost, std::min(defenders - 1, cap - view.lost))) * pool;
                            if (lost == defenders && wanted) next -= place_[2 * items_ + g];
                            useful = useful || next != code;
                        }
                        after_.push_back(next);
                    }
                    if (useful) attacks.push_back({int(g), kind, defenders, light_kept_, 0, false});
                    else after_.resize(attacks.size() * (step + 1));
                }
            for (int i = 0; i < items_; ++i) {
                uint32_t more = owned | 1u << i;
                if (!view.multiset[i] || nodes_[g][more] >= FAR) continue;
                if (view.light[g] < std::min(nodes_[g][more], caps_[g])) continue;
                int64_t whole = std::min<int64_t>(whole_[g][more] + others - view.lost, caps_[g]);
                if (view.lost < cap && (view.lost < spare_[g][more] + others || view.light[g] < whole)) continue;
                bool dead_end = is_dead_end(view, i);
                int toll = toll_[g][more] - toll_[g][owned];
                const Multisets& all = *multisets_[i];
                for (int c = all.first[view.multiset[i]]; c < all.first[view.multiset[i] + 1]; ++c) {
                    deadline_.go_on(10 * step);
                    const Class& each = all.classes[c];
                    const int* following = all.after(c);
                    attacks.push_back({int(g), each.kind, each.defenders, each.kept, toll, dead_end});
                    after_.push_back(code);
                    for (int lost = 1; lost <= step; ++lost) {
                        Code next = code;
                        if (lost <= each.defenders) {
                            next -= Code(view.multiset[i] - following[lost]) * place_[2 * i];
                            if (lost == each.defenders && !(owned >> i & 1)) next -= place_[2 * i + 1] << g;
                        }
                        after_.push_back(next);
                    }
                }
            }
        }
    }

    // A result of an attack of the state at hand: its values are those of `slot`, so many back.
    struct Part {
        double chance;
        size_t slot, back;
        bool stays;  // costs no defender
    };

    // A roll of the state at hand, with budgets of its group from `from` to `to` - 1. Its parts are
    // those from `first` on, answer by answer. Where it is the last group's, and plain, the part that
    // costs no defender leads back to the same line: `again` says how.
    struct Action {
        size_t group;
        int from, to;
        const Choice* choice;
        size_t first;
        int count, again;
    };

    // How a roll of the last group leads back to the same line: with a chance, at a loss. `sum` is
    // the most that the other results of such rolls are worth, for each budget.
    struct Again {
        double chance;
        int gone;
        std::vector<double> sum;
    };

    // What can be done in a state, taken apart.
    struct Plan {
        std::vector<Action> actions;
        std::vector<Part> parts;
        std::vector<size_t> base, at;  // by slot: where the values begin, in all and for the line at hand
        std::vector<int> strides;      // by slot and group
        std::vector<Again> agains;
        size_t used = 0;  // of `agains`
        bool hard = false;
    };

    void find_plan(const std::vector<Attack>& attacks, const std::vector<int>& stride, size_t longest,
                   Plan& plan) {
        size_t n = groups_.size(), last = n - 1;
        plan.actions.clear();
        plan.parts.clear();
        plan.base.clear();
        plan.strides.clear();
        plan.used = 0;
        plan.hard = false;
        for (size_t a = 0; a < attacks.size(); ++a) {
            const Attack& attack = attacks[a];
            const Row& row = rolls_.row(attack.kind, attack.defenders);
            size_t slot = plan.base.size(), g = size_t(attack.group);
            for (int lost = 0; lost <= std::min(attack.defenders, rolls_.step); ++lost) {
                size_t next = size_t(codes_.number(after_[a * (rolls_.step + 1) + lost]));
                plan.base.push_back(begin_[next]);
                plan.strides.insert(plan.strides.end(), &stride[next * n], &stride[next * n] + n);
            }
            for (const Use& use : attack.kept <= 1 && !attack.dead_end ? row.plain : row.uses) {
                const Choice& choice = row.choices[use.choice];
                deadline_.go_on();
                Action action{g, attack.toll + use.from, use.to == ENDLESS ? ENDLESS : attack.toll + use.to,
                              &choice, plan.parts.size(), 0, -1};
                if (g == last && size_t(action.from) >= longest) continue;  // more than any budget
                bool plain = choice.is_plain() && choice.costs().size() <= MOST_COSTS;
                const Cost* same = nullptr;
                if (g == last && plain) {
                    int count = 0;
                    for (const Cost& cost : choice.costs())
                        if (!cost.defenders) same = &cost, ++count;
                    plain = count <= 1;
                }
                for (const Toss& toss : choice.tosses)
                    for (const auto& answer : toss.answers)
                        for (const Cost& cost : answer) {
                            deadline_.go_on(10);
                            if (plain && &cost == same) continue;
                            int gone = cost.attackers, kept = attack.dead_end ? cost.advance : attack.kept;
                            if (cost.defenders == attack.defenders)
                                gone += attack.toll + std::min(cost.advance, kept);
                            size_t each = slot + cost.defenders, back = size_t(gone) * plan.strides[each * n + g];
                            plan.parts.push_back({cost.chance, each, back, !cost.defenders});
                        }
                action.count = int(plan.parts.size() - action.first);
                if (plain) action.choice = nullptr;
                else if (g == last) plan.hard = true;
                if (plain && g == last)
                    action.again = same ? again_of(same->chance, same->attackers, longest, plan)
                                        : again_of(0.0, 1, longest, plan);
                plan.actions.push_back(action);
            }
        }
        plan.at.resize(plan.base.size());
    }

    static int again_of(double chance, int gone, size_t longest, Plan& plan) {
        for (size_t i = 0; i < plan.used; ++i)
            if (plan.agains[i].chance == chance && plan.agains[i].gone == gone) return int(i);
        if (plan.used == plan.agains.size())
            plan.agains.push_back({0.0, 0, std::vector<double>(longest + PAD)});
        plan.agains[plan.used].chance = chance;
        plan.agains[plan.used].gone = gone;
        return int(plan.used++);
    }

    void solve() {
        std::vector<Code> states = codes_.numbered();
        size_t n = groups_.size(), last = n - 1;
        std::vector<int> size = filled(states.size() * n, 0, deadline_), stride = size;
        View view;
        size_t total = 0;
        int longest = 0;
        begin_.reserve(states.size());
        for (size_t r = 0; r < states.size(); ++r) {
            deadline_.go_on();
            see(states[r], view);
            int width = (view.able[last] + PAD) / PAD * PAD;
            longest = std::max(longest, width);
            size[r * n + last] = view.able[last] + 1;
            stride[r * n + last] = 1;
            for (size_t g = last; g-- > 0;) {
                size[r * n + g] = view.able[g] + 1;
                stride[r * n + g] = width;
                width *= view.able[g] + 1;
            }
            begin_.push_back(total);
            total += size_t(width);
        }
        for (size_t& each : begin_) each += longest;  // a line may be looked at before its begin
        total += longest;
        values_at_ = filled(total + PAD, 0.0, deadline_);
        double* values = values_at_.data();
        std::vector<Attack> attacks;
        Plan plan;
        std::vector<int> budgets(n);
        std::vector<double> mean(longest + PAD), least(longest + PAD), mixed(longest + PAD);
        strides_.assign(stride.end() - n, stride.end());
        for (size_t r = 0; r < states.size(); ++r) {
            see(states[r], view);
            const int *own_size = &size[r * n], *own_stride = &stride[r * n];
            size_t line_width = size_t(own_size[last] + PAD - 1) / PAD * PAD;
            size_t end = r + 1 < states.size() ? begin_[r + 1] : total;
            if (is_won(view)) {
                std::fill(values + begin_[r], values + end, 1.0);
                continue;
            }
            find_attacks(states[r], view, attacks);
            find_plan(attacks, stride, size_t(longest), plan);
            std::fill(budgets.begin(), budgets.end(), 0);
            for (size_t line = begin_[r]; line < end; line += line_width) {
                deadline_.go_on(int64_t(n * plan.base.size()));
                double* own = values + line;
                int width = own_size[last];
                for (size_t g = 0; g < last; ++g)  // more armies are not worth less
                    if (budgets[g]) {
                        const double* fewer = own - own_stride[g];
                        for (int x = 0; x < width; x += PAD) {
                            Pair a = load(own + x), b = load(fewer + x);
                            store(own + x, a > b ? a : b);
                        }
                    }
                for (size_t i = 0; i < plan.used; ++i)
                    std::fill_n(plan.agains[i].sum.begin(), width + PAD, -2.0);
                for (size_t slot = 0; slot < plan.base.size(); ++slot) {
                    size_t place = plan.base[slot];
                    for (size_t h = 0; h < last; ++h)
                        place += size_t(budgets[h]) * plan.strides[slot * n + h];
                    plan.at[slot] = place;
                }
                const double* from[MOST_COSTS];
                double chance[MOST_COSTS];
                for (const Action& action : plan.actions) {
                    bool is_last = action.group == last;
                    int able = is_last ? std::max(width - 1, action.from) : budgets[action.group];
                    if (able >= (is_last ? width : action.to) || able < action.from) continue;
                    deadline_.go_on(width * action.count);
                    const Part* parts = plan.parts.data() + action.first;
                    if (action.choice) {
                        if (!is_last) raise_hard(own, width, values, plan, action, mean, least, mixed);
                        continue;
                    }
                    size_t first = is_last ? size_t(action.from) : 0;
                    for (int i = 0; i < action.count; ++i) {
                        chance[i] = parts[i].chance;
                        from[i] = values + plan.at[parts[i].slot] - parts[i].back + first;
                    }
                    if (!is_last) {
                        raise(own, width, chance, from, action.count);
                        continue;
                    }
                    // The last pair may reach beyond the budgets of this roll.
                    double* sum = plan.agains[action.again].sum.data();
                    size_t behind = size_t(std::min(width, action.to));
                    double kept = sum[behind];
                    if (action.count) raise(sum + first, int(behind - first), chance, from, action.count);
                    else
                        for (size_t x = first; x < behind; ++x) sum[x] = std::max(sum[x], 0.0);
                    sum[behind] = kept;
                }
                // Sums that are not there are -2, so that nothing makes them worth anything.
                for (int x = 1; x < width; ++x) {
                    double best = std::max(own[x], own[x - 1]);
                    for (size_t i = 0; i < plan.used; ++i) {
                        const Again& each = plan.agains[i];
                        best = std::max(best, each.sum[x] + each.chance * own[x - each.gone]);
                    }
                    deadline_.go_on(int64_t(plan.used + (plan.hard ? 2 * plan.parts.size() : 0)));
                    if (plan.hard) best = std::max(best, hard(values, own, x, plan));
                    own[x] = best;
                }
                for (size_t g = last; g-- > 0;) {
                    if (++budgets[g] < own_size[g]) break;
                    budgets[g] = 0;
                }
            }
        }
    }

    // Raises a line to what a roll is worth to which the defender replies.
    void raise_hard(double* own, int width, const double* values, const Plan& plan, const Action& action,
                    std::vector<double>& mean, std::vector<double>& least, std::vector<double>& mixed) const {
        const Part* part = plan.parts.data() + action.first;
        std::fill_n(mixed.begin(), width, 0.0);
        for (const Toss& toss : action.choice->tosses) {
            std::fill_n(least.begin(), width, 2.0);
            for (const auto& answer : toss.answers) {
                std::fill_n(mean.begin(), width, 0.0);
                for (size_t i = 0; i < answer.size(); ++i, ++part) {
                    const double* to = values + plan.at[part->slot] - part->back;
                    for (int x = 0; x < width; ++x) mean[x] += part->chance * to[x];
                }
                for (int x = 0; x < width; ++x) least[x] = std::min(least[x], mean[x]);
            }
            for (int x = 0; x < width; ++x) mixed[x] += toss.chance * least[x];
        }
        for (int x = 0; x < width; ++x) own[x] = std::max(own[x], mixed[x]);
    }

    // The most that rolls of the last group are worth to which the defender replies, or that cost no
    // defender in several ways.
    double hard(const double* values, const double* own, int x, const Plan& plan) const {
        double best = 0.0;
        for (const Action& action : plan.actions) {
            if (action.group != groups_.size() - 1 || !action.choice) continue;
            if (x < action.from || x >= action.to) continue;
            const Part* part = plan.parts.data() + action.first;
            double value = 0.0;
            for (const Toss& toss : action.choice->tosses) {
                double least = 2.0;
                for (const auto& answer : toss.answers) {
                    double mean = 0.0;
                    for (size_t i = 0; i < answer.size(); ++i, ++part) {
                        const double* to = part->stays ? own : values + plan.at[part->slot];
                        mean += part->chance * to[x - int(part->back)];
                    }
                    least = std::min(least, mean);
                }
                value += toss.chance * least;
            }
            best = std::max(best, value);
        }
        return best;
    }

    double mean(size_t g, size_t place) const {
        if (g == groups_.size()) return values_at_[place];
        double sum = 0.0;
        deadline_.go_on(int64_t(budgets_[g].size()));
        for (size_t x = 0; x < budgets_[g].size(); ++x)
            if (budgets_[g][x] != 0.0) sum += budgets_[g][x] * mean(g + 1, place + x * size_t(strides_[g]));
        return sum;
    }

    static constexpr size_t MOST_COSTS = 256;

    const Ways<W>& ways_;
    const Game<W>& game_;
    const Rolls<W>& rolls_;
    Deadline& deadline_;
    bool any_, sound_ = true;
    std::vector<Group> groups_;
    Set<W> light_;
    int items_ = 0, light_kept_ = 0, light_least_ = 0;
    std::vector<std::pair<int, int>> light_rows_;  // kind and defenders
    std::vector<int> item_least_;
    std::vector<uint8_t> is_goal_, is_open_;
    std::vector<uint32_t> beyond_;
    std::vector<std::vector<int>> nodes_, spare_, whole_, toll_, useful_;  // by group and set of items
    std::vector<std::shared_ptr<const Multisets>> multisets_;
    std::vector<int> caps_;
    std::vector<int> shift_;
    std::vector<int64_t> mask_;
    std::vector<Code> place_;
    Code start_ = 0;
    std::vector<std::vector<double>> budgets_;
    Codes codes_;
    int64_t values_ = 0, bytes_ = 0;
    std::vector<Code> after_;
    std::vector<size_t> begin_;
    std::vector<int> strides_;
    std::vector<double> values_at_;
};


// Relaxed games whose values bound a chance, from coarse to fine.
//
// A finer level has more states, and mostly a smaller value. The ladder begins with all of the goal in
// one item, and ends with an item for each of its lands; the large stacks are groups, from none of
// them to all. From the best level on, further groups, and items for lands on cheap ways to the goal,
// are added as long as that lowers the value. All this is done for room that grows from round to round.
template <int W>
class Ladder {
  public:
    Ladder(const Ways<W>& ways, const Rolls<W>& rolls, const Set<W>& goal, const Set<W>& field, bool any,
           Deadline& deadline)
        : ways_(ways), game_(ways.game), rolls_(rolls), deadline_(deadline),
          items_(rolls.step, deadline), goal_(goal & field), field_(field), any_(any) {
        strengths_ = strengths();
        if (strengths_.empty() || (!any && !goal.within(field))) best = 0.0;
        if (best > 0.0) find_levels();
    }

    double best = 1.0;
    int64_t values = 0;  // that were looked at

    bool done() const { return best <= 0.0 || is_all_; }

    // Solves one relaxed game of at most so many values, if there is one. What is stopped in the
    // middle begins anew.
    void improve(int64_t most) {
        while (!done()) {
            deadline_.go_on();
            if (next_ == waiting_.size()) {
                refill(most);
                continue;
            }
            const Level<W> level = waiting_[next_];
            double value = value_of(level, std::min(room_, most));
            ++next_;
            if (value < 0.0) continue;
            best = std::min(best, value);
            if (value < climbed_ - (climbs_ ? std::max(LEAST_GAIN, RELATIVE_GAIN * climbed_) : 0.0)) {
                climbed_ = value;
                from_ = level;
                if (climbs_) climb();
            }
            return;
        }
    }

  private:
    static constexpr size_t MOST_LARGE = 3, MOST_ITEMS = 12, MOST_EXTRAS = 10;
    static constexpr double SMALL = 4.0;  // large stacks have more than a fourth of the largest
    static constexpr double KEPT = 0.7, LOST = 0.9, LONG = 100.0, DETOUR = 2.0;
    static constexpr double LEAST_GAIN = 1e-4, RELATIVE_GAIN = 2e-3, ROUNDING = 1e-12;
    static constexpr int64_t FIRST_ROOM = 20000, GROWTH = 4;

    // The value of a level; -1 where it is known, or has no room.
    double value_of(const Level<W>& level, int64_t room) {
        if (std::find(solved_.begin(), solved_.end(), level) != solved_.end()) return -1.0;
        Relaxed<W> game(ways_, rolls_, field_, goal_, items_, level, any_, room, deadline_);
        if (!game.explore(room, deadline_.bytes())) {
            is_cut_ = true;
            return -1.0;
        }
        double value = game.value();
        solved_.push_back(level);
        values += game.values();
        return value > 0.0 ? std::min(value + ROUNDING, 1.0) : 0.0;
    }

    // Finds what to solve next: finer levels than the best one, and then all again with more room.
    void refill(int64_t most) {
        if (!climbs_ && climbed_ <= 1.0) return climb();
        is_all_ = room_ >= most || (room_ && !is_cut_);
        room_ = room_ ? room_ * GROWTH : FIRST_ROOM;
        is_cut_ = climbs_ = false;
        waiting_ = levels_;
        next_ = 0;
    }
    void climb() {
        climbs_ = true;
        waiting_ = finer(from_);
        next_ = 0;
    }

    void find_levels() {
        std::vector<std::pair<int, double>> strongest = strengths_;
        std::stable_sort(strongest.begin(), strongest.end(),
                         [](const auto& a, const auto& b) { return a.second > b.second; });
        std::vector<std::vector<Set<W>>> items(1);
        for (Set<W> rest = goal_; rest.any();) items[0].push_back(Set<W>::of(rest.pop()));
        while (items[0].size() > MOST_ITEMS) merge(items[0]);
        while (items.back().size() > 1) {
            items.push_back(items.back());
            merge(items.back());
        }
        for (size_t i = items.size(); i-- > 0;) {
            Level<W> level{{}, items[i]};
            levels_.push_back(level);
            for (size_t j = 0; j < std::min(strongest.size(), MOST_LARGE); ++j) {
                if (strongest[j].second < strongest[0].second / SMALL) break;
                level.groups.push_back(Set<W>::of(strongest[j].first));
                levels_.push_back(level);
            }
        }
    }

    // Levels with one more item or group.
    std::vector<Level<W>> finer(const Level<W>& level) const {
        std::vector<Level<W>> found;
        std::vector<int> extras = on_ways(level);
        if (extras.size() > MOST_EXTRAS) extras.resize(MOST_EXTRAS);
        Set<W> inside = level.inside();
        for (int v : ways_.stacks) {
            deadline_.go_on(WAYS * game_.lands);
            if (level.large().has(v) || !ways_.reach_of(v, field_, inside).first.meets(inside)) continue;
            found.push_back(level);
            found.back().groups.push_back(Set<W>::of(v));
        }
        for (int x : extras) {
            if (level.items.size() >= MOST_ITEMS) break;
            found.push_back(level);
            found.back().items.push_back(Set<W>::of(x));
        }
        return found;
    }

    // About how many armies stacks have left when they come next to the goal.
    std::vector<std::pair<int, double>> strengths() const {
        std::vector<double> price = price_of(field_ - goal_);
        std::vector<std::pair<int, double>> found;
        for (int v : ways_.stacks) {
            deadline_.go_on(WAYS * game_.lands);
            if (!ways_.reach_of(v, field_, Set<W>{}).first.meets(goal_)) continue;
            double least = game_.out[v].meets(goal_) ? 0.0 : LONG;
            std::vector<double> cost = prices(Set<W>::of(v), price);
            for (int u = 0; u < game_.lands; ++u)
                if (cost[u] >= 0.0 && game_.out[u].meets(goal_)) least = std::min(least, cost[u]);
            found.push_back({v, ways_.able(v) - least});
        }
        return found;
    }

    // About what light lands cost; all others have -1.
    std::vector<double> price_of(Set<W> light) const {
        std::vector<double> price(game_.lands, -1.0);
        while (light.any()) {
            int u = light.pop();
            price[u] = KEPT + LOST * game_.start.armies[u];
        }
        return price;
    }

    // What the cheapest ways from some lands to each light one cost; -1 where there is none.
    std::vector<double> prices(const Set<W>& places, const std::vector<double>& price) const {
        std::vector<double> found(game_.lands, -1.0), open(game_.lands, -1.0);
        for (Set<W> rest = ways_.around(places); rest.any();) {
            int u = rest.pop();
            if (price[u] >= 0.0) open[u] = price[u];
        }
        for (;;) {
            deadline_.go_on(game_.lands);
            int best = -1;
            for (int u = 0; u < game_.lands; ++u)
                if (open[u] >= 0.0 && found[u] < 0.0 && (best < 0 || open[u] < open[best])) best = u;
            if (best < 0) return found;
            found[best] = open[best];
            for (Set<W> rest = ways_.near[best]; rest.any();) {
                int w = rest.pop();
                double cost = found[best] + price[w];
                if (price[w] >= 0.0 && found[w] < 0.0 && (open[w] < 0.0 || cost < open[w])) open[w] = cost;
            }
        }
    }

    // Makes one of the two items that are nearest to each other.
    void merge(std::vector<Set<W>>& items) const {
        size_t a = 0, b = 1;
        std::vector<int> best;
        for (size_t i = 0; i < items.size(); ++i)
            for (size_t j = i + 1; j < items.size(); ++j) {
                deadline_.go_on();
                Set<W> near = ways_.around(items[i]);
                std::vector<int> close{near.meets(items[j]), (near & ways_.around(items[j])).meets(field_),
                                       -(items[i] | items[j]).count()};
                if (best.empty() || close > best) best = close, a = i, b = j;
            }
        Set<W> both = items[a] | items[b];
        items.erase(items.begin() + b);
        items.erase(items.begin() + a);
        items.insert(items.begin(), both);
    }

    // Light lands on cheap ways to items, those that cost most first.
    std::vector<int> on_ways(const Level<W>& level) const {
        std::vector<double> price = price_of(field_ - level.inside()), score(game_.lands, 0.0);
        std::vector<std::vector<double>> ways;
        for (const Set<W>& item : level.items) ways.push_back(prices(item, price));
        for (auto [v, strength] : strengths_) {
            std::vector<double> own = prices(Set<W>::of(v), price);
            for (size_t i = 0; i < level.items.size(); ++i) {
                if (game_.out[v].meets(level.items[i])) continue;
                double least = -1.0;
                for (int u = 0; u < game_.lands; ++u)
                    if (own[u] >= 0.0 && ways[i][u] >= 0.0) {
                        double whole = own[u] + ways[i][u] - price[u];
                        if (least < 0.0 || whole < least) least = whole;
                    }
                for (int u = 0; u < game_.lands; ++u)
                    if (own[u] >= 0.0 && ways[i][u] >= 0.0) {
                        double whole = own[u] + ways[i][u] - price[u];
                        double far = (1.0 + whole - least) * (1.0 + least);
                        if (whole < least + DETOUR) score[u] += std::max(strength, 1.0) * price[u] / far;
                    }
            }
        }
        std::vector<int> found;
        for (int u = 0; u < game_.lands; ++u)
            if (score[u] > 0.0) found.push_back(u);
        std::stable_sort(found.begin(), found.end(), [&](int a, int b) { return score[a] > score[b]; });
        return found;
    }

    const Ways<W>& ways_;
    const Game<W>& game_;
    const Rolls<W>& rolls_;
    Deadline& deadline_;
    Items items_;
    Set<W> goal_, field_;
    bool any_, is_all_ = false, is_cut_ = false, climbs_ = true;
    std::vector<std::pair<int, double>> strengths_;  // of stacks that can come to the goal
    std::vector<Level<W>> levels_, solved_, waiting_;
    size_t next_ = 0;
    int64_t room_ = 0;
    double climbed_ = 2.0;
    Level<W> from_{};
};

// A bound on what any play is paid, that gets smaller and smaller: for each set that pays, its pay
// times a bound on the chance to take it. What lost armies cost is left out.
template <int W>
class Bounds {
  public:
    Bounds(const Game<W>& game, Deadline& deadline)
        : deadline_(deadline), ways_(game), rolls_(game, deadline) {
        if (!rolls_.fits) {
            limit_ = simple(game);
            return;
        }
        Set<W> reach = ways_.reached(ways_.places, game.field);
        if (game.once) {
            double most = 0.0;
            Set<W> goal;
            for (Set<W> rest = reach; rest.any();) {
                int c = rest.pop();
                double paid = game.paid(c, game.field);
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

    // A bound that takes no time.
    static double simple(const Game<W>& game) {
        double sum = 0.0, most = 0.0;
        for (Set<W> rest = game.field; rest.any();) {
            int c = rest.pop();
            sum += std::max(game.pays[c], 0.0);
            most = std::max(most, game.paid(c, game.field));
        }
        for (const auto& set : game.sets) sum += std::max(set.pays, 0.0);
        return game.once ? most : sum;
    }

    // Bounds on the chances that each land that pays by itself is taken, and then each set that pays.
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

    // Solves one more relaxed game; returns whether there may be another one.
    bool improve() {
        Term* next = nullptr;
        for (Term& term : terms_)
            if (!term.search->done() && (!next || term.worth() > next->worth())) next = &term;
        if (!next) return false;
        int64_t room = deadline_.bytes() / int64_t(sizeof(double));
        next->search->improve(std::min(room, deadline_.states() - values()));
        return any_left();
    }

  private:
    struct Term {
        double pays;
        std::unique_ptr<Ladder<W>> search;

        double worth() const { return pays * search->best / double(search->values + 10000); }
    };

    void add(const Set<W>& goal, double pays) { add(goal, ways_.useful(goal), false, pays); }
    void add(const Set<W>& goal, const Set<W>& field, bool any, double pays) {
        deadline_.go_on(WAYS * ways_.game.lands);
        terms_.push_back({pays, std::make_unique<Ladder<W>>(ways_, rolls_, goal, field, any, deadline_)});
    }
    bool any_left() const {
        for (const Term& term : terms_)
            if (!term.search->done()) return true;
        return false;
    }

    Deadline& deadline_;
    Ways<W> ways_;
    Rolls<W> rolls_;
    std::vector<Term> terms_;
    double limit_ = 0.0;  // of what there is no search for
};

}  // namespace iacta
