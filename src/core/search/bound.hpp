// The interface of an upper bound on the value of every policy. Each call of `improve` can make the bound smaller.
#pragma once

#include <cstdint>
#include <memory>

#include "game.hpp"

namespace iacta {

class Bound {
  public:
    virtual ~Bound() = default;

    // Computes one more bound, and writes the smallest bound so far. Returns IACTA_MORE if another call can improve the
    // bound, otherwise IACTA_DONE.
    virtual int32_t improve(double* bound) = 0;
};

template <int W>
std::unique_ptr<Bound> open_bound(const Game<W>& game, Deadline& deadline);

}  // namespace iacta
