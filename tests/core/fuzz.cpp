// Random and malformed problems for the C interface of the core. Build this program with sanitizers:
//
//     fuzz [SECONDS] [FIRST] [LAST]
//
// The number of a case determines the case. No input may make the core read out of bounds, run past its limits,
// or throw. Without enough memory the core reports that and stays usable. Bounds must be at least the value of
// optimal play, and policies at most.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <new>
#include <string>

#include <signal.h>
#include <unistd.h>

#include "problems.hpp"

namespace {

long long current = -1;      // the number of the case
long long allocations = -1;  // allocations until one fails; negative for never
const char* doing = "";

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "case %lld, %s: %s\n", current, doing, why);
    std::_Exit(1);
}

}  // namespace

void* operator new(size_t size) {
    if (allocations >= 0 && allocations-- == 0) throw std::bad_alloc();
    if (void* place = std::malloc(size ? size : 1)) return place;
    throw std::bad_alloc();
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size ? size : 1); }
void operator delete(void* place, const std::nothrow_t&) noexcept { std::free(place); }
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, size_t) noexcept { std::free(place); }

#if defined(__SANITIZE_ADDRESS__)
extern "C" void __sanitizer_set_death_callback(void (*)());
extern "C" const char* __asan_default_options() { return "quarantine_size_mb=64"; }
#endif

namespace {

constexpr double CPU_SECONDS = 0.02, MAX_CPU_SECONDS = 2.0;  // the budget of a call, and the limit that fails the test
constexpr unsigned STUCK = 120;                              // seconds after which a call counts as endless

struct Random {
    uint64_t state;

