// Upper bounds on the value of all policies for a turn. The difference between the bound and the value of a plan limits
// how much better any other plan can be. On large boards there is no other way to prove such a limit.
//
// The expected payment for a set of territories is the amount times the chance to take the set. Therefore upper bounds
// on chances suffice for all goals. If T is a subset of S, then P(S taken) ≤ P(T taken), and each upper bound for T is
// an upper bound for S. A goal with several sets and single territories gets a bound for each set and each territory.
// If the first payment ends the turn (`once`), the chance to take *any* territory matters. Subsets do not bound that
// chance and are not used.
//
// A relaxed game is a simpler game in which the player can do at least as well as in the true game. It has few states,
// and its value can be computed exactly. It combines stacks to groups and territories to items:
//   Groups: the stacks of a group share one budget of armies and attack from any territory of the group. A conquest
//   reduces the budget by the garrison that must remain, or by the whole advance if no attack from there is left.
//   Items: an item is a set of territories of the goal, or an extra territory. The state contains the defenders of
//   these territories, and which groups own territories of each item. All territories of an item are treated as
//   connected.
//   Light territories: all other territories. The state contains only n_i, the number of light territories that group
//   i has taken, and D, the number of defenders destroyed on light territories, without the last defender of each. A
//   light territory may be attacked at any time, with any number of defenders.
//
// Group i needs light territories to connect its starts with a set Q of items. Let N_i(Q) be their minimum number,
// E_i(Q) the minimum sum of their defenders minus one each, and K_i(Q) the minimum sum of their defenders. These minima
// are node-weighted Steiner trees (Dreyfus & Wagner 1971). If group i owns territories of the items Q_i, it may attack
// c only if
//
//     n_i ≥ N_i(Q_i + c),   D ≥ E_i(Q_i + c) + Σ_{j≠i} E_j(Q_j),   n_i + D − Σ_{j≠i} E_j(Q_j) ≥ K_i(Q_i + c).
//
// Each roll of the true game is a legal roll of the relaxed game, because the light territories that a group has taken
// connect its territories. The results of the roll correspond to results that are at least as good, because values do
// not decrease if a budget or a count increases. By induction, the relaxed value is at least the true value. A count
// may have a cap, which then stands for all larger numbers.
//   Away stacks: stacks that would lose all their armies before they reach an item. They take no items, and light
//   territories within their reach are treated as if they had one defender.
//   Tolls: let T_i(Q) be the minimum of N_i over all non-empty sets of items that contain Q. A group that owns Q_i has
//   taken at least max(n_i, T_i(Q_i)) light territories, and its budget pays for them. When it attacks c, its
//   territories are connected with c. Therefore it pays T_i(Q_i + c) before the attack. Once n_i is at its cap, further
//   light territories are free. With caps of 0, light territories are not counted and there are few states. Then a
//   group without items attacks only items, and may pay T_i(∅) at the start.
//   Losses on the way: with caps of 0, a stack that must take m territories before it borders an item attacks each of
//   them, against at least one defender. Let Z be the sum of m independent losses with the distribution F_1 of `PooledArmies`.
//   Consider the mean over Z of the value with the budget reduced by the rest of Z. Until the stack attacks an item,
//   its own rolls do not increase this mean: the chance of a loss of at most u is at most F_1(u), and values do not
//   decrease if a budget increases. Rolls of another stack do not increase the mean either, because they are rolls of
//   the relaxed game for each Z. Therefore the mean over the losses of all stacks is an upper bound.
//
// Each class has a file of its name. `Paths` finds the territories that stacks can reach. `Rolls` contains the dice, and `PooledArmies` the losses F_1.
// `Level` defines a relaxed game, and `connect_items` computes N, E and K. `Codes` numbers its states. `Relaxed` solves
// it. `Chance` chooses the relaxed games for a goal, and `Bounds` adds the bounds on all payments.
#pragma once

#include <utility>
#include <vector>

#include "search/codes.hpp"
#include "search/level.hpp"
#include "search/rolls.hpp"

namespace iacta {

// A relaxed game and its value.
class Relaxed {
  public:
    // any: whether the conquest of one territory of the goal is enough.
    Relaxed(Level level, const Rolls& rolls, bool any, Deadline& deadline);

    int64_t values() const { return values_; }
    // Whether the true counts can exceed a cap, so that greater caps can improve the bound.
    bool is_capped() const { return is_capped_; }

    // Returns the work of `explore` and `value`, in units of the work for one value.
    int64_t work() const { return values_ + WORK_PER_STATE * states_; }
    // Whether `explore` failed because the game needs too many values, too much memory, or too many bits for a state.
    bool is_large() const { return is_large_; }
    // Finds all reachable states. Returns false if this would exceed the limit of `most` values, of `work`, or of
    // memory in bytes.
    bool explore(int64_t most, int64_t work, int64_t bytes);

