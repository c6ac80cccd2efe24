// The best play of all, by Bellman's equation over the states that can occur.
//
// With Q(s, roll) the expected payment of a roll and of the best play after it,
//
//     V(s) = max(0, max over rolls Q(s, roll)),
//
// found by recursion, each state once. Every roll costs an army, so the recursion ends. States that
// differ only in what cannot matter any more count as one: armies that can attack nothing, and
// lands to which nobody can come. Among rolls of equal Q the play takes the one that costs the fewest
// armies on average, then the fewest rolls (`Worth`).
#pragma once

#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "search/policy.hpp"

namespace iacta {

// A table from keys of K words to payoffs and costs, by open addressing.
template <int K>
class Table {
  public:
    struct Entry {
        uint64_t key[K];
        double value;  // NaN where the entry is free
        double cost;
    };

    explicit Table(Deadline& deadline) : deadline_(deadline), entries_(FIRST, empty()), mask_(FIRST - 1) {}

    const Entry* find(const uint64_t* key) {
        Entry& entry = entries_[slot(key)];
        return entry.value == entry.value ? &entry : nullptr;
    }
    void put(const uint64_t* key, const Worth& worth) {
        if (is_full()) grow();
        Entry& entry = entries_[slot(key)];
        std::memcpy(entry.key, key, sizeof entry.key);
        entry.value = worth.value;
        entry.cost = worth.cost;
        ++count_;
    }
    size_t count() const { return count_; }
    // What the next entry may take: while the table grows, the old one is there too.
    size_t bytes() const { return entries_.size() * sizeof(Entry) * (is_full() ? 3 : 1); }

  private:
    static constexpr size_t FIRST = 1024;

    bool is_full() const { return 2 * (count_ + 1) > entries_.size(); }
    static Entry empty() {
        Entry entry{};
        entry.value = std::numeric_limits<double>::quiet_NaN();
        return entry;
    }
    size_t slot(const uint64_t* key) const {
        uint64_t hash = 0;
        for (int i = 0; i < K; ++i) hash = mixed(hash ^ key[i]);
        size_t place = hash & mask_;
        while (entries_[place].value == entries_[place].value &&
               std::memcmp(entries_[place].key, key, sizeof(uint64_t) * K) != 0)
            place = (place + 1) & mask_;
        return place;
    }
    void grow() {
        std::vector<Entry> old = filled(2 * entries_.size(), empty(), deadline_);
        old.swap(entries_);
        mask_ = entries_.size() - 1;
        for (const Entry& each : old) {
            deadline_.go_on(100);
            if (each.value == each.value) entries_[slot(each.key)] = each;
        }
    }

    Deadline& deadline_;
    std::vector<Entry> entries_;
    size_t mask_, count_ = 0;
};

// How many bits the armies of a land need, and where they are in a key.
struct Digit {
    int land, word, shift, most;  // most: the most defenders
};

// The states in which a turn ends that lasts until some lands are taken, and what each is worth.
template <int W>
class Ends {
  public:
    void put(const Position<W>& s, double value) { values_[key_of(s)] = value; }
    // What an end is worth; a new one is worth 0, and added as long as there is room.
    double value(const Position<W>& s) {
        auto known = values_.find(key_of(s));
        if (known != values_.end()) return known->second;
        if (added.size() >= room) throw Stopped{};
        added.push_back(s);
        return values_[key_of(s)] = 0.0;
    }

    size_t room = 0;
    std::vector<Position<W>> added;

