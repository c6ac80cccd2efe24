// Whole games from a moment of a turn on, whatever the size of the board.
#pragma once

#include <cstdint>
#include <memory>

#include "iacta.h"

namespace iacta {

// What a turn is to bring about.
struct Aim {
    int kind = 0, which = 0;  // the kind is an AimKind; where it is negative, the player chooses
};

// The functions iacta_war_... of iacta.h. Any number of threads may call them at once.
class WholeGame {
  public:
    virtual ~WholeGame() = default;

    virtual int32_t odds(int to, int able, int defenders, double* found) const = 0;
    virtual int32_t judge(const float* weights, float* seen, double* chances) const = 0;
    virtual int32_t aims(const double* numbers, int32_t* found, int32_t* count) const = 0;
    virtual int32_t turn(const double* numbers, const float* choosing, Aim aim, uint64_t seed, iacta_action* actions,
                         int32_t* count, uint8_t* owner, int32_t* armies, int32_t* cards) const = 0;
    virtual int32_t games(const iacta_budget& budget, const double* numbers, const float* choosing, const float* ending,
                          Aim aim, bool is_dealt, int cut, int most, uint64_t seed, int64_t first, int games,
                          double* chances, uint8_t* ended, uint8_t* reached, int32_t* rounds,
                          int32_t* played) const = 0;
    virtual int32_t record(const double* numbers, const float* choosing, int most, double share, uint64_t seed,
                           float* seen, int32_t* count, double* chances) const = 0;
};

// Opens a game on a board of at most 64 * W lands. The problem and the turn are sound.
template <int W>
std::unique_ptr<WholeGame> open_whole_game(const iacta_problem& problem, const iacta_turn& turn);

}  // namespace iacta
