// An AI for whole games. It compares actions one step ahead by formulas with weights. Values are in armies.
//
// The AI has no memory: its actions depend only on the state and on the aim of the turn. `iacta.war.players` describes
// the weights and the formulas.
#pragma once

#include <optional>
#include <utility>

#include "war/borders.hpp"
#include "war/routes.hpp"
#include "war/victory.hpp"
#include "war/whole_game.hpp"

namespace iacta {

// The weights of an AI: weights[IACTA_WEIGHT_...].
using Weights = const double*;

// Stacks that block each other: the armies of the enemy stack, for each territory of the board and for each new army, and
// the chance to win against it below which it is not attacked.
constexpr int LARGE_STACK = 2, PLACED_IN_VAIN = 4;
constexpr double SURE_OF_STACK = 0.9;

template <int W>
class Tactics {
  public:
    Tactics(const WarRules<W>& rules, Weights weights, Deadline& deadline)
        : rules_(rules), weights_(weights), deadline_(deadline), borders_(rules), routes_(rules),
          beside_(rules.continents.size()), prize_(rules.continents.size()), last_(rules.continents.size()),
          wanted_(size_t(rules.lands)), worth_(size_t(rules.lands)), urgency_(size_t(rules.lands)),
          known_(size_t(rules.lands), 0) {}

    // A battle of a stack on v for territory c, which continues as long as its chance or its value is large enough. If
    // `v` is -1, there are no further attacks.
    struct Fight {
        int v = -1, c = -1;
        bool is_on_route = false;
        double least = 0.0;               // for a battle on a route: the smallest chance to win at which it continues
        double worth = 0.0, price = 0.0;  // for a battle on no route: the value of c, and the price of a lost army
        int stay = 0;                     // the number of armies that must stay on v for the mission of the mover
    };

    Aim aim;
    bool in_haste = false;  // whether a battle continues without being compared with other battles
    // Whether to trade a set at the next optional trade; without a value, the prizes within reach decide.
    std::optional<bool> judged_trade;