    // Returns the value of the relaxed game at its start. Call `explore` first.
    double value();

  private:
    // An attack of a group on a territory. kept: the number of advancing armies that must stay on the territory. toll:
    // the number of armies that the group must first pay for light territories.
    struct Attack {
        int group, kind, defenders, kept, toll;
    };

    // A state of the relaxed game, decoded from its code.
    struct View {
        std::vector<int> defenders, light, able;  // `defenders` is indexed like inner_, the others by group
        std::vector<uint32_t> owned;
        std::vector<uint64_t> outside;
        int lost;
    };

    // A result of a roll in the current state. `after` is the index of the next state in Plan::next. `back` is the
    // number of elements of values_at_ by which the lost armies move the index of the value. `from` is the index of the
    // value of the result if the last group has the budget 0. `is_last` marks the last result of an answer of the
    // defender. `thrown` is the chance of the throw in the last result of this throw, otherwise -1.
    struct Part {
        double chance;
        size_t after, back;
        bool is_last;
        double thrown;
        size_t from;
    };

    // The result of a roll of the last group in which no defender is lost. It leads to the same state with `back` fewer
    // armies, whose value is already known. Several rolls may share a Return. rest[x] is the greatest value of the
    // other results of these rolls if the group has the budget x: 0 without other results, and -1 if no such roll is
    // legal.
    struct Return {
        double chance;
        size_t back;
        std::vector<double> rest;
    };

    // A roll in the current state, legal if its group has a budget of `from` to `to` - 1 armies. `again` is the index
    // of its Return in the plan, or NONE. Its other results are the `count` elements of Plan::parts that begin with
    // index `first`.
    struct Action {
        size_t group;
        int from, to;
        size_t first, count, again;
    };

    // All rolls in the current state, with their results.
    struct Plan {
        std::vector<Action> actions;
        std::vector<Part> parts;
        std::vector<Return> returns;
        // next: the numbers of the next states. place: the index in values_at_ of the value of each next state if the
        // last group has the budget 0.
        std::vector<size_t> next, place;
    };

    void connect();
    int digit(Code code, size_t i) const;
    void decode(Code code, View& view) const;
    bool is_taken(const View& view, size_t item) const;
    int count_toll(const View& view, size_t g, uint32_t owned) const;
    bool is_won(const View& view) const;
    bool is_dead_end(const View& view, size_t item) const;
    void find_attacks(Code code, const View& view, std::vector<Attack>& attacks);
    bool is_alike(size_t item, size_t j) const;

    void solve();
    void find_plan(const std::vector<Attack>& attacks, Plan& plan) const;
    static const Losses* find_only_return(const Choice& choice);
    static size_t find_return(double chance, size_t back, std::vector<Return>& returns);
    void solve_line(double* line, int width, const size_t* stride, const std::vector<int>& budgets, Plan& plan) const;
    void raise(double* values, int first, int end, const Action& action, const Plan& plan) const;
    template <class Values>
    Values value_of(const Action& action, int x, const Plan& plan) const;
    double average_losses(size_t g, const View& start, size_t place) const;

    static constexpr size_t NONE = ~size_t{0};
    // The work to find a state, in units of the work for one value.
    static constexpr int64_t WORK_PER_STATE = 100;

    const Level level_;
    const Rolls& rolls_;
    Deadline& deadline_;
    bool any_, is_sound_ = true, is_capped_ = false;
    std::vector<Level::Inner> inner_;  // the territories of all items, item by item
    std::vector<size_t> first_;  // for each item: the index of its first territory in inner_; then the size of inner_
    // The minimum of `keep`, and the minimum of `left_behind`, over all light territories.
    int light_kept_ = UNREACHABLE, light_least_ = 1;
    // The pairs of a kind of rules and a number of defenders for attacks on light territories. The largest number of
    // defenders stands for all larger numbers, because no roll destroys them all and more defenders change no roll.
    std::vector<std::pair<int, int>> light_rows_;
    // [group][set of items]: N, E, K and T, as defined at the top of this file, and the highest useful count of light
    // territories
    std::vector<std::vector<int>> nodes_, spare_, whole_, toll_, useful_;
    std::vector<int> caps_;
    std::vector<int> shift_;
    std::vector<int64_t> mask_;
    std::vector<Code> place_;
    Code start_ = 0;
    Codes codes_;
    bool is_large_ = false;
    int64_t values_ = 0, states_ = 0;
    std::vector<Code> after_;
    // begin_[state]: the index of the first value of the state in values_at_. strides_[state * groups + group]: the
    // distance in values_at_ between the values for two budgets of the group that differ by 1.
    std::vector<size_t> begin_, strides_;
    std::vector<double> values_at_;
};

}  // namespace iacta
