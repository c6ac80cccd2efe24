// Simulation of a turn played by a policy. The defender always gives the answer that seems worst for the policy.
#pragma once

#include "search/tally.hpp"

namespace iacta {

// Simulates the rest of a turn from state s, adds its events to `tally`, and returns Σ_t (Q_t − h_t) − h_T as defined
// in lookahead.hpp; `h` is h_0. `decide(s)` returns a Decision, and `move_in(s, d, outcome)` returns the advance after
// a conquest.
template <int W, class Decide, class MoveIn>
double play_game(const Game<W>& game, Position<W> s, Decide decide, MoveIn move_in, double h, Random random,
                 Tally<W>& tally, double weight) {
    struct Step {
        Roll roll;
        int able, moved;  // the armies that may advance, and the armies that advance (-1 without a conquest)
    };
    double gain = 0.0, value = 0.0;
    std::vector<Step> steps;
    while (true) {
        const Decision d = decide(s);
        if (!game.is_over(s)) gain += d.value - h;
        if (d.is_stop()) break;
        steps.push_back({d.roll, 0, -1});
        double point = random.draw_uniform();
        size_t i = 0;
        while (i + 1 < d.outcomes.size() && (point -= d.outcomes[i].chance) >= 0.0) ++i;
        Outcome outcome = d.outcomes[i];
        double paid = -game.price * outcome.attackers;
        if (outcome.defenders == s.armies[d.roll.to]) {
            paid += game.find_payment(d.roll.to, game.unconquered(s));
            steps.back().able = game.spare(s, d.roll.start) - outcome.attackers;
            steps.back().moved = outcome.moved = move_in(s, d, outcome);
        }
        apply(s, d.roll, outcome);
        if (steps.back().moved >= 0) paid += game.find_end_payment(s);
        value += paid;
        h = outcome.value - paid;
    }
    // Update the tally only after the simulated turn, because an interrupted simulation must not count.
    std::vector<bool> begun;
    size_t border = 0;
    for (const Step& step : steps) {
        border = tally.find_border(step.roll);
        if (begun.size() <= border) begun.resize(border + 1, false);
        if (!begun[border]) tally.visits[border].reached += weight;
        begun[border] = true;
        if (step.moved >= 0) tally.add_conquest(border, step.able, step.moved, weight);
    }
    if (!steps.empty() && !game.is_over(s)) tally.visits[border].ended += weight;
    tally.add_end(s, weight);
    tally.value += weight * value;
    return gain;
}

}  // namespace iacta
