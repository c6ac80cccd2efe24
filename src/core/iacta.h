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
    const int32_t* armies;  /* on each land */
    const int32_t* keep;    /* armies that must remain on each land at all times */
    const int32_t* kind;    /* the rules by which each land is defended */
    const uint8_t* owner;   /* 1: the player's, 0: to be attacked, 2: neither */
    const uint8_t* resting; /* 1: may not attack */
    int32_t garrison;       /* able to roll = armies - garrison */

    /* The dice. For rules r, k attack dice and j defence dice the throws are
       throw_first[i] .. throw_first[i + 1] with i = dice_first[r] + (k - 1) * defence_dice[r] + j - 1;
       those of a throw its answers, and those of an answer its results. */
    int32_t kinds;
    const int32_t *attack_dice, *defence_dice, *dice_first;
    const int32_t* least; /* least[dice_first[r] + (k - 1) * defence_dice[r]]: the least advance */
    const uint8_t* whole; /* 1: one attack is a whole battle */
    const int32_t *throw_first, *answer_first, *result_first;
    const double *throw_chance, *result_chance;
    const int32_t *result_attackers, *result_defenders;
    int32_t rows, throws, answers, results; /* how many there are */

    /* Attackers of any stack are at most `able`. For rules r of whole battles, those against d
       defenders at i = battle_first[r] + d - 1: won[i][a][x] with x lost, 0 for more than are listed;
       lost[i][a][e] with e defenders left. */
    int32_t able, defenders, battles, width;
    const int32_t* battle_first;
    const double* won;  /* battles x (able + 1) x width */
    const double* lost; /* battles x (able + 1) x (defenders + 1) */

    /* Rewards: each land pays when it is taken, each set when the last of it is, an army lost costs
       `price`; with `once` the first payment ends the turn. */
    const double* pays;
    int32_t sets;
    const int32_t *set_first, *set_lands;
    const double* set_pays;
    double price;
    int32_t once;

    /* If given, the turn ends when all lands with a 1 are taken, and only `ends` say what that pays. */
    const uint8_t* until;
} iacta_problem;

/* How lookahead looks. Where the values of several attacks are close, `depth` rolls ahead. It adds
   `idle` times a chance for each idle army that is near to what others are to take, so that those come.
   Of nearly equal attacks the first is that of the greatest value (0), or of the stack that is least
   likely to take all that it is to take (1). */
typedef struct {
    double idle;
    int32_t depth, order;
} iacta_style;

/* What a search may use, and how it is stopped: it looks at *stop at least every 100 milliseconds, and
   any thread may write there meanwhile. */
typedef struct {
    int32_t* stop;  /* 0 to go on; or null */
    double seconds; /* infinite for no limit */
    int64_t states; /* the most states that may be looked at */
    int64_t bytes;  /* about the most memory */
} iacta_budget;

/* A state that can follow the start of the problem: the armies on each land, and whether it is the
   player's. */
typedef struct {
    const int32_t* armies;
    const uint8_t* mine;
} iacta_state;

/* One of the results of a decision. */
typedef struct {
    double chance, value;
    int32_t attackers, defenders, moved;
} iacta_outcome;

/* A decision: dice is 0 for a stop; it has `count` outcomes, of which those are given that have room. */
typedef struct {
    int32_t start, to, dice, count, room;
    double value;
    iacta_outcome* outcomes;
} iacta_decision;

/* What is reported of a policy, so that reports add. The numbers are the value; by land the chance to own
   it at the end, and the armies then; by set the chance to take it; by border, from each land in order to
   each in order, the chances that it is ever rolled over, that it is conquered over, the armies that move
   in, and the chance that the turn ends with a roll over it, the goal not reached; and by border and by
   0 .. able armies that are left able to move, the chance to conquer with so many, and those that move in.
   `order` is by border how many others were rolled over before it, INT32_MAX if it never was. */
typedef struct {
    int64_t states;        /* how many there were */
    int64_t borders, room; /* of `order`, and of `numbers` */
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

/* States in which a turn ends, and their values: the k-th is armies[k * lands ..] and mine[k * lands ..]. */
typedef struct {
    int32_t count, room; /* how many there are, and at most */
    int32_t* armies;
    uint8_t* mine;
    double* values;
} iacta_ends;

/* Solves the game exactly from a state on; what was solved before is known. Then the policy of the
   search is the best of all; if it is stopped, it is what it was without. The number of states is given
   unless the state is unsound. A turn that lasts `until` lands are taken needs its `ends`, else they are null: those that
   are missing are added with the value 0, as far as there is room, and nothing solved before is known. */
IACTA_API int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_ends* ends,
                              double* value, int64_t* states);

/* Finds an assignment, the best one that so many starts lead to, and takes it with the usual style. Or
   takes one that is given, and a style. It is sets[(goal * lands + land) * lands + target]. Then the
   policy is lookahead on it. */
IACTA_API int32_t iacta_goals(iacta_search* search);
IACTA_API int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets);
IACTA_API int32_t iacta_follow(iacta_search* search, const iacta_budget* budget, const iacta_style* style,
                               const uint8_t* sets);

/* Improves an upper bound on what any play is paid, by one step: *bound is the least found so far. A
   step that is stopped begins anew at the next call. */
IACTA_API int32_t iacta_bound(iacta_search* search, const iacta_budget* budget, double* bound);

/* What the policy does in a state. What is stopped is begun anew at the next call. */
IACTA_API int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, iacta_state state,
                               iacta_decision* decision);

/* What an attack is worth in a state, with the policy after it; dice may be 0 for the most that are
   allowed. One that is not legal is a stop. */
