// The C interface: checks what comes from outside, and asks the planner.
#include <cstdio>
#include <memory>
#include <string>

#include "exact.hpp"
#include "flow.hpp"
#include "games.hpp"
#include "iacta.h"
#include "lookahead.hpp"

#ifndef IACTA_SOURCE
#define IACTA_SOURCE "unknown"
#endif

using namespace iacta;

namespace {

constexpr int MOST_LANDS = 1024, MOST_NUMBER = 1 << 28;

// Why a problem is not sound; empty if it is.
std::string fault_of(const iacta_problem& p) {
    auto within = [](const int32_t* numbers, int64_t count, int64_t least, int64_t most) {
        for (int64_t i = 0; i < count; ++i)
            if (numbers[i] < least || numbers[i] > most) return false;
        return true;
    };
    auto rising = [&](const int32_t* firsts, int64_t count, int64_t most) {
        for (int64_t i = 0; i < count; ++i)
            if (firsts[i + 1] < firsts[i]) return false;
        return firsts[0] == 0 && firsts[count] == most;
    };
    auto chances = [](const double* numbers, int64_t count) {
        for (int64_t i = 0; i < count; ++i)
            if (!(numbers[i] >= 0.0 && numbers[i] <= 1.0 + 1e-9)) return false;
        return true;
    };
    if (p.lands < 1 || p.lands > MOST_LANDS) return "lands must be from 1 to 1024";
    if (p.border_first[p.lands] < 0 || !rising(p.border_first, p.lands, p.border_first[p.lands]) ||
        !within(p.border_to, p.border_first[p.lands], 0, p.lands - 1))
        return "borders must lead to lands";
    if (!within(p.armies, p.lands, 0, MOST_NUMBER) || !within(p.keep, p.lands, 0, MOST_NUMBER) ||
        p.garrison < 0 || p.garrison > MOST_NUMBER)
        return "armies must be whole numbers of a board";
    if (p.kinds < 1 || p.kinds > MOST_LANDS || !within(p.kind, p.lands, 0, p.kinds - 1))
        return "each land must have rules";
    int64_t rows = 0;
    for (int r = 0; r < p.kinds; ++r) {
        if (p.attack_dice[r] < 1 || p.attack_dice[r] > 1000 || p.defence_dice[r] < 1 ||
            p.defence_dice[r] > 1000 || p.dice_first[r] != rows)
            return "dice must be as many as there are rows of throws";
        rows += int64_t(p.attack_dice[r]) * p.defence_dice[r];
        for (int k = 1; !p.whole[r] && k <= p.attack_dice[r]; ++k)
            for (int j = 1; j <= p.defence_dice[r]; ++j) {
                int row = p.dice_first[r] + (k - 1) * p.defence_dice[r] + j - 1;
                if (row >= p.rows || p.throw_first[row] < 0 || p.throw_first[row + 1] > p.throws ||
                    p.throw_first[row + 1] <= p.throw_first[row])
                    return "each roll must have throws";
                for (int t = p.throw_first[row]; t < p.throw_first[row + 1]; ++t) {
                    if (p.answer_first[t] < 0 || p.answer_first[t + 1] > p.answers ||
                        p.answer_first[t + 1] <= p.answer_first[t])
                        return "each throw must have answers";
                    for (int a = p.answer_first[t]; a < p.answer_first[t + 1]; ++a) {
                        if (p.result_first[a] < 0 || p.result_first[a + 1] > p.results ||
                            p.result_first[a + 1] <= p.result_first[a])
                            return "each answer must have results";
                        for (int i = p.result_first[a]; i < p.result_first[a + 1]; ++i) {
                            int x = p.result_attackers[i], y = p.result_defenders[i];
                            if (x < 0 || y < 0 || x + y < 1 || x + y > std::min(k, j))
                                return "a result must cost from one army to one for each pair of dice";
                        }
                    }
                }
            }
    }
    if (rows != p.rows || !rising(p.throw_first, p.rows, p.throws) ||
        !rising(p.answer_first, p.throws, p.answers) || !rising(p.result_first, p.answers, p.results))
        return "the tables of dice must be as long as they say";
    if (!within(p.least, p.rows, 0, MOST_NUMBER)) return "least advances must be whole numbers";
    if (!chances(p.throw_chance, p.throws) || !chances(p.result_chance, p.results))
        return "chances must be from 0 to 1";
    if (p.able < 0 || p.able > MOST_NUMBER || p.defenders < 0 || p.defenders > MOST_NUMBER ||
        p.battles < 0 || !within(p.battle_first, p.kinds, 0, p.battles))
        return "whole battles must be as many as they say";
    for (int t = 0; t < p.lands; ++t) {
        if (p.owner[t] == 1 && p.armies[t] > p.able) return "whole battles must be for all stacks";
        if (p.owner[t] == 0 && (p.armies[t] < 1 || p.armies[t] > p.defenders ||
                                p.battle_first[p.kind[t]] + int64_t(p.armies[t]) > p.battles))
            return "whole battles must be for all defenders";
        if (p.owner[t] > 2) return "each land must have an owner";
    }
    int64_t side = int64_t(p.able) + 1;
    if (!chances(p.won, p.battles * side * side) ||
        !chances(p.lost, p.battles * side * (int64_t(p.defenders) + 1)))
        return "chances of battles must be from 0 to 1";
    if (p.sets < 0 || p.sets > MOST_NUMBER || p.set_first[p.sets] < 0 ||
        !rising(p.set_first, p.sets, p.set_first[p.sets]) ||
        !within(p.set_lands, p.set_first[p.sets], 0, p.lands - 1))
        return "sets must be of lands";
    for (int i = 0; i < p.sets; ++i)
        if (!std::isfinite(p.set_pays[i])) return "payments must be finite";
    for (int t = 0; t < p.lands; ++t)
        if (!std::isfinite(p.pays[t])) return "payments must be finite";
    if (!(p.price >= 0.0 && p.price < 1e300)) return "the price of an army must be at least 0";
    return "";
}

}  // namespace

