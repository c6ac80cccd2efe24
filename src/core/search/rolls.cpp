#include "search/rolls.hpp"

#include <algorithm>
#include <utility>

namespace iacta {

namespace {

constexpr double MAX_RESULTS = 8e6;
constexpr int NO_LIMIT = 1 << 28;  // larger than any number of armies

// Returns the rolls that optimal play can need if the number of advancing armies does not matter. If each roll
// destroys exactly one army, these are the rolls with the greatest chance to destroy a defender. Otherwise returns
// no rolls, because all rolls can be needed.
std::vector<Choice> pick_likeliest(const std::vector<Choice>& choices) {
    std::vector<Choice> found;
    double best = -1.0;
    for (const Choice& choice : choices) {
        if (choice.throws.size() > 1 || choice.throws[0].answers.size() > 1) return {};
        double chance = 0.0;
        for (const Losses& result : choice.throws[0].answers[0]) {
            if (result.attackers + result.defenders != 1) return {};
            if (result.defenders) chance = result.chance;
        }
        if (chance <= best) continue;
        if (!found.empty()) found.back().to = choice.from;
        found.push_back(choice);
        best = chance;
    }
    return found;
}

}  // namespace

Rolls::Rolls(const Dice& dice, const std::vector<int>& armies, const std::vector<int>& stacks,
             const std::vector<int>& targets, Deadline& deadline)
    : dice_(dice), deadline_(deadline), rows_(dice.kinds), land_(dice.kinds, -1) {
    for (int keep : dice.keep) most_staying_ = std::max(most_staying_, keep - dice.garrison);
    for (int v : stacks) most_leaving_ = std::max(most_leaving_, armies[v] - dice.keep[v]);
    double size = 0.0;
    for (int c : targets) {
        land_[dice.kind[c]] = c;
        if (dice.whole[dice.kind[c]]) size = std::max(size, double(armies[c]));
    }
    fits = size * most_leaving_ * (most_leaving_ + size) * dice.kinds <= MAX_RESULTS;
    for (int c : targets) {
        auto& rows = rows_[dice.kind[c]];
        while (fits && int(rows.size()) <= find_row(dice.kind[c], armies[c]))
            rows.push_back(make_row(c, int(rows.size()) + 1));
    }
}

Row Rolls::make_row(int c, int d) {
    std::vector<Choice> choices;
    if (dice_.whole[dice_.kind[c]]) {
        for (int a = 1; a <= std::min(most_leaving_, dice_.able()); ++a)
            if (dice_.battle(c, d).is_legal(a, d)) choices.push_back(make_battle(c, d, a));
    } else {
        for (int k = dice_.attack_dice(c); k > 0; --k) {
            int rolling = k;
            while (rolling <= most_leaving_ + most_staying_ && !dice_.may_roll(c, k, d, rolling)) ++rolling;
            int able = std::max({1, rolling - most_staying_, dice_.count_needed(c, k, d)});
            if (able <= most_leaving_) choices.push_back(make_roll(c, d, k, able));
        }
        std::stable_sort(choices.begin(), choices.end(),
                         [](const Choice& a, const Choice& b) { return a.from < b.from; });
    }
    for (const Choice& choice : choices)
        for (const Throw& thrown : choice.throws)
            for (const auto& answer : thrown.answers)
                for (const Losses& result : answer) step = std::max(step, result.defenders);
    std::vector<Choice> plain = pick_likeliest(choices);
    return {std::move(choices), std::move(plain)};
}

Choice Rolls::make_roll(int c, int d, int k, int able) const {
    Choice choice{able, NO_LIMIT, {}};
    Span throws = dice_.throws(c, k, d);
    for (int t = throws.first; t < throws.last; ++t) {
        deadline_.spend();
        Throw thrown{dice_.throw_chance(t), {}};
        Span answers = dice_.answers(t);
        for (int a = answers.first; a < answers.last; ++a) {
            thrown.answers.emplace_back();
            Span results = dice_.results(a);
            for (int i = results.first; i < results.last; ++i) {
                const Result& r = dice_.result(i);
                int advance = std::min(dice_.least_advance(c, k), able - r.attackers);
                thrown.answers.back().push_back({r.chance, r.attackers, r.defenders, advance});
            }
        }
        choice.throws.push_back(std::move(thrown));
    }
    return choice;
}

Choice Rolls::make_battle(int c, int d, int a) const {
    const Battle& battle = dice_.battle(c, d);
    deadline_.spend(10 * (a + d));
    std::vector<Losses> results;
    int least = dice_.least_advance(c, 1);
    battle.visit_results(a, d, [&](double chance, int x, int y) {
        results.push_back({chance, x, y, y == d ? std::min(least, a - x) : 0});
    });
    return {a, NO_LIMIT, {{1.0, {std::move(results)}}}};
}

}  // namespace iacta
