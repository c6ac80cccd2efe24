// Simulations of whole games, which are played to their end, or stopped early and scored by the value function V.
#pragma once

#include <memory>

#include "war/value.hpp"

namespace iacta {

struct JudgedAim {
    static constexpr double SHARE_OF_REST = 0.25;  // the maximum margin, as a fraction of 1 - V

    Aim aim;
    size_t number = 0;                 // the index of the aim in the list of possible aims
    double margin = 0.0, total = 0.0;  // margin: a bonus added to the mean of V; total: the sum of V over the samples
    // stage: the number of samples in the last stage with this aim, or FINAL for aims compared by simulated rounds.
    int samples = 0, stage = 0;
    uint64_t dice = 0;         // the sum of the states of the random number generator after the samples
    bool is_mission = false;   // whether the aim is to win the game in this turn
    int wins = 0;              // the number of samples before the comparison by rounds in which the mover won the game
    bool has_no_dice = false;  // whether turns with this aim roll no dice; one sample is then sufficient
    // Another aim that leads to the same turns, and is simulated instead of this aim.
    const JudgedAim* original = nullptr;

    static constexpr int FINAL = 1 << 30;

    double mean() const { return samples ? total / samples : 0.0; }
    // Returns the mean of V plus the margin. The margin is smaller for means near 1, so that other aims can still be
    // better.
    double value() const { return mean() + std::min(margin, SHARE_OF_REST * (1.0 - mean())); }
    bool is_elimination() const { return aim.kind == IACTA_AIM_ELIMINATE; }
    const JudgedAim& find_original() const { return original ? original->find_original() : *this; }
    bool is_better_than(const JudgedAim& other) const {
        return stage != other.stage ? stage > other.stage : value() > other.value();
    }
};

template <int W>
class WarPlay;

template <int W, class Visit>
int play_war(const WarRules<W>& rules, War<W>& s, WarPlay<W>* const* seats, const Aim* aim, int cut, int max_rounds,
             Random& random, Visit visit_turn, uint8_t* reached, int32_t* rounds);

// Plays turns for an AI with given weights. The aim of a turn is given, or is the aim with the greatest mean of V in
// simulated turns.
template <int W>
class WarPlay {
  public:
    // value_weights: the weights of V for the choice of aims; null for an AI that chooses no aims. Every call throws
    // Stopped once the deadline has passed.
    WarPlay(const WarRules<W>& rules, Weights weights, const float* value_weights, Deadline& deadline)
        : tactics(rules, weights, deadline), rules_(rules), weights_(weights), value_weights_(value_weights) {
        if (weights_[IACTA_WEIGHT_ROUNDS] <= 0.0) return;
        quick_weights_.assign(weights, weights + IACTA_WEIGHTS);
        quick_weights_[IACTA_WEIGHT_SAMPLES] = quick_weights_[IACTA_WEIGHT_ROUNDS] = 0.0;
        for (int guard : {IACTA_WEIGHT_GUARDING, IACTA_WEIGHT_GUARD_LEVEL, IACTA_WEIGHT_GUARD_SHARE})
            quick_weights_[size_t(guard)] *= QUICK_GUARDS;
        quick_play_ = std::make_unique<WarPlay>(rules, quick_weights_.data(), nullptr, deadline);
        quick_play_->tactics.in_haste = true;
    }

    Tactics<W> tactics;

