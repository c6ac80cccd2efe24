/* The interface of the core: plain C, and data only.

   A problem is given as arrays. The core copies what it needs, checks every number of it, and knows
   no rules beyond: throws, answers, losses, least advances and whole battles are tables. A search works
   for one thread at a time: a call from another one is answered IACTA_BUSY, and changes nothing. */
#pragma once

#include <stdint.h>

#if defined(_WIN32)
#define IACTA_API __declspec(dllexport)
#else
#define IACTA_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    /* The board: lands, borders from land v to border_to[border_first[v] .. border_first[v + 1]). */
    int32_t lands;
    const int32_t *border_first, *border_to;
    const int32_t *armies;    /* on each land */
    const int32_t *keep;      /* armies that must remain on each land at all times */
    const int32_t *kind;      /* the rules by which each land is defended */
    const uint8_t *owner;     /* 1: the player's, 0: to be attacked, 2: neither */
    const uint8_t *resting;   /* 1: may not attack */
    int32_t garrison;         /* able to roll = armies - garrison */

    /* The dice. For rules r, k attack dice and j defence dice the throws are
       throw_first[i] .. throw_first[i + 1] with i = dice_first[r] + (k - 1) * defence_dice[r] + j - 1;
       those of a throw its answers, and those of an answer its results. */
    int32_t kinds;
    const int32_t *attack_dice, *defence_dice, *dice_first;
    const int32_t *least;     /* least[dice_first[r] + (k - 1) * defence_dice[r]]: the least advance */
    const uint8_t *whole;     /* 1: one attack is a whole battle */
    const int32_t *throw_first, *answer_first, *result_first;
    const double *throw_chance, *result_chance;
    const int32_t *result_attackers, *result_defenders;
    int32_t rows, throws, answers, results; /* how many there are */

    /* Attackers of any stack are at most `able`. For rules r of whole battles, those against d
       defenders at i = battle_first[r] + d - 1: won[i][a][x] with x lost, 0 for more than are listed;
       lost[i][a][e] with e defenders left. */
    int32_t able, defenders, battles, width;
    const int32_t *battle_first;
    const double *won;        /* battles x (able + 1) x width */
    const double *lost;       /* battles x (able + 1) x (defenders + 1) */

    /* Rewards: each land pays when it is taken, each set when the last of it is, an army lost costs
       `price`; with `once` the first payment ends the turn. */
    const double *pays;
    int32_t sets;
    const int32_t *set_first, *set_lands;
    const double *set_pays;
    double price;
    int32_t once;

    /* If given, the turn ends when all lands with a 1 are taken, and only `ends` say what that pays. */
    const uint8_t* until;

    /* Lookahead adds so much of a chance for each idle army that is near to what others are to take. */
    double help;
} iacta_problem;

/* What a search may use, and how it is stopped: it looks at *stop at least every 100 milliseconds, and
   any thread may write there meanwhile. */
typedef struct {
    int32_t *stop;            /* 0 to go on; or null */
    double seconds;           /* infinite for no limit */
    int64_t states;           /* the most states that may be looked at */
    int64_t bytes;            /* about the most memory */
} iacta_budget;

/* One of the results of a decision. */
typedef struct {
    double chance, value;
    int32_t attackers, defenders, moved;
} iacta_outcome;

/* A decision: dice is 0 for a stop; the outcomes are the first `count` of those given room. */
typedef struct {
    int32_t start, to, dice, count;
    double value;
} iacta_decision;

/* What is reported of a policy, so that reports add. The numbers are the value; by land the chance to own
   it at the end, and the armies then; by set the chance to take it; by border, from each land in order to
   each in order, the chances that it is ever rolled over, that it is conquered over, the armies that move
   in, and the chance that the turn ends with a roll over it, the goal not reached; and by border and by
   0 .. able armies that are left able to move, the chance to conquer with so many, and those that move in.
   `order` is by border how many others were rolled over before it, INT32_MAX if it never was. */
