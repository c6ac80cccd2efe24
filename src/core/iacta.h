/* The C interface of the core: plain functions on plain data.

   The caller describes a problem with arrays. The core checks every number and copies the data it needs.
   It contains no rules of dice: throws, the defender's answers to them, losses, least advances and whole
   battles are tables. A search serves one thread at a time: a concurrent call returns IACTA_BUSY and changes
   nothing. Territories are called "lands" here, and numbered from 0. */
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

/* Limits of the input. IACTA_FEATURES is the number of features of each player that the value function V uses. */
enum {
    IACTA_MAX_TERRITORIES = 1024,
    IACTA_MAX_SETS = 1024,
    IACTA_MAX_ARMIES = 1048576,
    IACTA_MAX_DEPTH = 8,
    IACTA_MAX_PLAYERS = 6,
    IACTA_LARGEST_TABLE = 64,
    IACTA_FEATURES = 48
};

/* The deck of a whole game: IACTA_CARDS_OF_SYMBOL cards of each of three symbols, then two jokers. */
enum {
    IACTA_CARDS = 44,
    IACTA_CARDS_OF_SYMBOL = 14
};

/* In a whole game, marks a land without an owner. */
enum {
    IACTA_NOBODY = 7
};

typedef struct {
    /* The board. Land v borders border_to[i] for border_first[v] <= i < border_first[v + 1]. */
    int32_t lands;
    const int32_t *border_first, *border_to;
    const int32_t* armies;  /* on each land */
    const int32_t* keep;    /* the armies that must stay on each land */
    const int32_t* kind;    /* the number of the rules, 0 .. kinds - 1, for attacks on each land */
    const uint8_t* owner;   /* 0: may be attacked, 1: owned by the player, 2: out of play */
    const uint8_t* resting; /* 1: the land may not attack */
    int32_t garrison;       /* armies of each stack that may not roll */

    /* The dice. A row belongs to rules r, k attack dice and j defence dice; its number is
       i = dice_first[r] + (k - 1) * defence_dice[r] + j - 1. Throw t belongs to row i for
       throw_first[i] <= t < throw_first[i + 1]. In the same way answer_first gives the answers of the
       defender to each throw, and result_first the results of each answer. */
    int32_t kinds;
    const int32_t *attack_dice, *defence_dice, *dice_first;
    const int32_t* least; /* the least advance, by row; equal for all j */
    const uint8_t* whole; /* by number of rules, 1: an attack is a whole battle */
    const int32_t *throw_first, *answer_first, *result_first;
    const double *throw_chance, *result_chance;
    const int32_t *result_attackers, *result_defenders;
    int32_t rows, throws, answers, results; /* lengths of the tables */

    /* Whole battles of at most `able` attackers, garrison excluded. Battle i = battle_first[r] + d - 1 has rules
       r and d defenders. won[i][a][x] is the chance that a attackers win and lose x armies, and 0 where
       x >= width; lost[i][a][e] is the chance that they lose and e defenders remain. */
    int32_t able, defenders, battles, width;
    const int32_t* battle_first;
    const double* won;  /* battles x (able + 1) x width */
    const double* lost; /* battles x (able + 1) x (defenders + 1) */

    /* Rewards. Each land pays when it is taken, and each set when its last land is taken. An army lost
       costs `price`. With `once` the first payment ends the turn. With a `number` above 0 nothing else pays:
       the turn ends with a payment of 1 when the player owns so many lands, each with `enough` armies. */
    const double* pays;
    int32_t sets;
    const int32_t *set_first, *set_lands;
    const double* set_pays;
    double price;
    int32_t once, number, enough;

    /* Null, or by land: the turn ends when all lands with a 1 are taken. Then only the values of iacta_ends
       count. */
    const uint8_t* until;
} iacta_problem;

/* The style of a lookahead policy. */
typedef struct {
    double idle;   /* bonus per idle army near the targets of other stacks, as a share of the chance */
    int32_t depth; /* rolls of lookahead if attacks have close values, 1 .. IACTA_MAX_DEPTH */
    int32_t order; /* among nearly equal attacks prefer 0: the greatest value, 1: the riskiest assignment */
} iacta_style;

/* Limits of one call. The core reads *stop at least every 100 milliseconds; any thread may write it. */
typedef struct {
    int32_t* stop;  /* a value other than 0 stops the call; may be null */
    double seconds; /* infinite for no limit */
    int64_t states; /* the largest number of states to search */
    int64_t bytes;  /* the approximate memory limit */
} iacta_budget;

/* A state that can be reached from the start of the problem. */
typedef struct {
    const int32_t* armies; /* on each land */
    const uint8_t* mine;   /* 1: owned by the player */
} iacta_state;

/* One result of a decision. */
typedef struct {
    double chance, value;
    int32_t attackers, defenders, moved;
} iacta_outcome;