struct iacta_search {
    virtual ~iacta_search() = default;
    virtual int32_t solve(const iacta_budget& budget, double* value, int64_t* states) = 0;
    virtual int32_t shares() = 0;
    virtual int32_t assign(const iacta_budget& budget, int starts, uint8_t* sets, double* value) = 0;
    virtual int32_t follow(const iacta_style& style, const uint8_t* sets) = 0;
    virtual void decide(const int32_t* armies, const uint8_t* mine, iacta_decision* decision,
                        iacta_outcome* outcomes, int room) = 0;
    virtual int32_t flow(const iacta_budget& budget, iacta_report* report) = 0;
    virtual int32_t play(const iacta_budget& budget, uint64_t seed, int64_t first, int games,
                         double* gains, int32_t* played, iacta_report* report) = 0;
};

namespace {

template <int W>
class Search : public iacta_search {
  public:
    explicit Search(const iacta_problem& problem) : game_(problem), lookahead_(game_, Style{}, ROWS) {}

    int32_t solve(const iacta_budget& budget, double* value, int64_t* states) override {
        small_ = std::make_unique<Exact<W, 1>>(game_);
        large_.reset();
        if (small_->fits()) return solved(*small_, budget, value, states);
        small_.reset();
        large_ = std::make_unique<Exact<W, 4>>(game_);
        if (large_->fits()) return solved(*large_, budget, value, states);
        large_.reset();
        return IACTA_TOO_LARGE;
    }

    int32_t shares() override { return int32_t(lookahead_.base().size()); }

    int32_t assign(const iacta_budget& budget, int starts, uint8_t* sets, double* value) override {
        Deadline deadline(budget);
        *value = lookahead_.find_base(starts, deadline);
        size_t place = 0;
        for (const auto& parts : lookahead_.base())
            for (const auto& part : parts)
                for (int t = 0; t < game_.lands; ++t) sets[place++] = part.has(t);
        return deadline.passed() ? IACTA_STOPPED : IACTA_DONE;
    }

    int32_t follow(const iacta_style& style, const uint8_t* sets) override {
        std::vector<Parts<W>> base(lookahead_.base().size(), Parts<W>(game_.lands));
        size_t place = 0;
        for (auto& parts : base)
            for (auto& part : parts)
                for (int t = 0; t < game_.lands; ++t)
                    if (sets[place++] && game_.field.has(t)) part.add(t);
        lookahead_.set_base(std::move(base), {style.deep, style.near, style.depth, style.close});
        small_.reset();
        large_.reset();
        return IACTA_DONE;
    }

    void decide(const int32_t* armies, const uint8_t* mine, iacta_decision* decision,
                iacta_outcome* outcomes, int room) override {
        Position<W> s;
        for (int t = 0; t < game_.lands; ++t) {
            int most = mine[t] ? game_.able() : game_.start.armies[t];
            s.armies.push_back(std::min(std::max(armies[t], 0), most));
            if (mine[t]) s.mine.add(t);
        }
        Decision d = decided(s);
        *decision = {d.roll.start, d.roll.to, d.roll.dice, int32_t(d.outcomes.size()), d.value};
        for (int i = 0; i < std::min<int>(room, decision->count); ++i) {
            const Outcome& o = d.outcomes[i];
            outcomes[i] = {o.chance, o.value, o.attackers, o.defenders, o.moved};
        }
    }