IACTA_API int32_t iacta_judge(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start,
                              int32_t to, int32_t dice, iacta_decision* decision);

/* How many armies the policy moves in when the last defender has fallen: the state is that before,
   with the armies that are left to the attacker. */
IACTA_API int32_t iacta_move_in(iacta_search* search, const iacta_budget* budget, iacta_state state, int32_t start,
                                int32_t to, int32_t least, int32_t* moved);

/* How the policy goes from a state on, exactly; or in games with the numbers from first on, of which
   each has the same dice whenever it is played. Stopped in the middle, it reports the whole games that
   were played, each with a weight of 1 / games. Their states are those in which it decided. */
IACTA_API int32_t iacta_flow(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_report* report);
IACTA_API int32_t iacta_play(iacta_search* search, const iacta_budget* budget, iacta_state state, uint64_t seed,
                             int64_t first, int32_t games, double* gains, int32_t* played, iacta_report* report);

/* The whole game. Its board, dice and battles are those of a problem, whose owners, payments and sets do
   not count; what a turn has besides is here. */
typedef struct {
    int32_t players;      /* from 2 to 6, in the order of play */
    const uint8_t* owner; /* of each land: a player, `players` for neutral ones, 7 for nobody */
    int32_t mover, phase, place, first, conquered, pictured, then; /* phases: trade, place, attack,
                                 defend, advance, fortify, over */
    int32_t attack_start, attack_to, attack_dice, thrown;
    int32_t continents;
    const int32_t *continent_first, *continent_lands, *bonus;
    int32_t fortify;                         /* 0: not, 1: to neighbours, 2: as far as own lands lead */
    int32_t is_whole;                        /* 1: each attack is a battle to its end */
    const int32_t *whole_least, *whole_dice; /* for each kind: the least advance, the dice that show */
    int32_t has_cards, is_named;
    const uint64_t* known;    /* of each player: 14 bits for each symbol, then two jokers */
    const int32_t* hidden;    /* how many cards nobody has seen */
    const int32_t* card_land; /* of each of the 44 cards, -1 for none */
    int32_t is_fixed, sets;
    const int32_t* set_armies;             /* what the next sets bring; the last one counts for ever */
    int32_t fixed[4];                      /* or: three of each symbol, and one of each */
    int32_t must_trade;                    /* from so many cards on a player must trade */
    int32_t traded_at_once;                /* from so many on a player must trade after an elimination */
    int32_t pictured_armies;               /* that a land on a traded card gets */
    int32_t lands_for_an_army, fewest_new; /* new armies: one for so many lands, and at least so many */
} iacta_turn;

/* What was done: to reveal cards (a mask of 44 bits in x and y), to trade (with the land that gets two
   armies more, -1 for none), to place, to attack (x and y are lost; or the number of a throw and -1), to
   answer, to advance, to fortify, to stop. */
typedef struct {
    int32_t done, a, b, number, x, y;
} iacta_action;

typedef struct iacta_war iacta_war;

/* Opens a game at a moment of it. It does not change: any number of threads may ask it at once. */
IACTA_API iacta_war* iacta_war_open(const iacta_problem* problem, const iacta_turn* turn, char* message, int32_t room);
IACTA_API void iacta_war_close(iacta_war* war);

/* The chance to take land `to` with so many able against some defenders, and what both lose. */
IACTA_API int32_t iacta_war_odds(const iacta_war* war, int32_t to, int32_t able, int32_t defenders, double* odds);

/* What is seen of each player at the start of a turn, 48 features each, and V. */
IACTA_API int32_t iacta_war_judge(const iacta_war* war, const float* weights, float* seen, double* chances);

/* What could be aimed at in the turn: kind and number of each, at most *count of them. */
IACTA_API int32_t iacta_war_aims(const iacta_war* war, const double* numbers, int32_t* aims, int32_t* count);

/* Plays the rest of the turn and writes down what was done, at most *count actions; *count is how many
   there were; and how it ends: owners and armies by land, cards by player. With aim -1 the player
   chooses it. */
IACTA_API int32_t iacta_war_turn(const iacta_war* war, const double* numbers, const float* choosing, int32_t aim,
                                 int32_t which, uint64_t seed, iacta_action* actions, int32_t* count, uint8_t* owner,
                                 int32_t* armies, int32_t* cards);

/* Plays games with the numbers from first on, of which each has the same dice whenever it is played.
   `numbers` has those of each player in turn. Games are cut after so many rounds, 0 for never, and after
   `most` in any case; V of the weights `ending` says then how they end. Where the game is dealt anew, lands,
   armies and who begins are random. Chances are by game and player; `ended` is 0 where a game was won, 1
   where it was cut, 2 where it was too long; `reached` is whether the first turn reached its aim. */
IACTA_API int32_t iacta_war_games(const iacta_war* war, const iacta_budget* budget, const double* numbers,
                                  const float* choosing, const float* ending, int32_t aim, int32_t which,
                                  int32_t is_dealt, int32_t cut, int32_t most, uint64_t seed, int64_t first,
                                  int32_t games, double* chances, uint8_t* ended, uint8_t* reached, int32_t* rounds,
                                  int32_t* played);

/* Plays one game that is dealt anew, and writes down what is seen at the start of each turn with a chance of
   `share`, at most *count times; the chances are those with which it ended. */
IACTA_API int32_t iacta_war_record(const iacta_war* war, const double* numbers, const float* choosing, int32_t most,
                                   double share, uint64_t seed, float* seen, int32_t* count, double* chances);

#ifdef __cplusplus
}
#endif
