// Sets of territories, and random numbers that are the same on every machine.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace iacta {

// A set of territories: territory t is bit t % 64 of word t / 64.
template <int W>
struct Set {
    uint64_t words[W] = {};

    // An iterator over the territories of a set in ascending order.
    struct Iterator;
    Iterator begin() const { return {*this}; }
    std::default_sentinel_t end() const { return {}; }

    static Set of(int t) {
        Set one;
        one.words[t >> 6] = uint64_t{1} << (t & 63);
        return one;
    }
    bool has(int t) const { return words[t >> 6] >> (t & 63) & 1; }
    void add(int t) { words[t >> 6] |= uint64_t{1} << (t & 63); }
    void remove(int t) { words[t >> 6] &= ~(uint64_t{1} << (t & 63)); }
    bool any() const {
        uint64_t found = 0;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) found |= words[i];
        return found != 0;
    }
    bool meets(const Set& other) const { return (*this & other).any(); }
    bool is_within(const Set& other) const { return !(*this - other).any(); }
    int count() const {
        int total = 0;
        for (int i = 0; i < W; ++i) total += std::popcount(words[i]);
        return total;
    }
    // Returns the lowest territory of the set, or -1 for the empty set.
    int first() const {
        for (int i = 0; i < W; ++i)
            if (words[i]) return 64 * i + std::countr_zero(words[i]);
        return -1;
    }
    int pop() {
        for (int i = 0; i < W; ++i)
            if (words[i]) {
                int t = 64 * i + std::countr_zero(words[i]);
                words[i] &= words[i] - 1;
                return t;
            }
        return -1;
    }
    bool operator==(const Set&) const = default;
    Set operator|(const Set& other) const {
        Set result;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) result.words[i] = words[i] | other.words[i];
        return result;
    }
    Set operator&(const Set& other) const {
        Set result;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) result.words[i] = words[i] & other.words[i];
        return result;
    }
    // Returns the territories of this set that are not in `other`.
    Set operator-(const Set& other) const {
        Set result;
#pragma GCC unroll 16
        for (int i = 0; i < W; ++i) result.words[i] = words[i] & ~other.words[i];
        return result;
    }
    Set& operator|=(const Set& other) { return *this = *this | other; }
    Set& operator&=(const Set& other) { return *this = *this & other; }
    Set& operator-=(const Set& other) { return *this = *this - other; }
};

template <int W>
struct Set<W>::Iterator {
    Set rest;

    int operator*() const { return rest.first(); }
    Iterator& operator++() {
        rest.pop();
        return *this;
    }
    bool operator==(std::default_sentinel_t) const { return !rest.any(); }
};

// Returns the territories of a set in ascending order.
template <int W>
std::vector<int> list_territories(const Set<W>& set) {
    std::vector<int> found;
    for (int t : set) found.push_back(t);
    return found;
}

// Returns the splitmix64 hash of a 64-bit number (Steele, Lea & Flood 2014).
inline uint64_t hash_number(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

// A random number generator that applies splitmix64 to a counter.
struct Random {
    uint64_t state;

    explicit Random(uint64_t seed) : state(hash_number(seed)) {}
    uint64_t next() { return hash_number(state++); }
    double draw_uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
    int draw_below(int count) { return static_cast<int>(next() % static_cast<uint64_t>(count)); }
};

}  // namespace iacta
