// Whole games that are played to their end, or stopped early and scored by V.
#pragma once

#include "war/value.hpp"

namespace iacta {

struct JudgedAim {
    Aim aim;
    double bonus = 0.0, total = 0.0;      // total: the sum of V after the samples
    int samples = 0, stage = 0;           // stage: the samples after which the aim fell behind
    bool has_no_dice = false;             // then all samples are equal, and one is enough
    const JudgedAim* original = nullptr;  // an aim with the same turns, which is sampled instead

    double value() const { return bonus + (samples ? total / samples : 0.0); }
    const JudgedAim& find_original() const { return original ? original->find_original() : *this; }
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
    // Lists the aims, the best aim first, each with the mean of V after simulated turns with the same dice. The aim
    // AS_LIKED gets a bonus. After each stage, the better half of the aims goes on to twice as many turns (sequential
    // halving). Aims with equal results play the same turns, so only the first of them goes on.
    std::vector<JudgedAim> judge_aims(const War<W>& s, uint64_t seed) {
        std::vector<JudgedAim> found;
        for (const Aim& aim : tactics.list_aims(s))
            found.push_back({aim, aim.kind == IACTA_AIM_AS_LIKED ? n_[MARGIN] : 0.0});
        std::vector<JudgedAim*> left;
        for (JudgedAim& each : found) left.push_back(&each);
        auto is_better = [](const JudgedAim* a, const JudgedAim* b) { return a->value() > b->value(); };
        tactics.in_haste = true;
        for (int done = 0, most = int(n_[SAMPLES]); done < most; left.resize((left.size() + 1) / 2)) {
            done = std::min(done ? 2 * done : FIRST_SAMPLES, most);
            for (JudgedAim* each : left) add_samples(s, *each, seed, done);
            std::stable_sort(left.begin(), left.end(), is_better);
            remove_copies(left);
        }
        tactics.in_haste = false;
        for (JudgedAim& each : found) {
            const JudgedAim& first = each.find_original();
            each.total = first.total, each.samples = first.samples, each.stage = first.stage;
        }
        std::stable_sort(found.begin(), found.end(), [](const JudgedAim& a, const JudgedAim& b) {
            return a.stage != b.stage ? a.stage > b.stage : a.value() > b.value();
        });
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

    static constexpr int FIRST_SAMPLES = 2;

    // Returns the aim with the best mean of V after the turn.
    Aim choose_aim(const War<W>& s, uint64_t seed) {
        std::vector<JudgedAim> found = judge_aims(s, seed);
        return found.empty() ? Aim{} : found.front().aim;
    }
    static void remove_copies(std::vector<JudgedAim*>& aims) {
        for (size_t i = 1; i < aims.size(); ++i)
            for (size_t j = 0; j < i && !aims[i]->original; ++j)
                if (aims[i]->total == aims[j]->total && !aims[j]->original) aims[i]->original = aims[j];
        std::erase_if(aims, [](const JudgedAim* each) { return each->original; });
    }
    // Adds samples of V after turns with an aim, up to a number of samples in all.
    void add_samples(const War<W>& s, JudgedAim& judged, uint64_t seed, int most) {
        std::array<double, MAX_PLAYERS> chances;
        judged.stage = most;
        tactics.aim = judged.aim;
        opened_ = s;
        tactics.open(opened_);
        Aim opened = tactics.aim;
        while (judged.samples < most && !judged.has_no_dice) {
            uint64_t first = seed + uint64_t(judged.samples) * 0x10001;
            Random dice(first);
            after_ = opened_;
            tactics.aim = opened;
            tactics.play(after_, dice, nullptr);
            if (rules_.find_winner(after_) < 0) rules_.next(after_);
            judge(rules_, after_, tactics, weights_, chances.data());
            judged.total += chances[size_t(s.mover)], ++judged.samples;
            judged.has_no_dice = dice.state == Random(first).state;
        }
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
