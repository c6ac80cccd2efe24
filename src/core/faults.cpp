#include "faults.hpp"

#include <cmath>

#include "war/rules.hpp"

using namespace iacta;

namespace {

constexpr int MAX_LANDS = IACTA_MAX_TERRITORIES, MAX_SETS = IACTA_MAX_SETS, MAX_ARMIES = IACTA_MAX_ARMIES;
constexpr int MAX_DICE = 1000;
constexpr double MAX_TABLE = 1e12, ROUNDING = 1e-6;

bool within(const int32_t* numbers, int64_t count, int64_t least, int64_t most) {
    return std::all_of(numbers, numbers + count, [=](int32_t each) { return each >= least && each <= most; });
}
// Whether numbers say where parts of a whole begin, and where the last one ends.
bool parts(const int32_t* firsts, int64_t count, int64_t whole) {
    return firsts[0] == 0 && firsts[count] == whole && std::is_sorted(firsts, firsts + count + 1);
}
// What is added to a sum of chances.
double chance_of(const double* chances, int64_t count) {
    double sum = 0.0;
    for (int64_t i = 0; i < count; ++i) {
        if (!(chances[i] >= 0.0)) return MAX_PAID;
        sum += chances[i];
    }
    return sum;
}

std::string fault_of_dice(const iacta_problem& p) {
    const char* length = "the tables of dice must be as long as they say";
    if (p.rows < 1 || p.throws < 0 || p.answers < 0 || p.results < 0 || (p.throws > 0 && !p.throw_chance) ||
        (p.results > 0 && (!p.result_chance || !p.result_attackers || !p.result_defenders)))
        return length;
    int64_t rows = 0;
    for (int r = 0; r < p.kinds; ++r) {
        if (p.attack_dice[r] < 1 || p.attack_dice[r] > MAX_DICE || p.defence_dice[r] < 1 ||
            p.defence_dice[r] > MAX_DICE || p.dice_first[r] != rows)
            return "dice must be as many as there are rows of throws";
        rows += int64_t(p.attack_dice[r]) * p.defence_dice[r];
    }
    if (rows != p.rows || !parts(p.throw_first, p.rows, p.throws) || !parts(p.answer_first, p.throws, p.answers) ||
        !parts(p.result_first, p.answers, p.results))
        return length;
    if (!within(p.least, p.rows, 0, MAX_ARMIES)) return "least advances must be whole numbers";
    for (int a = 0; a < p.answers; ++a) {
        int first = p.result_first[a], count = p.result_first[a + 1] - first;
        if (chance_of(p.result_chance + first, count) > 1.0 + ROUNDING) return "chances must be from 0 to 1";
    }
    for (int r = 0; r < p.kinds; ++r)
        for (int i = 0; i < p.attack_dice[r] * p.defence_dice[r]; ++i) {
            int row = p.dice_first[r] + i, first = p.throw_first[row], last = p.throw_first[row + 1];
            if (chance_of(p.throw_chance + first, last - first) > 1.0 + ROUNDING) return "chances must be from 0 to 1";
            if (p.whole[r]) continue;
            if (first == last) return "each roll must have throws";
            int compared = std::min(i / p.defence_dice[r], i % p.defence_dice[r]) + 1;
            for (int t = first; t < last; ++t) {
                if (p.answer_first[t] == p.answer_first[t + 1]) return "each throw must have answers";
                for (int a = p.answer_first[t]; a < p.answer_first[t + 1]; ++a) {
                    if (p.result_first[a] == p.result_first[a + 1]) return "each answer must have results";
                    for (int j = p.result_first[a]; j < p.result_first[a + 1]; ++j) {
                        int x = p.result_attackers[j], y = p.result_defenders[j];
                        if (x < 0 || y < 0 || x > compared || y > compared || x + y < 1 || x + y > compared)
                            return "a result must cost from one army to one for each pair of dice";
                    }
                }
            }
        }
    return "";
}

std::string fault_of_battles(const iacta_problem& p) {
    if (!within(&p.able, 1, 0, MAX_ARMIES) || !within(&p.defenders, 1, 0, MAX_ARMIES) || p.battles < 0 || p.width < 1 ||
        p.width > p.able + 1 ||
        double(p.battles) * (p.able + 1.0) * (double(p.width) + p.defenders + 1.0) > MAX_TABLE ||
        !within(p.battle_first, p.kinds, 0, p.battles))
        return "whole battles must be as many as they say";
    for (int t = 0; t < p.lands; ++t) {
        if (p.owner[t] > 2) return "each land must have an owner";
        if (p.owner[t] == 1 && p.armies[t] > p.able) return "whole battles must be for all stacks";
        if (p.owner[t] == 0 && p.armies[t] < 1) return "lands to be attacked must have defenders";
        if (p.owner[t] == 0 && p.whole[p.kind[t]] &&
            (p.armies[t] > p.defenders || p.armies[t] > p.battles - p.battle_first[p.kind[t]]))
            return "whole battles must be for all defenders";
    }
    if (p.battles > 0 && (!p.won || !p.lost)) return "whole battles must be given";
    int64_t side = int64_t(p.able) + 1, ends = int64_t(p.defenders) + 1;
    for (int64_t row = 0; row < p.battles * side; ++row)
        if (chance_of(p.won + row * p.width, p.width) + chance_of(p.lost + row * ends, ends) > 1.0 + ROUNDING)
            return "chances of battles must be from 0 to 1";
    return "";
}

std::string fault_of_rewards(const iacta_problem& p) {
    auto is_paid = [](double each) { return std::abs(each) <= MAX_PAID; };
    if (p.sets < 0 || p.sets > MAX_SETS) return "sets must be from 0 to 1024";
    if (!p.set_first || p.set_first[p.sets] < 0 || !parts(p.set_first, p.sets, p.set_first[p.sets]) ||
        (p.set_first[p.sets] > 0 && !p.set_lands) || !within(p.set_lands, p.set_first[p.sets], 0, p.lands - 1))
        return "sets must be of lands";
    if ((p.sets > 0 && !p.set_pays) || !std::all_of(p.set_pays, p.set_pays + p.sets, is_paid) ||
        !std::all_of(p.pays, p.pays + p.lands, is_paid))
        return "payments must be finite";
    if (!(p.price >= 0.0 && p.price <= MAX_PAID)) return "the price of an army must be at least 0";
    return "";
}

}  // namespace

