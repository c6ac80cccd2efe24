// The codes of the states of a relaxed game.
#pragma once

#include <algorithm>
#include <vector>

#include "deadline.hpp"
#include "sets.hpp"

namespace iacta {

// A state of a relaxed game, packed into the bits of one integer.
using Code = unsigned __int128;
constexpr int CODE_BITS = 127;

// A hash table of the codes of states. It can number the codes in ascending order.
class Codes {
  public:
    explicit Codes(Deadline& deadline) : deadline_(deadline), keys_(FIRST_SIZE, NONE) {}

    // Adds the code of a state. Returns whether it is new.
    bool add(Code code) {
        if (is_full()) grow();
        size_t place = find_slot(code);
        if (keys_[place] != NONE) return false;
        keys_[place] = code;
        ++count_;
        return true;
    }
    // Numbers all codes in ascending order. Returns the codes in this order.
    std::vector<Code> number_codes() {
        std::vector<Code> found;
        found.reserve(count_);
        for (Code key : keys_) {
            deadline_.spend(5);
            if (key != NONE) found.push_back(key);
        }
        std::sort(found.begin(), found.end(), [this](Code a, Code b) {
            deadline_.spend(5);
            return a < b;
        });
        numbers_ = fill_vector(keys_.size(), int32_t{0}, deadline_);
        for (size_t r = 0; r < found.size(); ++r) {
            deadline_.spend(100);
            numbers_[find_slot(found[r])] = int32_t(r);
        }
        return found;
    }
    int32_t number(Code code) const { return numbers_[find_slot(code)]; }
    // Returns the peak memory, in bytes, while another code is added. While the table grows, the old table stays in
    // memory.
    size_t bytes() const { return keys_.size() * (sizeof(Code) + sizeof(int32_t)) * (is_full() ? 3 : 1); }

  private:
    static constexpr Code NONE = ~Code{0};
    static constexpr size_t FIRST_SIZE = 1024;

    bool is_full() const { return 2 * (count_ + 1) > keys_.size(); }

    size_t find_slot(Code code) const {
        size_t place = hash_number(uint64_t(code) ^ hash_number(uint64_t(code >> 64))) & (keys_.size() - 1);
        while (keys_[place] != NONE && keys_[place] != code) place = (place + 1) & (keys_.size() - 1);
        return place;
    }
    void grow() {
        std::vector<Code> old = fill_vector(2 * keys_.size(), NONE, deadline_);
        old.swap(keys_);
        for (Code key : old) {
            deadline_.spend(100);
            if (key != NONE) keys_[find_slot(key)] = key;
        }
    }

    Deadline& deadline_;
    std::vector<Code> keys_;
    std::vector<int32_t> numbers_;
    size_t count_ = 0;
};

}  // namespace iacta