/* A decision; `dice` is 0 for a stop. The core writes the first `room` of its `count` outcomes. */
typedef struct {
    int32_t start, to, dice, count, room;
    double value;
    iacta_outcome* outcomes;
} iacta_decision;

/* Statistics of a policy; reports of several calls can be added. `numbers` contains, in this order:
     the value;
     by land, the chance to own it at the end;
     by land, the mean armies on it at the end;
     by set, the chance to take the whole set;
     by border (v, c), in the order of v and then of c: the chance of ever rolling over it, the chance of
         a conquest over it, the mean armies that advance over it, and the chance that the turn ends with a
         roll over it before the goal is reached;
     by border and by number of armies that survive and may move, 0 .. able: the chance of a conquest with
         this number of armies, and that chance times the mean advance.
   order[border] is the number of borders whose first roll comes earlier; INT32_MAX for a border never used. */
typedef struct {
    int64_t states;        /* the number of states visited */
    int64_t borders, room; /* the lengths of `order` and `numbers` */
    int32_t* order;
    double* numbers;
} iacta_report;

typedef struct iacta_search iacta_search;

/* The return codes of calls. STOPPED: the flag, the time or the budget ended the call, which returns its
   results so far. MORE: the call succeeded and another call can improve its result. UNSOUND: the input is
   impossible. BUSY: another call uses the search. BROKEN: a bug in the core. */
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

/* Returns the hash of the source from which this core was built. */
IACTA_API const char* iacta_source(void);

/* Opens a search. For an invalid problem, returns null and writes the reason to `message`, a buffer of
   `room` bytes. Close a search only after all its calls have returned. */
IACTA_API iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room);
IACTA_API void iacta_close(iacta_search* search);

/* The states in which a turn ends, and their values. State k is armies[k * lands ..], mine[k * lands ..]. */
typedef struct {
    int32_t count, room; /* the number of states, and the length of the arrays in states */
    int32_t* armies;
    uint8_t* mine;
    double* values;
} iacta_ends;

/* Solves the game exactly from a state, using all values that earlier calls found. On success the optimal
   policy becomes the policy of the search; a call that is stopped leaves the policy unchanged. Writes the value,
   the cost (the mean armies lost plus a millionth for each roll), and the number of states unless the state is
   invalid. `ends` is null unless the problem has `until`: then the call discards earlier values, and adds missing
   ends with the value 0 while there is room. */
IACTA_API int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_ends* ends,
                              double* value, double* cost, int64_t* states);

/* iacta_assign searches for the best assignment of targets to stacks, from `starts` random starts, and follows
   it in the default style. iacta_follow follows a given assignment in a given style. Both make lookahead the
   policy of the search. sets[(goal * lands + land) * lands + target] is 1 if the stack on a land is assigned a
   target, for each of iacta_count_goals() goals. */
IACTA_API int32_t iacta_count_goals(iacta_search* search);
IACTA_API int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets);
IACTA_API int32_t iacta_follow(iacta_search* search, const iacta_budget* budget, const iacta_style* style,
                               const uint8_t* sets);

/* Improves an upper bound on the value of any play by one step; *bound is the least bound so far. If a call is
   stopped, the next call repeats its step. */
IACTA_API int32_t iacta_improve_bound(iacta_search* search, const iacta_budget* budget, double* bound);

/* Writes the decision of the policy in a state. */
IACTA_API int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, iacta_state state,
                               iacta_decision* decision);

/* Evaluates an attack in a state, followed by the policy. 0 dice mean the most that the rules allow. An illegal
   attack gives a stop. */
IACTA_API int32_t iacta_evaluate_attack(iacta_search* search, const iacta_budget* budget, iacta_state state,
                                        int32_t start, int32_t to, int32_t dice, iacta_decision* decision);

/* Chooses how many armies advance after a conquest. The state is that before the conquest, without the armies
   that the attacker lost. */
IACTA_API int32_t iacta_choose_advance(iacta_search* search, const iacta_budget* budget, iacta_state state,
                                       int32_t start, int32_t to, int32_t least, int32_t* moved);

/* Two evaluations of the policy from a state: iacta_evaluate_policy is exact, iacta_play_games plays games.
   The dice of game `first + i` depend only on its number and the seed. A call that is stopped reports the games
   it finished, each with the weight 1 / games. For games, `states` counts the states visited. */
IACTA_API int32_t iacta_evaluate_policy(iacta_search* search, const iacta_budget* budget, iacta_state state,
                                        iacta_report* report);
IACTA_API int32_t iacta_play_games(iacta_search* search, const iacta_budget* budget, iacta_state state, uint64_t seed,
                                   int64_t first, int32_t games, double* gains, int32_t* played, iacta_report* report);