  private:
    std::unordered_map<StateKey, double, StateKey::Hash> values_;
};

template <int W, int K>
class Exact {
  public:
    Exact(const Game<W>& game, Deadline& deadline, Ends<W>& ends)
        : game_(game), deadline_(deadline), ends_(ends), table_(deadline) {
        int most = 0;
        for (int v = 0; v < game.lands; ++v)
            if (game.start.mine.has(v)) most = std::max(most, game.start.armies[v]);
        int word = 0, shift = 0;
        for (int t = 0; t < game.lands; ++t) {
            bool is_stack = game.start.mine.has(t) && !game.resting.has(t) && game.start.armies[t] > game.keep[t];
            if (!is_stack && !game.field.has(t)) continue;
            int held = game.field.has(t) ? game.start.armies[t] : 0;
            int bits = 1;
            while ((1 << bits) < held + most + 2) ++bits;
            if (shift + bits > 64) ++word, shift = 0;
            digits_.push_back({t, word, shift, held});
            shift += bits;
        }
        fits_ = word < K && total(game.start) <= MOST_ARMIES;
    }

    // Whether the states have keys of so many words.
    bool fits() const { return fits_; }
    size_t states() const { return table_.count(); }
    // How many armies the best play moves in: the last defender of c has fallen to those of v.
    int advance(Position<W> s, int v, int c, int least) {
        s.armies[c] = 0;
        return conquest(s, v, c, least).second;
    }
    // The most steps of the recursion: each costs an army.
    int depth() const { return total(game_.start); }

    // The value of a state, and of all that can follow it. Whoever is stopped may ask again: what is
    // found stays.
    double value(Position<W>& s) { return worth(s).value; }

    // The value of a state with the expected cost of the best play.
    Worth worth(Position<W>& s) {
        uint64_t key[K];
        deadline_.go_on(KNOWN);
        if (game_.over(s)) return {game_.has_ends ? ends_.value(s) : 0.0, 0.0};
        if (!key_of(s, key)) return {0.0, 0.0};
        if (auto* known = table_.find(key)) return {known->value, known->cost};
        deadline_.go_on();
        if (int64_t(table_.count()) >= deadline_.states() || int64_t(table_.bytes()) > deadline_.bytes())
            throw Stopped{};
        Best best;
        each_roll(s, [&](const Roll&, const Worth& q) { best.offer(q); });
        table_.put(key, best.worth());
        return best.worth();
    }

    // The best roll of a state, whose value is known or found.
    Decision decide(Position<W> s) {
        uint64_t key[K];
        if (game_.over(s) || !key_of(s, key)) return {};
        Best best;
        Roll chosen = Decision{}.roll;
        each_roll(s, [&](const Roll& roll, const Worth& q) {
            if (best.offer(q)) chosen = roll;
        });
        return chosen.dice == 0 ? Decision{} : judge(s, chosen);
    }

    // A legal roll of a state, with its value and its outcomes.
    Decision judge(Position<W> s, const Roll& roll) {
        auto value_of = [&](int x, int y) { return after(s, roll, x, y).first.value; };
        auto moved_of = [&](int x, int y) { return after(s, roll, x, y).second; };
        int able = game_.spare(s, roll.start);
        return decision_of(game_, roll, able, s.armies[roll.to], value_of, moved_of);
    }

  private:
    static constexpr int MOST_ARMIES = 3000;
    static constexpr int64_t KNOWN = 100;  // how long a known state takes

    int total(const Position<W>& s) const {
        int sum = 0;
        for (size_t t = 0; t < s.armies.size(); ++t)
            if ((s.mine | game_.field).has(int(t))) sum += s.armies[t];
        return sum;
    }

    // The key of what matters in a state; false where nothing more can be paid.
    bool key_of(const Position<W>& s, uint64_t* key) const {
        Set<W> left = game_.left(s), live = game_.live_stacks(s), reach, fresh;
        for (Set<W> rest = live; rest.any();) fresh |= game_.out[rest.pop()] & left;
        while (fresh.any()) {
            reach |= fresh;
            Set<W> further;
            while (fresh.any()) further |= game_.out[fresh.pop()];
            fresh = (further & left) - reach;
        }
        bool pays = game_.has_ends;
        for (const auto& set : game_.sets)
            pays = pays || (set.pays > 0.0 && set.lands.meets(left) && (set.lands & left).within(reach));
        if (!pays)
            for (Set<W> rest = reach & game_.paying; rest.any() && !pays;) pays = game_.pays[rest.pop()] > 0.0;
        if (!pays) return false;
        std::memset(key, 0, sizeof(uint64_t) * K);
        for (const Digit& digit : digits_) {
            int t = digit.land;
            uint64_t code = 0;
            if (game_.has_ends)  // what cannot fight any more may matter at the end
                code = s.armies[t] + (s.mine.has(t) ? digit.most + 1 : 0);
            else if (s.mine.has(t)) code = live.has(t) ? digit.most + 1 + s.armies[t] : 0;
            else code = reach.has(t) ? 1 + s.armies[t] : 1;
            key[digit.word] |= code << digit.shift;
        }
        return true;
    }