    void play_turn(War<W>& s, Random& random, Log* log) {
        uint64_t seed = 0;
        if (must_reveal_first(s)) seed = random.next();
        while (must_reveal_first(s)) tactics.step(s, random, log);
        choose(s, random, seed);
        while (s.phase != IACTA_PHASE_OVER) {
            if (seed && tactics.has_eliminated(s)) {
                while (must_reveal_first(s)) tactics.step(s, random, log);
                tactics.aim = tactics.is_impatient(s) ? tactics.find_likely_aim(s) : choose_aim(s, seed);
            }
            tactics.step(s, random, log);
        }
    }
    bool judges_aims() const { return weights_[IACTA_WEIGHT_SAMPLES] > 0.0 && value_weights_; }
    // Returns whether the AI looks at its hidden cards before it chooses the aim of the turn.
    bool must_reveal_first(const War<W>& s) const {
        return weights_[IACTA_WEIGHT_TRADING] > 0.0 && judges_aims() && s.phase == IACTA_PHASE_TRADE &&
               s.hidden[s.mover] > 0;
    }
    void take(Aim aim) { tactics.aim = aim; }
    // Lists the aims, the best aim first, each with the mean of V after simulated turns. All aims get the same dice. A
    // margin is added to the mean of the aim AS_LIKED, and of an aim that often fulfils the mover's mission. After each
    // stage, the better half of the aims is simulated in twice as many turns (sequential halving). If several aims lead
    // to the same results and dice, only the first aim is simulated further. If an elimination and another aim are
    // nearly equal, or if the best aim is not the mission, both are simulated in three times as many turns. An AI with
    // ROUNDS then compares the best aims by the mean of V after some rounds.
    std::vector<JudgedAim> judge_aims(War<W> s, uint64_t seed) {
        rules_.hide_missions(s);
        if (quick_play_) rules_.hide_cards(s);
        std::vector<JudgedAim> found;
        for (const Aim& aim : tactics.list_aims(s)) {
            found.push_back({aim, found.size(), aim.kind == IACTA_AIM_AS_LIKED ? weights_[IACTA_WEIGHT_MARGIN] : 0.0});
            found.back().is_mission = tactics.wins_by_aim(s, aim);
        }
        end_count_ = 0;
        openings_.resize(std::max(openings_.size(), found.size()));
        std::vector<JudgedAim*> left;
        for (JudgedAim& each : found) left.push_back(&each);
        auto is_better = [](const JudgedAim* a, const JudgedAim* b) { return a->value() > b->value(); };
        tactics.in_haste = true;
        for (int done = 0, most = int(weights_[IACTA_WEIGHT_SAMPLES]); done < most; keep_half(left)) {
            done = std::min(done ? 2 * done : FIRST_SAMPLES, most);
            for (JudgedAim* each : left) add_samples(s, *each, seed, done);
            std::stable_sort(left.begin(), left.end(), is_better);
            remove_copies(left);
        }
        auto rival = std::find_if(left.begin(), left.end(), [&](const JudgedAim* each) {
            return each->is_elimination() != left.front()->is_elimination();
        });
        auto mission = find_mission(left);
        if (mission != left.end() && mission != left.begin()) rival = mission;
        if (rival != left.end() && (rival == mission || left.front()->value() - (*rival)->value() < CLOSE))
            for (JudgedAim* each : {left.front(), *rival})
                add_samples(s, *each, seed, MORE * int(weights_[IACTA_WEIGHT_SAMPLES]));
        tactics.in_haste = false;
        if (quick_play_) compare_finalists(s, found, seed);
        for (JudgedAim& each : found) {
            const JudgedAim& first = each.find_original();
            each.total = first.total, each.samples = first.samples, each.stage = first.stage;
        }
        std::stable_sort(found.begin(), found.end(),
                         [](const JudgedAim& a, const JudgedAim& b) { return a.is_better_than(b); });
        return found;
    }
    // Chooses the aim of a turn. If the choice needs simulations and `seed` is 0, `seed` receives their seed.
    void choose(const War<W>& s, Random& random, uint64_t& seed) {
        tactics.aim = Aim{};
        if (weights_[IACTA_WEIGHT_SURE] > 0.0 && !judges_aims()) tactics.aim = tactics.find_aim_within_reach(s);
        if (judges_aims() && tactics.is_impatient(s)) {
            tactics.aim = tactics.find_likely_aim(s);
        } else if (judges_aims()) {
            if (!seed) seed = random.next();
            tactics.aim = choose_aim(s, seed);
        }
        if (weights_[IACTA_WEIGHT_SAMPLES] < 0.0 && random.draw_uniform() < -weights_[IACTA_WEIGHT_SAMPLES]) {
            std::vector<Aim> aims = tactics.list_aims(s);
            if (!aims.empty()) tactics.aim = aims[size_t(random.draw_below(int(aims.size())))];
        }
    }
    // Plays the rest of a turn with a given aim.
    void play_turn(War<W>& s, Random& random, Log* log, Aim aim) {
        tactics.aim = aim;
        tactics.play(s, random, log);
    }