/* The phases of a turn. */
enum {
    IACTA_PHASE_TRADE = 0,
    IACTA_PHASE_PLACE = 1,
    IACTA_PHASE_ATTACK = 2,
    IACTA_PHASE_DEFEND = 3,
    IACTA_PHASE_ADVANCE = 4,
    IACTA_PHASE_FORTIFY = 5,
    IACTA_PHASE_OVER = 6
};

/* The kinds of missions, each a way to win besides being the last player alive. */
enum {
    IACTA_MISSION_LANDS = 0,      /* own `number` lands with at least `armies` on each */
    IACTA_MISSION_CONTINENTS = 1, /* own the continents in `entries`, and `number` other continents */
    IACTA_MISSION_CAPITALS = 2,   /* own `number` of the lands in `entries`, among them the first */
    IACTA_MISSION_ELIMINATE = 3,  /* the player in `entries` is eliminated */
    IACTA_MISSION_HIDDEN = -2     /* dealt anew in each game */
};

/* A mission. Its entries are mission_entries[first] to mission_entries[last - 1]. Numbers of other missions, -1 for
   none: `instead` replaces it when another player eliminates its player, and `own` when it is dealt to that player. */
typedef struct {
    int32_t kind, number, armies, first, last, instead, own;
} iacta_mission;

/* A state of a whole game. The problem gives its board, dice and battles; the owners, rewards and sets of the
   problem are ignored. */
typedef struct {
    int32_t players;      /* 2 .. IACTA_MAX_PLAYERS, in the order of play */
    const uint8_t* owner; /* by land: a player, `players` for neutral, IACTA_NOBODY for no owner */
    int32_t mover;        /* the player to move */
    int32_t phase;
    int32_t place;     /* armies still to be placed */
    int32_t first;     /* armies may be placed only on lands from this number on */
    int32_t conquered; /* 1: the player took a land in this turn */
    int32_t pictured;  /* 1: a land on a traded card has already received its armies in this turn */
    int32_t then;      /* the phase after the advance */
    int32_t attack_start, attack_to, attack_dice, thrown; /* the attack in progress, and its throw */
    int32_t continents;
    const int32_t *continent_first, *continent_lands, *bonus;
    int32_t fortify;            /* moves at the end of a turn, 0: none, 1: to neighbours, 2: through own lands */
    int32_t is_whole;           /* 1: each attack is a whole battle */
    const int32_t* whole_least; /* by kind: the least advance after a whole battle */
    const int32_t* whole_dice;  /* by kind: the attack dice that the log of a whole battle states */
    int32_t has_cards, is_named;
    const uint64_t* known;     /* by player: the cards that everybody has seen, as bits */
    const int32_t* hidden;     /* by player: the number of other cards */
    const int32_t* card_land;  /* by card: the land pictured, -1 for none */
    int32_t is_fixed;          /* 1: sets always bring `fixed`, 0: sets bring `set_armies` in turn */
    int32_t sets;              /* the length of `set_armies` */
    const int32_t* set_armies; /* of the next sets; the last entry repeats */
    int32_t fixed[4];          /* armies for three equal symbols, and for three different symbols */
    int32_t must_trade;        /* the number of cards with which a player must trade */
    int32_t traded_at_once;    /* the same, directly after an elimination */
    int32_t pictured_armies;   /* armies for an own land on a traded card */
    int32_t lands_for_an_army; /* lands for which a player receives one new army */
    int32_t fewest_new;        /* the least number of new armies */
    int32_t missions;          /* the number of missions */
    const iacta_mission* mission_list;
    const int32_t* mission_entries;
    const int32_t* mission_of;     /* by player: the number of their mission, -1 for none, or IACTA_MISSION_HIDDEN */
    const uint8_t* mission_unseen; /* by player: 1 if the other players do not know the mission */
    int32_t missions_at_end;       /* 1: missions are checked at the end of the turns of their players */
    int32_t mission_cards;         /* the number of cards from which hidden missions are dealt */
    const int32_t* mission_deck;   /* the missions on these cards */
} iacta_turn;

/* The actions of a turn. */
enum {
    IACTA_ACTION_REVEAL = 0,
    IACTA_ACTION_TRADE = 1,
    IACTA_ACTION_PLACE = 2,
    IACTA_ACTION_ATTACK = 3,
    IACTA_ACTION_DEFEND = 4,
    IACTA_ACTION_ADVANCE = 5,
    IACTA_ACTION_FORTIFY = 6,
    IACTA_ACTION_STOP = 7
};

/* An action with its result. `a` is the land that acts, or the pictured land of a trade, or -1; `b` is the land
   attacked or moved to; `number` counts armies or dice. Cards are 44 bits in x and y. An attack costs the
   attacker x armies and the defender y; if y is -1, the defender must first answer throw x. */
typedef struct {
    int32_t kind, a, b, number, x, y;
} iacta_action;

