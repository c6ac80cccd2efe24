// Optimal play, computed exactly from Bellman's equation over all reachable states.
//
// Let Q(s, roll) be the expected payment of a roll followed by optimal play. The value of a state is
//
//     V(s) = max(0, max over rolls Q(s, roll)).
//
// With a margin, let L(s, roll) be the expected losses, and λ the price of the margin. The policy chooses the roll with
// the greatest Q − λL among all rolls with Q > 0, and V is the Q of this roll.
//
// A recursion computes the value of each state once, and stores it in a hash table. The recursion ends because every
// roll costs an army. States share an entry of the table if they differ only in irrelevant details, such as armies
// without a target or unreachable territories. Of several rolls with equal Q, the policy chooses the roll with the
// smallest cost (`Worth`): the fewest armies lost on average, then the fewest rolls. The choices may be
// restricted by `iacta_problem.is_coarse`.
#pragma once

#include <cstring>
#include <memory>
#include <unordered_map>
#include <vector>

#include "search/policy.hpp"

namespace iacta {

// A hash table with open addressing that maps states to payoffs and costs. The key of a state has K 64-bit words.
template <int K>
class Table {
  public:
    struct Entry {
        uint64_t key[K];
        Worth worth;  // its value is NaN in an unused entry

        bool is_used() const { return worth.value == worth.value; }
    };

    explicit Table(Deadline& deadline)
        : deadline_(deadline), entries_(FIRST_SIZE, make_empty()), mask_(FIRST_SIZE - 1) {}

    // Returns the worth of a state, or null for an unknown state.
    const Worth* find(const uint64_t* key) const {
        const Entry& entry = entries_[find_slot(key)];
        return entry.is_used() ? &entry.worth : nullptr;
    }
    void put(const uint64_t* key, const Worth& worth) {
        if (is_full()) grow();
        Entry& entry = entries_[find_slot(key)];
        std::memcpy(entry.key, key, sizeof entry.key);
        entry.worth = worth;
        ++count_;
    }
    size_t count() const { return count_; }
    // Returns the peak memory, in bytes, while another entry is added. If the table must grow, the old and the new
    // table are in memory together.
    size_t bytes() const { return entries_.size() * sizeof(Entry) * (is_full() ? 3 : 1); }

  private:
    static constexpr size_t FIRST_SIZE = 1024;

    bool is_full() const { return 2 * (count_ + 1) > entries_.size(); }
    static Entry make_empty() {
        Entry entry{};
        entry.worth.value = std::numeric_limits<double>::quiet_NaN();
        return entry;
    }
    size_t find_slot(const uint64_t* key) const {
        uint64_t hash = 0;
        for (int i = 0; i < K; ++i) hash = hash_number(hash ^ key[i]);
        size_t place = hash & mask_;
        while (entries_[place].is_used() && std::memcmp(entries_[place].key, key, sizeof(uint64_t) * K) != 0)
            place = (place + 1) & mask_;
        return place;
    }
    void grow() {
        std::vector<Entry> old = fill_vector(2 * entries_.size(), make_empty(), deadline_);
        old.swap(entries_);
        mask_ = entries_.size() - 1;
        for (const Entry& each : old) {
            deadline_.spend(100);
            if (each.is_used()) entries_[find_slot(each.key)] = each;
        }
    }

    Deadline& deadline_;
    std::vector<Entry> entries_;
    size_t mask_, count_ = 0;
};

// A range of bits in the key of a state, which contains the armies on a territory.
struct Digit {
    int land, word, shift, most;  // `most` is the largest number of defenders on the territory
};

// The final states of a turn that ends when all territories in `until` are conquered, with their values.
template <int W>
class Ends {
  public:
    void put(const Position<W>& s, double value) { values_[make_key(s)] = value; }
    // Returns the value of a final state. An unknown final state gets the value 0 and is appended to `added`. If
    // `added` already contains `room` states, the function throws Stopped instead.
    double value(const Position<W>& s) {
        auto known = values_.find(make_key(s));
        if (known != values_.end()) return known->second;
        if (added.size() >= room) throw Stopped{};
        added.push_back(s);
        return values_[make_key(s)] = 0.0;
    }

    size_t room = 0;
    std::vector<Position<W>> added;