  private:
    const WarRules<W>& rules_;
    Weights weights_;
    const float* value_weights_;
    // The beginning of a turn with an aim: the state before the first attack or before hidden cards are revealed, the
    // aim, and the first attack. It is the same in all samples, because nothing random has happened yet.
    struct Opening {
        War<W> s;
        Aim aim;
        typename Tactics<W>::Fight first;
    };
    std::vector<Opening> openings_;  // [JudgedAim::number]: the opening for this aim
    War<W> after_;
    // The different states before the last move of simulated turns, each with V for the mover after this move.
    std::vector<std::pair<War<W>, double>> ends_;
    size_t end_count_ = 0;  // the number of elements of ends_ in use; all others are buffers
    // The AI that plays for all players in simulated rounds. It has the same weights, but guards its borders with half
    // as many armies, and does not simulate.
    std::vector<double> quick_weights_;
    std::unique_ptr<WarPlay> quick_play_;

    // With all guards, simulated opponents would attack too rarely to show the mover which attacks to fear.
    static constexpr double QUICK_GUARDS = 0.5;
    static constexpr int FIRST_SAMPLES = 2;
    static constexpr size_t FINALISTS = 3;  // the number of best aims that are compared by simulated rounds
    // The factor on the number of samples if an elimination and another aim are nearly equal.
    static constexpr int MORE = 3;
    // Two aims whose values (mean V plus margin) differ by less than this are nearly equal.
    static constexpr double CLOSE = 0.06;
    static constexpr double MISSION_MARGIN = 0.1;  // the margin of an aim that fulfils the mission in each sample