    int32_t flow(const iacta_budget& budget, iacta_report* report) override {
        Deadline deadline(budget);
        Flow<W> flow(game_);
        bool done = flow.run([this](Position<W>& s) { return decided(s); }, deadline);
        report->value = flow.value;
        report->states = flow.states;
        write(flow.tally, report);
        return done ? IACTA_DONE : IACTA_STOPPED;
    }

    int32_t play(const iacta_budget& budget, uint64_t seed, int64_t first, int games, double* gains,
                 int32_t* played, iacta_report* report) override {
        Deadline deadline(budget);
        Tally<W> tally(game_);
        int count = 0;
        auto decide = [this](Position<W>& s) { return decided(s); };
        double start = lookahead_.base_value(), paid = 0.0;
        for (; count < games; ++count) {
            if (deadline.check()) break;
            Random random(mixed(seed) + mixed(uint64_t(first) + count));
            Played game = iacta::play(game_, decide, start, random, tally, 1.0 / games);
            gains[count] = game.gain;
            paid += game.paid / games;
        }
        *played = count;
        report->value = paid;
        report->states = int64_t(lookahead_.states());
        write(tally, report);
        return count == games ? IACTA_DONE : IACTA_STOPPED;
    }

  private:
    static constexpr int64_t ROWS = 200 << 20;  // bytes of the rows of assignments

    template <class ExactGame>
    int32_t solved(ExactGame& exact, const iacta_budget& budget, double* value, int64_t* states) {
        Deadline deadline(budget);
        *value = exact.solve(game_.start, deadline);
        *states = int64_t(exact.states());
        return exact.stopped() ? IACTA_STOPPED : IACTA_DONE;
    }

    Decision decided(Position<W>& s) {
        if (small_) return small_->decide(s);
        if (large_) return large_->decide(s);
        return lookahead_.decide(s);
    }

    void write(const Tally<W>& tally, iacta_report* report) {
        int visits = 0, advances = 0;
        for (const Visit& visit : tally.visits) {
            int first = advances;
            for (const auto& [able, each] : visit.advances) {
                if (advances < report->advances) report->advance[advances] = {able, each.first, each.second};
                ++advances;
            }
            if (visits < report->visits)
                report->visit[visits] = {visit.start,   visit.to,        first,         advances - first,
                                         visit.reached, visit.conquered, visit.arrived, visit.ended};
            ++visits;
        }
        report->visits = visits;
        report->advances = advances;
        std::copy(tally.owned.begin(), tally.owned.end(), report->owned);
        std::copy(tally.armies.begin(), tally.armies.end(), report->armies);
        std::copy(tally.taken.begin(), tally.taken.end(), report->taken);
    }

    Game<W> game_;
    Lookahead<W> lookahead_;
    std::unique_ptr<Exact<W, 1>> small_;
    std::unique_ptr<Exact<W, 4>> large_;
};

}  // namespace

extern "C" {

const char* iacta_source(void) { return IACTA_SOURCE; }

iacta_search* iacta_open(const iacta_problem* problem, char* message, int32_t room) {
    std::string fault = fault_of(*problem);
    if (!fault.empty()) {
        std::snprintf(message, size_t(room), "%s", fault.c_str());
        return nullptr;
    }
    if (problem->lands <= 64) return new Search<1>(*problem);
    if (problem->lands <= 256) return new Search<4>(*problem);
    return new Search<16>(*problem);
}
void iacta_close(iacta_search* search) { delete search; }

int32_t iacta_solve(iacta_search* search, const iacta_budget* budget, double* value, int64_t* states) {
    return search->solve(*budget, value, states);
}
int32_t iacta_shares(iacta_search* search) { return search->shares(); }
int32_t iacta_assign(iacta_search* search, const iacta_budget* budget, int32_t starts, uint8_t* sets,
                     double* value) {
    return search->assign(*budget, starts, sets, value);
}
int32_t iacta_follow(iacta_search* search, const iacta_style* style, const uint8_t* sets) {
    return search->follow(*style, sets);
}
void iacta_decide(iacta_search* search, const int32_t* armies, const uint8_t* mine,
                  iacta_decision* decision, iacta_outcome* outcomes, int32_t room) {
    search->decide(armies, mine, decision, outcomes, room);
}
int32_t iacta_flow(iacta_search* search, const iacta_budget* budget, iacta_report* report) {
    return search->flow(*budget, report);
}
int32_t iacta_play(iacta_search* search, const iacta_budget* budget, uint64_t seed, int64_t first,
                   int32_t games, double* gains, int32_t* played, iacta_report* report) {
    return search->play(*budget, seed, first, games, gains, played, report);
}
}
