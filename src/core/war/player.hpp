// A player of the whole game: one ply, some thirty numbers. What is counted is in armies.
//
// It has no memory: what it does follows from the moment alone, so that a policy over `Turn` that is
// written the same way does the same.
#pragma once

#include "war/rules.hpp"
#include "war/whole_game.hpp"

namespace iacta {

// The numbers of a player, in the order of `iacta.war.players`.
enum Number : int {
    TERRITORY,
    CARD,
    BREAKING,
    PROGRESS,
    COMPLETING,
    LEADER,
    GROWTH,
    KILLED,
    LOST,
    FAILED,
    BARE,
    THRESHOLD,
    NEAR_CONTINENT,
    NEAR_PLAYER,
    CONTINENT_PRIZE,
    ELIMINATION,
    THEIR_CARDS,
    LAST_RIVAL,
    BEHIND,
    GUARD_SHARE,
    GUARD_LEVEL,
    JOKER,
    BOLD,
    WARY,
    AIM,
    NEAR_AIM,
    MARGIN,
    PATIENCE,
    SAMPLES,
    NUMBERS
};
using Numbers = const double*;

template <int W>
class Tactics {
  public:
    Tactics(const WarRules<W>& rules, Numbers numbers)
        : rules_(rules), n_(numbers), beside_(rules.continents.size()), prize_(rules.continents.size()),
          last_(rules.continents.size()), worth_(size_t(rules.lands)), known_(size_t(rules.lands), 0) {}

    Aim aim;
    bool in_haste = false;  // whether a battle goes on without a look at others while it is good enough

    void play(War<W>& s, Random& random, Log* log) {
        while (s.phase != IACTA_PHASE_OVER) step(s, random, log);
    }
    // Plays up to the first attack, or to the first card that nobody has seen.
    void open(War<W>& s) {
        Random none(0);
        while (s.phase == IACTA_PHASE_PLACE || (s.phase == IACTA_PHASE_TRADE && !s.hidden[s.mover]))
            step(s, none, nullptr);
    }
    void step(War<W>& s, Random& random, Log* log) {
        switch (s.phase) {
            case IACTA_PHASE_TRADE: return trade(s, random, log);
            case IACTA_PHASE_PLACE: {
                auto [land, number] = placement(s);
                return rules_.put(s, land, number, log);
            }
            case IACTA_PHASE_ATTACK: {
                look(s, 0);
                Best best = best_attack(s);
                if (best.value <= n_[THRESHOLD]) return rules_.stop(s, log);
                do rules_.attack(s, best.v, best.c, random, log);
                while (in_haste && goes_on(s, best.v, best.c));
                return;
            }
            case IACTA_PHASE_DEFEND: return rules_.defend(s, random, log);
            case IACTA_PHASE_ADVANCE: return rules_.advance(s, moved_in(s), log);
            default: return fortify(s, log);
        }
    }
    // What could be aimed at in this turn.
    std::vector<Aim> aims(const War<W>& s) {
        std::vector<Aim> found{
            {IACTA_AIM_AS_LIKED, 0}, {IACTA_AIM_BOLDLY, 0}, {IACTA_AIM_WARILY, 0}, {IACTA_AIM_HOLD, 0}};
        if (rules_.has_cards && !s.conquered) found.push_back({IACTA_AIM_ONE_CARD, 0});
        look(s, s.place);
        for (int k = 0; k < int(rules_.continents.size()); ++k) {
            if (rules_.bonus[k] < 1 || beside_[k] < 1 || rules_.size(k) == 0) continue;
            if (beside_[k] + s.place > n_[NEAR_AIM] * cost_of(s, k)) found.push_back({IACTA_AIM_CONTINENT, k});
            for (int q = 0; q < rules_.players; ++q)
                if (q != s.mover && rules_.owns(s, k, q)) found.push_back({IACTA_AIM_BREAK, k});
        }
        for (int q = 0; q < rules_.players; ++q)
            if (q != s.mover && s.lands[q] > 0 && beside_player_[q] > 0 &&
                beside_player_[q] + s.place > n_[NEAR_AIM] * (s.armies[q] + s.lands[q]))
                found.push_back({IACTA_AIM_ELIMINATE, q});
        return found;
    }
    // Whether there are so many armies on the board that nobody waits any longer.
    bool is_impatient(const War<W>& s) const { return s.all_armies() > n_[PATIENCE] * s.owned(); }
    // Whether what was aimed at at a moment has come about since.
    bool reached(const War<W>& before, const War<W>& s) const {
        switch (aim.kind) {
            case IACTA_AIM_HOLD: return s.lands[before.mover] >= before.lands[before.mover];
            case IACTA_AIM_ONE_CARD: return s.lands[before.mover] > before.lands[before.mover];
            case IACTA_AIM_CONTINENT: return rules_.owns(s, aim.which, before.mover);
            case IACTA_AIM_BREAK:
                for (int q = 0; q < rules_.players; ++q)
                    if (q != before.mover && rules_.owns(s, aim.which, q)) return false;
                return true;
            case IACTA_AIM_ELIMINATE: return s.lands[aim.which] == 0;
            default: return true;
        }
    }
    // How far a player could eliminate another: armies beside, and new ones, for what it takes.
    double in_reach(const War<W>& s, int q) const {
        return double(beside_player_[q] + (beside_player_[q] ? news_ : 0)) / double(s.armies[q] + s.lands[q]);
    }

