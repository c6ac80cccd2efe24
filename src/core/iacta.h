/* The C interface of the core: functions and structs without C++ types.

   The caller describes a problem with arrays. The core validates every number and copies the data that it needs. The
   core contains no dice rules: throws, the defender's answers to throws, losses, required advances and whole battles
   are tables. A search serves one thread at a time. A concurrent call returns IACTA_BUSY and changes nothing.
   Territories have indices from 0. In names of variables a territory is called a land. */
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

/* The version of this interface. Increase it with every change that makes callers or earlier builds incompatible: another
   function, structure, constant or meaning. `core_library.py` contains the version that Python expects. */
enum {
    IACTA_VERSION = 7
};

/* Limits of the input. IACTA_LARGEST_TABLE: the tables of the odds of battles contain up to this number of armies on each
   side. */
enum {
    IACTA_MAX_TERRITORIES = 1024,
    IACTA_MAX_SETS = 1024,
    IACTA_MAX_ARMIES = 1048576,
    IACTA_MAX_DEPTH = 8,
    IACTA_MAX_PLAYERS = 6,
    IACTA_LARGEST_TABLE = 64
};

/* The deck of a whole game: IACTA_CARDS_OF_SYMBOL cards of each of three symbols, then two jokers. */
enum {
    IACTA_CARDS = 44,
    IACTA_CARDS_OF_SYMBOL = 14
};

/* The owner number of a territory without an owner in a whole game. */
enum {
    IACTA_NOBODY = 7
};

/* How far the last move of a turn goes: not at all, to a neighbour, or over any distance. */
enum {
    IACTA_FORTIFY_NONE = 0,
    IACTA_FORTIFY_ADJACENT = 1,
    IACTA_FORTIFY_CONNECTED = 2
};

typedef struct {
    /* The board. Territory v borders border_to[i] for border_first[v] <= i < border_first[v + 1]. */
    int32_t lands;
    const int32_t *border_first, *border_to;
    const int32_t* armies; /* the armies on each territory */
    const int32_t* keep;   /* the armies that must remain on each territory */
    const int32_t* kind;   /* the kind of rules, 0 .. kinds - 1, for attacks on each territory */
    /* 0: the territory may be attacked, 1: the player owns it, 2: it is not part of the problem */
    const uint8_t* owner;
    const uint8_t* resting; /* 1: the territory may not attack */
    int32_t garrison;       /* in each stack, the number of armies that may not roll */

    /* The dice. Each row of the table belongs to a kind of rules r, k attack dice and j defenders. The row for columns[r]
       defenders is also valid for more defenders. The index of the row is i = dice_first[r] + (k - 1) * columns[r] + j -
       1. Throw t belongs to row i if throw_first[i] <= t < throw_first[i + 1]. In the same way, answer_first gives the
       defender's answers to each throw, and result_first gives the results of each answer. A roll whose row has no
       throws is illegal. Each result costs an army. */
    int32_t kinds;
    const int32_t *attack_dice, *columns, *dice_first;
    /* for each kind of rules: 1 if a roll of attack_dice[r] dice requires two armies on the attacking territory for each
       defender */
    const uint8_t* at_double;
    const int32_t* least; /* for each row: the required advance after a conquest, which does not depend on j */
    const int32_t* most;  /* for each kind of rules: the largest advance after a conquest, at least 1 */
    const uint8_t* whole; /* for each kind of rules: 1 if each attack is a whole battle, which is fought to its end */
    const int32_t *throw_first, *answer_first, *result_first;
    const double *throw_chance, *result_chance;
    const int32_t *result_attackers, *result_defenders;
    int32_t rows, throws, answers, results; /* the lengths of the tables above */

    /* Whole battles of at most `able` attackers, garrison excluded. Battle i = battle_first[r] + d - 1 has the kind of
       rules r and d defenders. won[i][a][x] is the chance that `a` attackers win and lose x armies; it is 0 for all x
       >= width. lost[i][a][e][s] is the chance that `a` attackers do not win, e defenders remain, and s attackers
       remain who may not attack; s < stops. A battle without results is illegal. */
    int32_t able, defenders, battles, width, stops;
    const int32_t* battle_first;
    const double* won;  /* shape: battles x (able + 1) x width */
    const double* lost; /* shape: battles x (able + 1) x (defenders + 1) x stops */

    /* Rewards. A territory pays when it is taken. A set pays when its last territory is taken. Each lost army costs
       `price`. If `once` is 1, the first payment ends the turn. If `wins` is 1, there are no other payments: the turn
       ends with a payment of 1 when the player fulfils a way to win. */
    const double* pays;
    int32_t sets;
    const int32_t *set_first, *set_lands;
    const double* set_pays;
    double price;
    int32_t once, wins;

    /* The margin. Of two policies, the policy with the greater expected payment less `margin_price` for each army lost
       on average is better. This price orders choices and is no part of any value. It never makes giving up better than
       an attack after which a payment is possible. */
    double margin_price;

    /* The ways to win of the player. Way i is fulfilled if the player owns all its territories way_lands[j],
       way_first[i] <= j < way_first[i + 1], and way_number[i] territories in all, each with way_enough[i] armies. The
       last move of the turn may supply the armies of one territory. fortify: one of IACTA_FORTIFY_... */
    int32_t ways;
    const int32_t *way_first, *way_lands, *way_number, *way_enough;
    int32_t fortify;
    /* 1: the turn also ends when a way to win is fulfilled; if `wins` is 0, the win itself pays nothing */
    int32_t ends_at_win;

    /* Perils: the conquests by which a rival wins. The player who has taken all peril_lands[j], peril_first[i] <= j <
       peril_first[i + 1], while rivals own at least rival_number[i] of the rival_lands[j], rival_first[i] <= j <
       rival_first[i + 1], loses all payments of the turn and `held`, the payments before the turn, unless a way to win
       is fulfilled. In both cases the turn ends. */
    int32_t perils;
    const int32_t *peril_first, *peril_lands, *rival_first, *rival_lands, *rival_number;
    double held;

    /* 1: optimal play has fewer choices: each attack uses one die or as many dice as possible, and after a conquest
       either all armies advance or as few as possible. Such play is found faster, and its value is a lower bound. */
    int32_t is_coarse;

    /* `until` may be null. Otherwise the turn ends when all territories t with until[t] = 1 are taken, and the only
       reward is the value of the final state in iacta_ends. */
    const uint8_t* until;
} iacta_problem;

