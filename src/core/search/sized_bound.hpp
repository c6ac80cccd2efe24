// An implementation of Bound for boards of at most 64 * W territories.
#pragma once

#include <algorithm>
#include <limits>

#include "search/bound.hpp"
#include "search/prices.hpp"
#include "search/relaxed.hpp"

namespace iacta {

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
        if (!game_.once && !game_.number && (is_new || !more))
            lower(Prices<W>(game_, bounds_->chances(), deadline_).minimise());
        return more ? IACTA_MORE : IACTA_DONE;
    }

  private:
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