    // Looks at a moment: what is within reach, and what its lands pay.
    void look(const War<W>& s, int news) {
        look_beside(s, news);
        ++moment_;
        all_ = s.all_armies();
        alive_ = rules_.alive(s);
        calm_ = std::min(1.0, n_[PATIENCE] * s.owned() / all_);
        prizes_ = 0.0;
        for (size_t k = 0; k < prize_.size(); ++k) {
            prize_[k] = 0.0;
            int left = rules_.size(int(k)) - s.held[k * OWNERS + size_t(s.mover)];
            if (rules_.bonus[k] < 1 || left < 1 || !beside_[k]) continue;
            if (beside_[k] + news > n_[NEAR_CONTINENT] * cost_of(s, int(k))) {
                prize_[k] = n_[CONTINENT_PRIZE] * rules_.bonus[k] / left;
                prizes_ += n_[CONTINENT_PRIZE] * rules_.bonus[k];
            }
        }
        for (int q = 0; q < rules_.players; ++q) {
            prize_of_[q] = 0.0;
            if (q == s.mover || !s.lands[q] || !beside_player_[q]) continue;
            if (beside_player_[q] + news > n_[NEAR_PLAYER] * (s.armies[q] + s.lands[q])) {
                double prize = n_[ELIMINATION] + n_[THEIR_CARDS] * s.cards(q) * rules_.next_set(s) / 3.0;
                if (alive_ == 2) prize += n_[LAST_RIVAL];
                prize_of_[q] = prize / s.lands[q];
                prizes_ += prize;
            }
        }
    }
    // Counts the armies that could attack each continent and each player.
    void look_beside(const War<W>& s, int news) {
        const Game<W>& g = rules_.game(s);
        news_ = news;
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
                for (int k : rules_.within[c])
                    if (last_[k] != v) last_[k] = v, beside_[k] += room;
            }
        }
    }

  private:
    struct Best {
        double value;
        int v, c;
    };

    const WarRules<W>& rules_;
    Numbers n_;
    int news_ = 0, all_ = 0, alive_ = 0;
    double prizes_ = 0.0;
    double calm_ = 1.0;  // the share in which lost armies count
    std::vector<int> beside_;
    std::array<int, OWNERS> beside_player_{};
    std::vector<double> prize_;
    std::array<double, OWNERS> prize_of_{};
    std::vector<int> last_;
    std::vector<double> worth_;
    std::vector<int64_t> known_;
    int64_t moment_ = 0;

    // What stands between a player and a continent: armies, and one for each land.
    int cost_of(const War<W>& s, int k) const {
        int cost = rules_.size(k) - s.held[size_t(k * OWNERS + s.mover)];
        for (int o = 0; o < OWNERS; ++o)
            if (o != s.mover) cost += s.strength[size_t(k * OWNERS + o)];
        return cost;
    }
    // What taking a land is worth.
    double worth(const War<W>& s, int c) {
        if (known_[c] == moment_) return worth_[c];
        known_[c] = moment_;
        int q = s.owner[c];
        bool is_player = q < rules_.players;
        double value = n_[TERRITORY];
        if (rules_.has_cards && !s.conquered) value += n_[CARD];
        for (int k : rules_.within[c]) {
            int bonus = rules_.bonus[k], size = rules_.size(k);
            if (bonus < 1) continue;
            int after = s.held[size_t(k * OWNERS + s.mover)] + 1;
            double share = double(after) / size;
            if (is_player && rules_.owns(s, k, q)) value += n_[BREAKING] * bonus;
            value += n_[PROGRESS] * bonus * share * share;
            if (after == size) value += n_[COMPLETING] * bonus;
            value += prize_[k];
        }
        if (is_player) {
            value += n_[LEADER] * (double(s.armies[q]) * alive_ / all_ - 1.0);
            value += prize_of_[q];
        }
        value *= 1.0 + n_[GROWTH] * all_;
        if (aim.kind == IACTA_AIM_BOLDLY) value *= n_[BOLD];
        if (aim.kind == IACTA_AIM_WARILY) value *= n_[WARY];
        if (aim.kind == IACTA_AIM_HOLD || (aim.kind == IACTA_AIM_ONE_CARD && s.conquered)) value = 0.0;
        if (aim.kind == IACTA_AIM_ELIMINATE && q == aim.which)
            value += n_[AIM] * (1.0 + n_[THEIR_CARDS] * s.cards(q) * rules_.next_set(s) / 3.0 / s.lands[q]);
        if (aim.kind == IACTA_AIM_CONTINENT ||
            (aim.kind == IACTA_AIM_BREAK && is_player && rules_.owns(s, aim.which, q)))
            for (int k : rules_.within[c])
                if (k == aim.which) value += n_[AIM] * (1.0 + double(rules_.bonus[k]) / rules_.size(k));
        return worth_[c] = value;
    }
    // The value of fighting for a land, to the end.
    double fight(const War<W>& s, int c, const Odds::Row& row) {
        return row.won * worth(s, c) + n_[KILLED] * row.killed - n_[LOST] * calm_ * row.lost -
               (1.0 - row.won) * n_[FAILED];
    }
    // What is lost where an attack leaves the border of an own continent bare.
    double bared(const War<W>& s, int v, int c) const {
        double found = 0.0;
        for (int k : rules_.within[v])
            if (rules_.bonus[k] > 0 && rules_.owns(s, k, s.mover)) found += n_[BARE] * rules_.bonus[k];
        if (found == 0.0) return 0.0;
        for (Set<W> near = rules_.later.into[v] - s.at.mine; near.any();) {
            int other = near.pop();
            if (other != c && s.at.armies[other] > 0) return found;
        }
        return 0.0;
    }
    Best best_attack_from(const War<W>& s, int v, int able) {
        Best best{-1e300, v, -1};
        for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (!s.at.armies[c]) continue;
            double value = fight(s, c, rules_.odds(c, able, s.at.armies[c]));
            if (value > best.value) value -= bared(s, v, c);
            if (value > best.value) best = {value, v, c};
        }
        return best;
    }
    Best best_attack(const War<W>& s) {
        Best best{-1e300, -1, -1};
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop(), room = rules_.spare(s, v);
            if (room < 1) continue;
            for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
                int c = near.pop();
                if (!s.at.armies[c]) continue;
                double value = fight(s, c, rules_.odds(c, room, s.at.armies[c]));
                if (value <= best.value) continue;
                value -= bared(s, v, c);
                if (value > best.value && rules_.dice(s, v, c) > 0) best = {value, v, c};
            }
        }
        return best;
    }
    // Whether an attack that was rolled is still good enough.
    bool goes_on(const War<W>& s, int v, int c) {
        int room = s.phase == IACTA_PHASE_ATTACK ? rules_.spare(s, v) : 0;
        if (room < 1 || !rules_.dice(s, v, c)) return false;
        return fight(s, c, rules_.odds(c, room, s.at.armies[c])) - bared(s, v, c) > n_[THRESHOLD];
    }
    // The value of the best two battles in a row that begin on a land, with so many able to attack.
    double chain(const War<W>& s, int v, int able) {
        double best = -1e300;
        for (Set<W> near = rules_.game(s).out[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (!s.at.armies[c]) continue;
            Odds::Row row = rules_.odds(c, able, s.at.armies[c]);
            double value = fight(s, c, row) - bared(s, v, c), more = 0.0;
            int left = int(double(able) - row.lost) - 1;
            if (left > 0)
                for (Set<W> further = rules_.game(s).out[c] - s.at.mine; further.any();) {
                    int t = further.pop();
                    if (s.at.armies[t] > 0) more = std::max(more, fight(s, t, rules_.odds(t, left, s.at.armies[t])));
                }
            value += row.won * more;
            best = std::max(best, value);
        }
        return best;
    }
    // The largest stack of another player that could attack a land, less what stays behind; 0 for none.
    int threat(const War<W>& s, int v) const {
        int most = 0;
        for (Set<W> near = rules_.later.into[v] - s.at.mine; near.any();) {
            int c = near.pop();
            if (s.owner[c] < rules_.players) most = std::max(most, s.at.armies[c] - rules_.later.free);
        }
        return most;
    }
    bool at_front(const War<W>& s, int v) const {
        for (Set<W> near = (rules_.later.into[v] | rules_.later.out[v]) - s.at.mine; near.any();)
            if (s.at.armies[near.pop()] > 0) return true;
        return false;
    }
    // What may leave a land without leaving it empty.
    int loose(const War<W>& s, int v) const { return std::max(rules_.spare(s, v) - (rules_.game(s).keep[v] == 0), 0); }

    void trade(War<W>& s, Random& random, Log* log) {
        if (s.hidden[s.mover]) return rules_.reveal(s, random, log);
        auto [cards, land] = best_set(s);
        if (s.cards(s.mover) >= rules_.must_trade) return rules_.trade(s, cards, land, log);
        look(s, s.place);
        double before = prizes_;
        look(s, s.place + rules_.worth(s, cards));
        prizes_ > before ? rules_.trade(s, cards, land, log) : rules_.stop(s, log);
    }
    // The set that brings most, a joker counted, and the land that gets armies for its picture.
    std::pair<Cards, int> best_set(const War<W>& s) {
        std::vector<int> all;
        for (Cards rest = s.known[s.mover]; rest; rest &= rest - 1) all.push_back(__builtin_ctzll(rest));
        double most = -1e300;
        std::pair<Cards, int> best{0, -1};
        for (size_t i = 0; i < all.size(); ++i)
            for (size_t j = i + 1; j < all.size(); ++j)
                for (size_t k = j + 1; k < all.size(); ++k) {
                    Cards cards = Cards{1} << all[i] | Cards{1} << all[j] | Cards{1} << all[k];
                    if (!is_set(cards)) continue;
                    int land = -1;
                    for (int card : {all[i], all[j], all[k]}) {
                        int t = s.pictured ? -1 : rules_.pictured_land(card);
                        if (t >= 0 && s.at.mine.has(t) && (land < 0 || (!at_front(s, land) && at_front(s, t))))
                            land = t;
                    }
                    double value = rules_.worth(s, cards) + (land >= 0 ? rules_.pictured_armies : 0) -
                                   n_[JOKER] * count_of(cards & JOKERS);
                    if (value > most) most = value, best = {cards, land};
                }
        return best;
    }
    // The next land that gets new armies, in the order of the board, and how many.
    std::pair<int, int> placement(const War<W>& s) {
        look(s, s.place);
        int target = -1, later = -1, needy = -1, guard = -1, need = 0;
        double most = -1e300, most_later = -1e300, lack = -1e300, shortfall = 0.0;
        for (Set<W> rest = s.at.mine; rest.any();) {
            int v = rest.pop();
            bool rests = rules_.game(s).resting.has(v), may = v >= s.first;
            double value = rests ? -1e300 : chain(s, v, rules_.spare(s, v) + s.place);
            if (value > most) most = value, target = v;
            if (may && (later < 0 || value > most_later)) most_later = value, later = v;
            if (!at_front(s, v)) continue;
            int danger = threat(s, v);
            if (double(danger - s.at.armies[v]) > lack) lack = danger - s.at.armies[v], needy = v;
            bool is_border = false;
            for (int k : rules_.within[v]) is_border |= rules_.bonus[k] > 0 && rules_.owns(s, k, s.mover);
            double missing = n_[GUARD_LEVEL] * danger - s.at.armies[v];
            if (may && is_border && missing > shortfall) shortfall = missing, guard = v;
        }
        if (most <= n_[THRESHOLD] && needy >= 0) target = needy;
        if (guard == target) guard = -1;
        if (guard >= 0) need = std::min({s.place, int(shortfall) + 1, int(n_[GUARD_SHARE] * s.place)});
        if (target < s.first) return {guard >= 0 ? guard : later, s.place};
        if (need < 1) return {target, s.place};
        if (need == s.place) return {guard, s.place};
        return guard < target ? std::pair{guard, need} : std::pair{target, s.place - need};
    }
    // How many armies more than those that must move into what has been taken.
    int moved_in(const War<W>& s) {
        auto [v, c, k] = s.pending;
        int most = rules_.game(s).resting.has(v) ? 0 : loose(s, v);
        if (most < 1) return 0;
        if (!at_front(s, v)) return most;
        look(s, 0);
        int danger = threat(s, v), spare = rules_.spare(s, v);
        double here = best_attack_from(s, v, spare).value;
        double there = best_attack_from(s, c, s.at.armies[c] + spare - rules_.later.free).value;
        int behind = std::min(most, int(n_[BEHIND] * danger));
        if (std::max(here, there) <= n_[THRESHOLD]) return threat(s, c) >= danger ? most - behind : 0;
        return there >= here ? most - behind : 0;
    }
    // The largest inner stack moves to the front that needs it most.
    void fortify(War<W>& s, Log* log) {
        int from = -1, most = 0;
        for (Set<W> rest = s.at.mine - rules_.game(s).resting; rest.any();) {
            int v = rest.pop();
            if (loose(s, v) > most && !at_front(s, v) && rules_.may_move(s, v)) most = loose(s, v), from = v;
        }
        if (from < 0) return rules_.stop(s, log);
        int to = rules_.fortify == 1 ? step_to_front(s, from) : -1, lack = 0;
        if (rules_.fortify == 2)
            for (Set<W> rest = rules_.within_reach(s, from); rest.any();) {
                int t = rest.pop();
                if (!at_front(s, t)) continue;
                int missing = threat(s, t) - s.at.armies[t];
                if (to < 0 || missing > lack) to = t, lack = missing;
            }
        to < 0 ? rules_.stop(s, log) : rules_.move(s, from, to, most, log);
    }
    // The first own neighbour on a shortest way to a front; -1 where there is none.
    int step_to_front(const War<W>& s, int from) const {
        Set<W> near = rules_.later.out[from] & s.at.mine;
        for (Set<W> rest = near; rest.any();) {
            int t = rest.pop();
            if (at_front(s, t)) return t;
        }
        int best = -1, shortest = rules_.lands + 1;
        for (Set<W> rest = near; rest.any();) {
            int t = rest.pop(), steps = 0;
            Set<W> seen = Set<W>::of(from) | Set<W>::of(t), edge = Set<W>::of(t);
            for (bool found = false; edge.any() && !found; ++steps) {
                Set<W> fresh;
                while (edge.any()) {
                    int each = edge.pop();
                    found |= at_front(s, each);
                    fresh |= rules_.later.out[each] & s.at.mine;
                }
                edge = fresh - seen;
                seen |= fresh;
                if (found && steps < shortest) shortest = steps, best = t;
            }
        }
        return best;
    }
};

}  // namespace iacta