    uint64_t next() {
        uint64_t x = state += 0x9e3779b97f4a7c15u;
        x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
        x = (x ^ x >> 27) * 0x94d049bb133111ebu;
        return x ^ x >> 31;
    }
    int below(int count) { return int(next() % uint64_t(count)); }
    int from(int least, int most) { return least + below(most - least + 1); }
    bool one_in(int count) { return below(count) == 0; }
    double uniform() { return double(next() >> 11) * 0x1p-53; }
    template <class T>
    T of(const std::vector<T>& all) {
        return all[size_t(below(int(all.size())))];
    }
};

// Invents tables of throws, answers and results that belong to no real dice.
void invent_dice(Problem& p, Random& random) {
    p.throw_first = p.answer_first = p.result_first = {0};
    p.throw_chance.clear();
    p.result_chance.clear();
    p.result_attackers.clear();
    p.result_defenders.clear();
    for (size_t r = 0; r < p.whole.size(); ++r)
        for (int i = 0; i < p.attack_dice[r] * p.columns[r]; ++i) {
            int dice = i / p.columns[r] + 1, defenders = i % p.columns[r] + 1;
            int throws = p.whole[r] ? random.below(2) : random.one_in(8) ? 0 : random.from(1, 3);
            for (int t = 0; t < throws; ++t) {
                int answers = random.from(1, 2);
                for (int a = 0; a < answers; ++a) {
                    int results = random.from(1, 3);
                    for (int j = 0; j < results; ++j) {
                        int attackers = random.from(0, dice);
                        p.result_chance.push_back(random.one_in(5) ? 0.0 : 1.0 / results);
                        p.result_attackers.push_back(attackers);
                        p.result_defenders.push_back(random.from(attackers == 0, defenders));
                    }
                    p.result_first.push_back(int32_t(p.result_chance.size()));
                }
                p.throw_chance.push_back(1.0 / throws);
                p.answer_first.push_back(int32_t(p.result_first.size()) - 1);
            }
            p.throw_first.push_back(int32_t(p.throw_chance.size()));
        }
}

Problem sound_problem(Random& random, bool& honest) {
    bool wide = random.one_in(12), high = random.one_in(12);
    int lands = wide ? random.from(13, random.one_in(3) ? 300 : 70) : random.from(1, random.one_in(3) ? 12 : 6);
    Problem p(lands);
    int degree = random.from(0, 4);
    for (int i = 0; i < lands * degree / 2; ++i) {
        int v = random.below(lands), w = random.below(lands);
        if (random.one_in(10)) p.near[size_t(v)].push_back(w);
        else if (v != w) p.connect(v, w);
    }
    int kinds = random.from(1, 3);
    for (size_t t = 0; t < size_t(lands); ++t) {
        p.owner[t] = uint8_t(random.one_in(3) ? 1 : random.one_in(8) ? 2 : 0);
        p.armies[t] = random.from(p.owner[t] == 0, p.owner[t] == 1 ? random.from(1, wide ? 4 : 9) : 3);
        if (high && random.one_in(3)) p.armies[t] = random.from(1, p.owner[t] == 1 ? 150 : 40);
        p.keep[t] = random.one_in(6) ? random.from(0, 3) : 1;
        p.resting[t] = random.one_in(10);
        p.kind[t] = random.below(kinds);
        if (random.one_in(3)) p.pays[t] = random.one_in(9) ? -1.0 : random.uniform();
    }
    p.garrison = random.one_in(6) ? random.from(0, 3) : 1;
    p.price = random.one_in(4) ? 0.1 * random.uniform() : 0.0;
    p.margin_price = random.one_in(3) ? 0.02 * random.uniform() : 0.0;
    p.once = random.one_in(5);
    if (random.one_in(6))
        for (int t = 0; t < lands; ++t) p.until.push_back(random.one_in(4));
    if (random.one_in(2)) std::fill(p.pays.begin(), p.pays.end(), 0.0);
    for (int i = random.from(0, 3); i > 0; --i) {
        std::vector<int32_t> set;
        for (int j = random.from(0, lands); j > 0; --j) set.push_back(random.below(lands));
        p.add_set(set, random.one_in(9) ? -0.5 : random.uniform());
    }
    auto draw_lands = [&] {
        std::vector<int32_t> found;
        for (int j = random.from(0, 3); j > 0; --j) found.push_back(random.below(lands));
        return found;
    };
    if (random.one_in(5)) {
        p.wins = 1, p.price = 0.0, p.once = 0, p.fortify = random.from(0, 2);
        p.until.clear(), p.set_lands.clear(), p.set_pays.clear(), p.set_first = {0};
        std::fill(p.pays.begin(), p.pays.end(), 0.0);
        for (int i = random.from(1, 4); i > 0; --i)
            if (random.one_in(2)) p.add_way({}, random.from(1, lands), random.from(0, 3));
            else p.add_way(draw_lands(), 0, 0);
    }
    if (random.one_in(6)) {
        for (int i = random.from(1, 2); i > 0; --i)
            p.add_peril(draw_lands(), draw_lands(), random.from(0, std::min(2, lands)));
        if (!p.wins && random.one_in(2)) p.add_way(draw_lands(), 0, 0);
        p.held = random.one_in(3) ? random.uniform() : 0.0;
    }
    std::vector<Rules> rules;
    for (int r = 0; r < kinds; ++r) {
        rules.push_back({random.from(1, 4), random.from(1, 3), random.one_in(4), random.one_in(5), random.from(0, 2),
                         random.one_in(4) ? random.from(8, 12) : 1000});
        Rules& each = rules.back();
        if (each.sees_first) continue;
        switch (random.below(10)) {
            case 0: each.late = random.from(3, 6); break;
            case 1: each.never_fewer = true; break;
            case 2: each.at_double = each.attack > 1; break;
            case 3: each.ties_nobody = true; break;
            case 4: each.fumble = true; break;
            default: break;
        }
    }
    p.play_by(rules);
    honest = !random.one_in(4) && p.until.empty();  // bounds know nothing of the values of ends
    if (!honest) invent_dice(p, random);
    return p;
}

const std::vector<int32_t> EXTREMES{-1, 0, 1, 2, 63, 64, 65, 1024, 1 << 20, (1 << 20) + 1, INT32_MAX, INT32_MIN};
const std::vector<double> ODD{-1.0, 0.0, 2.0, 1e300, -1e300, std::nan(""), INFINITY, -INFINITY, 1e-320};

// Damages a problem. Arrays keep the lengths that the problem gives, or the lengths are absurd.
void spoil(Problem& p, iacta_problem& view, Random& random) {
    auto one = [&](auto& numbers, const auto& odd) {
        if (!numbers.empty()) numbers[size_t(random.below(int(numbers.size())))] = random.of(odd);
    };
    switch (random.below(18)) {
        case 15: one(random.one_in(2) ? p.way_first : p.peril_first, EXTREMES); break;
        case 16: one(random.one_in(2) ? p.way_lands : p.rival_lands, EXTREMES); break;
        case 0: one(p.border_first, EXTREMES); break;
        case 1: one(p.border_to, EXTREMES); break;
        case 2: one(random.one_in(2) ? p.armies : p.keep, EXTREMES); break;
        case 3: one(random.one_in(2) ? p.kind : p.battle_first, EXTREMES); break;
        case 4: one(random.one_in(2) ? p.attack_dice : p.columns, EXTREMES); break;
        case 5: one(random.one_in(2) ? p.dice_first : random.one_in(2) ? p.most : p.least, EXTREMES); break;
        case 6: one(p.throw_first, EXTREMES); break;
        case 7: one(random.one_in(2) ? p.answer_first : p.result_first, EXTREMES); break;
        case 8: one(random.one_in(2) ? p.result_attackers : p.result_defenders, EXTREMES); break;
        case 9: one(random.one_in(2) ? p.throw_chance : p.result_chance, ODD); break;
        case 10: one(random.one_in(2) ? p.won : p.lost, ODD); break;
        case 11: one(random.one_in(2) ? p.pays : p.set_pays, ODD); break;
        case 12: one(random.one_in(2) ? p.set_first : p.set_lands, EXTREMES); break;
        case 13: one(p.owner, std::vector<uint8_t>{3, 255, 2, 1, 0}); break;
        case 14: one(random.one_in(2) ? p.whole : p.at_double, std::vector<uint8_t>{0, 1, 255}); break;
        default: break;
    }
    if (p.border_first.back() > int32_t(p.border_to.size())) p.border_first.back() = int32_t(p.border_to.size());
    if (p.set_first.back() > int32_t(p.set_lands.size())) p.set_first.back() = int32_t(p.set_lands.size());
    for (auto [first, list] : {std::pair(&p.way_first, &p.way_lands), std::pair(&p.peril_first, &p.peril_lands)})
        if (first->back() > int32_t(list->size())) first->back() = int32_t(list->size());
    view = p.view();
    int32_t least = random.of(EXTREMES);
    switch (random.below(24)) {
        case 0: view.lands = least < 1 || least > 1024 ? least : view.lands; break;
        case 1: view.garrison = least; break;
        case 2: view.kinds = least < 1 || least > 1024 ? least : view.kinds; break;
        case 3: view.rows = least; break;
        case 4: view.throws = least; break;
        case 5: view.answers = least; break;
        case 6: view.results = least; break;
        case 7: view.able = std::min(view.able, least); break;
        case 8: view.defenders = std::min(view.defenders, least); break;
        case 9: {
            int32_t& size = random.one_in(2) ? view.battles : view.stops;
            size = std::min(size, least);
            break;
        }
        case 10: view.sets = least < view.sets || least > 1024 ? least : view.sets; break;
        case 11: (random.one_in(2) ? view.price : view.margin_price) = random.of(ODD); break;
        case 12: view.once = least; break;
        case 13: view.armies = nullptr; break;
        case 14: view.throw_chance = nullptr; break;
        case 15: view.won = nullptr; break;
        case 16: view.set_first = nullptr; break;
        case 17: view.border_to = nullptr; break;
        case 18: view.wins = least; break;
        case 19: view.fortify = least; break;
        default: break;
    }
    // Makes each array at least as long as its stated length.
    if (view.throws == p.throw_first.back()) view.throws = std::min(view.throws, int32_t(p.throw_chance.size()));
    if (view.answers == p.answer_first.back())
        view.answers = std::min(view.answers, int32_t(p.result_first.size()) - 1);
    if (view.results == p.result_first.back()) view.results = std::min(view.results, int32_t(p.result_chance.size()));
    if (view.sets > 0 && view.sets < int32_t(p.set_first.size()) &&
        p.set_first[size_t(view.sets)] > int32_t(p.set_lands.size()))
        view.sets = -1;
}

class Case {
  public:
    Case(uint64_t number, std::vector<uint8_t>& sets) : random_{number * 0x2545f4914f6cdd1du}, sets_(sets) {}

