// Problems for tests of the core: boards, rules and the arrays made from them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "iacta.h"

struct Rules {
    int attack = 3, defence = 2;
    bool whole = false;        // an attack is a whole battle
    bool sees_first = false;   // the defender sees the attack dice and then chooses how many dice to roll
    int least = 1;             // the least advance: 0 for none, 1 for the number of dice
    int most = 1000;           // the largest advance
    int late = 2;              // the fewest defenders that roll a second die
    bool never_fewer = false;  // the attacker may not roll fewer dice than the defender
    bool at_double = false;    // the last attack die needs two to one against at least three defenders
    bool ties_nobody = false;  // a tie costs nobody an army
    bool fumble = false;       // an attack roll of ones costs an army for each die

    // Returns the largest number of defenders with its own rolls; more defenders change no roll.
    int columns() const { return std::max(defence + std::max(late - 2, 0), at_double ? 3 : 1); }
    int count_defence(int d) const { return std::min(defence, d < late ? 1 : d - std::max(late - 2, 0)); }
    // Returns the largest number of attack dice of `able` attackers, garrison excluded, or 0 if they may not attack.
    int count_attack(int able, int garrison, int d) const {
        bool is_last = !at_double || (d >= 3 && able + garrison >= 2 * d);
        int dice = std::min(able, attack - !is_last);
        return never_fewer && dice < count_defence(d) ? 0 : dice;
    }
};

struct Problem {
    std::vector<int32_t> border_first{0}, border_to, armies, keep, kind;
    std::vector<uint8_t> owner, resting, whole, at_double, until;
    std::vector<int32_t> attack_dice, columns, dice_first, least, most;
    std::vector<int32_t> throw_first{0}, answer_first{0}, result_first{0}, result_attackers, result_defenders;
    std::vector<double> throw_chance, result_chance;
    int32_t able = 0, defenders = 0, battles = 0, stops = 1, garrison = 1, once = 0, wins = 0, fortify = 0;
    std::vector<int32_t> battle_first, set_first{0}, set_lands;
    std::vector<int32_t> way_first{0}, way_lands, way_number, way_enough;
    std::vector<int32_t> peril_first{0}, peril_lands, rival_first{0}, rival_lands, rival_number;
    std::vector<double> won, lost, pays, set_pays;
    double price = 0.0, margin_price = 0.0, held = 0.0;
    std::vector<std::vector<int32_t>> near;  // by land, the neighbours

    explicit Problem(int lands)
        : armies(lands, 1), keep(lands, 1), kind(lands, 0), owner(lands, 0), resting(lands, 0), pays(lands, 0.0),
          near(lands) {}

    int lands() const { return int(armies.size()); }
    void connect(int v, int w) {
        near[v].push_back(w);
        near[w].push_back(v);
    }
    void add_set(const std::vector<int32_t>& lands, double paid) {
        set_lands.insert(set_lands.end(), lands.begin(), lands.end());
        set_first.push_back(int32_t(set_lands.size()));
        set_pays.push_back(paid);
    }
    void add_way(const std::vector<int32_t>& lands, int32_t number, int32_t enough) {
        way_lands.insert(way_lands.end(), lands.begin(), lands.end());
        way_first.push_back(int32_t(way_lands.size()));
        way_number.push_back(number);
        way_enough.push_back(enough);
    }
    void add_peril(const std::vector<int32_t>& lands, const std::vector<int32_t>& rivals, int32_t number) {
        peril_lands.insert(peril_lands.end(), lands.begin(), lands.end());
        peril_first.push_back(int32_t(peril_lands.size()));
        rival_lands.insert(rival_lands.end(), rivals.begin(), rivals.end());
        rival_first.push_back(int32_t(rival_lands.size()));
        rival_number.push_back(number);
    }

    // Computes the tables of the rules and of all battles.
    void play_by(const std::vector<Rules>& all) {
        for (const auto& each : near) {
            border_to.insert(border_to.end(), each.begin(), each.end());
            border_first.push_back(int32_t(border_to.size()));
        }
        for (int t = 0; t < lands(); ++t) {
            if (owner[t] == 1) able = std::max(able, armies[t]);
            if (owner[t] == 0) defenders = std::max(defenders, armies[t]);
        }
        for (const Rules& rules : all) {
            add_dice(rules);
            if (rules.whole && rules.never_fewer) stops = std::max(stops, rules.defence);
        }
        for (size_t r = 0; r < all.size(); ++r) add_battles(all[r]);
    }