/* The parameters of a lookahead policy. */
typedef struct {
    /* the bonus for each idle army, which has no target but is near targets, as a fraction of the expected payment */
    double idle;
    int32_t depth; /* how many rolls to look ahead if attacks have close values: 1 .. IACTA_MAX_DEPTH */
    /* how to choose between nearly equal attacks; 0: the attack with the greatest value, 1: an attack by the stack that
       is least likely to take all its targets */
    int32_t order;
} iacta_style;

/* The limits of a call. The core reads *stop at least every 100 milliseconds. Any thread may write to *stop. */
typedef struct {
    int32_t* stop;  /* a value other than 0 stops the call; may be null */
    double seconds; /* the time limit in seconds; infinity for no limit */
    int64_t states; /* the maximum number of states to visit, or of values to compute for a bound */
    int64_t bytes;  /* the approximate memory limit in bytes */
} iacta_budget;

/* A state of the turn, which must be reachable from the start of the problem. */
typedef struct {
    const int32_t* armies; /* the armies on each territory */
    const uint8_t* mine;   /* 1: owned by the player */
} iacta_state;

/* A possible outcome of an attack: its chance, the value afterwards including payments, the losses of both sides, and
   the number of armies that advance. */
typedef struct {
    double chance, value;
    int32_t attackers, defenders, moved;
} iacta_outcome;

/* A decision of a policy: an attack from `start` on `to`, or a stop if `dice` is 0. The attack has `count` outcomes.
   The core writes at most `room` outcomes to `outcomes`. */
typedef struct {
    int32_t start, to, dice, count, room;
    double value;
    iacta_outcome* outcomes;
} iacta_decision;

/* Statistics of a policy. The `numbers` of several reports can be added. They contain, in this order:
     the value;
     for each territory, the chance to own it at the end;
     for each territory, the mean number of armies on it at the end;
     for each set, the chance to take the whole set;
     for each border (v, c), in the order of v and then of c: the chance of at least one attack over the border, the
         chance of a conquest over the border, the mean number of armies that advance over it, and the chance that the
         turn ends with an attack over the border before the goal is reached;
     for each border and each number of surviving armies that may advance, 0 .. able: the chance of a conquest with this
         number, and the chance times the mean advance.
   order[border] is the rank of the border by its first use in the turn, or INT32_MAX for an unused border. */
