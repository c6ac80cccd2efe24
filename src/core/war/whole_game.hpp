// The interface of whole games, for boards of any size.
#pragma once

#include <cstdint>
#include <memory>

#include "iacta.h"

namespace iacta {

// The aim of an AI in a turn.
struct Aim {
    int kind = 0, which = 0;  // `kind` is IACTA_AIM_...; `which` is the index of a continent or player
};

// A whole game; its methods do the work of the functions iacta_war_... of iacta.h. Several threads may call them
// concurrently.
class WholeGame {
  public:
    virtual ~WholeGame() = default;

    virtual int32_t read_odds(int to, int able, int defenders, double* found) const = 0;
    virtual int32_t evaluate(const float* weights, float* features, double* chances) const = 0;
    virtual int32_t judge_aims(const iacta_budget& budget, const double* weights, const float* choosing, uint64_t seed,
                               int32_t* found, double* values, int32_t* count) const = 0;
    virtual int32_t choose_action(const iacta_budget& budget, const double* weights, const float* choosing,
                                  uint64_t seed, int32_t* chosen, iacta_action* action) const = 0;
    virtual int32_t play_turn(const iacta_budget& budget, const double* weights, const float* choosing, Aim aim,
                              uint64_t seed, iacta_action* actions, int32_t* count, uint8_t* owner, int32_t* armies,
                              int32_t* cards) const = 0;
    virtual int32_t play_games(const iacta_budget& budget, const iacta_games& games, iacta_played& played) const = 0;
    virtual int32_t record_game(const double* weights, const float* choosing, int max_rounds, double share,
                                uint64_t seed, float* features, int32_t* count, double* chances) const = 0;
};

// Opens a whole game. The problem and the turn must be valid, and the board must have at most 64 * W territories.
template <int W>
std::unique_ptr<WholeGame> open_whole_game(const iacta_problem& problem, const iacta_turn& turn);

}  // namespace iacta
