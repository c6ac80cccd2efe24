#include "faults.hpp"

#include <cmath>

#include "war/rules.hpp"

using namespace iacta;

namespace {

constexpr int MAX_LANDS = IACTA_MAX_TERRITORIES, MAX_SETS = IACTA_MAX_SETS, MAX_CORE_ARMIES = IACTA_MAX_ARMIES;
// The limits in messages.
const std::string LANDS = std::to_string(MAX_LANDS), ARMIES = std::to_string(MAX_CORE_ARMIES);
constexpr int MAX_DICE = 1000;
constexpr double MAX_TABLE = 1e12, ROUNDING = 1e-6;

bool are_within(const int32_t* numbers, int64_t count, int64_t least, int64_t most) {
    return std::all_of(numbers, numbers + count, [=](int32_t each) { return each >= least && each <= most; });
}
// Returns whether `firsts` contains count + 1 valid offsets into a table of length `whole`: the first offset is 0, the
// last offset is `whole`, and no offset is smaller than the offset before it.
bool are_valid_offsets(const int32_t* firsts, int64_t count, int64_t whole) {
    return firsts[0] == 0 && firsts[count] == whole && std::is_sorted(firsts, firsts + count + 1);
}
// Returns the sum of chances, or MAX_PAID if a chance is negative or NaN.
double sum_chances(const double* chances, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        if (!(chances[i] >= 0.0)) return MAX_PAID;
        sum += chances[i];
    }
    return sum;
}

std::string find_fault_dice(const iacta_problem& p) {
    const char* length = "the tables of dice must have the stated lengths";
    if (p.rows < 1 || p.throws < 0 || p.answers < 0 || p.results < 0 || (p.throws > 0 && !p.throw_chance) ||
        (p.results > 0 && (!p.result_chance || !p.result_attackers || !p.result_defenders)))
        return length;
    int64_t rows = 0;
    for (int r = 0; r < p.kinds; ++r) {
        if (p.attack_dice[r] < 1 || p.attack_dice[r] > MAX_DICE || p.columns[r] < 1 || p.columns[r] > MAX_DICE ||
            p.dice_first[r] != rows)
            return "the table of throws must have a row for each number of dice and of defenders";
        if (p.at_double[r] && p.attack_dice[r] < 2) return "a roll of a single die must not require two to one";
        rows += int64_t(p.attack_dice[r]) * p.columns[r];
    }
    if (rows != p.rows || !are_valid_offsets(p.throw_first, p.rows, p.throws) ||
        !are_valid_offsets(p.answer_first, p.throws, p.answers) ||
        !are_valid_offsets(p.result_first, p.answers, p.results))
        return length;
    if (!are_within(p.least, p.rows, 0, MAX_CORE_ARMIES)) return "required advances must be from 0 to " + ARMIES;
    if (!are_within(p.most, p.kinds, 1, MAX_CORE_ARMIES)) return "largest advances must be from 1 to " + ARMIES;
    for (int a = 0; a < p.answers; ++a) {
        int first = p.result_first[a], count = p.result_first[a + 1] - first;
        if (sum_chances(p.result_chance + first, count) > 1.0 + ROUNDING)
            return "chances of results must be from 0 to 1 and sum to at most 1";
    }
    for (int r = 0; r < p.kinds; ++r)
        for (int i = 0; i < p.attack_dice[r] * p.columns[r]; ++i) {
            int row = p.dice_first[r] + i, first = p.throw_first[row], last = p.throw_first[row + 1];
            if (sum_chances(p.throw_chance + first, last - first) > 1.0 + ROUNDING)
                return "chances of results must be from 0 to 1 and sum to at most 1";
            if (p.whole[r]) continue;
            int dice = i / p.columns[r] + 1, defenders = i % p.columns[r] + 1;
            for (int t = first; t < last; ++t) {
                if (p.answer_first[t] == p.answer_first[t + 1]) return "each throw must have answers";
                for (int a = p.answer_first[t]; a < p.answer_first[t + 1]; ++a) {
                    if (p.result_first[a] == p.result_first[a + 1]) return "each answer must have results";
                    for (int j = p.result_first[a]; j < p.result_first[a + 1]; ++j) {
                        int x = p.result_attackers[j], y = p.result_defenders[j];
                        if (x < 0 || y < 0 || x > dice || y > defenders || x + y < 1)
                            return "a result must cost at least one army, at most an attacker for each die, and at "
                                   "most all defenders";
                    }
                }
            }
        }
    return "";
}