    void run() {
        bool honest = false;
        Problem p = sound_problem(random_, honest);
        iacta_problem view = p.view();
        bool spoiled = random_.one_in(2);
        for (int i = spoiled ? random_.from(1, 3) : 0; i > 0; --i) spoil(p, view, random_);
        char message[100];
        short_of_memory(100);
        iacta_search* search = nullptr;
        timed("open", [&] { return (search = iacta_open(&view, message, 100)) ? 0 : 1; });
        if (!search) {
            if (!message[0]) fail("refused without a word");
            if (!spoiled && !was_short_) fail(message);
            return;
        }
        use(search, view, honest && !spoiled);
        iacta_close(search);
    }

  private:
    // Makes an allocation fail now and then.
    void short_of_memory(int most) {
        was_short_ = random_.one_in(10);
        failing_ = was_short_ ? random_.below(most) : -1;
    }

    template <class Call>
    int timed(const char* name, Call call) {
        doing = name;
        alarm(STUCK);
        std::clock_t start = std::clock();
        allocations = failing_;
        int answer = call();
        bool failed = was_short_ && allocations < 0;
        allocations = -1;
        double seconds = double(std::clock() - start) / CLOCKS_PER_SEC;
        alarm(0);
        if (answer < 0 || answer > IACTA_UNSOUND) fail("an answer that is none");
        if (answer == IACTA_NO_MEMORY && !failed) fail("no memory");
        if (seconds > MAX_CPU_SECONDS) fail("took too long");
        return answer;
    }

