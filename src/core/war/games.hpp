// Whole games that are played to their end, or stopped early and scored by V.
#pragma once

#include "war/value.hpp"

namespace iacta {

struct JudgedAim {
    Aim aim;
    double value;
};

// Plays turns for an AI with given weights. The aim of a turn is given, or is the aim that V judges best.
template <int W>
class WarPlay {
  public:
    // weights: the weights of V for the choice of aims; null for an AI without aims.
    WarPlay(const WarRules<W>& rules, Numbers numbers, const float* weights)
        : tactics(rules, numbers), rules_(rules), n_(numbers), weights_(weights) {}

    Tactics<W> tactics;

    void play_turn(War<W>& s, Random& random, Log* log) {
        uint64_t seed = 0;
        choose(s, random, seed);
        while (s.phase != IACTA_PHASE_OVER) {
            if (seed && tactics.has_eliminated(s)) tactics.aim = tactics.is_impatient(s) ? Aim{} : choose_aim(s, seed);
            tactics.step(s, random, log);
        }
    }
    bool judges_aims() const { return n_[SAMPLES] > 0.0 && weights_; }
    void take(Aim aim) { tactics.aim = aim; }
    // Lists the aims, each with the mean of V after simulated turns with the same dice. The aim AS_LIKED gets a bonus.
    std::vector<JudgedAim> judge_aims(const War<W>& s, uint64_t seed) {
        std::vector<JudgedAim> found;
        tactics.in_haste = true;
        for (const Aim& aim : tactics.list_aims(s)) {
            double bonus = aim.kind == IACTA_AIM_AS_LIKED ? n_[MARGIN] : 0.0;
            found.push_back({aim, bonus + value_aim(s, aim, seed)});
        }
        tactics.in_haste = false;
        return found;
    }
    // Chooses the aim of a turn. If this takes simulations, `seed` receives their seed.
    void choose(const War<W>& s, Random& random, uint64_t& seed) {
        tactics.aim = Aim{};
        if (n_[SURE] > 0.0) tactics.aim = tactics.find_aim_within_reach(s);
        if (judges_aims() && !tactics.is_impatient(s)) {
            seed = random.next();
            tactics.aim = choose_aim(s, seed);
        }
        if (n_[SAMPLES] < 0.0 && random.draw_uniform() < -n_[SAMPLES]) {
            std::vector<Aim> aims = tactics.list_aims(s);
            tactics.aim = aims[size_t(random.draw_below(int(aims.size())))];
        }
    }
    // Plays the rest of a turn with a given aim.
    void play_turn(War<W>& s, Random& random, Log* log, Aim aim) {
        tactics.aim = aim;
        tactics.play(s, random, log);
    }

  private:
    const WarRules<W>& rules_;
    Numbers n_;
    const float* weights_;
    War<W> opened_, after_;

    // Returns the first aim with the greatest mean of V after the turn.
    Aim choose_aim(const War<W>& s, uint64_t seed) {
        Aim best;
        double most = 0.0;
        for (const JudgedAim& each : judge_aims(s, seed))
            if (each.value > most) most = each.value, best = each.aim;
        return best;
    }
    // Returns the mean of V after simulated turns with an aim.
    double value_aim(const War<W>& s, Aim aim, uint64_t seed) {
        int samples = int(n_[SAMPLES]);
        double total = 0.0;
        std::array<double, MAX_PLAYERS> chances;
        tactics.aim = aim;
        opened_ = s;
        tactics.open(opened_);
        Aim opened = tactics.aim;
        for (int k = 0; k < samples; ++k) {
            Random dice(seed + uint64_t(k) * 0x10001);
            after_ = opened_;
            tactics.aim = opened;
            tactics.play(after_, dice, nullptr);
            if (rules_.find_winner(after_) < 0) rules_.next(after_);
            judge(rules_, after_, tactics, weights_, chances.data());
            total += chances[size_t(s.mover)];
            if (!k && dice.state == Random(seed).state) return total;  // no dice were rolled: all samples are equal
        }
        return total / samples;
    }
};

// Plays a game from a state, and returns how it ended. If `aim` is not null, it is the aim of the first turn, and
// `reached` receives whether the turn reached it. Calls visit_turn(s) at the start of each later turn.
template <int W, class Visit>
int play_war(const WarRules<W>& rules, War<W>& s, WarPlay<W>* const* seats, const Aim* aim, int cut, int max_rounds,
             Random& random, Deadline& deadline, Visit visit_turn, uint8_t* reached, int32_t* rounds) {
    int begun = s.mover, round = 0;
    bool is_first = true;
    while (true) {
        deadline.spend(20'000);
        WarPlay<W>& play = *seats[s.mover];
        if (is_first && aim) {
            War<W> before = s;
            play.play_turn(s, random, nullptr, *aim);
            if (reached) *reached = play.tactics.has_reached(*aim, before, s);
        } else if (s.phase != IACTA_PHASE_OVER) {
            play.play_turn(s, random, nullptr);
        }
        is_first = false;
        *rounds = round;
        if (rules.find_winner(s) >= 0) return IACTA_END_WON;
        int from = (s.mover - begun + rules.players) % rules.players;
        rules.next(s);
        int to = (s.mover - begun + rules.players) % rules.players;
        if (to <= from) ++round;
        if (cut > 0 && round >= cut) return IACTA_END_CUT;
        if (round >= max_rounds) return IACTA_END_TOO_LONG;
        visit_turn(s);
    }
}

}  // namespace iacta