    // The worth of a result with the best play after it, and how many armies move in if it conquers.
    std::pair<Worth, int> after(Position<W>& s, const Roll& roll, int x, int y) {
        auto [v, c, k] = roll;
        int armies = s.armies[v], held = s.armies[c], moved = 0;
        double paid = -game_.price * x;
        Worth follows;
        s.armies[v] -= x;
        s.armies[c] -= y;
        if (y < held) {
            follows = worth(s);
        } else {
            paid += game_.paid(c, game_.left(s));
            std::tie(follows, moved) = conquest(s, v, c, game_.least(c, k));
        }
        s.armies[v] = armies;
        s.armies[c] = held;
        return {{paid + follows.value, x + Worth::ROLL + follows.cost}, moved};
    }

    // The worth of the best advance, and that advance, after the last defender has fallen.
    std::pair<Worth, int> conquest(Position<W>& s, int v, int c, int least) {
        int armies = s.armies[v], spare = armies - game_.keep[v], moved = spare;
        Worth best{0.0, 0.0};
        s.mine.add(c);
        if (!game_.over(s) || game_.has_ends) {
            for (int m = spare; m >= std::min(least, spare); --m) {
                s.armies[v] = armies - m;
                s.armies[c] = m;
                Worth each = worth(s);
                bool is_equal = each.value >= best.value - SAME && each.cost < best.cost - SAME;
                if (m == spare || each.value > best.value + SAME || is_equal) best = each, moved = m;
            }
        }
        s.mine.remove(c);
        s.armies[v] = armies;
        s.armies[c] = 0;
        return {best, moved};
    }

    // Calls f(roll, Q) for each legal roll, in the order of the board, most dice first.
    template <class Visit>
    void each_roll(Position<W>& s, Visit visit) {
        Set<W> left = game_.left(s);
        for (Set<W> stacks = game_.live_stacks(s); stacks.any();) {
            int v = stacks.pop();
            for (Set<W> near = game_.out[v] & left; near.any();) {
                int c = near.pop(), most = game_.most_dice_of(s, v, c), d = s.armies[c];
                if (!most) continue;
                if (game_.whole[game_.kind[c]]) {
                    Roll roll{v, c, most};
                    visit(roll, battle_value(game_, c, game_.spare(s, v), d,
                                             [&](int x, int y) { return after(s, roll, x, y).first; }));
                    continue;
                }
                // Results are the same for many rolls; what follows a conquest also depends on the dice.
                constexpr int SIDE = 8;
                Worth known[SIDE * SIDE];  // by losses; valid where `is_known` has the bit
                uint64_t is_known = 0;
                for (int k = most; k > 0; --k) {
                    if (!game_.allowed(s, v, c, k)) continue;
                    Roll roll{v, c, k};
                    Worth q = roll_value(game_, roll, d, [&](int x, int y) {
                        if (y == d || x >= SIDE || y >= SIDE) return after(s, roll, x, y).first;
                        int i = x * SIDE + y;
                        if (!(is_known >> i & 1)) known[i] = after(s, roll, x, y).first, is_known |= uint64_t{1} << i;
                        return known[i];
                    });
                    visit(roll, q);
                }
            }
        }
    }

    const Game<W>& game_;
    Deadline& deadline_;
    Ends<W>& ends_;
    std::vector<Digit> digits_;
    Table<K> table_;
    bool fits_ = false;
};

}  // namespace iacta
