// Whole games between players, played to their end, or cut and ended by V.
#pragma once

#include "war/value.hpp"

namespace iacta {

// Plays turns: with the numbers of a player alone, or with that one's best aim as V judges it.
template <int W>
class WarPlay {
  public:
    // weights: of the V that chooses among aims; null for players who do not choose.
    WarPlay(const WarRules<W>& rules, Numbers numbers, const float* weights)
        : tactics(rules, numbers), rules_(rules), n_(numbers), weights_(weights) {}

    Tactics<W> tactics;

    void turn(War<W>& s, Random& random, Log* log) {
        tactics.aim = Aim{};
        if (n_[SAMPLES] > 0.0 && weights_ && !tactics.is_impatient(s)) tactics.aim = chosen(s, random);
        if (n_[SAMPLES] < 0.0 && random.uniform() < -n_[SAMPLES]) {
            std::vector<Aim> aims = tactics.aims(s);
            tactics.aim = aims[size_t(random.below(int(aims.size())))];
        }
        tactics.play(s, random, log);
    }
    // The rest of a turn with an aim that is given.
    void turn(War<W>& s, Random& random, Log* log, Aim aim) {
        tactics.aim = aim;
        tactics.play(s, random, log);
    }

  private:
    const WarRules<W>& rules_;
    Numbers n_;
    const float* weights_;
    War<W> opened_, after_;

    // The aim whose turns V judges best, all with the same dice; another than the player's liking, which
    // is the first, only where it is better by a margin.
    Aim chosen(const War<W>& s, Random& random) {
        uint64_t seed = random.next();
        Aim best;
        double most = 0.0;
        tactics.in_haste = true;
        for (const Aim& aim : tactics.aims(s)) {
            double value = value_of(s, aim, seed) + (aim.kind == IACTA_AIM_AS_LIKED ? n_[MARGIN] : 0.0);
            if (value > most) most = value, best = aim;
        }
        tactics.in_haste = false;
        return best;
    }
    // What V makes of a turn with an aim.
    double value_of(const War<W>& s, Aim aim, uint64_t seed) {
        int samples = int(n_[SAMPLES]);
        double total = 0.0;
        std::array<double, MAX_PLAYERS> chances;
        tactics.aim = aim;
        opened_ = s;
        tactics.open(opened_);
        for (int k = 0; k < samples; ++k) {
            Random dice(seed + uint64_t(k) * 0x10001);
            after_ = opened_;
            tactics.play(after_, dice, nullptr);
            if (rules_.alive(after_) > 1) rules_.next(after_);
            judge(rules_, after_, tactics, weights_, chances.data());
            total += chances[size_t(s.mover)];
            if (!k && dice.state == Random(seed).state) return total;  // no dice, so all samples are the same
        }
        return total / samples;
    }
};

// Plays a game from a moment on: the first turn with an aim, if one is given. `seen(s)` is asked at the
// start of each turn, and whether a turn reached its aim is written down.
template <int W, class Seen>
int play_war(const WarRules<W>& rules, War<W>& s, WarPlay<W>* const* seats, const Aim* aim, int cut, int most,
             Random& random, Deadline& deadline, Seen seen, uint8_t* reached, int32_t* rounds) {
    int begun = s.mover, round = 0;
    bool is_first = true;
    while (true) {
        deadline.go_on(20'000);
        WarPlay<W>& play = *seats[s.mover];
        if (is_first && aim) {
            War<W> before = s;
            play.turn(s, random, nullptr, *aim);
            if (reached) *reached = play.tactics.reached(before, s);
        } else if (s.phase != IACTA_PHASE_OVER) {
            play.turn(s, random, nullptr);
        }
        is_first = false;
        *rounds = round;
        if (rules.alive(s) == 1) return IACTA_END_WON;
        int from = (s.mover - begun + rules.players) % rules.players;
        rules.next(s);
        int to = (s.mover - begun + rules.players) % rules.players;
        if (to <= from) ++round;
        if (cut > 0 && round >= cut) return IACTA_END_CUT;
        if (round >= most) return IACTA_END_TOO_LONG;
        seen(s);
    }
}

}  // namespace iacta
