// An upper bound on the value of any policy, tightened step by step.
#pragma once

#include <cstdint>
#include <memory>

#include "game.hpp"

namespace iacta {

class Bound {
  public:
    virtual ~Bound() = default;

    // Improves the bound by one step, and writes the smallest bound so far.
    virtual int32_t improve(double* bound) = 0;
};

template <int W>
std::unique_ptr<Bound> open_bound(const Game<W>& game, Deadline& deadline);

}  // namespace iacta
