// An upper bound on the chance to take a goal.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "search/paths.hpp"
#include "search/pooled_armies.hpp"
#include "search/relaxed.hpp"

namespace iacta {

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

    Chance(const Paths<W>& paths, const Rolls& rolls, PooledArmies& pool, const Set<W>& goal, const Set<W>& field,
           bool any, Deadline& deadline)
        : paths_(paths), rolls_(rolls), pool_(pool), any_(any), deadline_(deadline) {
        if (!any && !goal.is_within(field)) best = 0.0;
        add_part(goal, field);
        for (int size = 1; !any && size < goal.count(); ++size)
            for (int c : goal) {
                deadline_.spend(WORK_PER_LAND * paths_.game.lands);
                Set<W> part = find_nearest(c, goal, size);
                bool is_new = part.count() == size;
                for (const Part& other : parts_) is_new = is_new && other.goal != part;
                if (is_new) add_part(part, paths_.find_useful(part));
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
            Relaxed game(make_level(part, node), rolls_, any_, deadline_);
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
        for (int v : paths_.places) {
            deadline_.spend(WORK_PER_LAND * paths_.game.lands);
            Set<W> reach = paths_.find_reach(v, field);
            if (reach.meets(goal)) {
                starts.add(v);
                part.stacks.push_back(v);
                armies += paths_.able(v);
            } else {
                part.away.add(v);
            }
        }
        if (part.stacks.empty()) best = 0.0;
        if (double most = pool_.bound(list_territories(goal), armies); !any_)
            best = std::min(best, most > 0.0 ? most + ROUNDING : 0.0);
        std::stable_sort(part.stacks.begin(), part.stacks.end(),
                         [&](int a, int b) { return paths_.able(a) > paths_.able(b); });
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
            score[u] = paths_.game.start.armies[u] / std::pow(to[u] + from[u], 2);
            found.push_back(u);
        }
        std::stable_sort(found.begin(), found.end(), [&](int a, int b) { return score[a] > score[b]; });
        if (found.size() > MAX_EXTRAS) found.resize(MAX_EXTRAS);
        return found;
    }
    std::vector<int> find_distances(Set<W> from, const Set<W>& field) const {
        std::vector<int> found(size_t(paths_.game.lands), UNREACHABLE);
        Set<W> seen;
        for (int d = 1; from.any(); ++d) {
            from = (paths_.find_neighbours(from) & field) - seen;
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
            fresh = paths_.find_neighbours(seen) - seen;
            for (Set<W> rest = fresh & goal; rest.any() && part.count() < size;) part.add(rest.pop());
        }
        return part;
    }

    // Divides a goal into items: the most isolated territories and all extra territories get their own items, and all
    // other territories share an item.
    std::vector<Set<W>> make_items(Set<W> goal, const Node& node) const {
        std::vector<Set<W>> items;
        Set<W> alone = node.extras;
        for (size_t i = 1; i < node.items; ++i) {
            int best = goal.first();
            for (int c : goal)
                if (rank_isolation(c, goal) < rank_isolation(best, goal)) best = c;
            goal.remove(best);
            alone.add(best);
        }
        items.push_back(goal);
        while (alone.any()) items.push_back(Set<W>::of(alone.pop()));
        return items;
    }
    std::pair<int, int> rank_isolation(int c, const Set<W>& goal) const {
        return {(paths_.near[c] & goal).count(), -paths_.game.start.armies[c]};
    }

    Level make_level(const Part& part, const Node& node) const {
        std::vector<Set<W>> items = make_items(part.goal, node), groups;
        for (size_t g = 0; g < part.stacks.size(); ++g) {
            if (g < node.groups) groups.emplace_back();
            groups.back().add(part.stacks[g]);
        }
        for (int v : part.away) {
            deadline_.spend(WORK_PER_LAND * paths_.game.lands);
            if (!paths_.find_reach(v, part.field).meets(part.goal | node.extras)) continue;
            if (node.is_apart) groups.emplace_back();
            groups.back().add(v);
        }
        Set<W> inside, weakened;
        for (const Set<W>& item : items) inside |= item;
        for (int v : part.away) weakened |= paths_.find_reach(v, part.field);
        Set<W> light = part.field - inside;
        Level level{
            {}, {}, {}, node.counts ? LIGHT << (node.counts - 1) : 0, node.counts ? LOST << (node.counts - 1) : 0};
        for (const Set<W>& stacks : groups) level.groups.push_back(make_group(part, stacks, items, light, level));
        std::stable_sort(level.groups.begin(), level.groups.end(),
                         [](const Level::Group& a, const Level::Group& b) { return a.able < b.able; });
        for (const Set<W>& item : items) level.items.push_back(make_item(part, item, items, light));
        const Game<W>& game = paths_.game;
        for (int u : light)
            level.light.push_back({game.kind[u], game.keep[u], paths_.left_behind[u],
                                   weakened.has(u) ? 1 : game.start.armies[u], find_ranks(light, paths_.near[u])});
        return level;
    }
    Level::Group make_group(const Part& part, const Set<W>& stacks, const std::vector<Set<W>>& items,
                            const Set<W>& light, const Level& level) const {
        Set<W> reach, targets = paths_.find_targets(stacks), inside = part.field - light;
        int able = 0;
        for (int v : stacks) {
            deadline_.spend(WORK_PER_LAND * paths_.game.lands);
            able += paths_.able(v);
            reach |= paths_.find_reach(v, part.field);
        }
        std::vector<double> lost{1.0};
        if (int v = stacks.first(); !level.most_light && stacks.count() == 1)
            lost = pool_.find_losses_on(list_territories(light), paths_.count_steps_to(inside, v, part.field), able);
        return {able, lost, find_ranks(light, targets), find_met(items, targets), find_met(items, reach)};
    }
    Level::Item make_item(const Part& part, const Set<W>& item, const std::vector<Set<W>>& items,
                          const Set<W>& light) const {
        const Game<W>& game = paths_.game;
        Set<W> near = paths_.find_neighbours(item);
        Level::Item made{item.meets(part.goal), 1, {}, find_ranks(light, near), find_met(items, near)};
        for (int c : item) {
            made.left_behind = std::min(made.left_behind, paths_.left_behind[c]);
            made.lands.push_back({game.kind[c], game.keep[c], game.start.armies[c]});
        }
        std::sort(made.lands.begin(), made.lands.end());
        return made;
    }
    // Returns the ranks in set `all` of the territories that are also in set `part`.
    static std::vector<size_t> find_ranks(const Set<W>& all, const Set<W>& part) {
        std::vector<size_t> found;
        size_t rank = 0;
        for (int t : all) {
            if (part.has(t)) found.push_back(rank);
            ++rank;
        }
        return found;
    }
    // Returns the items with territories in a set, as bits.
    static uint32_t find_met(const std::vector<Set<W>>& items, const Set<W>& lands) {
        uint32_t found = 0;
        for (size_t i = 0; i < items.size(); ++i) found |= uint32_t{lands.meets(items[i])} << i;
        return found;
    }

    const Paths<W>& paths_;
    const Rolls& rolls_;
    PooledArmies& pool_;
    bool any_;
    Deadline& deadline_;
    std::vector<Part> parts_;
    std::vector<Node> waiting_;
    std::vector<Node> known_;
    int64_t apart_ = 0, others_ = 0;  // the work so far on games with Node::is_apart, and on other games
};

}  // namespace iacta
