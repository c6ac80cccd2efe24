// The rules of the whole game: cards, new armies, attacks, last moves and victory.
//
// This is a fast implementation of the rules in the Python package iacta.game. Dice and battles come from the tables of
// `Game`. Actions can be logged, and iacta.game can replay the log.
#pragma once

#include <array>
#include <vector>

#include "game.hpp"

namespace iacta {

constexpr int MAX_PLAYERS = IACTA_MAX_PLAYERS;
// Owner numbers are below OWNERS: players, then a neutral owner; the largest means nobody.
constexpr int OWNERS = IACTA_NOBODY + 1;
constexpr int CARDS = IACTA_CARDS, OF_SYMBOL = IACTA_CARDS_OF_SYMBOL, SYMBOLS = 3, SET = 3;
// The share of the dealt armies that stand on capitals; armies that each territory needs are not counted.
constexpr double CAPITAL_SHARE = 0.4;
constexpr size_t LARGEST = 3;  // the number of stacks that are compared as places for all new armies

using Log = std::vector<iacta_action>;
using Cards = uint64_t;  // one bit for each card: 14 of each symbol, then two jokers

inline int count_bits(Cards cards) { return __builtin_popcountll(cards); }
inline Cards symbol_cards(int symbol) { return ((Cards{1} << OF_SYMBOL) - 1) << symbol * OF_SYMBOL; }
inline constexpr Cards JOKERS = Cards{3} << SYMBOLS * OF_SYMBOL;

// Returns whether three cards are a set. Three cards with a joker are a set if the joker stands for any symbol, or if
// the others are equal.
inline bool is_set(Cards cards, bool needs_pair) {
    int kinds = 0;
    for (int i = 0; i < SYMBOLS; ++i) kinds += (cards & symbol_cards(i)) != 0;
    if (cards & JOKERS) return !needs_pair || (kinds == 1 && count_bits(cards & JOKERS) == 1);
    return kinds != 2;
}
// Returns whether cards contain a set.
inline bool has_set(Cards cards, bool needs_pair) {
    int most = 0, kinds = 0, number = count_bits(cards);
    for (int i = 0; i < SYMBOLS; ++i) {
        int n = count_bits(cards & symbol_cards(i));
        most = std::max(most, n);
        kinds += n > 0;
    }
    return number >= SET &&
           (((cards & JOKERS) && most >= (needs_pair ? SET - 1 : 0)) || most >= SET || kinds == SYMBOLS);
}

using Mission = iacta_mission;

// A state of a whole game.
template <int W>
struct War {
    Position<W> at;              // all armies, and the territories of the mover (the player to move)
    std::vector<uint8_t> owner;  // the owner of each territory
    // [k * OWNERS + o]: the numbers of territories and armies of owner o in continent k
    std::vector<int> held, strength;
    std::array<int, OWNERS> lands{}, armies{};
    std::array<int, MAX_PLAYERS> mission{};  // for each player: the index of the mission, or -1 for no mission
    std::array<int, OWNERS> strong{};  // for each owner: the number of territories with enough armies for the mission
    std::array<Cards, MAX_PLAYERS> known{};
    std::array<int, MAX_PLAYERS> hidden{};  // for each player: the number of unrevealed cards
    int mover = 0, phase = IACTA_PHASE_OVER, place = 0, first = 0, sets = 0, then = IACTA_PHASE_ATTACK;
    int cards_due = 0;  // the cards that the mover draws at the end of the turn
    bool pictured = false;
    bool opening = true;  // whether this is the first turn, in which some territories may not attack
    Roll pending{-1, -1, 0};
    int thrown = -1;

    bool operator==(const War&) const = default;
    int count_owned() const { return int(owner.size()) - lands[OWNERS - 1]; }
    int count_armies() const {
        int all = 0;
        for (int each : armies) all += each;
        return all;
    }
    int count_cards(int player) const { return count_bits(known[player]) + hidden[player]; }
};

// The odds of battles that are fought to their end: the chance to win, and the mean losses of both sides.
class Odds {
  public:
    struct Row {
        double won = 0.0, lost = 0.0, killed = 0.0;
    };
    static constexpr int MAX_TABLE_ARMIES = IACTA_LARGEST_TABLE;  // larger battles are scaled down to this size

