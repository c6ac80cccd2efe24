#include "search/sized_search.hpp"

template std::unique_ptr<iacta::Search> iacta::open_search<8>(const iacta_problem&);
