// Decisions: the value of a roll, the outcomes of a roll, and the best of several choices.
#pragma once

#include <limits>
#include <vector>

#include "game.hpp"

namespace iacta {

// Two values whose difference is at most SAME count as equal.
constexpr double SAME = 1e-12;

// The worth of a state: the expected payoff, and the expected cost, which is the number of armies lost plus a tiny
// amount for each roll. Of several choices with equal payoffs, the choice with the smallest cost is best.
struct Worth {
    double value, cost;

    static constexpr double ROLL = 1e-6;  // the cost that is added for each roll, as a number of armies

    Worth& operator+=(const Worth& other) {
        value += other.value;
        cost += other.cost;
        return *this;
    }
    friend Worth operator*(double chance, const Worth& each) { return {chance * each.value, chance * each.cost}; }
    bool operator<(const Worth& other) const { return value < other.value; }
};

// Orders choices by their payoff less the price of the margin for their cost. A choice without payoff, such as to stop,
// is charged for more than all armies. Therefore the price never makes it better than a choice with a payoff.
class Margin {
  public:
    // all: the number of armies of both sides at the start of the turn.
    Margin(double price, int all) : price_(price), most_(price * (all + 1.0)) {}

    bool is_free() const { return price_ == 0.0; }
    double charge(const Worth& each) const { return each.value > SAME ? price_ * each.cost : most_; }
    double rank(const Worth& each) const { return each.value - charge(each); }

  private:
    double price_, most_;  // most_: the charge for a choice without payoff
};

// Finds the best of several choices: the smallest cost among the choices whose ranks are within SAME of the highest
// rank (see Margin). The first choice is to stop, with payoff 0 and cost 0.
class Best {
  public:
    explicit Best(const Margin& margin) : margin_(margin), top_(margin.rank(chosen_)) {}

    // Compares another choice with the best choice so far. Returns whether the new choice becomes the best.
    bool offer(const Worth& each) {
        double rank = margin_.rank(each), same = SAME * std::max(1.0, top_);
        if (rank <= top_ + same && (rank < top_ - same || each.cost >= chosen_.cost - CLOSER)) {
            top_ = std::max(top_, rank);
            return false;
        }
        top_ = std::max(top_, rank);
        chosen_ = each;
        return true;
    }
    // Returns the payoff that has the highest rank at the cost of the best choice, with this cost. It is the payoff of
    // the best choice, or greater by at most SAME.
    Worth worth() const { return {top_ + margin_.charge(chosen_), chosen_.cost}; }

  private:
    static constexpr double CLOSER = 1e-9;  // costs whose difference is below this number of armies count as equal

    const Margin& margin_;
    Worth chosen_{0.0, 0.0};
    double top_;
};

// A possible outcome of a roll or of a whole battle.
struct Outcome {
    double chance;
    int attackers, defenders;  // the losses of the attacker and of the defender
    int moved;                 // the number of armies that advance; 0 without a conquest
    double value;              // the payment for the outcome, plus the value of the next state
};

// A decision: to attack, with the outcomes of the attack, or to stop, without outcomes.
struct Decision {
    Roll roll{-1, -1, 0};
    double value = 0.0;
    double cost = 0.0;  // with a margin: an estimate of the armies lost in the rest of the turn
    // The possible outcomes if the defender chooses the answers that seem worst for the attacker.
    std::vector<Outcome> outcomes;
    // Outcomes that are possible only after other answers of the defender; their `chance` is 0.
    std::vector<Outcome> others{};