    void play(War<W>& s, Random& random, Log* log, int end = IACTA_PHASE_OVER) {
        while (s.phase < end) step(s, random, log);
    }
    // Plays the turn up to the first attack, or until hidden cards must be revealed.
    void open(War<W>& s) {
        Random none(0);
        while (s.phase == IACTA_PHASE_PLACE || (s.phase == IACTA_PHASE_TRADE && !s.hidden[s.mover]))
            step(s, none, nullptr);
    }
    // Plays one action. Throws Stopped at the deadline.
    void step(War<W>& s, Random& random, Log* log) {
        deadline_.spend(WORK_PER_LAND * rules_.lands);
        if (has_eliminated(s)) aim = find_likely_aim(s);
        switch (s.phase) {
            case IACTA_PHASE_TRADE: return trade(s, random, log);
            case IACTA_PHASE_PLACE: {
                if (int v = find_second_front(s); v >= 0) return rules_.put(s, v, s.place, log);
                auto [land, number] = has_placing_aim() ? choose_placement_for_aim(s) : choose_placement(s);
                return rules_.put(s, land, number, log);
            }
            case IACTA_PHASE_ATTACK: return fight(s, choose_fight(s), random, log);
            case IACTA_PHASE_DEFEND: return rules_.defend(s, random, log);
            case IACTA_PHASE_ADVANCE: return rules_.advance(s, choose_advance(s), log);
            default: return fortify(s, log);
        }
    }
    // Chooses the next battle. The result depends only on the state and the aim.
    Fight choose_fight(const War<W>& s) {
        if (wins_by_stopping(s)) return {};
        if (is_on_route(s, 0))
            if (auto [v, c] = routes_.choose_attack(s); v >= 0) {
                int stay = count_staying(s, aim);
                // If the chance to win is low, the stack weakens the territory for other stacks, and fights to the end.
                return {v, c, true, is_still_likely(s, v, c, FAIR, stay) ? FAIR : 0.0, 0.0, 0.0, stay};
            }
        survey(s, 0);
        Best best = find_best_attack(s);
        if (best.value <= weights_[IACTA_WEIGHT_THRESHOLD]) return {};
        return {best.v, best.c, false, 0.0, value_land(s, best.c), price_, stay_};
    }
    void fight(War<W>& s, const Fight& chosen, Random& random, Log* log) {
        if (chosen.v < 0) return rules_.stop(s, log);
        do rules_.attack(s, chosen.v, chosen.c, random, log);
        while (in_haste && goes_on(s, chosen));
    }
    // Returns whether the aim of the turn is an elimination that has succeeded. Returns false during an advance and
    // after the end of the turn.
    bool has_eliminated(const War<W>& s) const {
        return aim.kind == IACTA_AIM_ELIMINATE && !s.lands[aim.which] && s.phase != IACTA_PHASE_ADVANCE &&
               s.phase != IACTA_PHASE_OVER;
    }
    // Lists the possible aims for this turn.
    std::vector<Aim> list_aims(const War<W>& s) {
        std::vector<Aim> found;
        auto add = [&](int kind, int which) {
            if (allows(kind)) found.push_back({kind, which});
        };
        for (int kind : {IACTA_AIM_AS_LIKED, IACTA_AIM_BOLDLY, IACTA_AIM_WARILY, IACTA_AIM_HOLD}) add(kind, 0);
        if (rules_.has_cards && !s.cards_due)
            for (int kind : {IACTA_AIM_ONE_CARD, IACTA_AIM_PILE, IACTA_AIM_SAFE_CARD}) add(kind, 0);
        survey(s, s.place);
        for (int k = 0; k < int(rules_.continents.size()); ++k) {
            if (rules_.bonus[k] < 1 || beside_[k] < 1 || rules_.size(k) == 0) continue;
            if (beside_[k] + s.place > weights_[IACTA_WEIGHT_NEAR_AIM] * count_cost(s, k)) {
                add(IACTA_AIM_CONTINENT, k);
                add(IACTA_AIM_GUARD, k);
            }
            for (int q = 0; q < rules_.players; ++q)
                if (q != s.mover && rules_.owns(s, k, q)) {
                    add(IACTA_AIM_BREAK, k);
                    add(IACTA_AIM_RAID, k);
                }
        }
        for (int q = 0; q < rules_.players; ++q) {
            if (q == s.mover || !s.lands[q] || rules_.lets_rival_win(s, q)) continue;
            if (beside_player_[q] > 0 &&
                beside_player_[q] + s.place > weights_[IACTA_WEIGHT_NEAR_AIM] * (s.armies[q] + s.lands[q]))
                add(IACTA_AIM_CHASE, q);
            if (allows(IACTA_AIM_ELIMINATE) && measure_elimination(s, q) > MIN_RATIO)
                found.push_back({IACTA_AIM_ELIMINATE, q});
        }
        if (allows(IACTA_AIM_WIN) && measure_win(s) > MIN_RATIO) {
            found.push_back({IACTA_AIM_WIN, 0});
            for (int v : list_largest_fronts(s)) found.push_back({IACTA_AIM_WIN, 1 + v});
        }
        return found;
    }
    bool allows(int kind) const { return int64_t(weights_[IACTA_WEIGHT_AIMS]) >> kind & 1; }
    // Returns whether a turn that reaches the aim wins the game.
    bool wins_by_aim(const War<W>& s, Aim aim) const {
        return aim.kind == IACTA_AIM_WIN || (aim.kind == IACTA_AIM_ELIMINATE && rules_.is_target(s, aim.which));
    }
    // Returns whether the mover knows a set and may keep it.
    bool may_keep_set(const War<W>& s) const {
        return s.phase == IACTA_PHASE_TRADE && !s.hidden[s.mover] && s.count_cards(s.mover) < rules_.must_trade;
    }
    void trade_best_set(War<W>& s, Log* log) const {
        auto [cards, land] = choose_set(s);
        rules_.trade(s, cards, land, log);
    }
    // Returns the aim of an AI that does not simulate: to win, to eliminate a player, or to break or take a continent,
    // if the AI has enough armies; otherwise the preferred aim.
    Aim find_aim_within_reach(const War<W>& s) {
        if (allows(IACTA_AIM_WIN) && measure_win(s) >= weights_[IACTA_WEIGHT_SURE]) return {IACTA_AIM_WIN, 0};
        double most = weights_[IACTA_WEIGHT_SURE];
        Aim best{int(weights_[IACTA_WEIGHT_PREFERRED]), 0};
        for (int q = 0; q < rules_.players && allows(IACTA_AIM_ELIMINATE); ++q) {
            if (q == s.mover || !s.lands[q]) continue;
            double ratio = measure_elimination(s, q);
            if (ratio < weights_[IACTA_WEIGHT_SURE]) continue;
            if (rules_.is_target(s, q)) return {IACTA_AIM_ELIMINATE, q};
            ratio += weights_[IACTA_WEIGHT_THEIR_CARDS] * s.count_cards(q);
            if (ratio >= most) most = ratio, best = {IACTA_AIM_ELIMINATE, q};
        }
        if (best.kind == IACTA_AIM_ELIMINATE) return best;
        survey(s, s.place);
        int worth = 0;
        for (int k = 0; k < int(rules_.continents.size()); ++k) {
            if (rules_.bonus[k] <= worth || beside_[k] < 1 || rules_.size(k) == 0) continue;
            if (allows(IACTA_AIM_GUARD) && beside_[k] + s.place > weights_[IACTA_WEIGHT_SURE] * count_cost(s, k))
                worth = rules_.bonus[k], best = {IACTA_AIM_GUARD, k};
            for (int q = 0; q < rules_.players && allows(IACTA_AIM_RAID); ++q)
                if (q != s.mover && rules_.owns(s, k, q) && can_break(s, k))
                    worth = rules_.bonus[k], best = {IACTA_AIM_RAID, k};
        }
        return best;
    }
    // Returns the aim to win, or else the elimination that is most likely to succeed, if its chance is large enough;
    // otherwise the aim AS_LIKED.
    Aim find_likely_aim(const War<W>& s) {
        if (allows(IACTA_AIM_WIN) && measure_win(s) > AGAIN) return {IACTA_AIM_WIN, 0};
        double most = AGAIN;
        Aim best;
        for (int q = 0; q < rules_.players; ++q) {
            if (q == s.mover || !s.lands[q]) continue;
            double ratio = measure_elimination(s, q);
            if (ratio > AGAIN && rules_.is_target(s, q)) return {IACTA_AIM_ELIMINATE, q};
            if (ratio > most) most = ratio, best = {IACTA_AIM_ELIMINATE, q};
        }
        return best;
    }
    // Returns whether there are so many armies on the board that the AI no longer waits for better odds.
    bool is_impatient(const War<W>& s) const {
        return s.count_armies() > weights_[IACTA_WEIGHT_PATIENCE] * s.count_owned();
    }
    // Returns whether a turn that began in state `before` has reached its aim.
    bool has_reached(Aim aim, const War<W>& before, const War<W>& s) const {
        switch (aim.kind) {
            case IACTA_AIM_HOLD: return s.lands[before.mover] >= before.lands[before.mover];
            case IACTA_AIM_ONE_CARD:
            case IACTA_AIM_PILE:
            case IACTA_AIM_SAFE_CARD: return s.lands[before.mover] > before.lands[before.mover];
            case IACTA_AIM_CONTINENT:
            case IACTA_AIM_GUARD: return rules_.owns(s, aim.which, before.mover);
            case IACTA_AIM_BREAK:
            case IACTA_AIM_RAID:
                for (int q = 0; q < rules_.players; ++q)
                    if (q != before.mover && rules_.owns(s, aim.which, q)) return false;
                return true;
            case IACTA_AIM_CHASE:
            case IACTA_AIM_ELIMINATE: return s.lands[aim.which] == 0;
            case IACTA_AIM_WIN: return rules_.find_winner(s) == before.mover;
            default: return true;
        }
    }
    // Returns the ratio of the mover's adjacent and new armies to the armies needed to eliminate player q.
    double measure_reach(const War<W>& s, int q) const {
        return double(beside_player_[q] + (beside_player_[q] ? new_armies_ : 0)) / double(s.armies[q] + s.lands[q]);
    }