typedef struct {
    int64_t states;        /* the number of different states visited */
    int64_t borders, room; /* the lengths of `order` and `numbers` */
    int32_t* order;
    double* numbers;
} iacta_report;

typedef struct iacta_search iacta_search;

/* Return codes. STOPPED: the stop flag, the time limit or the budget ended the call, which returned its results so far.
   TOO_LARGE: the problem is too large for this function. MORE: the call succeeded, and another call can improve the
   result. UNSOUND: the input is invalid. BUSY: another call is using the search. BROKEN: a bug in the core. */
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

/* Returns IACTA_VERSION of the header with which this core was built. */
IACTA_API int32_t iacta_version(void);

/* Opens a search. Returns null for an invalid problem, and writes the reason to `message`, a buffer of `room` bytes.
   Close a search only after all its calls have returned. */
IACTA_API iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room);
IACTA_API void iacta_close(iacta_search* search);

/* The states in which a turn can end, and their values. State k begins at armies[k * lands] and mine[k * lands]. */
typedef struct {
    int32_t count, room; /* the number of states, and the number of states that fit in the arrays */
    int32_t* armies;
    uint8_t* mine;
    double* values;
} iacta_ends;

/* Computes the value of optimal play from a state, and reuses the values that earlier calls found. On success, optimal
   play becomes the policy of the search. A stopped call leaves the policy unchanged. Unless the state is invalid,
   writes the value, the cost (the mean number of armies lost, plus a millionth for each roll) and the number of states.
   `ends` must be null unless the problem has `until`. With `ends`, the call discards earlier values. It adds unknown
   final states with the value 0 to `ends` while there is room. */
IACTA_API int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, iacta_state state, iacta_ends* ends,
                              double* value, double* cost, int64_t* states);

/* Two ways to make lookahead the policy of the search. Lookahead needs an assignment of targets to stacks, for each of
   the iacta_count_goals() goals. iacta_assign searches for the best assignment by hill climbing from `starts` different
   assignments, and writes it to `sets`. It uses the default style. iacta_follow reads an assignment from `sets`, and
   uses the given style. sets[(goal * lands + land) * lands + target] is 1 if a target is assigned to the stack on a
   territory. */
IACTA_API int32_t iacta_count_goals(iacta_search* search);
IACTA_API int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets);
IACTA_API int32_t iacta_follow(iacta_search* search, const iacta_budget* budget, const iacta_style* style,
                               const uint8_t* sets);

/* Computes another upper bound on the value of all policies. *bound receives the smallest bound so far. If a call is
   stopped, the next call repeats the computation. */
IACTA_API int32_t iacta_improve_bound(iacta_search* search, const iacta_budget* budget, double* bound);

/* Writes the decision of the current policy in a state. */
IACTA_API int32_t iacta_decide(iacta_search* search, const iacta_budget* budget, iacta_state state,
                               iacta_decision* decision);

/* Evaluates an attack in a state. After the attack, the rest of the turn follows the policy. `dice` is 0 for the
   largest legal number. For an illegal attack, the decision is a stop. */
IACTA_API int32_t iacta_evaluate_attack(iacta_search* search, const iacta_budget* budget, iacta_state state,
                                        int32_t start, int32_t to, int32_t dice, iacta_decision* decision);

/* Chooses how many armies advance after a conquest. `state` is the state before the conquest, but without the armies
   that the attacker has lost. */
IACTA_API int32_t iacta_choose_advance(iacta_search* search, const iacta_budget* budget, iacta_state state,
                                       int32_t start, int32_t to, int32_t least, int32_t* moved);

/* Two evaluations of the policy from a state: iacta_evaluate_policy is exact, iacta_play_games simulates turns (games).
   The dice of game `first + i` depend only on this number and on the seed. A stopped call reports the finished games,
   each with the weight 1 / games. */
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