typedef struct {
    int64_t states;           /* how many there were */
    int64_t borders, room;    /* of `order`, and of `numbers` */
    int32_t* order;
    double* numbers;
} iacta_report;

typedef struct iacta_search iacta_search;

/* What a call returns. Stopped: by the flag, by the time, or as the budget is spent; what is known by
   then is given. More: all went well, and there is more to do. Unsound: what was given cannot be. Busy:
   another call works in the search. Broken: a defect of the core. */
enum {
    IACTA_DONE = 0,
    IACTA_STOPPED = 1,
    IACTA_TOO_LARGE = 2,
    IACTA_MORE = 3,
    IACTA_NO_MEMORY = 4,
    IACTA_UNSOUND = 5,
    IACTA_BUSY = 6,
    IACTA_BROKEN = 7
};

/* What the source of this core is: a hash that the build puts in. */
IACTA_API const char* iacta_source(void);

/* Opens a search. A problem that is not sound gives none, and a sentence in `message`. It is closed when
   no call works in it any more. */
IACTA_API iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room);
IACTA_API void iacta_close(iacta_search* search);

/* A state is given as the armies on each land, and whether it is the player's: any that can follow the
   start of the problem. */

/* States in which a turn ends, and their values: the k-th is armies[k * lands ..] and mine[k * lands ..]. */
typedef struct {
    int32_t count, room;      /* how many there are, and at most */
    int32_t* armies;
    uint8_t* mine;
    double* values;
} iacta_ends;

/* Solves the game exactly from a state on; what was solved before is known. Then the policy of the
   search is the best of all; if it is stopped, it is what it was without. The number of states is given
   in any case. A turn that lasts `until` lands are taken needs its `ends`, else they are null: those that
   are missing are added with the value 0, as far as there is room, and nothing solved before is known. */
IACTA_API int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                              const uint8_t* mine, iacta_ends* ends, double* value, int64_t* states);

/* Finds assignments from so many starts, at most *count of them, the best one first; *count is how
   many there are. Or takes one that is given, with so many rolls of lookahead where values are close.
   Each is sets[(goal * lands + land) * lands + target]. Then the policy is lookahead on the first. */
IACTA_API int32_t iacta_goals(iacta_search* search);
IACTA_API int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts,
                               uint8_t* sets, int32_t* count);
IACTA_API int32_t iacta_follow(iacta_search* search, int32_t depth, const uint8_t* sets);

/* Improves an upper bound on what any play is paid, by one step: *bound is the least found so far. A
   step that is stopped begins anew at the next call. */
IACTA_API int32_t iacta_bound(iacta_search* search, const iacta_budget* budget, double* bound);

/* What the policy does in a state. What is stopped is begun anew at the next call. */
IACTA_API int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                               const uint8_t* mine, iacta_decision* decision, iacta_outcome* outcomes,
                               int32_t room);

/* What an attack is worth in a state, with the policy after it; dice may be 0 for the most that are
   allowed. One that is not legal is a stop. */
IACTA_API int32_t iacta_judge(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                              const uint8_t* mine, int32_t start, int32_t to, int32_t dice,
                              iacta_decision* decision, iacta_outcome* outcomes, int32_t room);

/* How many armies the policy moves in when the last defender has fallen: the state is that before,
   with the armies that are left to the attacker. */
IACTA_API int32_t iacta_move_in(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                                const uint8_t* mine, int32_t start, int32_t to, int32_t least,
                                int32_t* moved);

/* How the policy goes from a state on, exactly; or in games with the numbers from first on, of which
   each has the same dice whenever it is played. Stopped in the middle, it reports the whole games that
   were played, each with a weight of 1 / games. Their states are those in which it decided. */
IACTA_API int32_t iacta_flow(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                             const uint8_t* mine, iacta_report* report);
IACTA_API int32_t iacta_play(iacta_search* search, const iacta_budget* budget, const int32_t* armies,
                             const uint8_t* mine, uint64_t seed, int64_t first, int32_t games,
                             double* gains, int32_t* played, iacta_report* report);

#ifdef __cplusplus
}
#endif