    // Finds the continents, the players to eliminate and the win that are within reach of the mover with `new_armies` new
    // armies, and computes their prizes.
    void survey(const War<W>& s, int new_armies) {
        count_beside(s, new_armies);
        ++moment_;
        all_ = s.count_armies();
        alive_ = rules_.count_alive(s);
        price_ = weights_[IACTA_WEIGHT_LOST] * std::min(1.0, weights_[IACTA_WEIGHT_PATIENCE] * s.count_owned() / all_);
        prizes_ = 0.0;
        for (size_t k = 0; k < prize_.size(); ++k) {
            prize_[k] = 0.0;
            int left = rules_.size(int(k)) - s.held[k * OWNERS + size_t(s.mover)];
            if (rules_.bonus[k] < 1 || left < 1 || !beside_[k]) continue;
            if (beside_[k] + new_armies > weights_[IACTA_WEIGHT_NEAR_CONTINENT] * count_cost(s, int(k))) {
                prize_[k] = weights_[IACTA_WEIGHT_CONTINENT_PRIZE] * rules_.bonus[k] / left;
                prizes_ += weights_[IACTA_WEIGHT_CONTINENT_PRIZE] * rules_.bonus[k];
            }
        }
        for (int q = 0; q < rules_.players; ++q) {
            prize_of_[q] = 0.0;
            if (q == s.mover || !s.lands[q] || !beside_player_[q] || rules_.lets_rival_win(s, q)) continue;
            if (beside_player_[q] + new_armies > weights_[IACTA_WEIGHT_NEAR_PLAYER] * (s.armies[q] + s.lands[q])) {
                double prize = weights_[IACTA_WEIGHT_ELIMINATION] +
                               weights_[IACTA_WEIGHT_THEIR_CARDS] * s.count_cards(q) * rules_.count_next_set(s) / 3.0;
                if (alive_ == 2) prize += weights_[IACTA_WEIGHT_LAST_RIVAL];
                prize_of_[q] = prize / s.lands[q];
                prizes_ += prize;
            }
        }
        stay_ = 0;
        if (!rules_.missions.empty()) {
            double prize = Wins<W>(rules_, s).find_urgency(new_armies, urgency_);
            prizes_ += prize;
            if (prize > 0.0 || aim.kind == IACTA_AIM_WIN) stay_ = Wins<W>(rules_, s).find_least_armies(s.mover);
        }
    }
    // Counts the mover's armies that could attack each continent and each player.
    void count_beside(const War<W>& s, int new_armies) {
        const Game<W>& g = rules_.game(s);
        new_armies_ = new_armies;
        std::fill(beside_.begin(), beside_.end(), 0);
        std::fill(last_.begin(), last_.end(), -1);
        beside_player_.fill(0);
        std::array<int, OWNERS> last{};
        last.fill(-1);
        Set<W> rest = s.at.mine - g.resting;
        while (rest.any()) {
            int v = rest.pop(), room = rules_.spare(s, v);
            if (room < 1) continue;
            for (Set<W> near = g.out[v] - s.at.mine; near.any();) {
                int c = near.pop(), q = s.owner[c];
                if (!s.at.armies[c]) continue;
                if (last[q] != v) last[q] = v, beside_player_[q] += room;
                for (int k : rules_.continents_of[c])
                    if (last_[k] != v) last_[k] = v, beside_[k] += room;
            }
        }
    }

  private:
    static constexpr int64_t WORK_PER_LAND = 200;  // the work of an action, for each territory of the board
    // The value, in armies, of the first conquest of a turn with the aim SAFE_CARD.
    static constexpr double SAFE_CARD = 6.0;
    // The smallest ratio of available to needed armies at which a win or an elimination is a possible aim.
    static constexpr double MIN_RATIO = 0.75;
    // Simulations compare the battles of a route again if the chance to win falls below this chance.
    static constexpr double FAIR = 0.4;
    static constexpr double OTHER_STAKE = 0.4, AGAIN = 1.15;

    struct Best {
        double value;
        int v, c;
    };

    const WarRules<W>& rules_;
    Weights weights_;
    Deadline& deadline_;
    Borders<W> borders_;
    Routes<W> routes_;
    int new_armies_ = 0, all_ = 0, alive_ = 0;
    double prizes_ = 0.0;
    double price_ = 0.0;  // the price of a lost army
    std::vector<int> beside_;
    std::array<int, OWNERS> beside_player_{};
    std::vector<double> prize_;
    std::array<double, OWNERS> prize_of_{};
    std::vector<int> last_, wanted_;
    std::vector<typename Routes<W>::Wish> wishes_;
    std::vector<double> worth_, urgency_;
    std::vector<int64_t> known_;
    int64_t moment_ = 0;
    // The number of armies that must stay on each territory if the mover is close to fulfilling a mission, or if the
    // aim of the turn is to win.
    int stay_ = 0;