/* The kinds of missions. Whatever the missions are, the last surviving player also wins. */
enum {
    IACTA_MISSION_LANDS = 0, /* the player must own `number` territories with at least `armies` on each */
    /* the player must own all continents in the entries, and `number` other continents */
    IACTA_MISSION_CONTINENTS = 1,
    /* the player must own `number` of the territories in the entries, including the first entry */
    IACTA_MISSION_CAPITALS = 2,
    IACTA_MISSION_ELIMINATE = 3, /* the player whose number is the entry must be eliminated */
    /* the entries are pairs of a continent and a number of its territories, which the player must own; with `number` 1,
       also three territories outside these continents that border one another */
    IACTA_MISSION_PARTS = 4,
    IACTA_MISSION_HIDDEN = -2 /* the mission is unknown, and dealt at random in each game */
};

/* A mission. Its entries are mission_entries[first] to mission_entries[last - 1]. `instead` and `own` are indices of
   missions or -1. A mission to eliminate a player is replaced by `instead` after another player has eliminated the
   target, and by `own` if the target itself has the mission. */
typedef struct {
    int32_t kind, number, armies, first, last, instead, own;
} iacta_mission;

/* A state of a whole game. The board, the dice and the battles come from the problem, whose owners, rewards and sets
   are ignored. */
typedef struct {
    int32_t players;      /* the number of players, 2 .. IACTA_MAX_PLAYERS; players are numbered in the order of play */
    const uint8_t* owner; /* for each territory: a player, `players` for a neutral owner, or IACTA_NOBODY */
    int32_t mover;        /* the player to move */
    int32_t phase;
    int32_t place;     /* the number of armies that must still be placed */
    int32_t first;     /* armies may only be placed on territories with this or a larger index */
    int32_t cards_due; /* the number of cards that the player draws at the end for conquests in this turn */
    int32_t pictured;  /* 1: a territory on a traded card has already received armies in this turn */
    int32_t then;      /* the phase that follows the advance */
    int32_t attack_start, attack_to, attack_dice, thrown; /* the attack in progress, and the index of its throw */
    int32_t continents;
    const int32_t *continent_first, *continent_lands, *bonus;
    int32_t fortify;            /* one of IACTA_FORTIFY_... */
    int32_t is_whole;           /* 1: each attack is a whole battle */
    const int32_t* whole_least; /* for each kind of rules: the required advance after a whole battle */
    /* for each kind of rules: the number of attack dice that a log shows for a whole battle */
    const int32_t* whole_dice;
    int32_t has_cards, is_named;
    const uint64_t* known;    /* for each player: the revealed cards, as bits */
    const int32_t* hidden;    /* for each player: the number of unrevealed cards */
    const int32_t* card_land; /* for each card: the pictured territory, or -1 */
    /* 1: each set brings the armies in `fixed`, 0: the sets of a game bring the armies in `set_armies`, in order */
    int32_t is_fixed;
    int32_t sets;              /* the length of `set_armies` */
    const int32_t* set_armies; /* the armies for the next sets of the game; all later sets bring the last number */
    /* the armies for three equal cards of each symbol, for three different cards, and for a joker with two equal cards,
       where -1 lets a joker stand for any symbol */
    int32_t fixed[5];
    int32_t must_trade; /* a player with at least this number of cards must trade */
    /* a player with at least this number of cards must trade immediately after an elimination */
    int32_t traded_at_once;
    int32_t pictured_armies; /* the armies for a territory that is pictured on a traded card and owned by the player */
    int32_t has_card_per_conquest; /* 1: each conquest brings a card, 0: all conquests of a turn bring one card */
    /* 1: a set brings no armies, and the territories on traded cards become neutral with one army */
    int32_t is_nuclear;
    int32_t lands_for_an_army; /* the number of territories that bring one new army */
    int32_t fewest_new;        /* the minimum number of new armies */
    int32_t missions;          /* the number of missions */
    const iacta_mission* mission_list;
    const int32_t* mission_entries;
    /* for each player: the index of the mission, -1 for no mission, or IACTA_MISSION_HIDDEN */
    const int32_t* mission_of;
    const uint8_t* mission_unseen; /* for each player: 1 if the other players do not know the mission */
    int32_t missions_at_end;       /* 1: a mission is only checked at the end of its player's turns */
    int32_t common_lands;          /* the territories with which any player also wins; 0: missions only */
    int32_t mission_cards;         /* the number of cards from which hidden missions are dealt */
    const int32_t* mission_deck;   /* the index of the mission on each of the cards */
} iacta_turn;

/* The kinds of actions in a turn. */
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

