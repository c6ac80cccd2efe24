// Runs recursive functions that may need more stack memory than an ordinary thread has.
#pragma once

#include <pthread.h>

#include <cstddef>
#include <exception>
#include <new>
#include <type_traits>
#include <utility>

namespace iacta {

// Runs a call that recurses at most `steps` levels deep, and returns its result or rethrows its exception. A deep
// recursion runs on a new thread with a large stack. W is the number of words in the sets of territories.
template <int W, class Call>
std::invoke_result_t<Call> call_with_stack(int steps, Call call) {
    constexpr size_t USUAL = size_t{1} << 18, ROUND = size_t{1} << 16;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr size_t STEP = W == 1 ? 65536 : 262144;
#else
    constexpr size_t STEP = W == 1 ? 4096 : 16384;
#endif
    size_t bytes = size_t(steps) * STEP;
    if (bytes <= USUAL) return call();
    struct Work {
        Call& call;
        std::invoke_result_t<Call> found;
        std::exception_ptr thrown;
    } work{call, {}, nullptr};
    auto run = [](void* given) -> void* {
        Work& work = *static_cast<Work*>(given);
        try {
            work.found = work.call();
        } catch (...) {
            work.thrown = std::current_exception();
        }
        return nullptr;
    };
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes)) throw std::bad_alloc();
    int fault = pthread_attr_setstacksize(&attributes, (bytes + USUAL + ROUND - 1) / ROUND * ROUND);
    fault = fault ? fault : pthread_create(&thread, &attributes, run, &work);
    pthread_attr_destroy(&attributes);
    if (fault) throw std::bad_alloc();
    pthread_join(thread, nullptr);
    if (work.thrown) std::rethrow_exception(work.thrown);
    return std::move(work.found);
}

}  // namespace iacta
