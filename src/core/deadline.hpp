// The limits of a search: a stop flag, a time limit, and maximum numbers of states and bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "iacta.h"

namespace iacta {

// The exception that ends a search when a limit is reached.
struct Stopped {};

// Decides when a search must stop. The search reports its work to `is_over` or `spend`, in units of about a nanosecond.
// These functions check the stop flag and the clock after every WORK_PER_CHECK units.
class Deadline {
  public:
    Deadline() = default;
    explicit Deadline(const iacta_budget& budget)
        : stop_(budget.stop), end_(clock::now() + limit_seconds(budget.seconds)),
          states_(std::clamp<int64_t>(budget.states, 0, MAX_LIMIT)),
          bytes_(std::clamp<int64_t>(budget.bytes, 0, MAX_LIMIT)) {}

    static constexpr int64_t STATE = 1000;  // the default work: the typical work of a search for one state

    bool is_over(int64_t work = STATE) {
        done_ += work;
        if ((left_ -= work) < 0) check_clock();
        return over_;
    }
    // Reports work, and throws Stopped if the search must stop.
    void spend(int64_t work = STATE) {
        if (is_over(work)) throw Stopped{};
    }
    int64_t work_done() const { return done_; }  // all work reported so far
    int64_t states() const { return states_; }
    int64_t bytes() const { return bytes_; }

  private:
    using clock = std::chrono::steady_clock;

    static constexpr int64_t WORK_PER_CHECK = 100'000, MAX_LIMIT = int64_t{1} << 56;

    static clock::duration limit_seconds(double seconds) {
        double limit = seconds > 0.0 ? std::min(seconds, 1e8) : 0.0;
        return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(limit));
    }
    void check_clock() {
        left_ = WORK_PER_CHECK;
        over_ = over_ || (stop_ && std::atomic_ref<int32_t>(*stop_).load(std::memory_order_relaxed)) ||
                clock::now() >= end_;
    }

    int32_t* stop_ = nullptr;
    clock::time_point end_ = clock::time_point::max();
    int64_t states_ = MAX_LIMIT, bytes_ = MAX_LIMIT, left_ = 0, done_ = 0;
    bool over_ = false;
};

// Returns a vector of `size` copies of a value. Throws Stopped if the search must stop.
template <class T>
std::vector<T> fill_vector(size_t size, const T& value, Deadline& deadline) {
    constexpr size_t STEP = size_t{1} << 16;
    std::vector<T> all;
    all.reserve(size);
    while (all.size() < size) {
        deadline.spend(STEP);
        all.resize(std::min(size, all.size() + STEP), value);
    }
    return all;
}

}  // namespace iacta