/* An action with its result. `a` is the territory that acts, or the pictured territory of a trade, or -1. `b` is the
   attacked territory, or the destination of a move. `number` is a number of armies or dice. For a trade or a reveal, x
   and y contain the cards as 44 bits, the lowest 32 bits in x. For an attack, x and y are the losses of the attacker
   and the defender; if y is -1, the defender must first answer throw x. */
typedef struct {
    int32_t kind, a, b, number, x, y;
} iacta_action;

/* The kinds of aims. An aim tells an AI what to achieve in a turn. The Python module iacta.war.players describes all
   aims. */
enum {
    IACTA_AIM_AS_LIKED = 0,
    IACTA_AIM_HOLD = 1,
    IACTA_AIM_ONE_CARD = 2,
    IACTA_AIM_CONTINENT = 3,
    IACTA_AIM_BREAK = 4,
    IACTA_AIM_CHASE = 5, /* prefer attacks on one player */
    IACTA_AIM_BOLDLY = 6,
    IACTA_AIM_WARILY = 7,
    IACTA_AIM_ELIMINATE = 8, /* eliminate a player, along routes to all territories of the player */
    IACTA_AIM_PILE = 9,      /* place all new armies on one stack, and take one territory for a card */
    /* take one territory for a card at the lowest cost, and guard the borders with new armies */
    IACTA_AIM_SAFE_CARD = 10,
    IACTA_AIM_RAID = 11,  /* take a territory of a continent that another player owns, and advance few armies */
    IACTA_AIM_GUARD = 12, /* take all territories of a continent, and guard its borders */
    /* win the game in this turn, along routes to the territories that are missing; all new armies go to territory
       which - 1, or are divided for the routes if which is 0 */
    IACTA_AIM_WIN = 13,
    IACTA_AIM_CHOSEN = -1 /* the AI chooses one of the other aims */
};

/* The weights of an AI. The class `iacta.war.players.Player` has a field of the same name for each, and describes it.
   IACTA_WEIGHT_AIMS is the sum of 2^kind over the kinds of aims that the AI may choose. */
enum {
    IACTA_WEIGHT_TERRITORY = 0,
    IACTA_WEIGHT_CARD = 1,
    IACTA_WEIGHT_BREAKING = 2,
    IACTA_WEIGHT_PROGRESS = 3,
    IACTA_WEIGHT_COMPLETING = 4,
    IACTA_WEIGHT_LEADER = 5,
    IACTA_WEIGHT_GROWTH = 6,
    IACTA_WEIGHT_KILLED = 7,
    IACTA_WEIGHT_LOST = 8,
    IACTA_WEIGHT_FAILED = 9,
    IACTA_WEIGHT_BARE = 10,
    IACTA_WEIGHT_THRESHOLD = 11,
    IACTA_WEIGHT_NEAR_CONTINENT = 12,
    IACTA_WEIGHT_NEAR_PLAYER = 13,
    IACTA_WEIGHT_CONTINENT_PRIZE = 14,
    IACTA_WEIGHT_ELIMINATION = 15,
    IACTA_WEIGHT_THEIR_CARDS = 16,
    IACTA_WEIGHT_LAST_RIVAL = 17,
    IACTA_WEIGHT_BEHIND = 18,
    IACTA_WEIGHT_GUARD_SHARE = 19,
    IACTA_WEIGHT_GUARD_LEVEL = 20,
    IACTA_WEIGHT_JOKER = 21,
    IACTA_WEIGHT_BOLD = 22,
    IACTA_WEIGHT_WARY = 23,
    IACTA_WEIGHT_AIM = 24,
    IACTA_WEIGHT_NEAR_AIM = 25,
    IACTA_WEIGHT_MARGIN = 26,
    IACTA_WEIGHT_PATIENCE = 27,
    IACTA_WEIGHT_SAMPLES = 28,
    IACTA_WEIGHT_SURE = 29,
    IACTA_WEIGHT_GIVING_UP = 30,
    IACTA_WEIGHT_GUARDING = 31,
    IACTA_WEIGHT_ROUNDS = 32,
    IACTA_WEIGHT_TRIALS = 33,
    IACTA_WEIGHT_TRADING = 34,
    IACTA_WEIGHT_AIMS = 35,
    IACTA_WEIGHT_PREFERRED = 36,
    IACTA_WEIGHTS = 37 /* the number of weights of an AI */
};