    template <int W>
    Odds(const Game<W>& game, int kind, int land)
        : rows_(size_t(MAX_TABLE_ARMIES + 1) * (MAX_TABLE_ARMIES + 1)), top_(MAX_TABLE_ARMIES) {
        if (game.whole[kind]) {
            read_battles(game, land);
            return;
        }
        for (int d = 1; d <= MAX_TABLE_ARMIES; ++d)
            for (int a = 1; a <= MAX_TABLE_ARMIES; ++a) {
                int k = game.largest_roll(land, a, d);
                if (!k) continue;
                Row& row = at(a, d);
                Span throws = game.throws(land, k, d);
                for (int t = throws.first; t < throws.last; ++t) {
                    int best = choose_answer(game, t, a, d);
                    for (int i = game.results(best).first; i < game.results(best).last; ++i) {
                        auto [chance, x, y] = game.result(i);
                        double p = game.throw_chance(t) * chance;
                        Row after = find_row(a - x, d - y);
                        row.won += p * after.won;
                        row.lost += p * (x + after.lost);
                        row.killed += p * (y + after.killed);
                    }
                }
            }
    }
    // Returns the odds of a battle. able: the number of attackers without the garrison.
    Row of(int able, int defenders) const {
        if (able > 0 && defenders > 0 && able <= top_ && defenders <= top_) return at(able, defenders);
        return scale(able, defenders);
    }
    // Returns the answer to throw t after which the attacker is least likely to win; of several such answers, the last.
    template <int W>
    int choose_answer(const Game<W>& game, int t, int able, int defenders) const {
        Span answers = game.answers(t);
        int best = answers.last - 1;
        if (answers.last - answers.first == 1) return best;
        double least = std::numeric_limits<double>::infinity();
        for (int a = answers.first; a < answers.last; ++a) {
            double chance = 0.0;
            for (int i = game.results(a).first; i < game.results(a).last; ++i) {
                const Result& r = game.result(i);
                chance += r.chance * of(able - r.attackers, defenders - r.defenders).won;
            }
            if (chance <= least) least = chance, best = a;
        }
        return best;
    }

  private:
    std::vector<Row> rows_;
    int top_;

    const Row& at(int a, int d) const { return rows_[size_t(a) * (MAX_TABLE_ARMIES + 1) + size_t(d)]; }
    Row& at(int a, int d) { return rows_[size_t(a) * (MAX_TABLE_ARMIES + 1) + size_t(d)]; }
    Row find_row(int a, int d) const { return d < 1 ? Row{1.0, 0.0, 0.0} : a < 1 ? Row{} : at(a, d); }

    Row scale(int able, int defenders) const {
        if (defenders < 1) return {1.0, 0.0, 0.0};
        if (able < 1) return {};
        int most = std::max(able, defenders);
        Row row = at(std::max(1, int(int64_t(able) * top_ / most)), std::max(1, int(int64_t(defenders) * top_ / most)));
        double scale = double(most) / top_;
        return {row.won, row.lost * scale, row.killed * scale};
    }

    template <int W>
    void read_battles(const Game<W>& game, int land) {
        top_ = std::min({MAX_TABLE_ARMIES, game.able(), game.battle(land, 1).defenders});
        for (int d = 1; d <= top_; ++d) {
            const Battle& battle = game.battle(land, d);
            for (int a = 1; a <= std::min(MAX_TABLE_ARMIES, battle.able); ++a) {
                Row& row = at(a, d);
                battle.visit_results(a, d, [&](double p, int x, int y) {
                    row.won += p * (y == d), row.lost += p * x, row.killed += p * y;
                });
            }
        }
    }
};

// The rules of a whole game, and functions that apply actions to a state.
template <int W>
class WarRules {
  public:
    WarRules(const iacta_problem& p, const iacta_turn& t);

    Game<W> opening, later;  // the borders and dice for the first turn, and for later turns
    int lands, players, fortify, must_trade, pictured_armies;
    bool has_cards, is_fixed, is_nuclear, is_whole, is_checked_at_end;
    int common_lands;  // the territories with which any player also wins; 0 if only missions win
    // The territories of each continent, and the continents of each territory.
    std::vector<std::vector<int>> continents, continents_of;
    std::vector<int> bonus;
    std::vector<Mission> missions;
    Mission common{};                // the mission to own `common_lands` territories
    std::vector<int32_t> entries;    // the numbers of territories, continents or players in all missions
    std::vector<uint8_t> is_hidden;  // for each player: whether the other players do not know the mission
    War<W> start;

