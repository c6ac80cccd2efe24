#include "search/sized_bound.hpp"

template std::unique_ptr<iacta::Bound> iacta::open_bound(const Game<8>&, Deadline&);