/* The features of a player in the value function V. `iacta.war.value` describes each feature. */
enum {
    IACTA_FEATURE_ARMIES = 0,
    IACTA_FEATURE_ARMIES_WITH_NEW_ONES = 1,
    IACTA_FEATURE_TERRITORIES = 2,
    IACTA_FEATURE_SHARE_OF_TERRITORIES = 3,
    IACTA_FEATURE_INCOME = 4,
    IACTA_FEATURE_INCOME_FOR_ARMIES = 5,
    IACTA_FEATURE_SHARE_OF_INCOME = 6,
    IACTA_FEATURE_CARDS = 7,
    IACTA_FEATURE_HAND = 8,
    IACTA_FEATURE_CARDS_FOR_SETS = 9,
    IACTA_FEATURE_SEAT_0 = 10,
    IACTA_FEATURE_SEAT_1 = 11,
    IACTA_FEATURE_SEAT_2 = 12,
    IACTA_FEATURE_SEAT_3 = 13,
    IACTA_FEATURE_SEAT_4 = 14,
    IACTA_FEATURE_SEAT_5 = 15,
    IACTA_FEATURE_NEW_ARMIES = 16,
    IACTA_FEATURE_STACK_FOR_ARMIES = 17,
    IACTA_FEATURE_STACK = 18,
    IACTA_FEATURE_INSIDE = 19,
    IACTA_FEATURE_FRONT = 20,
    IACTA_FEATURE_BORDER = 21,
    IACTA_FEATURE_OUTNUMBERED = 22,
    IACTA_FEATURE_OUTNUMBERING = 23,
    IACTA_FEATURE_OWN_EDGES = 24,
    IACTA_FEATURE_BONUS = 25,
    IACTA_FEATURE_BONUS_BY_ARMIES = 26,
    IACTA_FEATURE_BEST_BONUS_BY_ARMIES = 27,
    IACTA_FEATURE_BONUS_BY_TERRITORIES = 28,
    IACTA_FEATURE_BONUS_IN_DANGER = 29,
    IACTA_FEATURE_CONTINENTS = 30,
    IACTA_FEATURE_IN_REACH = 31,
    IACTA_FEATURE_WITHIN_REACH = 32,
    IACTA_FEATURE_BEST_REACH = 33,
    IACTA_FEATURE_BEST_CARDS_IN_REACH = 34,
    IACTA_FEATURE_DANGER = 35,
    IACTA_FEATURE_ARMIES_FOR_RIVALS = 36,
    IACTA_FEATURE_INCOME_FOR_RIVALS = 37,
    IACTA_FEATURE_FIRST = 38,
    IACTA_FEATURE_TWO_ALIVE = 39,
    IACTA_FEATURE_THREE_ALIVE = 40,
    IACTA_FEATURE_MORE_ALIVE = 41,
    IACTA_FEATURE_NEXT_SET = 42,
    IACTA_FEATURE_ALL_ARMIES = 43,
    IACTA_FEATURE_FIXED_SETS = 44,
    IACTA_FEATURE_CARDS_ARE_PLAYED = 45,
    IACTA_FEATURE_NEUTRAL = 46,
    IACTA_FEATURE_PLAYERS_FOR_TERRITORIES = 47,
    IACTA_FEATURE_BEST_RIVALS_MISSION = 48,
    IACTA_FEATURE_MISSION_OF_TERRITORIES = 49,
    IACTA_FEATURE_MISSION_OF_CONTINENTS = 50,
    IACTA_FEATURE_MISSION_OF_CAPITALS = 51,
    IACTA_FEATURE_MISSION_TO_ELIMINATE = 52,
    IACTA_FEATURE_MISSING = 53,
    IACTA_FEATURE_PROGRESS = 54,
    IACTA_FEATURES = 55 /* the number of features of each player */
};

/* The size of the hidden layer of V, and the number of all weights of V. */
enum {
    IACTA_HIDDEN = 32,
    IACTA_VALUE_WEIGHTS = 1824
};

/* How a game ended. CUT: stopped after `cut` rounds. TOO_LONG: stopped without a winner after `max_rounds` rounds. */
enum {
    IACTA_END_WON = 0,
    IACTA_END_CUT = 1,
    IACTA_END_TOO_LONG = 2
};

typedef struct iacta_war iacta_war;