    // Returns the armies needed to complete a continent: its hostile armies, plus one army for each hostile territory.
    int count_cost(const War<W>& s, int k) const {
        int cost = rules_.size(k) - s.held[size_t(k * OWNERS + s.mover)];
        for (int o = 0; o < OWNERS; ++o)
            if (o != s.mover) cost += s.strength[size_t(k * OWNERS + o)];
        return cost;
    }
    // Returns whether the aim allows attacks on c. The aims RAID and GUARD allow only attacks on their continent.
    bool is_wanted(const War<W>& s, int c) const {
        if (aim.kind != IACTA_AIM_RAID && aim.kind != IACTA_AIM_GUARD) return true;
        const std::vector<int>& inside = rules_.continents_of[c];
        if (std::find(inside.begin(), inside.end(), aim.which) == inside.end()) return false;
        return aim.kind == IACTA_AIM_GUARD || (s.owner[c] < rules_.players && rules_.owns(s, aim.which, s.owner[c]));
    }
    // Returns the value, in armies, of conquering territory c.
    double value_land(const War<W>& s, int c) {
        if (known_[c] == moment_) return worth_[c];
        known_[c] = moment_;
        int q = s.owner[c];
        bool is_player = q < rules_.players;
        if (aim.kind == IACTA_AIM_SAFE_CARD) return worth_[c] = (s.cards_due ? 0.0 : SAFE_CARD) + urgency_[c];
        if (!is_wanted(s, c)) return worth_[c] = urgency_[c];
        double value = weights_[IACTA_WEIGHT_TERRITORY];
        if (rules_.has_cards && !s.cards_due) value += weights_[IACTA_WEIGHT_CARD];
        for (int k : rules_.continents_of[c]) {
            int bonus = rules_.bonus[k], size = rules_.size(k);
            if (bonus < 1) continue;
            int after = s.held[size_t(k * OWNERS + s.mover)] + 1;
            double share = double(after) / size;
            if (is_player && rules_.owns(s, k, q)) value += weights_[IACTA_WEIGHT_BREAKING] * bonus;
            value += weights_[IACTA_WEIGHT_PROGRESS] * bonus * share * share;
            if (after == size) value += weights_[IACTA_WEIGHT_COMPLETING] * bonus;
            value += prize_[k];
        }
        if (is_player) {
            value += weights_[IACTA_WEIGHT_LEADER] * (double(s.armies[q]) * alive_ / all_ - 1.0);
            value += prize_of_[q];
        }
        value *= 1.0 + weights_[IACTA_WEIGHT_GROWTH] * all_;
        if (aim.kind == IACTA_AIM_BOLDLY) value *= weights_[IACTA_WEIGHT_BOLD];
        if (aim.kind == IACTA_AIM_WARILY) value *= weights_[IACTA_WEIGHT_WARY];
        if (aim.kind == IACTA_AIM_HOLD) value = 0.0;
        if ((aim.kind == IACTA_AIM_ONE_CARD || aim.kind == IACTA_AIM_PILE) && s.cards_due) value = 0.0;
        if (aim.kind == IACTA_AIM_CHASE && q == aim.which)
            value += weights_[IACTA_WEIGHT_AIM] * (1.0 + weights_[IACTA_WEIGHT_THEIR_CARDS] * s.count_cards(q) *
                                                             rules_.count_next_set(s) / 3.0 / s.lands[q]);
        if (aim.kind == IACTA_AIM_CONTINENT || aim.kind == IACTA_AIM_GUARD ||
            ((aim.kind == IACTA_AIM_BREAK || aim.kind == IACTA_AIM_RAID) && is_player && rules_.owns(s, aim.which, q)))
            for (int k : rules_.continents_of[c])
                if (k == aim.which)
                    value += weights_[IACTA_WEIGHT_AIM] * (1.0 + double(rules_.bonus[k]) / rules_.size(k));
        return worth_[c] = value + urgency_[c];
    }
    // Returns the expected value of a battle that is fought to its end. `worth` is the value of the territory, `price`
    // the price of a lost army.
    double value_fight(double worth, double price, const Odds::Row& row) const {
        return row.won * worth + weights_[IACTA_WEIGHT_KILLED] * row.killed - price * row.lost -
               (1.0 - row.won) * weights_[IACTA_WEIGHT_FAILED];
    }
    double value_fight(const War<W>& s, int c, const Odds::Row& row) {
        return value_fight(value_land(s, c), price_, row);
    }
    // Returns the cost of an attack from v on c that exposes a continent of the mover to another hostile neighbour of
    // v. Returns 0 if the attack exposes no continent.
    double value_bared_border(const War<W>& s, int v, int c) const {
        double found = 0.0;
        for (int k : rules_.continents_of[v])
            if (rules_.bonus[k] > 0 && rules_.owns(s, k, s.mover))
                found += weights_[IACTA_WEIGHT_BARE] * rules_.bonus[k];
        if (found == 0.0) return 0.0;
        for (Set<W> near = rules_.later.into[v] - s.at.mine; near.any();) {
            int other = near.pop();
            if (other != c && s.at.armies[other] > 0) return found;
        }
        return 0.0;
    }
    Best find_best_attack_from(const War<W>& s, int v, int able) {
        Best best{-1e300, v, -1};
        for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (!s.at.armies[c] || rules_.is_losing_conquest(s, c)) continue;
            double value = value_fight(s, c, rules_.odds(c, able, s.at.armies[c]));
            if (value > best.value) value -= value_bared_border(s, v, c);
            if (value > best.value) best = {value, v, c};
        }
        return best;
    }
    Best find_best_attack(const War<W>& s) {
        Best best{-1e300, -1, -1};
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop(), room = rules_.spare(s, v, stay_);
            if (room < 1) continue;
            for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
                int c = near.pop();
                if (!s.at.armies[c] || rules_.is_losing_conquest(s, c)) continue;
                double value = value_fight(s, c, rules_.odds(c, room, s.at.armies[c]));
                if (value <= best.value) continue;
                value -= value_bared_border(s, v, c);
                if (value > best.value && rules_.max_dice(s, v, c) > 0) best = {value, v, c};
            }
        }
        return best;
    }
    // Returns whether a battle can continue, and its chance or its value is still large enough.
    bool goes_on(const War<W>& s, const Fight& fight) const {
        if (fight.is_on_route) return is_still_likely(s, fight.v, fight.c, fight.least, fight.stay);
        int v = fight.v, c = fight.c, room = s.phase == IACTA_PHASE_ATTACK ? rules_.spare(s, v, fight.stay) : 0;
        if (room < 1 || !rules_.max_dice(s, v, c)) return false;
        double value = value_fight(fight.worth, fight.price, rules_.odds(c, room, s.at.armies[c]));
        return value - value_bared_border(s, v, c) > weights_[IACTA_WEIGHT_THRESHOLD];
    }
    // Returns whether the battle of v for c can continue with a chance to win of more than `least`. At least `stay`
    // armies stay on v.
    bool is_still_likely(const War<W>& s, int v, int c, double least, int stay) const {
        int room = s.phase == IACTA_PHASE_ATTACK ? rules_.spare(s, v, stay) : 0;
        return room > 0 && rules_.max_dice(s, v, c) > 0 && rules_.odds(c, room, s.at.armies[c]).won > least;
    }
    // Returns the available armies divided by the armies needed for an elimination. Returns 0 without a route, or if
    // another player wins by the elimination.
    double measure_elimination(const War<W>& s, int victim) {
        if (rules_.lets_rival_win(s, victim)) return 0.0;
        int new_armies = s.place + count_trades(s);
        if (2 * (s.armies[s.mover] - s.lands[s.mover] + new_armies) < s.armies[victim] + s.lands[victim]) return 0.0;
        return measure_routes(s, {IACTA_AIM_ELIMINATE, victim}, new_armies);
    }
    // Returns the available armies divided by the armies needed to win in this turn, or 0 without a route. Without a
    // victory condition, it also returns 0 for a single opponent, whom the aim ELIMINATE eliminates, and if the other
    // players have more armies.
    double measure_win(const War<W>& s) {
        int new_armies = s.place + count_trades(s);
        if (rules_.missions.empty()) {
            int others = 0;
            for (int q = 0; q < rules_.players; ++q) others += q == s.mover ? 0 : s.armies[q];
            if (rules_.count_alive(s) < 3 || s.armies[s.mover] + new_armies < others) return 0.0;
        }
        return measure_routes(s, {IACTA_AIM_WIN, 0}, new_armies);
    }
    // Finds the routes of an aim. Returns the ratio of available to needed armies, or 0 without a route.
    double measure_routes(const War<W>& s, Aim aim, int new_armies) {
        Set<W> wanted = find_aim_lands(s, aim, new_armies);
        if (!wanted.any()) return 0.0;
        deadline_.spend(WORK_PER_LAND * rules_.lands);
        new_armies = std::max(new_armies, 0);
        return routes_.find(s, wanted, new_armies, count_staying(s, aim)) ? routes_.measure(new_armies) : 0.0;
    }
    // Returns how many armies must stay on each conquered territory for the aim.
    int count_staying(const War<W>& s, Aim aim) const {
        return aim.kind == IACTA_AIM_WIN ? Wins<W>(rules_, s).find_least_armies(s.mover) : 0;
    }
    // Returns the territories that the routes of an aim must take.
    // new_armies: the new armies; for a mission that counts armies, those that strengthen territories are subtracted.
    Set<W> find_aim_lands(const War<W>& s, Aim aim, int& new_armies) const {
        bool is_win = aim.kind == IACTA_AIM_WIN;
        if (is_win && !rules_.missions.empty()) return Wins<W>(rules_, s).find_missing_lands(new_armies);
        Set<W> found;
        if (!is_win && aim.kind != IACTA_AIM_ELIMINATE) return found;
        for (int t = 0; t < rules_.lands; ++t)
            if (is_win ? s.owner[t] != s.mover && s.owner[t] < rules_.players : s.owner[t] == aim.which) found.add(t);
        return found;
    }
    // Returns the armies that the mover gets by trading sets in the current phase, without armies for pictured
    // territories. Of hidden cards, one set is counted if the mover must trade.
    int count_trades(const War<W>& s) const {
        if (s.phase != IACTA_PHASE_TRADE || (s.hidden[s.mover] && s.count_cards(s.mover) < 5)) return 0;
        if (s.hidden[s.mover] || s.count_cards(s.mover) < 6) return rules_.count_next_set(s);
        War<W> after = s;
        int armies = 0;
        for (; rules_.may_trade(after); ++after.sets) {
            Cards cards = choose_set(after).first;
            armies += rules_.value_set(after, cards);
            after.known[s.mover] &= ~cards;
        }
        return armies;
    }
    // Returns whether the aim has routes, with enough armies to follow them.
    bool is_on_route(const War<W>& s, int new_armies) {
        double ratio = measure_routes(s, aim, new_armies);
        return ratio > 0.0 && ratio >= weights_[IACTA_WEIGHT_GIVING_UP];
    }
    // Returns whether adjacent and new armies probably suffice to conquer a territory of continent k.
    bool can_break(const War<W>& s, int k) {
        Strike best = find_strike(s, k);
        return best.v >= 0 && best.more <= s.place;
    }
    struct Strike {
        int v = -1, c = -1, more = 0;  // v probably conquers c if it gets `more` additional armies
    };
    // Returns the best battle for a territory of continent k, or for any territory if k is -1.
    Strike find_strike(const War<W>& s, int k) const {
        Strike best;
        double most = -1e300;
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop(), room = rules_.spare(s, v);
            for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
                int c = near.pop();
                if (!s.at.armies[c]) continue;
                const std::vector<int>& inside = rules_.continents_of[c];
                if (k >= 0 && std::find(inside.begin(), inside.end(), k) == inside.end()) continue;
                int more = std::max(0, int(1.2 * s.at.armies[c]) + 2 - room);
                Odds::Row row = rules_.odds(c, room + more, s.at.armies[c]);
                double value = SAFE_CARD * row.won - row.lost - 0.3 * more - 0.3 * borders_.find_stake(s, v, -1);
                if (value > most) most = value, best = {v, c, more};
            }
        }
        return best;
    }
    bool is_held_by_other(const War<W>& s, int k) const {
        for (int q = 0; q < rules_.players; ++q)
            if (q != s.mover && rules_.owns(s, k, q)) return true;
        return false;
    }
    bool has_placing_aim() const {
        return aim.kind == IACTA_AIM_ELIMINATE || aim.kind == IACTA_AIM_WIN || aim.kind == IACTA_AIM_PILE ||
               aim.kind == IACTA_AIM_SAFE_CARD || aim.kind == IACTA_AIM_RAID || aim.kind == IACTA_AIM_GUARD;
    }
    // Returns the next placement of new armies for the aim: a territory and a number of armies. Placements follow the
    // order of the territories.
    std::pair<int, int> choose_placement_for_aim(const War<W>& s) {
        int main = -1;
        wishes_.clear();
        if (int base = aim.which - 1; aim.kind == IACTA_AIM_WIN && base >= s.first && s.at.mine.has(base))
            return {base, s.place};
        // The routes of an aim that fulfils the mission divide new armies better than `Wins`.
        if (wins_by_aim(s, aim) && is_on_route(s, s.place)) list_route_wishes(s);
        if (!wishes_.empty()) return follow_wishes(s, main);
        if (auto winning = Wins<W>(rules_, s).find_winning_placement(); winning.first >= 0) return winning;
        switch (aim.kind) {
            case IACTA_AIM_ELIMINATE:
            case IACTA_AIM_WIN:
                if (!is_on_route(s, s.place)) return choose_placement(s);
                list_route_wishes(s);
                if (wishes_.empty()) return choose_placement(s);
                break;
            case IACTA_AIM_PILE: main = find_largest_front(s); break;
            case IACTA_AIM_SAFE_CARD: {
                Strike battle = find_strike(s, -1);
                if (battle.v >= 0 && !s.cards_due) wishes_.push_back({battle.v, battle.more});
                list_guards(s, -1);
                main = find_largest_front(s);
                break;
            }
            default: {
                if (rules_.owns(s, aim.which, s.mover)) {
                    list_guards(s, aim.which);
                    main = find_largest_front(s);
                    break;
                }
                Strike battle = find_strike(s, aim.which);
                if (battle.v < 0) return choose_placement(s);
                int cost = int(1.1 * count_cost(s, aim.which)) + 2 - rules_.spare(s, battle.v);
                wishes_.push_back({battle.v, aim.kind == IACTA_AIM_RAID ? battle.more : std::max(cost, 0)});
                list_guards(s, aim.kind == IACTA_AIM_RAID ? -1 : aim.which);
                main = battle.v;
            }
        }
        return follow_wishes(s, main);
    }
    // Returns the territory that gets all new armies if two large stacks block each other, or -1. If only a few armies
    // may advance after a conquest, a large stack conquers little, and two such stacks could face each other forever. The
    // new armies then stand beside the weakest enemies elsewhere.
    int find_second_front(const War<W>& s) const {
        if (s.first > 0 || s.place < 1) return -1;
        int blocked = -1, target = -1, most = 0, near_target = 0;
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop(), room = rules_.spare(s, v) + s.place;
            for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
                int c = near.pop(), armies = s.at.armies[c];
                bool is_large = armies >= LARGE_STACK * rules_.lands && armies > PLACED_IN_VAIN * s.place;
                if (!is_large || rules_.later.limit_advance(c, room) >= room) continue;
                if (rules_.odds(c, room, armies).won < SURE_OF_STACK) blocked = v;
            }
        }
        if (blocked < 0) return -1;
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop(), weak = 0, number = 0;
            for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
                int c = near.pop(), armies = s.at.armies[c];
                if (armies < 1 || rules_.is_losing_conquest(s, c)) continue;
                ++number;
                if (weak == 0 || armies < weak) weak = armies;
            }
            if (v == blocked || weak == 0 || weak >= s.place) continue;
            if (target < 0 || weak < most || (weak == most && number > near_target))
                target = v, most = weak, near_target = number;
        }
        return target;
    }
    // Adds wishes for the placement of all new armies: first on territories that lack armies for the mission, then on the
    // stacks that follow the routes of the aim.
    void list_route_wishes(const War<W>& s) {
        int left = s.place;
        if (count_staying(s, aim) > 1)
            for (auto [missing, land] : Wins<W>(rules_, s).list_weak(s.mover, s.place))
                wishes_.push_back({land, missing}), left -= missing;
        for (const auto& each : routes_.list_wishes(s, left)) wishes_.push_back(each);
    }
    // Adds a wish for armies on each border of the mover's continents that lacks guards, if the new armies suffice.
    // Continent `also`, unless -1, counts as owned.
    void list_guards(const War<W>& s, int also) {
        size_t begun = wishes_.size();
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop();
            if (!borders_.find_stake(s, v, also)) continue;
            int lack = int(weights_[IACTA_WEIGHT_GUARDING] * borders_.find_threat(s, v) + 0.999) - s.at.armies[v];
            if (lack > 0 && lack <= s.place) wishes_.push_back({v, lack});
        }
        std::sort(wishes_.begin() + ptrdiff_t(begun), wishes_.end(), [&](const auto& a, const auto& b) {
            int first = borders_.find_stake(s, a.land, also), second = borders_.find_stake(s, b.land, also);
            return first != second ? first > second : a.armies != b.armies ? a.armies < b.armies : a.land < b.land;
        });
    }
    // Returns the next placement, a territory and a number of armies, that fulfils the wishes. All remaining armies go
    // to territory `main`.
    std::pair<int, int> follow_wishes(const War<W>& s, int main) {
        std::fill(wanted_.begin(), wanted_.end(), 0);
        int left = s.place;
        for (auto [land, armies] : wishes_) {
            int number = std::min(armies, left);
            wanted_[land] += number, left -= number;
        }
        if (main < 0) main = s.at.mine.first();
        wanted_[main] += left;
        int first = -1, later = 0;
        for (int t = s.first; t < rules_.lands; ++t)
            if (wanted_[t] > 0) first < 0 ? first = t : ++later;
        if (first >= 0) return {first, later ? wanted_[first] : s.place};
        int best = -1;
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop();
            if (v >= s.first && (best < 0 || (borders_.is_at_front(s, v) && !borders_.is_at_front(s, best)))) best = v;
        }
        return {best, s.place};
    }
    // Lists the territories of the mover's largest stacks beside hostile armies that may get new armies.
    std::vector<int> list_largest_fronts(const War<W>& s) const {
        std::vector<int> found;
        for (Set<W> rest = s.place > 0 ? s.at.mine - rules_.game(s).resting : Set<W>{}; rest.any();)
            if (int v = rest.pop(); v >= s.first && borders_.is_at_front(s, v)) found.push_back(v);
        rules_.keep_largest(s, found);
        return found;
    }
    // Returns the territory of the mover's largest stack beside hostile armies, or -1 without such a stack.
    int find_largest_front(const War<W>& s) const {
        int best = -1;
        const Game<W>& g = rules_.game(s);
        for (Set<W> rest = s.at.mine - g.resting; rest.any();) {
            int v = rest.pop();
            if (best >= 0 && s.at.armies[v] <= s.at.armies[best]) continue;
            if (borders_.is_at_front(s, v)) best = v;
        }
        return best;
    }
    // Divides the armies on c, plus `most` armies that may still move from v to c, between the two territories in
    // proportion to stake times threat. Returns how many armies to move, or -1 if neither territory is threatened.
    int divide_guards(const War<W>& s, int v, int c, int most, int also) const {
        double here = (OTHER_STAKE + borders_.find_stake(s, v, also)) * borders_.find_threat(s, v);
        double there = (OTHER_STAKE + borders_.find_stake(s, c, also)) * borders_.find_threat(s, c);
        if (there == 0.0) return here > 0.0 ? 0 : -1;
        int all = most + s.at.armies[c];
        return std::clamp(int(all * there / (here + there) + 0.5) - s.at.armies[c], 0, most);
    }
    // Returns the expected value of the best battle from v with `able` armies, together with the best second battle
    // from the conquered territory.
    double value_chain(const War<W>& s, int v, int able) {
        double best = -1e300;
        for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (!s.at.armies[c]) continue;
            Odds::Row row = rules_.odds(c, able, s.at.armies[c]);
            double value = value_fight(s, c, row) - value_bared_border(s, v, c), more = 0.0;
            int left = int(double(able) - row.lost) - 1;
            if (left > 0)
                for (Set<W> further = rules_.game(s).out[c] - s.at.mine; further.any();) {
                    int t = further.pop();
                    if (s.at.armies[t] > 0)
                        more = std::max(more, value_fight(s, t, rules_.odds(t, left, s.at.armies[t])));
                }
            value += row.won * more;
            best = std::max(best, value);
        }
        return best;
    }
    void trade(War<W>& s, Random& random, Log* log) {
        if (s.hidden[s.mover]) return rules_.reveal(s, random, log);
        auto [cards, land] = choose_set(s);
        if (s.count_cards(s.mover) >= rules_.must_trade) return rules_.trade(s, cards, land, log);
        if (auto judged = std::exchange(judged_trade, std::nullopt))
            return *judged ? rules_.trade(s, cards, land, log) : rules_.stop(s, log);
        if (rules_.is_nuclear)
            return value_strike(s, cards) > 0 ? rules_.trade(s, cards, land, log) : rules_.stop(s, log);
        if (int new_armies = s.place; find_aim_lands(s, aim, new_armies).any())
            return rules_.trade(s, cards, land, log);
        survey(s, s.place);
        double before = prizes_;
        survey(s, s.place + rules_.value_set(s, cards));
        prizes_ > before ? rules_.trade(s, cards, land, log) : rules_.stop(s, log);
    }
    // Returns the armies that a nuclear set takes from the other players, minus the mover's own losses. A set that takes
    // the mover's last territory is worse than any other set.
    int value_strike(const War<W>& s, Cards cards) const {
        int value = 0, own = 0;
        for (Cards rest = cards; rest; rest &= rest - 1) {
            int t = rules_.pictured_land(__builtin_ctzll(rest));
            if (t < 0 || s.owner[size_t(t)] >= rules_.players) continue;
            bool is_own = s.owner[size_t(t)] == s.mover;
            own += is_own, value += is_own ? -s.at.armies[t] : s.at.armies[t];
        }
        return own == s.lands[s.mover] ? -rules_.lands - s.armies[s.mover] : value;
    }
    // Returns the best set of the mover's cards, and the pictured territory that gets armies, or -1. The best set has
    // the most armies minus the cost of jokers.
    std::pair<Cards, int> choose_set(const War<W>& s) const {
        std::vector<int> all;
        for (Cards rest = s.known[s.mover]; rest; rest &= rest - 1) all.push_back(__builtin_ctzll(rest));
        double most = -1e300;
        std::pair<Cards, int> best{0, -1};
        for (size_t i = 0; i < all.size(); ++i)
            for (size_t j = i + 1; j < all.size(); ++j)
                for (size_t k = j + 1; k < all.size(); ++k) {
                    Cards cards = Cards{1} << all[i] | Cards{1} << all[j] | Cards{1} << all[k];
                    if (!is_set(cards, rules_.needs_pair())) continue;
                    int land = -1;
                    for (int card : {all[i], all[j], all[k]}) {
                        int t = s.pictured || rules_.is_nuclear ? -1 : rules_.pictured_land(card);
                        if (t >= 0 && s.at.mine.has(t) &&
                            (land < 0 || (!borders_.is_at_front(s, land) && borders_.is_at_front(s, t))))
                            land = t;
                    }
                    double value = rules_.value_set(s, cards) + (land >= 0 ? rules_.pictured_armies : 0) +
                                   (rules_.is_nuclear ? value_strike(s, cards) : 0) -
                                   weights_[IACTA_WEIGHT_JOKER] * count_bits(cards & JOKERS);
                    if (value > most) most = value, best = {cards, land};
                }
        return best;
    }
    // Returns the next placement of new armies: a territory and a number of armies. Placements follow the order of the
    // territories.
    std::pair<int, int> choose_placement(const War<W>& s) {
        if (auto winning = Wins<W>(rules_, s).find_winning_placement(); winning.first >= 0) return winning;
        survey(s, s.place);
        int target = -1, later = -1, needy = -1, guard = -1, need = 0;
        double most = -1e300, most_later = -1e300, lack = -1e300, shortfall = 0.0;
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop();
            bool rests = rules_.game(s).resting.has(v), may = v >= s.first;
            double value = rests ? -1e300 : value_chain(s, v, rules_.spare(s, v) + s.place);
            if (value > most) most = value, target = v;
            if (may && (later < 0 || value > most_later)) most_later = value, later = v;
            if (!borders_.is_at_front(s, v)) continue;
            int danger = borders_.find_threat(s, v);
            if (double(danger - s.at.armies[v]) > lack) lack = danger - s.at.armies[v], needy = v;
            bool is_border = false;
            for (int k : rules_.continents_of[v]) is_border |= rules_.bonus[k] > 0 && rules_.owns(s, k, s.mover);
            double missing = weights_[IACTA_WEIGHT_GUARD_LEVEL] * danger - s.at.armies[v];
            if (may && is_border && missing > shortfall) shortfall = missing, guard = v;
        }
        if (most <= weights_[IACTA_WEIGHT_THRESHOLD] && needy >= 0) target = needy;
        if (guard == target) guard = -1;
        if (guard >= 0)
            need = std::min({s.place, int(shortfall) + 1, int(weights_[IACTA_WEIGHT_GUARD_SHARE] * s.place)});
        if (target < s.first) return {guard >= 0 ? guard : later, s.place};
        if (need < 1) return {target, s.place};
        if (need == s.place) return {guard, s.place};
        return guard < target ? std::pair{guard, need} : std::pair{target, s.place - need};
    }
    // Returns the number of armies that advance in addition to the required armies.
    int choose_advance(const War<W>& s) {
        auto [v, c, k] = s.pending;
        int most = rules_.game(s).resting.has(v) ? 0 : rules_.limit_advance(s, borders_.count_movable(s, v));
        if (int moved = Wins<W>(rules_, s).find_winning_move(v, c, most); moved >= 0) return moved;
        if (most < 1) return 0;
        if (Wins<W>(rules_, s).find_least_armies(s.mover) < 2) return choose_usual_advance(s, most);
        survey(s, 0);
        // Keep the armies that the mission requires on v, and then advance the armies that it requires on c.
        int limit = std::clamp(rules_.spare(s, v, stay_), 0, most);
        return std::clamp(choose_usual_advance(s, limit), std::min(std::max(stay_ - s.at.armies[c], 0), limit), limit);
    }
    // Returns how many of the `most` available armies advance after a conquest.
    int choose_usual_advance(const War<W>& s, int most) {
        auto [v, c, k] = s.pending;
        if (!borders_.is_at_front(s, v)) return most;
        if (is_on_route(s, 0)) return routes_.choose_advance(s, v, c, most);
        if (aim.kind == IACTA_AIM_RAID && !is_held_by_other(s, aim.which)) return 0;
        survey(s, 0);
        int danger = borders_.find_threat(s, v), spare = rules_.spare(s, v, stay_);
        double here = find_best_attack_from(s, v, spare).value;
        double there = find_best_attack_from(s, c, s.at.armies[c] + spare - rules_.later.garrison).value;
        int behind = std::min(most, int(weights_[IACTA_WEIGHT_BEHIND] * danger));
        if (weights_[IACTA_WEIGHT_GUARDING] > 0.0 && std::max(here, there) <= weights_[IACTA_WEIGHT_THRESHOLD])
            if (int moved = divide_guards(s, v, c, most, aim.kind == IACTA_AIM_GUARD ? aim.which : -1); moved >= 0)
                return moved;
        if (std::max(here, there) <= weights_[IACTA_WEIGHT_THRESHOLD])
            return borders_.find_threat(s, c) >= danger ? most - behind : 0;
        return there >= here ? most - behind : 0;
    }
    // Returns whether the mover can win without further attacks, by the last move or by the end of the turn.
    bool wins_by_stopping(const War<W>& s) const {
        return !rules_.missions.empty() && (Wins<W>(rules_, s).wins_at_end() || find_winning_move(s).to >= 0);
    }
    // Returns a last move of the turn with which the mover wins, or an empty move.
    typename Borders<W>::Move find_winning_move(const War<W>& s) const {
        Wins<W> wins(rules_, s);
        for (Set<W> stacks = s.at.mine - rules_.game(s).resting; wins.may_win_by_move() && stacks.any();) {
            int v = stacks.pop(), movable = borders_.count_movable(s, v);
            if (movable < 1) continue;
            for (Set<W> ends = rules_.find_fortify_targets(s, v); ends.any();) {
                int t = ends.pop(), moved = wins.find_winning_move(v, t, movable);
                if (moved > 0) return {v, t, moved};
            }
        }
        return {};
    }
    // Makes the last move of the turn, or ends the turn without a move. A move that wins has priority over a move to a
    // border or front territory that needs armies.
    void fortify(War<W>& s, Log* log) {
        if (Wins<W>(rules_, s).wins_at_end()) return rules_.stop(s, log);
        if (auto [v, t, moved] = find_winning_move(s); t >= 0) return rules_.move(s, v, t, moved, log);
        bool is_guarding = weights_[IACTA_WEIGHT_GUARDING] > 0.0;
        auto [from, to, armies] =
            is_guarding ? borders_.find_guarding_move(s, weights_[IACTA_WEIGHT_GUARDING]) : borders_.find_inner_move(s);
        to < 0 ? rules_.stop(s, log) : rules_.move(s, from, to, armies, log);
    }
};

}  // namespace iacta
