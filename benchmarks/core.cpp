// The speed of the core without Python, and how soon it stops: `make bench-core`.
//
// Each call gets hard problems and a stop flag after some time. No call may return later than a tenth of a
// second after the flag.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "problems.hpp"

namespace {

constexpr int64_t BYTES = 500 << 20, STATES = 3'000'000;
constexpr double LIMIT = 0.1;  // the most seconds from the flag to the return

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

// A board of rows and columns with some diagonals, stacks on it, and its left half as the goal.
Problem board(int columns, int rows, int stacks, int armies, int defenders, const Rules& rules) {
    int lands = columns * rows;
    Problem p(lands);
    uint32_t seed = 1;
    auto random = [&](int count) { return int((seed = seed * 1664525u + 1013904223u) >> 8) % count; };
    std::vector<int32_t> goal;
    for (int t = 0; t < lands; ++t) {
        int column = t % columns;
        if (column + 1 < columns) p.connect(t, t + 1);
        if (t + columns < lands) p.connect(t, t + columns);
        if (column + 1 < columns && t + columns < lands && random(2)) p.connect(t, t + columns + 1);
        p.armies[size_t(t)] = 1 + random(defenders);
    }
    for (int i = 0; i < stacks; ++i) {
        size_t t = size_t(random(lands));
        p.owner[t] = 1;
        p.armies[t] = armies / 2 + random(armies / 2 + 1);
    }
    for (int t = 0; t < lands; ++t)
        if (!p.owner[size_t(t)] && t % columns < columns / 2) goal.push_back(t);
    p.add_set(goal, 1.0);
    p.play_by({rules});
    return p;
}

class Bench {
  public:
    Bench(const char* name, const Problem& p) : p_(p), mine_(size_t(p.lands())), gains_(100'000), outcomes_(1000) {
        iacta_problem view = p.view();
        char message[100];
        search_ = iacta_open(&view, message, 100);
        std::printf("%s%s\n", name, search_ ? "" : message);
        sets_.resize(size_t(iacta_count_goals(search_)) * mine_.size() * mine_.size());
        for (size_t t = 0; t < mine_.size(); ++t) mine_[t] = p.owner[t] == 1;
    }
    ~Bench() { iacta_close(search_); }

    bool run() {
        int32_t stop = 0;
        iacta_budget all{nullptr, 1.0, STATES, BYTES}, stopped{&stop, 100.0, INT64_MAX, BYTES};
        double value, cost, bound = 0.0;
        int64_t states = 0;
        iacta_state here{p_.armies.data(), mine_.data()};
        int32_t played = 0;
        Report report(p_.view());
        iacta_decision decision{};
        decision.room = 1000;
        decision.outcomes = outcomes_.data();
        double start = now();
        iacta_solve(search_, &all, here, nullptr, &value, &cost, &states);
        std::printf("  %.0f thousand states a second", double(states) / (now() - start) / 1000.0);
        iacta_style style{0.002, 2, 0};
        iacta_assign(search_, &all, 3, sets_.data());
        iacta_follow(search_, &all, &style, sets_.data());
        start = now();
        iacta_play_games(search_, &all, here, 1, 0, 1000, gains_.data(), &played, &report);
        if (played) std::printf(", %.2f ms a game", 1000.0 * (now() - start) / played);
        std::printf(", stopped after ms:");
        bool soon = true;
        auto call = [&](const char* name, auto ask) {
            double worst = 0.0;
            for (double after : {0.0, 0.03, 0.3, 1.0}) {
                stop = 0;
                std::atomic<double> at = now();
                std::thread stopper([&] {
                    std::this_thread::sleep_for(std::chrono::duration<double>(after));
                    at = now();
                    std::atomic_ref<int32_t>(stop).store(1);
                });
                bool was_stopped = ask() == IACTA_STOPPED;
                double end = now();
                stopper.join();
                if (was_stopped) worst = std::max(worst, end - at);
            }
            std::printf(" %s %.1f", name, 1000.0 * worst);
            soon = soon && worst < LIMIT;
        };
        call("decide", [&] { return iacta_decide(search_, &stopped, here, &decision); });
        call("flow", [&] { return iacta_evaluate_policy(search_, &stopped, here, &report); });
        call("play", [&] {
            return iacta_play_games(search_, &stopped, here, 1, 0, int32_t(gains_.size()), gains_.data(), &played,
                                    &report);
        });
        call("assign", [&] { return iacta_assign(search_, &stopped, 1000, sets_.data()); });
        call("solve", [&] { return iacta_solve(search_, &stopped, here, nullptr, &value, &cost, &states); });
        call("bound", [&] {
            int32_t answer;
            do answer = iacta_improve_bound(search_, &stopped, &bound);
            while (answer == IACTA_MORE);
            return answer;
        });
        std::printf("%s\n", soon ? "" : "  TOO LATE");
        return soon;
    }

  private:
    const Problem& p_;
    iacta_search* search_;
    std::vector<uint8_t> sets_, mine_;
    std::vector<double> gains_;
    std::vector<iacta_outcome> outcomes_;
};

}  // namespace

int main() {
    Rules classic, whole, sees_first;
    whole.whole = true;
    sees_first.sees_first = true;
    struct {
        const char* name;
        Problem problem;
    } all[]{
        {"8 territories, 2 stacks of 12", board(4, 2, 2, 12, 3, classic)},
        {"42 territories, 6 stacks of 30", board(7, 6, 6, 30, 4, classic)},
        {"42 territories, the defender sees first", board(7, 6, 6, 30, 4, sees_first)},
        {"42 territories, stacks of 500", board(7, 6, 4, 500, 20, classic)},
        {"42 territories, whole battles", board(7, 6, 6, 30, 4, whole)},
        {"20 territories, whole battles of 100 against 100", board(5, 4, 3, 100, 100, whole)},
        {"60 territories, 8 stacks of 20", board(10, 6, 8, 20, 4, classic)},
        {"240 territories, 20 stacks of 40", board(16, 15, 20, 40, 5, classic)},
    };
    bool soon = true;
    for (const auto& each : all) soon = Bench(each.name, each.problem).run() && soon;
    return soon ? 0 : 1;
}
