// Games that a policy plays: what they gain by lookahead, and how they go.
#pragma once

#include "tally.hpp"

namespace iacta {

// What a game shows.
struct Played {
    double gain;   // Σ (Q_t − h_t) − h_T: h_0 and its mean are the value of the policy
    double paid;   // what it paid
};

// Plays one game from the start. `decide(s)` returns a Decision; h is what the start was worth.
template <int W, class Decide>
Played play(const Game<W>& game, Decide decide, double h, Random random, Tally<W>& tally, double weight) {
    Position<W> s = game.start;
    Played played{0.0, 0.0};
    std::vector<bool> begun;
    int last = -1;
    while (true) {
        const Decision d = decide(s);
        if (!game.over(s)) played.gain += d.value - h;
        if (d.stops()) break;
        size_t border = tally.border(d.roll);
        if (begun.size() <= border) begun.resize(border + 1, false);
        if (!begun[border]) tally.visits[border].reached += weight;
        begun[border] = true;
        last = int(border);
        double point = random.uniform();
        size_t i = 0;
        while (i + 1 < d.outcomes.size() && (point -= d.outcomes[i].chance) >= 0.0) ++i;
        const Outcome& outcome = d.outcomes[i];
        double paid = -game.price * outcome.attackers;
        if (outcome.defenders == s.armies[d.roll.to]) {
            paid += game.paid(d.roll.to, game.left(s));
            int able = game.spare(s, d.roll.start) - outcome.attackers;
            tally.conquest(border, able, outcome.moved, weight);
        }
        played.paid += paid;
        h = outcome.value - paid;
        apply(s, d.roll, outcome);
    }
    if (last >= 0 && !game.over(s)) tally.visits[last].ended += weight;
    tally.end(s, weight);
    return played;
}

}  // namespace iacta
