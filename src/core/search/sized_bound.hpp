// Upper bounds on the value of all policies, for boards of at most 64 * W territories.
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "search/bound.hpp"
#include "search/chance.hpp"
#include "search/prices.hpp"

namespace iacta {

// An upper bound on the value of all policies: the sum over territories and sets of the payment times an upper bound on
// the chance to take them. Each call of `improve` can make it smaller. The bound ignores the price of lost armies.
template <int W>
class Bounds {
  public:
    Bounds(const Game<W>& game, Deadline& deadline)
        : deadline_(deadline), paths_(game),
          rolls_(game, game.start.armies, list_territories(game.start.mine), list_territories(game.field), deadline),
          pool_(game, game.start.armies, paths_.left_behind, rolls_, deadline) {
        if (!rolls_.fits) {
            limit_ = bound_at_once(game);
            return;
        }
        Set<W> reach = paths_.find_reached(paths_.places, game.field);
        if (game.wins) {
            add_ways(reach);
            return;
        }
        if (game.once) {
            double most = 0.0;
            Set<W> goal;
            for (int c : reach) {
                double paid = game.find_payment(c, game.field);
                if (paid <= 0.0) continue;
                goal.add(c);
                most = std::max(most, paid);
            }
            if (goal.any()) add(goal, reach, true, most);
            return;
        }
        for (int c = 0; c < game.lands; ++c)
            if (game.field.has(c) && game.pays[c] > 0.0) add(Set<W>::of(c), game.pays[c]);
        for (const auto& set : game.sets)
            if (set.pays > 0.0 && (set.lands & game.field).any()) add(set.lands & game.field, set.pays);
    }

    // Returns a rough upper bound that needs no search: the sum of all payments, or the greatest payment if the first
    // payment ends the turn.
    static double bound_at_once(const Game<W>& game) {
        double sum = 0.0, most = 0.0;
        for (int c : game.field) {
            sum += std::max(game.pays[c], 0.0);
            most = std::max(most, game.find_payment(c, game.field));
        }
        for (const auto& set : game.sets) sum += std::max(set.pays, 0.0);
        if (game.wins) return game.field.any() ? 1.0 : 0.0;
        return game.once ? most : sum;
    }

    // Returns upper bounds on the chances to take each territory with a payment, and then each set with a payment.
    std::vector<double> chances() const {
        std::vector<double> found;
        for (const Term& term : terms_) found.push_back(term.search->best);
        return found;
    }

    double best() const {
        double sum = limit_;
        for (const Term& term : terms_) sum += term.pays * term.search->best;
        for (const Term& term : common_) sum = std::min(sum, term.search->best);
        return paths_.game.wins ? std::min(sum, 1.0) : sum;
    }
    int64_t values() const {
        int64_t sum = 0;
        for (const auto* terms : {&terms_, &common_})
            for (const Term& term : *terms) sum += term.search->values;
        return sum;
    }

    // Solves another relaxed game. Returns whether more games are left.
    bool improve() {
        Term* next = nullptr;
        for (auto* terms : {&terms_, &common_})
            for (Term& term : *terms)
                if (!term.search->is_done() && (!next || term.rank() > next->rank())) next = &term;
        if (!next) return false;
        int64_t room = deadline_.bytes() / int64_t(sizeof(double));
        next->search->improve(std::min(room, deadline_.states() - values()));
        auto is_open = [](const Term& term) { return !term.search->is_done(); };
        return std::any_of(terms_.begin(), terms_.end(), is_open) ||
               std::any_of(common_.begin(), common_.end(), is_open);
    }

  private:
    static constexpr size_t MAX_WAYS = 32;  // more ways to win get no bounds of their own

    struct Term {
        double pays;
        std::unique_ptr<Chance<W>> search;

        double rank() const { return pays * search->best / double(search->values + 10000); }
    };

    // Adds a bound on the chance of each way to win. Territories that belong to every way give another bound.
    void add_ways(const Set<W>& reach) {
        const Game<W>& game = paths_.game;
        std::vector<Set<W>> goals;
        Set<W> common = reach;
        for (const auto& way : game.ways) {
            Set<W> goal = way.lands - game.start.mine;
            if (!goal.is_within(reach) || (reach | game.start.mine).count() < way.number) continue;
            common &= goal;
            goals.push_back(goal);
        }
        bool is_any = std::any_of(goals.begin(), goals.end(), [](const auto& goal) { return !goal.any(); });
        if (is_any && reach.any()) add(reach, reach, true, 1.0);  // a win needs at least one conquest
        else if (!is_any && goals.size() <= MAX_WAYS)
            for (const auto& goal : goals) add(goal, 1.0);
        else if (!is_any) limit_ = 1.0;
        if (goals.size() > 1 && common.any()) {
            add(common, 1.0);
            common_.push_back(std::move(terms_.back()));
            terms_.pop_back();
        }
    }
    void add(const Set<W>& goal, double pays) { add(goal, paths_.find_useful(goal), false, pays); }
    void add(const Set<W>& goal, const Set<W>& field, bool any, double pays) {
        deadline_.spend(WORK_PER_LAND * paths_.game.lands);
        terms_.push_back({pays, std::make_unique<Chance<W>>(paths_, rolls_, pool_, goal, field, any, deadline_)});
    }

    Deadline& deadline_;
    Paths<W> paths_;
    Rolls rolls_;
    PooledArmies pool_;
    std::vector<Term> terms_;
    std::vector<Term> common_;  // the bound for the territories of every way to win, if there are any
    double limit_ = 0.0;        // a rough bound if the tables of rolls are too large, otherwise 0
};

template <int W>
class SizedBound final : public Bound {
  public:
    SizedBound(const Game<W>& game, Deadline& deadline) : game_(game), deadline_(deadline) {}

    int32_t improve(double* bound) override {
        auto lower = [&](double found) { *bound = least_ = std::min(least_, found); };
        lower(Bounds<W>::bound_at_once(game_));
        bool is_new = !bounds_;
        if (is_new) bounds_ = std::make_unique<Bounds<W>>(game_, deadline_);
        lower(bounds_->best());
        bool more = bounds_->improve();
        lower(bounds_->best());
        if (!game_.once && !game_.wins && (is_new || !more)) lower(minimise_prices());
        return more ? IACTA_MORE : IACTA_DONE;
    }

  private:
    double minimise_prices() const {
        int spare = 0;
        for (int v : game_.find_live_stacks(game_.start)) spare += game_.spare(game_.start, v);
        Payments payments = divide_payments(game_, bounds_->chances());
        return Prices(game_, game_.start.armies, spare, game_.price, std::move(payments), deadline_).minimise();
    }

    const Game<W>& game_;
    Deadline& deadline_;
    double least_ = std::numeric_limits<double>::infinity();
    std::unique_ptr<Bounds<W>> bounds_;
};

template <int W>
std::unique_ptr<Bound> open_bound(const Game<W>& game, Deadline& deadline) {
    return std::make_unique<SizedBound<W>>(game, deadline);
}

}  // namespace iacta
