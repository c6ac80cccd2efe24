// An implementation of WholeGame for boards of at most 64 * W territories.
#pragma once

#include <memory>

#include "faults.hpp"
#include "war/games.hpp"
#include "war/whole_game.hpp"

namespace iacta {

template <int W>
class SizedWholeGame final : public WholeGame {
  public:
    SizedWholeGame(const iacta_problem& problem, const iacta_turn& turn) : rules_(problem, turn) {}

    int32_t read_odds(int to, int able, int defenders, double* found) const override {
        if (to < 0 || to >= rules_.lands) return IACTA_UNSOUND;
        Odds::Row row = rules_.odds(to, able, defenders);
        found[0] = row.won, found[1] = row.lost, found[2] = row.killed;
        return IACTA_DONE;
    }
    int32_t evaluate(const float* weights, float* features, double* chances) const override {
        static constexpr double NONE[IACTA_WEIGHTS] = {};
        Deadline unlimited;
        Tactics<W> tactics(rules_, NONE, unlimited);
        write_features(rules_.start, tactics, ALL_KNOWN, features);
        judge(rules_, rules_.start, tactics, weights, ALL_KNOWN, chances);
        return IACTA_DONE;
    }
    int32_t judge_aims(const iacta_budget& budget, Weights weights, const float* choosing, uint64_t seed,
                       int32_t* found, double* values, int32_t* count) const override {
        if (*count < 0) return IACTA_UNSOUND;
        Deadline deadline(budget);
        std::vector<JudgedAim> all =
            WarPlay<W>(rules_, weights, choosing, deadline).judge_aims(rules_.start, Random(seed).next());
        for (int i = 0; i < std::min<int>(*count, int(all.size())); ++i) {
            found[2 * i] = all[i].aim.kind, found[2 * i + 1] = all[i].aim.which;
            values[i] = all[i].mean();
        }
        *count = int32_t(all.size());
        return IACTA_DONE;
    }
    int32_t choose_action(const iacta_budget& budget, Weights weights, const float* choosing, uint64_t seed,
                          int32_t* chosen, iacta_action* action) const override {
        Aim aim{chosen[0], chosen[1]};
        War<W> s = rules_.start;
        if (s.phase == IACTA_PHASE_OVER || (aim.kind >= 0 && !is_known(aim))) return IACTA_UNSOUND;
        Random random(seed);
        Deadline deadline(budget);
        WarPlay<W> play(rules_, weights, choosing, deadline);
        uint64_t unused = 0;
        bool is_chosen_later = aim.kind < 0 && play.must_reveal_first(s);
        if (aim.kind >= 0) play.take(aim);
        else if (!is_chosen_later) play.choose(s, random, unused);
        Log log;
        play.tactics.step(s, random, &log);
        *action = log.front();
        if (is_chosen_later) return IACTA_DONE;
        chosen[0] = play.tactics.aim.kind, chosen[1] = play.tactics.aim.which;
        return IACTA_DONE;
    }
    // If the kind of `aim` is negative, the AI chooses the aim of the turn.
    int32_t play_turn(const iacta_budget& budget, Weights weights, const float* choosing, Aim aim, uint64_t seed,
                      iacta_action* actions, int32_t* count, uint8_t* owner, int32_t* armies,
                      int32_t* cards) const override {
        if (*count < 0 || (aim.kind >= 0 && !is_known(aim))) return IACTA_UNSOUND;
        War<W> s = rules_.start;
        Random random(seed);
        Deadline deadline(budget);
        WarPlay<W> play(rules_, weights, choosing, deadline);
        Log log;
        if (aim.kind >= 0) play.play_turn(s, random, &log, aim);
        else play.play_turn(s, random, &log);
        std::copy(log.begin(), log.begin() + std::min<int64_t>(*count, int64_t(log.size())), actions);
        *count = int32_t(log.size());
        std::copy(s.owner.begin(), s.owner.end(), owner);
        std::copy(s.at.armies.begin(), s.at.armies.end(), armies);
        for (int i = 0; i < rules_.players; ++i) cards[i] = s.count_cards(i);
        return IACTA_DONE;
    }
    int32_t play_games(const iacta_budget& budget, const iacta_games& games, iacta_played& played) const override {
        Aim aim{games.aim, games.which};
        played.played = 0;
        if (games.games < 0 || games.max_rounds < 1 || (aim.kind >= 0 && !is_known(aim)) ||
            !are_given({games.weights, games.ending, played.chances, played.ended, played.rounds}))
            return IACTA_UNSOUND;
        const Aim* given = aim.kind < 0 ? nullptr : &aim;
        Deadline deadline(budget), unlimited;
        auto [plays, seats] = make_table(games.weights, games.choosing, deadline);
        Tactics<W> tactics(rules_, games.weights, unlimited);
        War<W> s;
        for (int32_t& i = played.played; i < games.games; ++i) {
            uint64_t dice = hash_number(games.seed) + hash_number(uint64_t(games.first) + uint64_t(i));
            Random random(dice);
            s = rules_.start;
            if (games.is_dealt) deal(s, random);
            rules_.deal_missions(s, random);
            int round = 0, mover = s.mover;
            auto renew_dice = [&](const War<W>& now) {
                if (now.mover <= mover) ++round;
                mover = now.mover;
                random = Random(dice + hash_number(uint64_t(round) * MAX_PLAYERS + uint64_t(mover) + 1));
            };
            renew_dice(s);
            played.ended[i] =
                uint8_t(play_war(rules_, s, seats.data(), given, games.cut, games.max_rounds, random, renew_dice,
                                 played.reached ? played.reached + i : nullptr, played.rounds + i));
            judge(rules_, s, tactics, games.ending, ALL_KNOWN, played.chances + int64_t(i) * rules_.players);
        }
        return IACTA_DONE;
    }
    int32_t record_game(Weights weights, const float* choosing, int max_rounds, double share, uint64_t seed,
                        float* features, int32_t* count, double* chances) const override {
        if (*count < 0 || max_rounds < 1) return IACTA_UNSOUND;
        Deadline deadline;
        auto [plays, seats] = make_table(weights, choosing, deadline);
        War<W> s = rules_.start;
        Random random(seed), chance(~seed);
        deal(s, random);
        rules_.deal_missions(s, random);
        int room = *count, found = 0;
        int32_t rounds = 0;
        Tactics<W>& tactics = plays[0].tactics;
        int ended = play_war(
            rules_, s, seats.data(), nullptr, 0, max_rounds, random,
            [&](const War<W>& now) {
                if (chance.draw_uniform() >= share || found >= room) return;
                int viewer = chance.draw_below(rules_.players + 1) - 1;  // -1 is ALL_KNOWN
                write_features(now, tactics, viewer, features + int64_t(found) * rules_.players * FEATURES);
                ++found;
            },
            nullptr, &rounds);
        *count = found;
        int alive = rules_.count_alive(s), winner = rules_.find_winner(s);
        for (int i = 0; i < rules_.players; ++i)
            chances[i] = s.lands[i] == 0 ? 0.0 : ended == IACTA_END_WON ? i == winner : 1.0 / alive;
        return IACTA_DONE;
    }

