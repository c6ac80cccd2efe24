#include "war/sized_whole_game.hpp"

template std::unique_ptr<iacta::WholeGame> iacta::open_whole_game<1>(const iacta_problem&, const iacta_turn&);