std::string find_fault_battles(const iacta_problem& p) {
    if (!are_within(&p.able, 1, 0, MAX_CORE_ARMIES) || !are_within(&p.defenders, 1, 0, MAX_CORE_ARMIES) ||
        p.battles < 0 || p.width < 1 || p.width > p.able + 1 || p.stops < 1 || p.stops > MAX_DICE ||
        double(p.battles) * (p.able + 1.0) * (double(p.width) + (p.defenders + 1.0) * p.stops) > MAX_TABLE ||
        !are_within(p.battle_first, p.kinds, 0, p.battles))
        return "the tables of whole battles must have the stated lengths";
    for (int t = 0; t < p.lands; ++t) {
        if (p.owner[t] > 2) return "each land must have an owner";
        if (p.owner[t] == 1 && p.armies[t] > p.able)
            return "the tables of whole battles must cover the armies of each stack";
        if (p.owner[t] == 0 && p.armies[t] < 1) return "lands that may be attacked must have defenders";
        if (p.owner[t] == 0 && p.whole[p.kind[t]] &&
            (p.armies[t] > p.defenders || p.armies[t] > p.battles - p.battle_first[p.kind[t]]))
            return "the tables of whole battles must cover the defenders of each land";
    }
    if (p.battles > 0 && (!p.won || !p.lost)) return "the tables of whole battles must not be null";
    int64_t side = int64_t(p.able) + 1, ends = (int64_t(p.defenders) + 1) * p.stops;
    for (int64_t row = 0; row < p.battles * side; ++row)
        if (sum_chances(p.won + row * p.width, p.width) + sum_chances(p.lost + row * ends, ends) > 1.0 + ROUNDING)
            return "chances of whole battles must be from 0 to 1 and sum to at most 1";
    return "";
}

std::string find_fault_rewards(const iacta_problem& p) {
    auto is_paid = [](double each) { return std::abs(each) <= MAX_PAID; };
    if (p.sets < 0 || p.sets > MAX_SETS) return "the number of sets must be from 0 to " + std::to_string(MAX_SETS);
    if (!p.set_first || p.set_first[p.sets] < 0 || !are_valid_offsets(p.set_first, p.sets, p.set_first[p.sets]) ||
        (p.set_first[p.sets] > 0 && !p.set_lands) || !are_within(p.set_lands, p.set_first[p.sets], 0, p.lands - 1))
        return "sets must list lands of the board";
    if ((p.sets > 0 && !p.set_pays) || !std::all_of(p.set_pays, p.set_pays + p.sets, is_paid) ||
        !std::all_of(p.pays, p.pays + p.lands, is_paid))
        return "payments must be finite";
    if (!(p.price >= 0.0 && p.price <= MAX_PAID)) return "the price of an army must be at least 0";
    if (!(p.margin_price >= 0.0 && p.margin_price <= MAX_PAID)) return "the margin's price must be at least 0";
    auto pays = [](double each) { return each != 0.0; };
    if (p.wins != 0 && (p.sets > 0 || p.price > 0.0 || p.once != 0 || std::any_of(p.pays, p.pays + p.lands, pays)))
        return "a goal to win excludes all other payments";
    return "";
}

// Returns whether `count` lists of lands have valid offsets and entries.
bool are_valid_lists(const iacta_problem& p, int32_t count, const int32_t* first, const int32_t* lands) {
    if (count == 0) return true;
    return first && first[count] >= 0 && are_valid_offsets(first, count, first[count]) &&
           (first[count] == 0 || (lands && are_within(lands, first[count], 0, p.lands - 1)));
}

std::string find_fault_ways(const iacta_problem& p) {
    if (p.ways < 0 || p.ways > MAX_SETS || p.perils < 0 || p.perils > MAX_SETS)
        return "the numbers of ways to win and of perils must be from 0 to 1024";
    if (!are_valid_lists(p, p.ways, p.way_first, p.way_lands) ||
        !are_valid_lists(p, p.perils, p.peril_first, p.peril_lands) ||
        !are_valid_lists(p, p.perils, p.rival_first, p.rival_lands))
        return "ways to win and perils must list lands of the board";
    if ((p.ways > 0 && (!p.way_number || !p.way_enough)) || (p.perils > 0 && !p.rival_number) ||
        !are_within(p.way_number, p.ways, 0, p.lands) || !are_within(p.way_enough, p.ways, 0, MAX_CORE_ARMIES) ||
        !are_within(p.rival_number, p.perils, 0, p.lands) || p.fortify < IACTA_FORTIFY_NONE ||
        p.fortify > IACTA_FORTIFY_CONNECTED || !(std::abs(p.held) <= MAX_PAID * MAX_SETS))
        return "ways to win and perils must have numbers within the limits";
    return "";
}

