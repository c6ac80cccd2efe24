// The territories that stacks can reach, for bounds.
#pragma once

#include <vector>

#include "game.hpp"

namespace iacta {

constexpr int64_t WORK_PER_LAND = 100;  // the work of a search for paths, for each territory of the board

// The borders of a game, and the territories that stacks can reach over these borders.
template <int W>
class Paths {
  public:
    explicit Paths(const Game<W>& game) : game(game), places(game.find_live_stacks(game.start)) {
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
            Set<W> component, fresh = Set<W>::of(part.first());
            while (fresh.any()) {
                component |= fresh;
                fresh = (find_neighbours(fresh) & part) - component;
            }
            found.push_back(component);
            part -= component;
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

}  // namespace iacta