    const Game<W>& game(const War<W>& s) const { return s.opening ? opening : later; }
    int spare(const War<W>& s, int v) const { return s.at.armies[v] - game(s).keep[v]; }
    // Returns how many armies may leave v. If v has at least the `stay` armies that a mission requires, they must stay.
    int spare(const War<W>& s, int v, int stay) const {
        int armies = s.at.armies[v];
        return std::min(spare(s, v), armies >= stay ? armies - stay : armies);
    }
    // Returns how many of `armies` armies may still advance after a conquest.
    int limit_advance(const War<W>& s, int armies) const {
        int moved = s.at.armies[s.pending.to];
        return std::max(game(s).limit_advance(s.pending.to, moved + armies) - moved, 0);
    }
    Odds::Row odds(int c, int able, int defenders) const { return odds_[size_t(later.kind[c])].of(able, defenders); }
    // Keeps only the territories with the LARGEST strongest stacks, the strongest first.
    void keep_largest(const War<W>& s, std::vector<int>& lands) const {
        std::stable_sort(lands.begin(), lands.end(), [&](int v, int w) { return s.at.armies[v] > s.at.armies[w]; });
        lands.resize(std::min(lands.size(), LARGEST));
    }
    // Returns the mean losses of a strong attacker of c, who has two armies for each defender, and eight further armies.
    double estimate_losses(int c, int defenders) const { return odds(c, 2 * defenders + 8, defenders).lost; }
    int size(int k) const { return int(continents[k].size()); }
    bool owns(const War<W>& s, int k, int owner) const {
        return size(k) > 0 && s.held[size_t(k * OWNERS + owner)] == size(k);
    }
    int count_alive(const War<W>& s) const {
        int count = 0;
        for (int i = 0; i < players; ++i) count += s.lands[i] > 0;
        return count;
    }
    // Returns the number of territories of a player that count for a mission.
    int count_held(const War<W>& s, int player, const Mission& mission) const {
        return mission.armies > 0 ? s.strong[player] : s.lands[player];
    }
    // Returns the number of armies that a territory of owner o needs to count for the mission of o, or 0.
    int find_least_armies(const War<W>& s, int o) const {
        return o < players && s.mission[o] >= 0 ? missions[size_t(s.mission[o])].armies : 0;
    }
    // Returns whether the mover's mission is to eliminate a player.
    bool is_target(const War<W>& s, int player) const {
        if (s.mission[s.mover] < 0) return false;
        const Mission& mission = missions[size_t(s.mission[s.mover])];
        return mission.kind == IACTA_MISSION_ELIMINATE && entries[size_t(mission.first)] == player;
    }
    bool is_fulfilled(const War<W>& s, int player) const;
    bool has_fulfilled(const War<W>& s, int player) const;
    template <class Cost>
    std::pair<Set<W>, int> find_trio(const War<W>& s, const Mission& mission, int player, Cost cost) const;
    int find_winner(const War<W>& s) const;
    bool lets_rival_win(const War<W>& s, int victim) const;
    // Returns whether the conquest of c by the mover makes another player win.
    bool is_losing_conquest(const War<W>& s, int c) const {
        int q = s.owner[size_t(c)];
        return !missions.empty() && q < players && s.lands[q] == 1 && lets_rival_win(s, q);
    }
    void deal_missions(War<W>& s, Random& random) const;
    // Hides the secret missions of the other players from the mover.
    void hide_missions(War<W>& s) const {
        for (int q = 0; q < players; ++q)
            if (q != s.mover && is_hidden[size_t(q)]) s.mission[size_t(q)] = -1;
    }
    // Hides the cards of the other players from the mover.
    void hide_cards(War<W>& s) const {
        for (int q = 0; q < players; ++q)
            if (q != s.mover) s.hidden[size_t(q)] = s.count_cards(q), s.known[size_t(q)] = 0;
    }
    int count_income(const War<W>& s, int player) const {
        int found = std::max(s.lands[player] / lands_for_an_army_, fewest_new_);
        for (size_t k = 0; k < continents.size(); ++k)
            if (owns(s, int(k), player)) found += bonus[k];
        return std::max(found, 0);
    }
    int count_next_set(const War<W>& s) const {
        if (is_nuclear) return 0;
        return is_fixed ? fixed_[SYMBOLS] : set_armies_[std::min(size_t(s.sets), set_armies_.size() - 1)];
    }
    // Returns whether a joker makes a set only with two equal cards.
    bool needs_pair() const { return fixed_[SYMBOLS + 1] >= 0; }
    int value_set(const War<W>& s, Cards cards) const {
        if (!is_fixed || is_nuclear) return count_next_set(s);
        if (needs_pair() && (cards & JOKERS)) return fixed_[SYMBOLS + 1];
        int best = 0, mixed = 1;
        for (int i = 0; i < SYMBOLS; ++i) {
            if (!(cards & ~symbol_cards(i) & ~JOKERS)) best = std::max(best, fixed_[i]);
            mixed &= count_bits(cards & symbol_cards(i)) <= 1;
        }
        return mixed ? std::max(best, fixed_[SYMBOLS]) : best;
    }
    int pictured_land(int card) const { return card_land_[size_t(card)]; }
    // Returns the largest number of dice for an attack, or 0 for an illegal attack.
    int max_dice(const War<W>& s, int v, int c) const {
        const Game<W>& g = game(s);
        return is_whole && !g.whole[g.kind[c]] ? g.largest_roll(c, spare(s, v), s.at.armies[c])
                                               : g.max_dice(s.at, v, c);
    }
    bool may_trade(const War<W>& s) const {
        int least = s.cards_due ? must_trade : SET;
        return has_cards && s.count_cards(s.mover) >= least &&
               (s.hidden[s.mover] > 0 || has_set(s.known[s.mover], needs_pair()));
    }
    // Returns the territories to which armies of v may move at the end of the turn.
    Set<W> find_fortify_targets(const War<W>& s, int v) const {
        Set<W> seen;
        if (fortify == IACTA_FORTIFY_NONE) return seen;
        seen = fortify == IACTA_FORTIFY_ADJACENT ? game(s).out[v] & s.at.mine : game(s).find_reached(v, s.at.mine);
        seen.remove(v);
        return seen;
    }

