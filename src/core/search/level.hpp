// The definition of a relaxed game, and the trees that connect its groups with its items.
#pragma once

#include <cstdint>
#include <vector>

#include "deadline.hpp"

namespace iacta {

constexpr int UNREACHABLE = 1 << 28;  // larger than any number of light territories or defenders

// A relaxed game, as defined in relaxed.hpp: its groups, its items and its light territories, which are numbered from 0,
// the cap `most_light` on the number of light territories taken, and the cap `most_lost` on the number of defenders
// destroyed there. Sets of items are bits.
struct Level {
    struct Group {
        int able;
        std::vector<double> lost;        // [x]: the chance to lose x armies on the way to the first item
        std::vector<size_t> near_light;  // the light territories that the group can attack first
        uint32_t near_items, reach;      // the items that the group can attack first, and all items within its reach
    };
    // A territory of an item: its kind of rules, the armies that must remain on it, and its defenders.
    struct Inner {
        int kind, keep, defenders;
        auto operator<=>(const Inner&) const = default;
    };
    struct Item {
        bool is_goal;
        int left_behind;           // the minimum number of armies that must remain on a territory of the item
        std::vector<Inner> lands;  // sorted
        std::vector<size_t> near_light;
        uint32_t near_items;
    };
    struct Light {
        int kind, keep, left_behind, defenders;
        std::vector<size_t> near_light;
    };

    std::vector<Group> groups;
    std::vector<Item> items;
    std::vector<Light> light;
    int most_light, most_lost;
};

// Returns, for each group and each set of items, the minimum sum of the weights of light territories that connect the
// group with the items: the weight of a Steiner tree (Dreyfus & Wagner). A minimum tree at an item or group either joins
// two smaller trees or extends the tree of a neighbour. The tree of a light territory includes this territory.
std::vector<std::vector<int>> connect_items(const Level& level, const std::vector<int>& weights, Deadline& deadline);

}  // namespace iacta