  private:
    std::unordered_map<StateKey, double, StateKey::Hash> values_;
};

// Keys of at most this number of 64-bit words are supported. Keys of one word have a smaller table.
constexpr int MAX_KEY_WORDS = 4;

template <int W>
class Exact {
  public:
    Exact(const Game<W>& game, Deadline& deadline, Ends<W>& ends)
        : game_(game), deadline_(deadline), ends_(ends), margin_(game.margin_price, count_armies(game.start)),
          small_(deadline), large_(deadline) {
        int most = 0;
        for (int v = 0; v < game.lands; ++v)
            if (game.start.mine.has(v)) most = std::max(most, game.start.armies[v]);
        int word = 0, shift = 0;
        for (int t = 0; t < game.lands; ++t) {
            bool is_stack = game.start.mine.has(t) && !game.resting.has(t) && game.start.armies[t] > game.keep[t];
            // If the payment depends on the armies, the key must contain the armies on all territories of the player.
            bool may_count = depends_on_armies() && game.start.mine.has(t);
            if (!is_stack && !may_count && !game.field.has(t)) continue;
            int held = game.field.has(t) ? game.start.armies[t] : 0;
            int bits = 1;
            while ((1 << bits) < held + most + 2) ++bits;
            if (shift + bits > 64) ++word, shift = 0;
            digits_.push_back({t, word, shift, held});
            shift += bits;
        }
        is_small_ = word == 0;
        fits_ = word < MAX_KEY_WORDS && count_armies(game.start) <= MAX_EXACT_ARMIES;
    }

    // Returns whether there are at most MAX_EXACT_ARMIES armies and the key of every state fits in MAX_KEY_WORDS words.
    bool fits() const { return fits_; }
    size_t states() const { return is_small_ ? small_.count() : large_.count(); }
    // Returns the best number of armies to advance after a conquest of c from v.
    int advance(Position<W> s, int v, int c, int least) {
        s.armies[c] = 0;
        return value_conquest(s, v, c, least).second;
    }
    // Returns an upper bound on the depth of the recursion: the number of armies, because each level costs an army.
    int depth() const { return count_armies(game_.start); }

    // Returns the value and the expected cost of optimal play from a state, and stores both for every state that it
    // visits. If a call is stopped, the next call continues with the stored results.
    Worth worth(Position<W>& s) {
        uint64_t key[MAX_KEY_WORDS];
        deadline_.spend(WORK_PER_KNOWN_STATE);
        if (game_.is_over(s)) return {game_.has_ends ? ends_.value(s) : 0.0, 0.0};
        if (!make_key(s, key)) return {0.0, 0.0};
        if (const Worth* known = is_small_ ? small_.find(key) : large_.find(key)) return *known;
        deadline_.spend();
        size_t bytes = is_small_ ? small_.bytes() : large_.bytes();
        if (int64_t(states()) >= deadline_.states() || int64_t(bytes) > deadline_.bytes()) throw Stopped{};
        Best best(margin_);
        visit_rolls(s, [&](const Roll&, const Worth& q) { best.offer(q); });
        is_small_ ? small_.put(key, best.worth()) : large_.put(key, best.worth());
        return best.worth();
    }

    // Returns the optimal decision in a state.
    Decision decide(Position<W> s) {
        uint64_t key[MAX_KEY_WORDS];
        if (game_.is_over(s) || !make_key(s, key)) return {};
        Best best(margin_);
        Roll chosen = Decision{}.roll;
        visit_rolls(s, [&](const Roll& roll, const Worth& q) {
            if (best.offer(q)) chosen = roll;
        });
        return chosen.dice == 0 ? Decision{} : evaluate_roll(s, chosen);
    }

    // Returns the decision to make a given legal roll, with its value if optimal play follows.
    Decision evaluate_roll(Position<W> s, const Roll& roll) {
        auto find_value = [&](int x, int y) { return value_after(s, roll, x, y).first.value; };
        auto find_moved = [&](int x, int y) { return value_after(s, roll, x, y).second; };
        int able = game_.spare(s, roll.start);
        return make_decision(game_, roll, able, s.armies[roll.to], find_value, find_moved);
    }

  private:
    static constexpr int MAX_EXACT_ARMIES = 3000;
    static constexpr int64_t WORK_PER_KNOWN_STATE = 100;

    int count_armies(const Position<W>& s) const {
        int sum = 0;
        for (size_t t = 0; t < s.armies.size(); ++t)
            if ((s.mine | game_.field).has(int(t))) sum += s.armies[t];
        return sum;
    }

    // Returns whether the payment at the end of the turn depends on the armies on all territories of the player.
    bool depends_on_armies() const {
        if (game_.ends_at_win && counts_armies_of_ways()) return true;
        return game_.counts_armies || (!game_.perils.empty() && (game_.price > 0.0 || counts_armies_of_ways()));
    }
    bool counts_armies_of_ways() const {
        return std::any_of(game_.ways.begin(), game_.ways.end(), [](const auto& way) { return way.enough > 1; });
    }

