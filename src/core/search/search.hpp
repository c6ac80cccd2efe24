// The interface of a search that plans one turn, for boards of any size.
#pragma once

#include <cstdint>
#include <memory>

#include "iacta.h"

namespace iacta {

// A search; its methods do the work of the functions of iacta.h that take an iacta_search. Call `begin`, which sets the
// limits, before each call of another function except `count_goals`.
class Search {
  public:
    virtual ~Search() = default;

    virtual void begin(const iacta_budget& budget) = 0;
    virtual int32_t count_goals() = 0;
    virtual int32_t solve(iacta_state state, iacta_ends* ends, double* value, double* cost, int64_t* states) = 0;
    virtual int32_t assign(int starts, uint8_t* sets) = 0;
    virtual int32_t follow(const iacta_style& style, const uint8_t* sets) = 0;
    virtual int32_t improve_bound(double* bound) = 0;
    virtual int32_t decide(iacta_state state, iacta_decision& decision) = 0;
    virtual int32_t evaluate_attack(iacta_state state, int start, int to, int dice, iacta_decision& decision) = 0;
    virtual int32_t choose_advance(iacta_state state, int start, int to, int least, int32_t* moved) = 0;
    virtual int32_t evaluate_policy(iacta_state state, iacta_report* report) = 0;
    virtual int32_t play_games(iacta_state state, uint64_t seed, int64_t first, int games, double* gains,
                               int32_t* played, iacta_report* report) = 0;
};

// Opens a search. The problem must be valid and have at most 64 * W territories.
template <int W>
std::unique_ptr<Search> open_search(const iacta_problem& problem);

}  // namespace iacta