  private:
    WarRules<W> rules_;

    bool is_known(Aim aim) const {
        auto [kind, which] = aim;
        bool is_continent =
            kind == IACTA_AIM_CONTINENT || kind == IACTA_AIM_BREAK || kind == IACTA_AIM_RAID || kind == IACTA_AIM_GUARD;
        bool is_player = kind == IACTA_AIM_CHASE || kind == IACTA_AIM_ELIMINATE;
        int most = is_continent            ? int(rules_.continents.size())
                   : is_player             ? rules_.players
                   : kind == IACTA_AIM_WIN ? 1 + rules_.lands
                                           : 1;
        return kind >= IACTA_AIM_AS_LIKED && kind <= IACTA_AIM_WIN && which >= 0 && which < most;
    }
    void write_features(const War<W>& s, Tactics<W>& tactics, int viewer, float* features) const {
        std::array<std::array<float, FEATURES>, MAX_PLAYERS> rows;
        find_features(rules_, s, tactics, viewer, rows.data());
        for (int i = 0; i < rules_.players; ++i) std::copy(rows[i].begin(), rows[i].end(), features + i * FEATURES);
    }
    struct Table {
        std::vector<WarPlay<W>> plays;
        std::vector<WarPlay<W>*> seats;
    };
    Table make_table(Weights weights, const float* choosing, Deadline& deadline) const {
        Table found;
        for (int i = 0; i < rules_.players; ++i)
            found.plays.emplace_back(rules_, weights + i * IACTA_WEIGHTS,
                                     choosing ? choosing + i * VALUE_WEIGHTS : nullptr, deadline);
        for (WarPlay<W>& each : found.plays) found.seats.push_back(&each);
        return found;
    }
    // Deals the territories and armies at random, and chooses a random first player. The number of armies is the number
    // in the rule book, scaled with the number of territories.
    void deal(War<W>& s, Random& random) const {
        constexpr int STARTING[] = {0, 0, 40, 35, 30, 25, 20}, LANDS = 42;
        std::vector<int> lands;
        for (int t = 0; t < rules_.lands; ++t)
            if (s.owner[t] <= rules_.players) lands.push_back(t);
        for (size_t i = lands.size(); i > 1; --i) std::swap(lands[i - 1], lands[size_t(random.draw_below(int(i)))]);
        // Each player gets their own capital.
        for (int i = 0; i < rules_.players; ++i) {
            auto capital = std::find(lands.begin(), lands.end(), rules_.find_capital(s, i));
            if (capital != lands.end()) std::swap(*capital, lands[size_t(i)]);
        }
        rules_.deal(s, lands, STARTING[rules_.players] * int(lands.size()) / LANDS, random);
    }
};

template <int W>
std::unique_ptr<WholeGame> open_whole_game(const iacta_problem& problem, const iacta_turn& turn) {
    return std::make_unique<SizedWholeGame<W>>(problem, turn);
}

}  // namespace iacta
