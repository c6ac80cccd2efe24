// When a search ends: at a signal, at a time, or when its budget is spent.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <vector>

#include "iacta.h"

namespace iacta {

// Thrown where a search is stopped in the middle of something.
struct Stopped {};

// Stops a search: when it is told to, when the time is over, or when its budget is spent. Whoever
// works says how much, in steps of about a nanosecond; now and then the clock is looked at.
class Deadline {
  public:
    Deadline() = default;
    explicit Deadline(const iacta_budget& budget)
        : stop_(budget.stop), end_(clock::now() + seconds_of(budget.seconds)),
          states_(std::clamp<int64_t>(budget.states, 0, MOST)), bytes_(std::clamp<int64_t>(budget.bytes, 0, MOST)) {}

    static constexpr int64_t STATE = 1000;  // what looking at a state takes

    bool over(int64_t work = STATE) {
        done_ += work;
        if ((left_ -= work) < 0) look();
        return over_;
    }
    // The same, for what cannot be left half done.
    void go_on(int64_t work = STATE) {
        if (over(work)) throw Stopped{};
    }
    bool passed() const { return over_; }
    int64_t done() const { return done_; }  // how much work there was
    int64_t states() const { return states_; }
    int64_t bytes() const { return bytes_; }

  private:
    using clock = std::chrono::steady_clock;

    static constexpr int64_t LOOK = 100'000, MOST = int64_t{1} << 56;

    static clock::duration seconds_of(double seconds) {
        double most = seconds > 0.0 ? std::min(seconds, 1e8) : 0.0;
        return std::chrono::duration_cast<clock::duration>(std::chrono::duration<double>(most));
    }
    void look() {
        left_ = LOOK;
        over_ = over_ || (stop_ && std::atomic_ref<int32_t>(*stop_).load(std::memory_order_relaxed)) ||
                clock::now() >= end_;
    }

    int32_t* stop_ = nullptr;
    clock::time_point end_ = clock::time_point::max();
    int64_t states_ = MOST, bytes_ = MOST, left_ = 0, done_ = 0;
    bool over_ = false;
};

// A vector of so many equal values, whose memory may take long to fill.
template <class T>
std::vector<T> filled(size_t size, const T& value, Deadline& deadline) {
    constexpr size_t STEP = size_t{1} << 16;
    std::vector<T> all;
    all.reserve(size);
    while (all.size() < size) {
        deadline.go_on(STEP);
        all.resize(std::min(size, all.size() + STEP), value);
    }
    return all;
}

}  // namespace iacta
