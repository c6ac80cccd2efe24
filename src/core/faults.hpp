// Checks of what comes from outside: no number is used before.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "iacta.h"

namespace iacta {

constexpr double MAX_PAID = 1e100;

using Pointers = std::initializer_list<const void*>;

inline bool all_given(Pointers pointers) {
    return std::none_of(pointers.begin(), pointers.end(), [](const void* each) { return each == nullptr; });
}

// Why a problem is not sound; empty if it is.
std::string fault_of(const iacta_problem& problem);

// Why a turn of a sound problem is not sound; empty if it is.
std::string fault_of(const iacta_problem& problem, const iacta_turn& turn);

}  // namespace iacta