    // Returns whether armies of v may move at the end of the turn. This is faster than find_fortify_targets.
    bool may_move(const War<W>& s, int v) const {
        return fortify != IACTA_FORTIFY_NONE && game(s).out[v].meets(s.at.mine - Set<W>::of(v));
    }

    void reveal(War<W>& s, Random& random, Log* log) const;
    void trade(War<W>& s, Cards cards, int land, Log* log) const;
    void put(War<W>& s, int land, int number, Log* log) const;
    void attack(War<W>& s, int v, int c, Random& random, Log* log) const;
    void defend(War<W>& s, Random& random, Log* log) const;
    void advance(War<W>& s, int moved, Log* log) const;
    void move(War<W>& s, int v, int to, int number, Log* log) const;
    void stop(War<W>& s, Log* log) const;
    void next(War<W>& s) const;
    // Returns a player's capital, or -1 if the game has no capitals.
    int find_capital(const War<W>& s, int player) const {
        if (s.mission[player] < 0) return -1;
        const Mission& mission = missions[size_t(s.mission[player])];
        return mission.kind == IACTA_MISSION_CAPITALS ? entries[size_t(mission.first)] : -1;
    }
    // Deals the territories in `order` to the players, places their armies at random, and chooses a random first
    // player. A capital gets CAPITAL_SHARE of its owner's armies.
    void deal(War<W>& s, const std::vector<int>& order, int armies, Random& random) const;
    void set_mover(War<W>& s, int mover) const {
        s.mover = mover;
        s.at.mine = Set<W>{};
        for (int t = 0; t < lands; ++t)
            if (s.owner[t] == mover) s.at.mine.add(t);
    }

  private:
    std::vector<Odds> odds_;
    std::vector<int> set_armies_, fixed_, card_land_, whole_least_, whole_dice_;
    std::vector<int> deck_;
    bool is_named_;
    int traded_at_once_, lands_for_an_army_, fewest_new_;
    bool has_card_per_conquest_;