/* Opens a whole game that begins in a state. Errors are reported as in iacta_open. A handle is immutable: several
   threads may use it concurrently. */
IACTA_API iacta_war* iacta_war_open(const iacta_problem* problem, const iacta_turn* turn, char* message, int32_t room);
IACTA_API void iacta_war_close(iacta_war* war);

/* Writes the odds of a battle for territory `to` that is fought to its end: the chance to win, the mean number of
   attackers lost, and the mean number of defenders lost. `able` is the number of attackers, garrison excluded. */
IACTA_API int32_t iacta_war_read_odds(const iacta_war* war, int32_t to, int32_t able, int32_t defenders, double* odds);

/* Writes the features of each player at the start of a turn, and each player's chance to win according to V. */
IACTA_API int32_t iacta_war_evaluate(const iacta_war* war, const float* weights, float* features, double* chances);

/* Games to play. The dice of game `first + i` depend only on this number and on the seed. `weights` and `choosing`
   contain the weights of all AIs and of their value functions V, one player after another; `choosing` may be null. A
   game is stopped after `cut` rounds (0 for no such limit) or after `max_rounds` rounds; the chances to win are then
   computed by V with the weights `ending`. `aim` and `which` are the aim of the first turn. If `is_dealt` is 1, the
   territories, the armies and the first player of each game are random. */
typedef struct {
    const double* weights;
    const float *choosing, *ending;
    int32_t aim, which, is_dealt, cut, max_rounds, games;
    uint64_t seed;
    int64_t first;
} iacta_games;

/* The results of `played` games. `chances` is indexed by game and player. `ended` is IACTA_END_... for each game.
   `reached` is 1 for games whose first turn reached its aim, and may be null. `rounds` is the number of rounds. */
typedef struct {
    double* chances;
    uint8_t *ended, *reached;
    int32_t* rounds;
    int32_t played;
} iacta_played;

/* Evaluates the possible aims of a turn by simulated turns. Writes the aims, the best aim first, as pairs of a kind and
   the index of a continent or player. Before the call, *count is the number of aims that fit; after the call, it is the
   number of aims. `weights` are the weights of an AI. `values` receives for
   each aim the mean of V, with the weights `choosing`, at the end of the simulated turns. For an AI with ROUNDS, the
   best aims are compared by V after some rounds, and the other values are shifted to be comparable. The order includes
   a margin for some aims, so `values` may not be in descending order. */
IACTA_API int32_t iacta_war_judge_aims(const iacta_war* war, const iacta_budget* budget, const double* weights,
                                       const float* choosing, uint64_t seed, int32_t* aims, double* values,
                                       int32_t* count);

/* Chooses the next action of an AI. `chosen` contains the kind and the index of the aim; if the kind is
   IACTA_AIM_CHOSEN, the AI first chooses an aim. After the call, `chosen` is the aim for the rest of the turn. Callers
   must ignore the result in `action`, which is random. */
IACTA_API int32_t iacta_war_choose_action(const iacta_war* war, const iacta_budget* budget, const double* weights,
                                          const float* choosing, uint64_t seed, int32_t* chosen, iacta_action* action);

/* Plays the rest of the turn with an aim of kind `aim` and index `which`. Writes the actions, the owner and the armies
   of each territory at the end of the turn, and the number of cards of each player. Before the call, *count is the
   number of actions that fit; after the call, it is the number of actions. */
IACTA_API int32_t iacta_war_play_turn(const iacta_war* war, const iacta_budget* budget, const double* weights,
                                      const float* choosing, int32_t aim, int32_t which, uint64_t seed,
                                      iacta_action* actions, int32_t* count, uint8_t* owner, int32_t* armies,
                                      int32_t* cards);

/* Plays games. A stopped call writes the results of the finished games. */
IACTA_API int32_t iacta_war_play_games(const iacta_war* war, const iacta_budget* budget, const iacta_games* games,
                                       iacta_played* played);

/* Plays one game from a random deal. Records the features at the start of each turn with the probability `share`, at
   most *count times. After the call, *count is the number of records. Writes the chances at the end of the game. */
IACTA_API int32_t iacta_war_record_game(const iacta_war* war, const double* weights, const float* choosing,
                                        int32_t max_rounds, double share, uint64_t seed, float* features,
                                        int32_t* count, double* chances);

#ifdef __cplusplus
}
#endif