/* The aims of a turn. */
enum {
    IACTA_AIM_AS_LIKED = 0,
    IACTA_AIM_HOLD = 1,
    IACTA_AIM_ONE_CARD = 2,
    IACTA_AIM_CONTINENT = 3,
    IACTA_AIM_BREAK = 4,
    IACTA_AIM_CHASE = 5, /* attacks on a player, by their value */
    IACTA_AIM_BOLDLY = 6,
    IACTA_AIM_WARILY = 7,
    IACTA_AIM_ELIMINATE = 8,  /* of a player, along routes to all lands */
    IACTA_AIM_PILE = 9,       /* all new armies on one stack, and one card */
    IACTA_AIM_SAFE_CARD = 10, /* one card with the least losses, and new armies on the borders */
    IACTA_AIM_RAID = 11,      /* break a continent, and stay at home */
    IACTA_AIM_GUARD = 12,     /* complete a continent, and guard it */
    IACTA_AIM_CHOSEN = -1     /* the player chooses one of the aims */
};

/* The ends of a game. CUT: after a given number of rounds. TOO_LONG: after `max_rounds`. */
enum {
    IACTA_END_WON = 0,
    IACTA_END_CUT = 1,
    IACTA_END_TOO_LONG = 2
};

typedef struct iacta_war iacta_war;

/* Opens a whole game in a state; fails as iacta_open does. A handle never changes, so several threads may use
   it at once. */
IACTA_API iacta_war* iacta_war_open(const iacta_problem* problem, const iacta_turn* turn, char* message, int32_t room);
IACTA_API void iacta_war_close(iacta_war* war);

/* Writes three numbers for a battle of `able` attackers, garrison excluded, for land `to`, fought to the end: the
   chance to win, the mean attackers lost, and the mean defenders lost. */
IACTA_API int32_t iacta_war_read_odds(const iacta_war* war, int32_t to, int32_t able, int32_t defenders, double* odds);

/* Writes IACTA_FEATURES features of each player at the start of a turn, and their chances to win by V. */
IACTA_API int32_t iacta_war_evaluate(const iacta_war* war, const float* weights, float* features, double* chances);

/* Lists the aims of a turn, each with its kind and the number of its continent or player. *count is the room
   for aims, and then the number of aims. `numbers` describe a player, in the order of `iacta.war.players`.
   `values`, if not null, receives the mean of V with the weights `choosing` after turns with each aim. */
IACTA_API int32_t iacta_war_list_aims(const iacta_war* war, const double* numbers, const float* choosing, uint64_t seed,
                                      int32_t* aims, double* values, int32_t* count);

/* Chooses the next action of a player in a turn with aim `chosen[1]` of kind `chosen[0]`, and the aim first if
   the kind is IACTA_AIM_CHOSEN. `chosen` becomes the aim of the rest of the turn. An attack has no result. */
IACTA_API int32_t iacta_war_choose_action(const iacta_war* war, const double* numbers, const float* choosing,
                                          uint64_t seed, int32_t* chosen, iacta_action* action);

/* Plays the rest of the turn with aim number `which` of kind `aim`. Writes the actions (*count is the room for
   actions before the call, and their number after it), the owner and armies of each land at the end of the turn,
   and the number of cards of each player. */
IACTA_API int32_t iacta_war_play_turn(const iacta_war* war, const double* numbers, const float* choosing, int32_t aim,
                                      int32_t which, uint64_t seed, iacta_action* actions, int32_t* count,
                                      uint8_t* owner, int32_t* armies, int32_t* cards);

/* Plays games. The dice of game `first + i` depend only on its number and the seed. `numbers` and `choosing`
   contain the numbers and weights of all players, one player after the other. A game is cut after `cut` rounds (0
   for never), and always after `max_rounds`; then V with the weights `ending` gives the chances. With `is_dealt`,
   lands, armies and the first player of each game are random. `chances` is by game and player; `reached` is 1 for
   games whose
   first turn reached its aim; `played` counts the games. */
IACTA_API int32_t iacta_war_play_games(const iacta_war* war, const iacta_budget* budget, const double* numbers,
                                       const float* choosing, const float* ending, int32_t aim, int32_t which,
                                       int32_t is_dealt, int32_t cut, int32_t max_rounds, uint64_t seed, int64_t first,
                                       int32_t games, double* chances, uint8_t* ended, uint8_t* reached,
                                       int32_t* rounds, int32_t* played);

/* Plays one game with random lands. Records the features at the start of each turn with probability `share`,
   at most *count times; after the call *count is the number of records. Writes the chances at the end. */
IACTA_API int32_t iacta_war_record_game(const iacta_war* war, const double* numbers, const float* choosing,
                                        int32_t max_rounds, double share, uint64_t seed, float* features,
                                        int32_t* count, double* chances);

#ifdef __cplusplus
}
#endif