std::string find_fault_missions(const iacta_problem& p, const iacta_turn& t) {
    if (t.missions < 0 || t.missions > MAX_SETS || (t.missions > 0 && (!t.mission_list || !t.mission_entries)) ||
        !are_within(t.mission_of, t.players, IACTA_MISSION_HIDDEN, t.missions - 1))
        return "each mission of a player must be in the list, or be -1 for no mission";
    int hidden = int(std::count(t.mission_of, t.mission_of + t.players, IACTA_MISSION_HIDDEN));
    if (t.mission_cards < 0 || t.mission_cards > MAX_SETS || (t.mission_cards > 0 && !t.mission_deck) ||
        t.mission_cards < hidden || !are_within(t.mission_deck, t.mission_cards, 0, t.missions - 1))
        return "there must be a mission card for each player with a hidden mission";
    // A mission that replaces another mission must not require a minimum of armies on territories, because War::strong,
    // which counts such territories, is not updated for the new mission.
    auto may_replace = [&](int i) {
        return i == -1 || (i >= 0 && i < t.missions && t.mission_list[i].kind == IACTA_MISSION_LANDS &&
                           t.mission_list[i].armies == 0);
    };
    // Returns whether entries are pairs of a continent and a number of its territories.
    auto are_parts = [](const iacta_turn& turn, const iacta_mission& m, int64_t entries) {
        if (entries % 2 || m.number > 1) return false;
        for (const int32_t* each = turn.mission_entries + m.first; each != turn.mission_entries + m.last; each += 2) {
            if (each[0] < 0 || each[0] >= turn.continents || each[1] < 1) return false;
            if (each[1] > turn.continent_first[each[0] + 1] - turn.continent_first[each[0]]) return false;
        }
        return true;
    };
    for (int i = 0; i < t.missions; ++i) {
        const iacta_mission& m = t.mission_list[i];
        int64_t entries = int64_t(m.last) - m.first;
        int most = m.kind == IACTA_MISSION_CONTINENTS ? t.continents
                   : m.kind == IACTA_MISSION_CAPITALS ? p.lands
                                                      : t.players;
        bool is_parts = m.kind == IACTA_MISSION_PARTS;
        if (m.kind < IACTA_MISSION_LANDS || m.kind > IACTA_MISSION_PARTS || m.first < 0 || entries < 0 ||
            entries > MAX_LANDS || (!is_parts && !are_within(t.mission_entries + m.first, entries, 0, most - 1)) ||
            (is_parts && !are_parts(t, m, entries)) || !are_within(&m.number, 1, 0, MAX_LANDS) ||
            !are_within(&m.armies, 1, 0, MAX_CORE_ARMIES) || !may_replace(m.instead) || !may_replace(m.own) ||
            (m.kind >= IACTA_MISSION_CAPITALS && !is_parts && entries < 1) ||
            (m.kind == IACTA_MISSION_ELIMINATE && m.own < 0))
            return "each mission must have a known kind, and entries that exist in the game";
    }
    return "";
}

}  // namespace

std::string iacta::find_fault(const iacta_problem& p) {
    if (p.lands < 1 || p.lands > MAX_LANDS) return "the number of lands must be from 1 to " + LANDS;
    if (p.kinds < 1 || p.kinds > MAX_LANDS) return "the number of kinds of rules must be from 1 to " + LANDS;
    if (!are_given({p.border_first, p.armies, p.keep, p.kind, p.owner, p.resting, p.attack_dice, p.columns, p.at_double,
                    p.dice_first, p.least, p.most, p.whole, p.throw_first, p.answer_first, p.result_first,
                    p.battle_first, p.pays}))
        return "tables must not be null";
    int64_t borders = p.border_first[p.lands];
    if (borders < 0 || !are_valid_offsets(p.border_first, p.lands, borders) || (borders > 0 && !p.border_to) ||
        !are_within(p.border_to, borders, 0, p.lands - 1))
        return "borders must lead to lands of the board";
    if (!are_within(p.armies, p.lands, 0, MAX_CORE_ARMIES) || !are_within(p.keep, p.lands, 0, MAX_CORE_ARMIES) ||
        !are_within(&p.garrison, 1, 0, MAX_CORE_ARMIES))
        return "armies must be whole numbers of at most " + ARMIES;
    if (!are_within(p.kind, p.lands, 0, p.kinds - 1)) return "each land must have a kind of rules";
    for (auto find : {find_fault_dice, find_fault_battles, find_fault_rewards, find_fault_ways}) {
        std::string fault = find(p);
        if (!fault.empty()) return fault;
    }
    return "";
}