std::string iacta::fault_of(const iacta_problem& p) {
    if (p.lands < 1 || p.lands > MAX_LANDS) return "lands must be from 1 to 1024";
    if (p.kinds < 1 || p.kinds > MAX_LANDS) return "kinds of rules must be from 1 to 1024";
    if (!all_given({p.border_first, p.armies, p.keep, p.kind, p.owner, p.resting, p.attack_dice, p.defence_dice,
                    p.dice_first, p.least, p.whole, p.throw_first, p.answer_first, p.result_first, p.battle_first,
                    p.pays}))
        return "all tables must be given";
    int64_t borders = p.border_first[p.lands];
    if (borders < 0 || !parts(p.border_first, p.lands, borders) || (borders > 0 && !p.border_to) ||
        !within(p.border_to, borders, 0, p.lands - 1))
        return "borders must lead to lands";
    if (!within(p.armies, p.lands, 0, MAX_ARMIES) || !within(p.keep, p.lands, 0, MAX_ARMIES) ||
        !within(&p.garrison, 1, 0, MAX_ARMIES))
        return "armies must be whole numbers of at most 1048576";
    if (!within(p.kind, p.lands, 0, p.kinds - 1)) return "each land must have rules";
    for (auto find : {fault_of_dice, fault_of_battles, fault_of_rewards}) {
        std::string fault = find(p);
        if (!fault.empty()) return fault;
    }
    return "";
}

std::string iacta::fault_of(const iacta_problem& p, const iacta_turn& t) {
    if (!all_given(
            {t.owner, t.continent_first, t.whole_least, t.whole_dice, t.known, t.hidden, t.card_land, t.set_armies}))
        return "all tables must be given";
    if (t.players < 2 || t.players > MAX_PLAYERS) return "players must be from 2 to 6";
    if (t.mover < 0 || t.mover >= t.players || t.phase < IACTA_PHASE_TRADE || t.phase > IACTA_PHASE_OVER ||
        t.then < IACTA_PHASE_TRADE || t.then > IACTA_PHASE_OVER || !within(&t.place, 1, 0, MAX_ARMIES) ||
        !within(&t.first, 1, 0, p.lands - 1))
        return "the moment must be one of a turn";
    bool mine = false;
    int64_t total = 0;
    for (int v = 0; v < p.lands; ++v) {
        if (t.owner[v] > t.players && t.owner[v] != OWNERS - 1) return "each land must have an owner";
        mine |= t.owner[v] == t.mover && v >= t.first;
        total += p.armies[v];
    }
    if (!mine) return "the player to move must own lands";
    if (total > MAX_ARMIES) return "armies must be at most 1048576 in all";
    if (t.continents < 0 || !parts(t.continent_first, t.continents, t.continent_first[t.continents]) ||
        (t.continents > 0 && (!t.bonus || !t.continent_lands)) ||
        !within(t.continent_lands, t.continent_first[t.continents], 0, p.lands - 1) ||
        !within(t.bonus, t.continents, -MAX_ARMIES, MAX_ARMIES))
        return "continents must be of lands";
    if (t.sets < 1 || !within(t.set_armies, t.sets, 0, MAX_ARMIES) || !within(t.fixed, SYMBOLS + 1, 0, MAX_ARMIES) ||
        !within(t.card_land, CARDS, -1, p.lands - 1))
        return "sets and cards must be as many as they say";
    if (!within(&t.must_trade, 1, SET, CARDS) || !within(&t.traded_at_once, 1, SET, CARDS + 1) ||
        !within(&t.pictured_armies, 1, 0, MAX_ARMIES) || !within(&t.lands_for_an_army, 1, 1, MAX_LANDS) ||
        !within(&t.fewest_new, 1, 0, MAX_ARMIES))
        return "the rules of cards and new armies must be possible";
    Cards all = 0;
    int count = 0;
    for (int i = 0; i < t.players; ++i) {
        if (t.known[i] >> CARDS || all & t.known[i] || t.hidden[i] < 0 || t.hidden[i] > CARDS)
            return "cards must be of one deck";
        all |= t.known[i];
        count += count_of(t.known[i]) + t.hidden[i];
    }
    if (count > CARDS) return "cards must be of one deck";
    if (t.phase == IACTA_PHASE_DEFEND || t.phase == IACTA_PHASE_ADVANCE) {
        auto is_land = [&](int v) { return v >= 0 && v < p.lands; };
        if (!is_land(t.attack_start) || !is_land(t.attack_to) || t.owner[t.attack_start] != t.mover ||
            (t.owner[t.attack_to] == t.mover) != (t.phase == IACTA_PHASE_ADVANCE))
            return "an attack must be over a border";
        int kind = p.kind[t.attack_to];
        if (t.phase == IACTA_PHASE_DEFEND &&
            (p.whole[kind] || t.attack_dice < 1 || t.attack_dice > p.attack_dice[kind] || t.thrown < 0))
            return "a throw must be one of an attack";
    }
    return "";
}
