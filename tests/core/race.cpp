// Threads that share one search. Each call must return IACTA_BUSY or the result of a single thread. Build this
// program with the thread sanitizer:
//
//     race
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

#include "problems.hpp"

namespace {

constexpr int THREADS = 4, ROUNDS = 60;

[[noreturn]] void fail(const char* why) {
    std::fprintf(stderr, "%s\n", why);
    std::abort();
}

// A row of lands with stacks at both ends and enemies between them.
Problem row(int lands, int stack) {
    Problem p(lands);
    for (int t = 0; t < lands; ++t) {
        bool is_end = t == 0 || t == lands - 1;
        p.owner[size_t(t)] = is_end;
        p.armies[size_t(t)] = is_end ? stack : 2;
        if (t > 0) p.connect(t - 1, t);
    }
    std::vector<int32_t> goal;
    for (int t = 1; t < lands - 1; ++t) goal.push_back(t);
    p.add_set(goal, 1.0);
    p.play_by({Rules{}});
    return p;
}

class Race {
  public:
    Race(const Problem& problem, bool is_solved) : problem_(problem), is_solved_(is_solved) {
        for (int t = 0; t < problem_.lands(); ++t) mine_.push_back(problem_.owner[size_t(t)] == 1);
    }

    void run() {
        iacta_search *shared = open(), *alone = open();
        std::vector<double> wanted;
        for (int kind = 0; kind < KINDS; ++kind) {
            double value = NAN;
            if (ask(alone, kind, value) != IACTA_DONE) fail("no answer alone");
            wanted.push_back(value);
        }
        std::atomic<int> busy = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < THREADS; ++i)
            threads.emplace_back([&, i] {
                for (int round = 0; round < ROUNDS; ++round) {
                    double value = NAN;
                    int kind = (i + round) % KINDS, answer;
                    while ((answer = ask(shared, kind, value)) == IACTA_BUSY) {
                        ++busy;
                        std::this_thread::yield();
                    }
                    if (answer != IACTA_DONE || value != wanted[size_t(kind)]) fail("another answer than alone");
                }
            });
        for (auto& each : threads) each.join();
        if (!busy) fail("never busy");
        std::printf("%d answers, %d times busy\n", THREADS * ROUNDS, int(busy));
        stop(shared);
        iacta_close(alone);
        iacta_close(shared);
    }

  private:
    static constexpr int KINDS = 4;

    iacta_search* open() {
        char message[200];
        iacta_problem view = problem_.view();
        iacta_search* search = iacta_open(&view, message, 200);
        if (!search) fail(message);
        iacta_budget all{nullptr, INFINITY, INT64_MAX, 64 << 20};
        std::vector<uint8_t> sets(size_t(iacta_count_goals(search)) * mine_.size() * mine_.size());
        double value, cost;
        int64_t states;
        if (is_solved_) {
            if (iacta_solve(search, &all, {problem_.armies.data(), mine_.data()}, nullptr, &value, &cost, &states))
                fail("not solved");
        } else {
            iacta_style style{0.01, 1, 1};
            iacta_assign(search, &all, 1, sets.data());
            iacta_follow(search, &all, &style, sets.data());
        }
        return search;
    }

    int ask(iacta_search* search, int kind, double& value) const {
        iacta_budget all{nullptr, INFINITY, INT64_MAX, 64 << 20};
        std::vector<int32_t> armies = problem_.armies;
        armies[0] -= kind % 2;  // two different starts
        std::vector<double> gains(3);
        Report report(problem_.view());
        int answer;
        if (kind < 2) {
            int32_t played = 0;
            answer =
                iacta_play_games(search, &all, {armies.data(), mine_.data()}, 1, 0, 3, gains.data(), &played, &report);
            value = gains[0] + gains[1] + gains[2];
        } else {
            iacta_decision decision{};
            answer = iacta_decide(search, &all, {armies.data(), mine_.data()}, &decision);
            value = decision.value;
        }
        return answer;
    }

    // Stops a call from another thread.
    void stop(iacta_search* search) const {
        int32_t flag = 0;
        iacta_budget budget{&flag, INFINITY, INT64_MAX, 64 << 20};
        std::vector<double> gains(1'000'000);
        Report report(problem_.view());
        int32_t played = 0;
        std::thread stopper([&] { std::atomic_ref<int32_t>(flag).store(1); });
        int answer = iacta_play_games(search, &budget, {problem_.armies.data(), mine_.data()}, 1, 0,
                                      int32_t(gains.size()), gains.data(), &played, &report);
        stopper.join();
        if (answer != IACTA_STOPPED) fail("not stopped");
    }

    const Problem& problem_;
    bool is_solved_;
    std::vector<uint8_t> mine_;
};

}  // namespace

int main() {
    Problem small = row(5, 6), large = row(9, 30);
    Race(small, true).run();
    Race(large, false).run();
}
