// Validation of the structs that callers pass to the C interface.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <string>

#include "iacta.h"

namespace iacta {

constexpr double MAX_PAID = 1e100;

using Pointers = std::initializer_list<const void*>;

inline bool are_given(Pointers pointers) {
    return std::none_of(pointers.begin(), pointers.end(), [](const void* each) { return each == nullptr; });
}

// Returns a message about the first error in a problem, or an empty string for a valid problem.
std::string find_fault(const iacta_problem& problem);

// Returns a message about the first error in a turn, or an empty string for a valid turn. The problem must be valid.
std::string find_fault(const iacta_problem& problem, const iacta_turn& turn);

}  // namespace iacta