    static auto find_mission(std::vector<JudgedAim*>& aims) {
        return std::find_if(aims.begin(), aims.end(), [](const JudgedAim* each) { return each->is_mission; });
    }
    // Keeps the better half of the aims, which are sorted. The best elimination is also kept if at least two aims
    // remain, because an elimination may fail by bad luck in a few samples. The aim that fulfils the mission is always
    // kept.
    static void keep_half(std::vector<JudgedAim*>& aims) {
        size_t half = (aims.size() + 1) / 2;
        auto is_elimination = [](const JudgedAim* each) { return each->is_elimination(); };
        auto mission = find_mission(aims), best = mission;
        if (mission == aims.end()) best = std::find_if(aims.begin(), aims.end(), is_elimination);
        else if (mission != aims.begin()) half = std::max(half, size_t(2));
        if (best != aims.end() && size_t(best - aims.begin()) >= half && half > 1) std::swap(aims[half - 1], *best);
        aims.resize(half);
    }
    // Simulates turns with all aims. Returns the aim with the greatest mean of V. If the mover may keep a set, the aims
    // are judged with the same dice after a trade and without the trade, and the better value decides.
    Aim choose_aim(const War<W>& s, uint64_t seed) {
        tactics.judged_trade.reset();
        if (weights_[IACTA_WEIGHT_TRADING] > 0.0 && tactics.may_keep_set(s)) {
            War<W> traded = s, kept = s;
            tactics.trade_best_set(traded, nullptr);
            rules_.stop(kept, nullptr);
            std::vector<JudgedAim> after = judge_aims(traded, seed), before = judge_aims(kept, seed);
            bool is_better = !after.empty() && (before.empty() || after.front().value() >= before.front().value());
            tactics.judged_trade = is_better;
            const std::vector<JudgedAim>& found = is_better ? after : before;
            return found.empty() ? Aim{} : found.front().aim;
        }
        std::vector<JudgedAim> found = judge_aims(s, seed);
        return found.empty() ? Aim{} : found.front().aim;
    }
    static void remove_copies(std::vector<JudgedAim*>& aims) {
        for (size_t i = 1; i < aims.size(); ++i)
            for (size_t j = 0; j < i && !aims[i]->original; ++j)
                if (aims[i]->total == aims[j]->total && aims[i]->dice == aims[j]->dice && !aims[j]->original)
                    aims[i]->original = aims[j];
        std::erase_if(aims, [](const JudgedAim* each) { return each->original; });
    }
    // Compares the best aims by TRIALS simulations of each. A simulation plays the turn and continues until the mover
    // has had ROUNDS - 1 further turns and is to move again. All aims get the same dice.
    void compare_finalists(const War<W>& s, std::vector<JudgedAim>& found, uint64_t seed) {
        std::vector<JudgedAim*> best;
        for (JudgedAim& each : found)
            if (!each.original) best.push_back(&each);
        std::stable_sort(best.begin(), best.end(),
                         [](const JudgedAim* a, const JudgedAim* b) { return a->is_better_than(*b); });
        best.resize(std::min(best.size(), FINALISTS));
        if (best.size() < 2) return;
        std::array<double, MAX_PLAYERS> chances;
        std::array<WarPlay*, MAX_PLAYERS> seats;
        seats.fill(quick_play_.get());
        int32_t rounds = 0;
        double change = 0.0;  // how much the simulations of rounds change the mean value of the compared aims
        for (JudgedAim* each : best) {
            change -= each->value() / double(best.size());
            each->total = 0.0, each->stage = JudgedAim::FINAL;
            for (each->samples = 0; each->samples < int(weights_[IACTA_WEIGHT_TRIALS]); ++each->samples) {
                uint64_t turn_seed = ~seed + uint64_t(each->samples) * 0x10001;
                Random dice(turn_seed);
                // Each turn gets new dice, because turns with different aims use different numbers of dice.
                auto renew_dice = [&](const War<W>&) { dice = Random(turn_seed += 0x100000001); };
                after_ = s;
                play_war(rules_, after_, seats.data(), &each->aim, int(weights_[IACTA_WEIGHT_ROUNDS]),
                         int(weights_[IACTA_WEIGHT_ROUNDS]) + 1, dice, renew_dice, nullptr, &rounds);
                judge(rules_, after_, quick_play_->tactics, value_weights_, s.mover, chances.data());
                each->total += chances[size_t(s.mover)];
            }
            change += each->value() / double(best.size());
        }
        // Shift the values of all other aims by the mean change, so that all values remain comparable.
        for (JudgedAim& each : found)
            if (each.stage != JudgedAim::FINAL) each.total += each.samples * change;
    }
    // Makes the last move of a turn, and returns V for the mover. Looks up the result for a known state, because many
    // simulated turns are equal before this move.
    double judge_end(War<W>& s) {
        size_t i = 0;
        while (i < end_count_ && !(ends_[i].first == s)) ++i;
        if (i < end_count_) return ends_[i].second;
        ends_.resize(std::max(ends_.size(), ++end_count_));
        ends_[i].first = s;
        int mover = s.mover;
        Random none(0);
        tactics.play(s, none, nullptr);
        if (rules_.find_winner(s) < 0) rules_.next(s);
        std::array<double, MAX_PLAYERS> chances;
        judge(rules_, s, tactics, value_weights_, mover, chances.data());
        return ends_[i].second = chances[size_t(mover)];
    }
    // Plays a turn with an aim up to the first attack, and stores the result in `opening`.
    void open(const War<W>& s, Aim aim, Opening& opening) {
        tactics.aim = aim;
        opening.s = s;
        tactics.open(opening.s);
        if (opening.s.phase == IACTA_PHASE_ATTACK) opening.first = tactics.choose_fight(opening.s);
        opening.aim = tactics.aim;
    }
    // Simulates turns with an aim until there are `most` samples of V.
    void add_samples(const War<W>& s, JudgedAim& judged, uint64_t seed, int most) {
        Opening& opening = openings_[judged.number];
        judged.stage = most;
        if (!judged.samples) open(s, judged.aim, opening);
        while (judged.samples < most && !judged.has_no_dice) {
            uint64_t first = seed + uint64_t(judged.samples) * 0x10001;
            Random dice(first);
            after_ = opening.s;
            tactics.aim = opening.aim;
            if (after_.phase == IACTA_PHASE_ATTACK) tactics.fight(after_, opening.first, dice, nullptr);
            tactics.play(after_, dice, nullptr, IACTA_PHASE_FORTIFY);
            double value = judge_end(after_);
            judged.total += value, judged.wins += value == 1.0, ++judged.samples, judged.dice += dice.state;
            judged.has_no_dice = dice.state == Random(first).state;
        }
        if (judged.is_mission) judged.margin = MISSION_MARGIN * judged.wins / judged.samples;
    }
};

// Plays a game from a state, and returns how it ended. If `aim` is not null, it is the aim of the first turn, and
// `reached` receives whether the turn reached it. Calls visit_turn(s) at the start of each later turn.
template <int W, class Visit>
int play_war(const WarRules<W>& rules, War<W>& s, WarPlay<W>* const* seats, const Aim* aim, int cut, int max_rounds,
             Random& random, Visit visit_turn, uint8_t* reached, int32_t* rounds) {
    int begun = s.mover, round = 0;
    bool is_first = true;
    while (true) {
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
