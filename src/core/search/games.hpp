// Games that a policy plays: what they gain by lookahead, and how they go.
//
// Where the defender has a choice, it answers in the way that looks worst to the policy.
#pragma once

#include "search/tally.hpp"

namespace iacta {

// Plays one game from a state, and returns Σ (Q_t − h_t) − h_T, as in lookahead.hpp. `decide(s)` returns a Decision, `move_in(s, d, outcome)` how many move
// in after a conquest; h is what the state was worth.
template <int W, class Decide, class MoveIn>
double play(const Game<W>& game, Position<W> s, Decide decide, MoveIn move_in, double h, Random random, Tally<W>& tally,
            double weight) {
    struct Step {
        Roll roll;
        int able, moved;  // moved: -1 where nothing is conquered
    };
    double gain = 0.0, value = 0.0;
    std::vector<Step> steps;
    while (true) {
        const Decision d = decide(s);
        if (!game.over(s)) gain += d.value - h;
        if (d.stops()) break;
        steps.push_back({d.roll, 0, -1});
        double point = random.uniform();
        size_t i = 0;
        while (i + 1 < d.outcomes.size() && (point -= d.outcomes[i].chance) >= 0.0) ++i;
        Outcome outcome = d.outcomes[i];
        double paid = -game.price * outcome.attackers;
        if (outcome.defenders == s.armies[d.roll.to]) {
            paid += game.paid(d.roll.to, game.left(s));
            steps.back().able = game.spare(s, d.roll.start) - outcome.attackers;
            steps.back().moved = outcome.moved = move_in(s, d, outcome);
        }
        value += paid;
        h = outcome.value - paid;
        apply(s, d.roll, outcome);
    }
    // What is stopped in the middle does not count.
    std::vector<bool> begun;
    size_t border = 0;
    for (const Step& step : steps) {
        border = tally.border(step.roll);
        if (begun.size() <= border) begun.resize(border + 1, false);
        if (!begun[border]) tally.visits[border].reached += weight;
        begun[border] = true;
        if (step.moved >= 0) tally.conquest(border, step.able, step.moved, weight);
    }
    if (!steps.empty() && !game.over(s)) tally.visits[border].ended += weight;
    tally.end(s, weight);
    tally.value += weight * value;
    return gain;
}

}  // namespace iacta