    iacta_budget budget() {
        iacta_budget b{nullptr, CPU_SECONDS * random_.uniform(), INT64_MAX, 64 << 20};
        if (random_.one_in(4)) b.states = random_.of<int64_t>({INT64_MIN, -1, 0, 1, 10, 1000, INT64_MAX});
        if (random_.one_in(6)) b.bytes = random_.of<int64_t>({INT64_MIN, -1, 0, 1, 100000, INT64_MAX});
        if (random_.one_in(9)) b.seconds = random_.of<double>({-1.0, 0.0, std::nan(""), -INFINITY});
        stop_ = random_.one_in(15);
        if (random_.one_in(3)) b.stop = &stop_;
        return b;
    }

    void use(iacta_search* search, const iacta_problem& p, bool honest) {
        int n = p.lands, goals = iacta_count_goals(search);
        double paid = p.wins ? 1.0 : 0.0, least_bound = INFINITY, optimum = NAN;
        for (int t = 0; t < n; ++t) paid += std::abs(p.pays[t]);
        for (int i = 0; i < p.sets; ++i) paid += std::abs(p.set_pays[i]);
        double near = 1e-9 * (1.0 + paid);
        auto check = [&](double value) {
            if (!(std::abs(value) <= paid + near + p.price * 1e9)) fail("a value that cannot be");
        };
        std::vector<double> gains(20);
        std::vector<iacta_outcome> outcomes(3);
        std::vector<int32_t> state(p.armies, p.armies + n);
        std::vector<uint8_t> mine(size_t(n), 0);
        for (int t = 0; t < n; ++t) mine[size_t(t)] = p.owner[t] == 1;
        sets_.assign(size_t(goals) * size_t(n) * size_t(n), 0);
        bool is_exact = false;
        for (int calls = random_.from(1, 8); calls > 0; --calls) {
            iacta_budget b = budget();
            double value = NAN, cost = NAN;
            int64_t states = -1;
            short_of_memory(2000);
            std::vector<int32_t> other = state;
            std::vector<uint8_t> others = mine;
            bool is_start = random_.one_in(2);
            for (int i = is_start ? 0 : random_.from(0, 4); i > 0; --i) {
                size_t t = size_t(random_.below(n));
                others[t] = uint8_t(random_.below(2));
                other[t] = random_.one_in(4) ? random_.of(EXTREMES) : random_.from(0, 9);
            }
            iacta_state here{other.data(), others.data()};
            switch (random_.below(9)) {
                case 0:
                case 1: {
                    std::vector<int32_t> end_armies(size_t(4 * n), 1);
                    std::vector<uint8_t> end_mine(size_t(4 * n), 1);
                    std::vector<double> end_values(4, random_.one_in(9) ? random_.of(ODD) : 0.5);
                    iacta_ends ends{random_.from(-1, 3), random_.from(-1, 4), end_armies.data(), end_mine.data(),
                                    end_values.data()};
                    auto given = p.until ? &ends : nullptr;
                    int answer =
                        timed("solve", [&] { return iacta_solve(search, &b, here, given, &value, &cost, &states); });
                    if (answer == IACTA_DONE && p.until && (ends.count < 0 || ends.count > 4))
                        fail("ends that cannot be");
                    if (answer == IACTA_UNSOUND && p.until) break;
                    if (answer == IACTA_UNSOUND && !is_start) break;
                    is_exact = answer == IACTA_DONE;
                    check(value);
                    if (is_exact && b.stop && stop_) fail("not stopped");
                    if (is_exact && is_start) optimum = value;
                    break;
                }
                case 2:
                    timed("assign", [&] { return iacta_assign(search, &b, random_.from(-1, 9), sets_.data()); });
                    is_exact = false;
                    break;
                case 3: {
                    double idle = random_.one_in(9) ? random_.of(ODD) : random_.uniform();
                    iacta_style style{idle, random_.from(-1, 3), random_.from(-1, 2)};
                    if (random_.one_in(2))
                        for (auto& each : sets_) each = uint8_t(random_.one_in(5));
                    int answer = timed("follow", [&] { return iacta_follow(search, &b, &style, sets_.data()); });
                    if (answer != IACTA_UNSOUND) is_exact = false;
                    break;
                }
                case 4: {
                    iacta_decision d{};
                    d.room = 3;
                    d.outcomes = outcomes.data();
                    int answer = timed("decide", [&] {
                        if (random_.one_in(2)) return iacta_decide(search, &b, here, &d);
                        return iacta_evaluate_attack(search, &b, here, random_.from(-1, n), random_.from(-1, n),
                                                     random_.from(-1, 4), &d);
                    });
                    int32_t moved = 1;
                    timed("move_in", [&] {
                        return iacta_choose_advance(search, &b, here, random_.from(-1, n), random_.from(-1, n),
                                                    random_.from(-1, 9), &moved);
                    });
                    if (moved < 0) fail("an advance that cannot be");
                    if (answer != IACTA_DONE) break;
                    // Invented results may all have the chance 0.
                    if (d.dice && (d.start < 0 || d.start >= n || d.to < 0 || d.to >= n || d.count < honest))
                        fail("a decision that cannot be");
                    if (!std::isfinite(d.value)) fail("a value that cannot be");
                    break;
                }
                case 5:
                case 6: {
                    Report report(p);
                    bool has_room = !random_.one_in(9);
                    if (!has_room) --report->room;
                    int answer;
                    int32_t games = random_.from(0, 20);
                    if (random_.one_in(2)) {
                        answer = timed("flow", [&] { return iacta_evaluate_policy(search, &b, here, &report); });
                        if (answer == IACTA_DONE && honest && is_start && report.value() > least_bound + near)
                            fail("above the bound");
                        if (answer == IACTA_DONE && honest && is_start && report.value() > optimum + near)
                            fail("above the optimum");
                        if (answer == IACTA_DONE && honest && is_start && is_exact &&
                            std::abs(report.value() - optimum) > near)
                            fail("the best play is not worth what it says");
                    } else {
                        int32_t played = -1;
                        answer = timed("play", [&] {
                            return iacta_play_games(search, &b, here, random_.next(), int64_t(random_.next()), games,
                                                    gains.data(), &played, &report);
                        });
                        if (answer == IACTA_DONE && b.stop && stop_ && played > 0) fail("not stopped");
                        if (answer <= IACTA_STOPPED && (played < 0 || played > 20)) fail("games that cannot be");
                    }
                    if (answer <= IACTA_STOPPED && !has_room) fail("a report without room");
                    if (answer <= IACTA_STOPPED) check(report.value());
                    break;
                }
                default:
                    for (int steps = random_.from(1, 6); steps > 0; --steps) {
                        double before = least_bound;
                        int answer = timed("bound", [&] { return iacta_improve_bound(search, &b, &value); });
                        if (answer == IACTA_NO_MEMORY) break;
                        least_bound = value;
                        if (!(least_bound <= before)) fail("a bound that rises");
                        if (honest && least_bound < optimum - near) fail("a bound below the best play");
                        if (answer != IACTA_MORE) break;
                        short_of_memory(2000);
                    }
            }
        }
        if (honest && std::isnan(optimum) && least_bound < INFINITY) {
            iacta_budget b{nullptr, 10 * CPU_SECONDS, INT64_MAX, 64 << 20};
            double cost;
            int64_t states;
            short_of_memory(INT32_MAX);
            auto solve = [&] {
                return iacta_solve(search, &b, {state.data(), mine.data()}, nullptr, &optimum, &cost, &states);
            };
            if (timed("solve", solve) == IACTA_DONE && least_bound < optimum - near)
                fail("a bound below the best play");
        }
    }

    Random random_;
    std::vector<uint8_t>& sets_;
    bool was_short_ = false;
    long long failing_ = -1;  // the allocation that fails in the next call
    int32_t stop_ = 0;
};

}  // namespace

int main(int count, char** given) {
    double seconds = count > 1 ? std::atof(given[1]) : 20.0;
    long long first = count > 2 ? std::atoll(given[2]) : 0, last = count > 3 ? std::atoll(given[3]) : INT64_MAX;
    if (count == 3) last = first;
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback([] { std::fprintf(stderr, "case %lld, %s\n", current, doing); });
#endif
    signal(SIGALRM, [](int) { fail("never ends"); });
    auto start = std::chrono::steady_clock::now();
    std::vector<uint8_t> sets;
    for (current = first; current <= last; ++current) {
        std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
        if (passed.count() >= seconds) break;
        Case(uint64_t(current), sets).run();
    }
    std::printf("%lld cases\n", current - first);
}