    void add(War<W>& s, int land, int number) const {
        int o = s.owner[land];
        int least = find_least_armies(s, o);
        if (least > 0) s.strong[o] += (s.at.armies[land] + number >= least) - (s.at.armies[land] >= least);
        s.at.armies[land] += number;
        s.armies[o] += number;
        for (int k : continents_of[land]) s.strength[size_t(k * OWNERS + o)] += number;
    }
    void begin(War<W>& s) const {
        s.phase = may_trade(s) ? IACTA_PHASE_TRADE : s.place ? IACTA_PHASE_PLACE : IACTA_PHASE_ATTACK;
    }
    void end(War<W>& s) const {
        s.phase = IACTA_PHASE_OVER;
        int held = 0;
        for (int i = 0; i < players; ++i) held += s.count_cards(i);
        if (has_cards && held < CARDS) s.hidden[s.mover] += std::min(s.cards_due, CARDS - held);
    }
    // Gives a territory to another owner, with a number of armies.
    void give(War<W>& s, int land, int owner, int number) const {
        int before = s.owner[land];
        add(s, land, -s.at.armies[land]);
        --s.lands[before], ++s.lands[owner];
        for (int k : continents_of[land]) --s.held[size_t(k * OWNERS + before)], ++s.held[size_t(k * OWNERS + owner)];
        s.owner[land] = uint8_t(owner);
        if (owner == s.mover) s.at.mine.add(land);
        else s.at.mine.remove(land);
        add(s, land, number);
    }
    // Gives the cards of an eliminated player to the mover.
    void eliminate(War<W>& s, int loser) const {
        s.known[s.mover] |= s.known[loser], s.hidden[s.mover] += s.hidden[loser];
        s.known[loser] = 0, s.hidden[loser] = 0;
        replace_missions(s, loser);
    }
    void strike(War<W>& s, Cards cards) const;
    void count_strong(War<W>& s) const;
    void replace_missions(War<W>& s, int loser) const;
    // Ends the turn if a player has won. During an advance, the turn ends after the advance.
    void end_if_won(War<W>& s) const {
        if (s.phase == IACTA_PHASE_OVER || find_winner(s) < 0) return;
        if (s.phase == IACTA_PHASE_ADVANCE) s.then = IACTA_PHASE_OVER;
        else s.phase = IACTA_PHASE_OVER, s.place = s.first = 0;
    }
    void apply_losses(War<W>& s, Roll roll, int lost, int killed, int least) const;
    std::pair<int, int> fight_battle(const War<W>& s, int v, int c, Random& random) const;
    Result draw_result(const Game<W>& game, int answer, Random& random) const {
        Span results = game.results(answer);
        int i = results.first;
        for (double point = random.draw_uniform(); i + 1 < results.last; ++i)
            if ((point -= game.result(i).chance) < 0.0) break;
        return game.result(i);
    }
    int draw_throw(const Game<W>& game, Span throws, Random& random) const {
        int t = throws.first;
        if (throws.last - throws.first == 1) return t;
        for (double point = random.draw_uniform(); t + 1 < throws.last; ++t)
            if ((point -= game.throw_chance(t)) < 0.0) break;
        return t;
    }
};

template <int W>
WarRules<W>::WarRules(const iacta_problem& p, const iacta_turn& t)
    : opening(p), later(p), lands(p.lands), players(t.players), fortify(t.fortify), must_trade(t.must_trade),
      pictured_armies(t.pictured_armies), has_cards(t.has_cards != 0), is_fixed(t.is_fixed != 0),
      is_nuclear(t.is_nuclear != 0), is_whole(t.is_whole != 0), is_checked_at_end(t.missions_at_end != 0),
      common_lands(t.common_lands), continents(size_t(t.continents)), continents_of(size_t(p.lands)),
      bonus(t.bonus, t.bonus + t.continents), missions(t.mission_list, t.mission_list + t.missions),
      is_hidden(t.mission_unseen, t.mission_unseen + t.players), set_armies_(t.set_armies, t.set_armies + t.sets),
      fixed_(t.fixed, t.fixed + SYMBOLS + 2), card_land_(t.card_land, t.card_land + CARDS),
      whole_least_(t.whole_least, t.whole_least + p.kinds), whole_dice_(t.whole_dice, t.whole_dice + p.kinds),
      deck_(t.mission_deck, t.mission_deck + t.mission_cards), is_named_(t.is_named != 0),
      traded_at_once_(t.traded_at_once), lands_for_an_army_(t.lands_for_an_army), fewest_new_(t.fewest_new),
      has_card_per_conquest_(t.has_card_per_conquest != 0) {
    common.kind = IACTA_MISSION_LANDS, common.number = common_lands;
    later.keep.assign(size_t(lands), p.garrison);
    later.resting = Set<W>{};
    for (int k = 0; k < t.continents; ++k)
        for (int i = t.continent_first[k]; i < t.continent_first[k + 1]; ++i) {
            continents[size_t(k)].push_back(t.continent_lands[i]);
            continents_of[size_t(t.continent_lands[i])].push_back(k);
        }
    for (int r = 0; r < p.kinds; ++r) {
        int land = int(std::find(p.kind, p.kind + lands, r) - p.kind);
        odds_.emplace_back(later, r, land < lands ? land : 0);
    }
    War<W>& s = start;
    s.at.armies.assign(size_t(lands), 0);
    s.owner.assign(t.owner, t.owner + lands);
    s.held.assign(continents.size() * OWNERS, 0);
    s.strength = s.held;
    for (const Mission& each : missions) {
        size_t used = size_t(std::max(each.last, int(entries.size())));
        entries.assign(t.mission_entries, t.mission_entries + used);
    }
    std::copy(t.mission_of, t.mission_of + players, s.mission.begin());
    for (int v = 0; v < lands; ++v) {
        add(s, v, p.armies[v]);
        ++s.lands[s.owner[v]];
        for (int k : continents_of[size_t(v)]) ++s.held[size_t(k * OWNERS + s.owner[v])];
    }
    for (int i = 0; i < players; ++i) s.known[size_t(i)] = t.known[i], s.hidden[size_t(i)] = t.hidden[i];
    set_mover(s, t.mover);
    s.phase = t.phase, s.place = t.place, s.first = t.first, s.then = t.then;
    s.cards_due = t.cards_due, s.pictured = t.pictured != 0;
    s.pending = {t.attack_start, t.attack_to, t.attack_dice};
    if (s.phase == IACTA_PHASE_DEFEND)
        s.thrown = opening.throws(t.attack_to, t.attack_dice, s.at.armies[t.attack_to]).first + t.thrown;
}

// Reveals the mover's hidden cards at random, or only one card if cards picture territories.
template <int W>
void WarRules<W>::reveal(War<W>& s, Random& random, Log* log) const {
    Cards seen = 0, shown = 0;
    for (int i = 0; i < players; ++i) seen |= s.known[i];
    for (int i = is_named_ ? 1 : s.hidden[s.mover]; i > 0; --i) {
        Cards rest = ~(seen | shown) & ((Cards{1} << CARDS) - 1);
        for (int skip = random.draw_below(count_bits(rest)); skip > 0; --skip) rest &= rest - 1;
        shown |= rest & -rest;
        --s.hidden[s.mover];
    }
    s.known[s.mover] |= shown;
    if (log) log->push_back({IACTA_ACTION_REVEAL, 0, 0, 0, int32_t(shown & 0xffffffff), int32_t(shown >> 32)});
    begin(s);
}

template <int W>
void WarRules<W>::trade(War<W>& s, Cards cards, int land, Log* log) const {
    if (log) log->push_back({IACTA_ACTION_TRADE, land, 0, 0, int32_t(cards & 0xffffffff), int32_t(cards >> 32)});
    s.place += value_set(s, cards);
    s.known[s.mover] &= ~cards;
    ++s.sets;
    if (land >= 0) add(s, land, pictured_armies), s.pictured = true;
    if (is_nuclear) strike(s, cards);
    if (s.phase == IACTA_PHASE_OVER) return;
    begin(s);
    end_if_won(s);
}

// Makes the territories on traded cards neutral, with one army each: first the territories of other players, and then,
// unless the mover has won, the mover's own territories. The turn ends if the mover loses its last territory.
template <int W>
void WarRules<W>::strike(War<W>& s, Cards cards) const {
    std::vector<int> own, others, losers;
    for (Cards rest = cards; rest; rest &= rest - 1)
        if (int land = pictured_land(__builtin_ctzll(rest)); land >= 0)
            (s.owner[size_t(land)] == s.mover ? own : others).push_back(land);
    for (int land : others) {
        int owner = s.owner[size_t(land)];
        give(s, land, players, 1);
        if (owner < players && !s.lands[owner]) losers.push_back(owner);
    }
    for (int loser : losers) eliminate(s, loser);
    if (find_winner(s) >= 0) return;
    for (int land : own) give(s, land, players, 1);
    if (s.lands[s.mover]) return;
    s.known[s.mover] = 0, s.hidden[s.mover] = 0;
    replace_missions(s, s.mover);
    s.phase = IACTA_PHASE_OVER;
    s.place = s.first = 0;
}

template <int W>
void WarRules<W>::put(War<W>& s, int land, int number, Log* log) const {
    if (log) log->push_back({IACTA_ACTION_PLACE, land, 0, number, 0, 0});
    add(s, land, number);
    s.place -= number;
    s.first = s.place ? land + 1 : 0;
    if (!s.place) s.phase = IACTA_PHASE_ATTACK;
    end_if_won(s);
}

// Attacks c from v with as many dice as possible, or with a whole battle.
template <int W>
void WarRules<W>::attack(War<W>& s, int v, int c, Random& random, Log* log) const {
    const Game<W>& g = game(s);
    int kind = g.kind[c];
    if (is_whole || g.whole[kind]) {
        int shown = g.whole[kind] ? std::min(spare(s, v), whole_dice_[size_t(kind)]) : max_dice(s, v, c);
        auto [lost, killed] = fight_battle(s, v, c, random);
        if (log) log->push_back({IACTA_ACTION_ATTACK, v, c, shown, lost, killed});
        return apply_losses(s, {v, c, shown}, lost, killed, whole_least_[size_t(kind)]);
    }
    int k = g.max_dice(s.at, v, c);
    int t = draw_throw(g, g.throws(c, k, s.at.armies[c]), random);
    s.pending = {v, c, k};
    s.thrown = t;
    Span throws = g.throws(c, k, s.at.armies[c]);
    bool decides = false;
    for (int i = throws.first; i < throws.last; ++i) decides |= g.answers(i).last - g.answers(i).first > 1;
    if (decides) {
        if (log) log->push_back({IACTA_ACTION_ATTACK, v, c, k, t - throws.first, -1});
        return defend(s, random, log);
    }
    Result r = draw_result(g, g.answers(t).first, random);
    if (log) log->push_back({IACTA_ACTION_ATTACK, v, c, k, r.attackers, r.defenders});
    apply_losses(s, s.pending, r.attackers, r.defenders, g.least_advance(c, k));
}

template <int W>
void WarRules<W>::defend(War<W>& s, Random& random, Log* log) const {
    const Game<W>& g = game(s);
    auto [v, c, k] = s.pending;
    int answer = odds_[size_t(g.kind[c])].choose_answer(g, s.thrown, spare(s, v), s.at.armies[c]);
    Result r = draw_result(g, answer, random);
    if (log)
        log->push_back({IACTA_ACTION_DEFEND, v, c, answer - g.answers(s.thrown).first + 1, r.attackers, r.defenders});
    apply_losses(s, s.pending, r.attackers, r.defenders, g.least_advance(c, k));
}

// Fights a whole battle with random dice. Returns the losses of both sides.
template <int W>
std::pair<int, int> WarRules<W>::fight_battle(const War<W>& s, int v, int c, Random& random) const {
    const Game<W>& g = game(s);
    int able = spare(s, v), d = s.at.armies[c], a = able, left = d;
    if (!g.whole[g.kind[c]]) {
        while (int k = left > 0 ? g.largest_roll(c, a, left) : 0) {
            int t = draw_throw(g, g.throws(c, k, left), random);
            Result r = draw_result(g, odds_[size_t(g.kind[c])].choose_answer(g, t, a, left), random);
            a -= r.attackers, left -= r.defenders;
        }
        return {able - a, d - left};
    }
    // A battle that is larger than the tables is scaled down, and its losses are scaled up again.
    const Battle& first = g.battle(c, 1);
    int most = std::max(able, d), top = std::min(first.able, first.defenders);
    double scale = most > top ? double(most) / top : 1.0;
    int small_a = std::clamp(int(able / scale), 1, top), small_d = std::clamp(int(d / scale), 1, top);
    const Battle& battle = g.battle(c, small_d);
    double point = random.draw_uniform();
    int lost = 0, killed = 0;
    battle.visit_results(small_a, small_d, [&](double chance, int x, int y) {
        if (point >= 0.0) lost = x, killed = y, point -= chance;
    });
    if (killed == small_d) return {std::min(int(lost * scale), able - 1), d};
    return {lost == small_a ? able : int(lost * scale),
            killed == 0 ? 0 : d - std::clamp(int((small_d - killed) * scale), 1, d)};
}

template <int W>
void WarRules<W>::apply_losses(War<W>& s, Roll roll, int lost, int killed, int least) const {
    auto [v, c, k] = roll;
    add(s, v, -lost);
    add(s, c, -killed);
    s.phase = IACTA_PHASE_ATTACK;
    s.thrown = -1;
    s.pending = {-1, -1, 0};
    if (s.at.armies[c] > 0) return;
    int loser = s.owner[c], moved = std::min(least, spare(s, v));
    add(s, v, -moved);
    give(s, c, s.mover, moved);
    s.phase = IACTA_PHASE_ADVANCE;
    s.pending = roll;
    s.cards_due = has_card_per_conquest_ ? std::min(s.cards_due + 1, CARDS) : 1;
    s.then = IACTA_PHASE_ATTACK;
    if (loser >= players || s.lands[loser] > 0) return end_if_won(s);
    bool must =
        has_cards && s.count_cards(loser) > 0 && s.count_cards(loser) + s.count_cards(s.mover) >= traded_at_once_;
    eliminate(s, loser);
    s.then = must ? IACTA_PHASE_TRADE : IACTA_PHASE_ATTACK;
    end_if_won(s);
}

// Advances `moved` armies after a conquest, in addition to the required armies, which have already advanced.
template <int W>
void WarRules<W>::advance(War<W>& s, int moved, Log* log) const {
    auto [v, c, k] = s.pending;
    if (log) log->push_back({IACTA_ACTION_ADVANCE, v, c, s.at.armies[c] + moved, 0, 0});
    add(s, v, -moved);
    add(s, c, moved);
    s.pending = {-1, -1, 0};
    s.phase = s.then;
    s.then = IACTA_PHASE_ATTACK;
    end_if_won(s);
}

template <int W>
void WarRules<W>::move(War<W>& s, int v, int to, int number, Log* log) const {
    if (log) log->push_back({IACTA_ACTION_FORTIFY, v, to, number, 0, 0});
    add(s, v, -number);
    add(s, to, number);
    end(s);
}

template <int W>
void WarRules<W>::stop(War<W>& s, Log* log) const {
    if (log) log->push_back({IACTA_ACTION_STOP, 0, 0, 0, 0, 0});
    if (s.phase == IACTA_PHASE_TRADE) {
        s.phase = s.place ? IACTA_PHASE_PLACE : IACTA_PHASE_ATTACK;
        return;
    }
    if (s.phase == IACTA_PHASE_ATTACK)
        for (Set<W> rest = s.at.mine - game(s).resting; rest.any();) {
            int v = rest.pop();
            if (spare(s, v) > 0 && may_move(s, v)) {
                s.phase = IACTA_PHASE_FORTIFY;
                return;
            }
        }
    end(s);
}

template <int W>
void WarRules<W>::deal(War<W>& s, const std::vector<int>& order, int armies, Random& random) const {
    std::fill(s.held.begin(), s.held.end(), 0);
    std::fill(s.strength.begin(), s.strength.end(), 0);
    s.lands.fill(0);
    s.armies.fill(0);
    s.strong.fill(0);
    for (int t = 0; t < lands; ++t) s.at.armies[t] = 0;
    for (size_t i = 0; i < order.size(); ++i) {
        int t = order[i], o = int(i) % players;
        s.owner[t] = uint8_t(o);
        ++s.lands[o];
        for (int k : continents_of[t]) ++s.held[size_t(k * OWNERS + o)];
        add(s, t, 1);
    }
    for (int o = 0; o < players; ++o) {
        std::vector<int> given;
        for (size_t i = size_t(o); i < order.size(); i += size_t(players)) given.push_back(order[i]);
        int left = std::max(armies - int(given.size()), 0);
        if (int capital = find_capital(s, o); capital >= 0 && s.owner[capital] == o) {
            int guards = int(left * CAPITAL_SHARE);
            add(s, capital, guards), left -= guards;
        }
        for (; left > 0; --left) add(s, given[size_t(random.draw_below(int(given.size())))], 1);
    }
    s.known.fill(0);
    s.hidden.fill(0);
    s.phase = IACTA_PHASE_OVER;
    set_mover(s, random.draw_below(players));
    next(s);
}

// Begins the turn of the next player who owns a territory.
template <int W>
void WarRules<W>::next(War<W>& s) const {
    int mover = s.mover;
    do mover = (mover + 1) % players;
    while (!s.lands[mover]);
    set_mover(s, mover);
    s.opening = s.pictured = false, s.cards_due = 0;
    s.first = 0;
    s.place = count_income(s, mover);
    begin(s);
}

}  // namespace iacta