    iacta_problem view() const {
        iacta_problem p{};
        p.lands = lands();
        p.border_first = border_first.data();
        p.border_to = border_to.data();
        p.armies = armies.data();
        p.keep = keep.data();
        p.kind = kind.data();
        p.owner = owner.data();
        p.resting = resting.data();
        p.garrison = garrison;
        p.kinds = int32_t(whole.size());
        p.attack_dice = attack_dice.data();
        p.columns = columns.data();
        p.at_double = at_double.data();
        p.dice_first = dice_first.data();
        p.least = least.data();
        p.most = most.data();
        p.whole = whole.data();
        p.throw_first = throw_first.data();
        p.answer_first = answer_first.data();
        p.result_first = result_first.data();
        p.throw_chance = throw_chance.data();
        p.result_chance = result_chance.data();
        p.result_attackers = result_attackers.data();
        p.result_defenders = result_defenders.data();
        p.rows = int32_t(least.size());
        p.throws = int32_t(throw_chance.size());
        p.answers = int32_t(result_first.size()) - 1;
        p.results = int32_t(result_chance.size());
        p.able = able;
        p.defenders = defenders;
        p.battles = battles;
        p.width = able + 1;
        p.stops = stops;
        p.battle_first = battle_first.data();
        p.won = won.data();
        p.lost = lost.data();
        p.pays = pays.data();
        p.sets = int32_t(set_pays.size());
        p.set_first = set_first.data();
        p.set_lands = set_lands.data();
        p.set_pays = set_pays.data();
        p.price = price;
        p.margin_price = margin_price;
        p.once = once;
        p.wins = wins;
        p.ways = int32_t(way_number.size());
        p.way_first = way_first.data();
        p.way_lands = way_lands.data();
        p.way_number = way_number.data();
        p.way_enough = way_enough.data();
        p.fortify = fortify;
        p.perils = int32_t(rival_number.size());
        p.peril_first = peril_first.data();
        p.peril_lands = peril_lands.data();
        p.rival_first = rival_first.data();
        p.rival_lands = rival_lands.data();
        p.rival_number = rival_number.data();
        p.held = held;
        p.until = until.empty() ? nullptr : until.data();
        return p;
    }

  private:
    using Losses = std::map<std::pair<int, int>, double>;  // losses of attackers and defenders, and the chance

    // Returns all throws of some dice in descending order, each with its chance.
    static std::map<std::vector<int>, double> throws(int dice) {
        std::map<std::vector<int>, double> all{{{}, 1.0}};
        for (int i = 0; i < dice; ++i) {
            std::map<std::vector<int>, double> next;
            for (const auto& [faces, chance] : all)
                for (int face = 1; face <= 6; ++face) {
                    std::vector<int> more = faces;
                    more.insert(std::lower_bound(more.begin(), more.end(), face, std::greater<int>()), face);
                    next[more] += chance / 6.0;
                }
            all.swap(next);
        }
        return all;
    }
    static Losses losses(const std::vector<int>& attack, int defence, const Rules& rules) {
        Losses found;
        bool is_fumble = rules.fumble && attack.front() == 1;
        for (const auto& [faces, chance] : throws(defence)) {
            int x = is_fumble ? int(attack.size()) : 0, y = 0;
            for (size_t i = 0; i < std::min(attack.size(), faces.size()) && !is_fumble; ++i)
                if (attack[i] > faces[i]) ++y;
                else if (attack[i] < faces[i] || !rules.ties_nobody) ++x;
            found[{x, y}] += chance;
        }
        return found;
    }
    // Returns the losses in a roll that costs an army.
    static Losses losses(int attack, int defence, const Rules& rules) {
        Losses found;
        for (const auto& [faces, chance] : throws(attack))
            for (const auto& [each, part] : losses(faces, defence, rules)) found[each] += chance * part;
        double costs = 1.0 - found[{0, 0}];
        found.erase({0, 0});
        for (auto& each : found) each.second /= costs;
        return found;
    }