    bool is_stop() const { return roll.dice == 0; }
};

template <int W>
void apply(Position<W>& s, const Roll& roll, const Outcome& outcome) {
    s.armies[roll.start] -= outcome.attackers + outcome.moved;
    s.armies[roll.to] -= outcome.defenders;
    if (s.armies[roll.to] == 0) {
        s.mine.add(roll.to);
        s.armies[roll.to] = outcome.moved;
    }
}

// Returns the mean value of a roll after an answer of the defender. `value(x, y)` returns the value, a double or a
// Worth, after the loss of x attackers and y defenders.
template <class Value>
auto average_results(const Dice& dice, int answer, Value& value) {
    decltype(value(0, 0)) mean{};
    Span results = dice.results(answer);
    for (int i = results.first; i < results.last; ++i) {
        const Result& r = dice.result(i);
        mean += r.chance * value(r.attackers, r.defenders);
    }
    return mean;
}

// Returns the expected value of a roll if the defender answers each throw in the worst way for the attacker. `value` is
// the same function as in average_results.
template <class Value>
auto roll_value(const Dice& dice, const Roll& roll, int d, Value value) {
    using Mean = decltype(value(0, 0));
    Mean total{};
    Span throws = dice.throws(roll.to, roll.dice, d);
    for (int t = throws.first; t < throws.last; ++t) {
        Mean least{};
        Span answers = dice.answers(t);
        for (int a = answers.first; a < answers.last; ++a) {
            Mean mean = average_results(dice, a, value);
            if (a == answers.first || mean < least) least = mean;
        }
        total += dice.throw_chance(t) * least;
    }
    return total;
}

// Returns the expected value of a whole battle of `a` attackers against `d` defenders. `value` is the same function as
// in average_results.
template <class Value>
auto battle_value(const Dice& dice, int c, int a, int d, Value value) {
    const Battle& battle = dice.battle(c, d);
    decltype(value(0, 0)) total{};
    battle.visit_results(a, d, [&](double chance, int x, int y) { total += chance * value(x, y); });
    return total;
}

// Returns the decision to make a roll, with its value and outcomes. `value(x, y)` and `moved(x, y)` return the value
// and the advance after the loss of x attackers and y defenders.
template <class Value, class Moved>
Decision make_decision(const Dice& dice, const Roll& roll, int able, int d, Value value, Moved moved) {
    Decision found;
    found.roll = roll;
    auto find = [](std::vector<Outcome>& all, int x, int y) -> Outcome* {
        for (auto& each : all)
            if (each.attackers == x && each.defenders == y) return &each;
        return nullptr;
    };
    auto add = [&](double chance, int x, int y) {
        if (chance <= 0.0) return;
        Outcome* known = find(found.outcomes, x, y);
        if (known) known->chance += chance;
        else found.outcomes.push_back({chance, x, y, y == d ? moved(x, y) : 0, value(x, y)});
        found.value += chance * (known ? known : &found.outcomes.back())->value;
    };
    if (dice.whole[dice.kind[roll.to]]) {
        dice.battle(roll.to, d).visit_results(able, d, add);
        return found;
    }
    Span throws = dice.throws(roll.to, roll.dice, d);
    for (int t = throws.first; t < throws.last; ++t) {
        Span answers = dice.answers(t);
        int worst = answers.first;
        double least = std::numeric_limits<double>::infinity();
        for (int a = answers.first; a < answers.last; ++a) {
            double mean = average_results(dice, a, value);
            if (mean < least - SAME) least = mean, worst = a;
        }
        Span results = dice.results(worst);
        for (int i = results.first; i < results.last; ++i) {
            const Result& r = dice.result(i);
            add(dice.throw_chance(t) * r.chance, r.attackers, r.defenders);
        }
    }
    if (!dice.answers_differ) return found;
    for (int t = throws.first; t < throws.last; ++t)
        for (int a = dice.answers(t).first; a < dice.answers(t).last; ++a)
            for (int i = dice.results(a).first; i < dice.results(a).last; ++i) {
                auto [chance, x, y] = dice.result(i);
                if (!find(found.outcomes, x, y) && !find(found.others, x, y))
                    found.others.push_back({0.0, x, y, y == d ? moved(x, y) : 0, value(x, y)});
            }
    return found;
}

}  // namespace iacta