std::string iacta::find_fault(const iacta_problem& p, const iacta_turn& t) {
    if (!are_given({t.owner, t.continent_first, t.whole_least, t.whole_dice, t.known, t.hidden, t.card_land,
                    t.set_armies, t.mission_of, t.mission_unseen}))
        return "tables must not be null";
    if (t.players < 2 || t.players > MAX_PLAYERS)
        return "the number of players must be from 2 to " + std::to_string(MAX_PLAYERS);
    if (t.mover < 0 || t.mover >= t.players || t.phase < IACTA_PHASE_TRADE || t.phase > IACTA_PHASE_OVER ||
        t.then < IACTA_PHASE_TRADE || t.then > IACTA_PHASE_OVER || !are_within(&t.place, 1, 0, MAX_CORE_ARMIES) ||
        !are_within(&t.first, 1, 0, p.lands - 1))
        return "the turn must have a valid player, phase and number of armies to place";
    bool mine = false, anybody = false;
    int64_t total = 0;
    for (int v = 0; v < p.lands; ++v) {
        if (t.owner[v] > t.players && t.owner[v] != OWNERS - 1) return "each land must have an owner";
        mine |= t.owner[v] == t.mover && v >= t.first;
        anybody |= t.owner[v] < t.players;
        total += p.armies[v];
    }
    if (!mine && (t.phase != IACTA_PHASE_OVER || !anybody)) return "the player to move must own a territory";
    if (total > MAX_CORE_ARMIES) return "the sum of all armies must be at most " + ARMIES;
    if (t.continents < 0 || !are_valid_offsets(t.continent_first, t.continents, t.continent_first[t.continents]) ||
        (t.continents > 0 && (!t.bonus || !t.continent_lands)) ||
        !are_within(t.continent_lands, t.continent_first[t.continents], 0, p.lands - 1) ||
        !are_within(t.bonus, t.continents, -MAX_CORE_ARMIES, MAX_CORE_ARMIES))
        return "continents must list lands of the board";
    if (t.sets < 1 || !are_within(t.set_armies, t.sets, 0, MAX_CORE_ARMIES) ||
        !are_within(t.fixed, SYMBOLS + 1, 0, MAX_CORE_ARMIES) ||
        !are_within(t.fixed + SYMBOLS + 1, 1, -1, MAX_CORE_ARMIES) || !are_within(t.card_land, CARDS, -1, p.lands - 1))
        return "the tables of sets and cards must have numbers in the allowed ranges";
    if (!are_within(&t.must_trade, 1, SET, CARDS) || !are_within(&t.traded_at_once, 1, SET, CARDS + 1) ||
        !are_within(&t.pictured_armies, 1, 0, MAX_CORE_ARMIES) || !are_within(&t.cards_due, 1, 0, CARDS) ||
        !are_within(&t.lands_for_an_army, 1, 1, MAX_LANDS) || !are_within(&t.common_lands, 1, 0, MAX_LANDS) ||
        !are_within(&t.fewest_new, 1, 0, MAX_CORE_ARMIES))
        return "the rules of cards and new armies must have numbers in the allowed ranges";
    if (std::string fault = find_fault_missions(p, t); !fault.empty()) return fault;
    Cards all = 0;
    int count = 0;
    for (int i = 0; i < t.players; ++i) {
        if (t.known[i] >> CARDS || all & t.known[i] || t.hidden[i] < 0 || t.hidden[i] > CARDS)
            return "the cards of the players must come from one deck";
        all |= t.known[i];
        count += count_bits(t.known[i]) + t.hidden[i];
    }
    if (count > CARDS) return "the cards of the players must come from one deck";
    if (t.phase == IACTA_PHASE_DEFEND || t.phase == IACTA_PHASE_ADVANCE) {
        auto is_land = [&](int v) { return v >= 0 && v < p.lands; };
        if (!is_land(t.attack_start) || !is_land(t.attack_to) || t.owner[t.attack_start] != t.mover ||
            (t.owner[t.attack_to] == t.mover) != (t.phase == IACTA_PHASE_ADVANCE))
            return "the attack must lead from a territory of the player to another territory";
        int kind = p.kind[t.attack_to];
        if (t.phase == IACTA_PHASE_DEFEND &&
            (p.whole[kind] || t.attack_dice < 1 || t.attack_dice > p.attack_dice[kind] || t.thrown < 0))
            return "the throw must belong to the attack";
    }
    return "";
}