    void add_answer(const Losses& losses) {
        for (const auto& [each, chance] : losses) {
            result_chance.push_back(chance);
            result_attackers.push_back(each.first);
            result_defenders.push_back(each.second);
        }
        result_first.push_back(int32_t(result_chance.size()));
    }
    void add_throw(double chance) {
        throw_chance.push_back(chance);
        answer_first.push_back(int32_t(result_first.size()) - 1);
    }
    void add_dice(const Rules& rules) {
        attack_dice.push_back(rules.attack);
        columns.push_back(rules.columns());
        at_double.push_back(rules.at_double);
        dice_first.push_back(int32_t(least.size()));
        whole.push_back(rules.whole);
        most.push_back(rules.most);
        for (int k = 1; k <= rules.attack; ++k)
            for (int d = 1; d <= rules.columns(); ++d) {
                int j = rules.count_defence(d);
                bool is_illegal = (rules.never_fewer && k < j) || (rules.at_double && k == rules.attack && d < 3);
                least.push_back(rules.least * (rules.whole ? 1 : k));
                if (rules.whole || is_illegal) {
                } else if (rules.sees_first) {
                    for (const auto& [faces, chance] : throws(k)) {
                        for (int dice = 1; dice <= j; ++dice) add_answer(losses(faces, dice, rules));
                        add_throw(chance);
                    }
                } else {
                    add_answer(losses(k, j, rules));
                    add_throw(1.0);
                }
                throw_first.push_back(int32_t(throw_chance.size()));
            }
    }
    // Adds battles fought to the end with as many dice as possible.
    void add_battles(const Rules& rules) {
        battle_first.push_back(battles);
        if (!rules.whole) return;
        size_t side = size_t(able) + 1, ends = (size_t(defenders) + 1) * size_t(stops), first = size_t(battles);
        battles += defenders;
        won.resize(size_t(battles) * side * side, 0.0);
        lost.resize(size_t(battles) * side * ends, 0.0);
        for (int d = 1; d <= defenders; ++d)
            for (int a = 0; a <= able; ++a) {
                size_t row = (first + size_t(d) - 1) * side + size_t(a);
                int dice = rules.count_attack(a, garrison, d);
                if (dice == 0) continue;  // the battle is illegal
                std::pair<int, int> rolled{dice, rules.count_defence(d)};
                auto [known, is_new] = losses_.try_emplace(rolled);
                if (is_new) known->second = losses(rolled.first, rolled.second, rules);
                for (const auto& [loss, chance] : known->second) {
                    int left = a - loss.first, more = d - loss.second;
                    if (!more) {
                        won[row * side + size_t(a - left)] += chance;
                        continue;
                    }
                    if (rules.count_attack(left, garrison, more) == 0) {
                        lost[row * ends + size_t(more * stops + left)] += chance;
                        continue;
                    }
                    size_t next = (first + size_t(more) - 1) * side + size_t(left);
                    for (int b = 1; b <= left; ++b)
                        won[row * side + size_t(a - b)] += chance * won[next * side + size_t(left - b)];
                    for (size_t e = size_t(stops); e < ends; ++e)
                        lost[row * ends + e] += chance * lost[next * ends + e];
                }
            }
        losses_.clear();
    }

    std::map<std::pair<int, int>, Losses> losses_;  // by the numbers of dice
};

// A report with room for all statistics of a problem.
class Report {
  public:
    explicit Report(const iacta_problem& p) {
        int64_t borders = 0;
        for (int v = 0; v < p.lands; ++v)
            borders +=
                int64_t(std::set<int32_t>(p.border_to + p.border_first[v], p.border_to + p.border_first[v + 1]).size());
        order_.resize(size_t(borders) + 1);
        numbers_.resize(size_t(1 + 2 * p.lands + p.sets + borders * (6 + 2 * int64_t(p.able))));
        report_ = {0, borders, int64_t(numbers_.size()), order_.data(), numbers_.data()};
    }
    iacta_report* operator&() { return &report_; }
    iacta_report* operator->() { return &report_; }
    double value() const { return numbers_[0]; }

  private:
    std::vector<int32_t> order_;
    std::vector<double> numbers_;
    iacta_report report_;
};
