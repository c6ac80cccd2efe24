#include "dice.hpp"

#include <utility>

namespace iacta {

Dice::Dice(const iacta_problem& p)
    : lands(p.lands), kinds(p.kinds), garrison(p.garrison), battle_stops(p.stops), keep(p.keep, p.keep + p.lands),
      kind(p.kind, p.kind + p.lands), whole(p.whole, p.whole + p.kinds), answers_differ(p.answers > p.throws),
      attack_(p.attack_dice, p.attack_dice + p.kinds), columns_(p.columns, p.columns + p.kinds),
      dice_first_(p.dice_first, p.dice_first + p.kinds), least_(p.least, p.least + p.rows),
      most_(p.most, p.most + p.kinds), at_double_(p.at_double, p.at_double + p.kinds), most_lost_(p.rows),
      most_moved_(p.rows), throw_first_(p.throw_first, p.throw_first + p.rows + 1),
      answer_first_(p.answer_first, p.answer_first + p.throws + 1),
      result_first_(p.result_first, p.result_first + p.answers + 1),
      battle_first_(p.battle_first, p.battle_first + p.kinds), throw_chance_(p.throw_chance, p.throw_chance + p.throws),
      able_(p.able) {
    for (int i = 0; i < p.results; ++i)
        results_.push_back({p.result_chance[i], p.result_attackers[i], p.result_defenders[i]});
    for (int r = 0; r < kinds; ++r)
        for (int k = 1; k <= attack_[r]; ++k)
            for (int j = 1; j <= columns_[r]; ++j) {
                int i = dice_first_[r] + (k - 1) * columns_[r] + j - 1;
                if (throw_first_[i] == throw_first_[i + 1]) most_lost_[i] = ILLEGAL;
                int first = answer_first_[throw_first_[i]], last = answer_first_[throw_first_[i + 1]];
                for (int a = result_first_[first]; a < result_first_[last]; ++a) {
                    auto [chance, x, y] = results_[a];
                    most_lost_[i] = std::max(most_lost_[i], x);
                    if (y == j) most_moved_[i] = std::max(most_moved_[i], x + least_[i]);
                }
            }
    size_t side = size_t(p.able) + 1, ends = (size_t(p.defenders) + 1) * size_t(p.stops), width = size_t(p.width);
    for (int i = 0; i < p.battles; ++i) {
        const double* won = p.won + i * side * width;
        const double* lost = p.lost + i * side * ends;
        Battle battle{p.able, p.defenders, 1, p.stops, {}, {lost, lost + side * ends}};
        for (size_t a = 1; a < side; ++a)
            for (size_t x = 0; x < std::min(a, width); ++x)
                if (won[a * width + x] > 0.0) battle.width = std::max(battle.width, int(x) + 1);
        battle.won.assign(side * battle.width, 0.0);
        for (size_t a = 1; a < side; ++a)
            for (size_t x = 0; x < std::min(a, size_t(battle.width)); ++x)
                battle.won[a * battle.width + x] = won[a * width + x];
        battles_.push_back(std::move(battle));
    }
}

}  // namespace iacta