    // Writes the key of a state. Returns false if no further payment is possible in the turn.
    bool make_key(const Position<W>& s, uint64_t* key) const {
        Set<W> left = game_.unconquered(s), live = game_.find_live_stacks(s), reach, fresh;
        for (Set<W> rest = live; rest.any();) fresh |= game_.out[rest.pop()] & left;
        while (fresh.any()) {
            reach |= fresh;
            Set<W> further;
            while (fresh.any()) further |= game_.out[fresh.pop()];
            fresh = (further & left) - reach;
        }
        bool pays = game_.has_ends;
        if (game_.wins)
            for (const auto& way : game_.ways)
                pays = pays || (way.lands.is_within(s.mine | reach) && (s.mine | reach).count() >= way.number);
        for (const auto& set : game_.sets)
            pays = pays || (set.pays > 0.0 && set.lands.meets(left) && (set.lands & left).is_within(reach));
        if (!pays)
            for (Set<W> rest = reach & game_.paying; rest.any() && !pays;) pays = game_.pays[rest.pop()] > 0.0;
        if (!pays) return false;
        std::memset(key, 0, sizeof(uint64_t) * MAX_KEY_WORDS);
        for (const Digit& digit : digits_) {
            int t = digit.land;
            uint64_t code = 0;
            // Include armies that can no longer fight, because the value of the final state may depend on them.
            if (game_.has_ends || depends_on_armies()) code = s.armies[t] + (s.mine.has(t) ? digit.most + 1 : 0);
            else if (s.mine.has(t)) code = live.has(t) ? digit.most + 1 + s.armies[t] : 0;
            else code = reach.has(t) ? 1 + s.armies[t] : 1;
            key[digit.word] |= code << digit.shift;
        }
        return true;
    }

    // Returns the worth of a result of a roll if optimal play follows, and the best advance after a conquest.
    std::pair<Worth, int> value_after(Position<W>& s, const Roll& roll, int x, int y) {
        auto [v, c, k] = roll;
        int armies = s.armies[v], held = s.armies[c], moved = 0;
        double paid = -game_.price * x;
        Worth follows;
        s.armies[v] -= x;
        s.armies[c] -= y;
        if (y < held) {
            follows = worth(s);
        } else {
            paid += game_.find_payment(c, game_.unconquered(s));
            std::tie(follows, moved) = value_conquest(s, v, c, game_.least_advance(c, k));
        }
        s.armies[v] = armies;
        s.armies[c] = held;
        return {{paid + follows.value, x + Worth::ROLL + follows.cost}, moved};
    }

    // Returns the worth of a conquest of c from v, and the best advance. In s, the defenders of c must already be
    // removed.
    std::pair<Worth, int> value_conquest(Position<W>& s, int v, int c, int least) {
        int armies = s.armies[v], most = game_.limit_advance(c, armies - game_.keep[v]), moved = most;
        Worth best{0.0, 0.0};
        s.mine.add(c);
        if (!game_.is_over(s) || game_.has_ends || game_.has_end_payment()) {
            int few = std::min(least, most);
            for (int m = most; m >= few; m = game_.is_coarse && m > few ? few : m - 1) {
                s.armies[v] = armies - m;
                s.armies[c] = m;
                Worth each = worth(s);
                each.value += game_.find_end_payment(s);
                double rank = margin_.rank(each), top = margin_.rank(best);
                bool is_equal = rank >= top - SAME && each.cost < best.cost - SAME;
                if (m == most || rank > top + SAME || is_equal) best = each, moved = m;
            }
        }
        s.mine.remove(c);
        s.armies[v] = armies;
        s.armies[c] = 0;
        return {best, moved};
    }

    // Calls visit(roll, worth) for each legal roll, in the order of the territories, and for each attack with the most
    // dice first. The worth includes the optimal play that follows.
    template <class Visit>
    void visit_rolls(Position<W>& s, Visit visit) {
        Set<W> left = game_.unconquered(s);
        for (Set<W> stacks = game_.find_live_stacks(s); stacks.any();) {
            int v = stacks.pop();
            for (Set<W> near = game_.out[v] & left; near.any();) {
                int c = near.pop(), most = game_.max_dice(s, v, c), d = s.armies[c];
                if (!most) continue;
                if (game_.whole[game_.kind[c]]) {
                    Roll roll{v, c, most};
                    visit(roll, battle_value(game_, c, game_.spare(s, v), d,
                                             [&](int x, int y) { return value_after(s, roll, x, y).first; }));
                    continue;
                }
                // Cache the worth after each pair of losses, which other numbers of dice share. Conquests are not
                // cached, because the required advance depends on the dice.
                constexpr int SIDE = 8;
                // [x * SIDE + y]: the worth after the loss of x attackers and y defenders; valid if this bit of
                // is_known is set
                Worth known[SIDE * SIDE];
                uint64_t is_known = 0;
                for (int k = most; k > 0; --k) {
                    if (!game_.is_allowed(s, v, c, k) || (game_.is_coarse && 1 < k && k < most)) continue;
                    Roll roll{v, c, k};
                    Worth q = roll_value(game_, roll, d, [&](int x, int y) {
                        if (y == d || x >= SIDE || y >= SIDE) return value_after(s, roll, x, y).first;
                        int i = x * SIDE + y;
                        if (!(is_known >> i & 1))
                            known[i] = value_after(s, roll, x, y).first, is_known |= uint64_t{1} << i;
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
    Margin margin_;
    std::vector<Digit> digits_;
    bool is_small_, fits_;  // whether a key has one word, and whether the problem is small enough
    Table<1> small_;
    Table<MAX_KEY_WORDS> large_;
};

}  // namespace iacta
