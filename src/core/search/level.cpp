#include "search/level.hpp"

#include <algorithm>
#include <bit>

namespace iacta {

std::vector<std::vector<int>> connect_items(const Level& level, const std::vector<int>& weights, Deadline& deadline) {
    size_t count = level.light.size(), items = level.items.size(), sets = size_t{1} << items;
    // First the neighbours of each item, then the territories next to each group, which it can attack directly.
    std::vector<const std::vector<size_t>*> joined;
    std::vector<uint32_t> near_items;
    for (const auto& item : level.items) joined.push_back(&item.near_light), near_items.push_back(item.near_items);
    for (const auto& group : level.groups) joined.push_back(&group.near_light), near_items.push_back(group.near_items);
    // The weights of minimum trees that connect a light territory with a set of items, and an item or group with a set of
    // other items.
    std::vector<int> of_light(sets * count + 1, UNREACHABLE);
    std::vector<std::vector<int>> found(joined.size(), std::vector<int>(sets, UNREACHABLE));
    std::copy(weights.begin(), weights.end(), of_light.begin());
    for (auto& of_sets : found) of_sets[0] = 0;
    for (size_t whole = 1; whole < sets; ++whole) {
        int* trees = &of_light[whole * count];
        // A set without the lowest item of `whole`. Its subsets visit each pair of complementary parts of `whole` only
        // once.
        size_t most = whole & (whole - 1);
        for (size_t part = most; part; part = (part - 1) & most) {
            deadline.spend(int64_t(count));
            const int *a = &of_light[part * count], *b = &of_light[(whole ^ part) * count];
            for (size_t u = 0; u < count; ++u) trees[u] = std::min(trees[u], a[u] + b[u] - weights[u]);
        }
        for (size_t i = 0; i < items; ++i)
            if (whole >> i & 1)
                for (size_t u : *joined[i])
                    trees[u] = std::min(trees[u], found[i][whole ^ size_t{1} << i] + weights[u]);
        for (bool better = true; better;) {
            better = false;
            deadline.spend(10 * int64_t(count));
            for (size_t u = 0; u < count; ++u)
                for (size_t w : level.light[u].near_light)
                    if (trees[w] + weights[u] < trees[u]) trees[u] = trees[w] + weights[u], better = true;
        }
        for (size_t r = 0; r < joined.size(); ++r) {
            if (r < items && whole >> r & 1) continue;
            deadline.spend((int64_t{1} << std::popcount(whole)) + int64_t(joined[r]->size()));
            int best = UNREACHABLE;
            for (size_t part = most; part; part = (part - 1) & most)
                best = std::min(best, found[r][part] + found[r][whole ^ part]);
            for (size_t i = 0; i < items; ++i)
                if (whole >> i & near_items[r] >> i & 1) best = std::min(best, found[i][whole ^ size_t{1} << i]);
            for (size_t u : *joined[r]) best = std::min(best, trees[u]);
            found[r][whole] = best;
        }
    }
    found.erase(found.begin(), found.begin() + int(items));
    for (size_t g = 0; g < level.groups.size(); ++g)
        for (size_t whole = 0; whole < sets; ++whole)
            if (whole & ~size_t(level.groups[g].reach)) found[g][whole] = UNREACHABLE;
    return found;
}

}  // namespace iacta
