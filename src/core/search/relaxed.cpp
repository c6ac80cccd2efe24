#include "search/relaxed.hpp"

#include <algorithm>
#include <map>

namespace iacta {

Relaxed::Relaxed(Level level, const Rolls& rolls, bool any, Deadline& deadline)
    : level_(std::move(level)), rolls_(rolls), deadline_(deadline), any_(any), codes_(deadline) {
    std::map<int, int> most_defenders;  // for each kind of rules on light territories
    int64_t spare = 0;
    for (const Level::Light& land : level_.light) {
        most_defenders[land.kind] = std::max(most_defenders[land.kind], land.defenders);
        light_kept_ = std::min(light_kept_, land.keep);
        light_least_ = std::min(light_least_, land.left_behind);
        spare += land.defenders - 1;
    }
    for (auto [kind, most] : most_defenders)
        for (int d = 1; d <= std::min(most, std::max(rolls_.step + 1, rolls_.count_rows(kind))); ++d)
            light_rows_.push_back({kind, d});
    for (const Level::Item& item : level_.items) {
        first_.push_back(inner_.size());
        inner_.insert(inner_.end(), item.lands.begin(), item.lands.end());
    }
    first_.push_back(inner_.size());
    connect();
    is_capped_ = is_capped_ || level_.most_lost < spare;
    int bits = 0;
    auto digit = [&](int64_t most) {
        int width = 1;
        while (most >> width) ++width;
        shift_.push_back(bits);
        mask_.push_back((int64_t{1} << width) - 1);
        place_.push_back(bits < CODE_BITS ? Code{1} << bits : Code{0});
        if (bits + width <= CODE_BITS) start_ += Code(uint64_t(most)) << bits;
        bits += width;
    };
    for (const Level::Inner& land : inner_) digit(land.defenders);
    for (size_t i = 0; i < level_.items.size(); ++i) digit((int64_t{1} << level_.groups.size()) - 1);
    for (size_t g = 0; g < level_.groups.size(); ++g) {
        caps_.push_back(useful_[g][0]);
        digit(caps_.back());
    }
    caps_.push_back(int(std::min<int64_t>(level_.most_lost, spare)));
    digit(caps_.back());
    is_sound_ = bits <= CODE_BITS;
}

bool Relaxed::explore(int64_t most, int64_t work, int64_t bytes) {
    is_large_ = true;
    if (!is_sound_) return false;
    std::vector<Code> waiting{start_};
    codes_.add(start_);
    std::vector<Attack> attacks;
    View view;
    while (!waiting.empty()) {
        deadline_.spend();
        Code code = waiting.back();
        waiting.pop_back();
        decode(code, view);
        double size = 1.0;
        for (int able : view.able) size *= able + 1;
        if (double(values_) + size > double(most)) return false;
        values_ += int64_t(size);
        if (WORK_PER_STATE * ++states_ > work) return is_large_ = false;
        int64_t bytes_per_state = int64_t(sizeof(Code) + sizeof(size_t) * (1 + level_.groups.size()));
        if (values_ * int64_t(sizeof(double)) + states_ * bytes_per_state + int64_t(codes_.bytes()) > bytes)
            return false;
        if (is_won(view)) continue;
        find_attacks(code, view, attacks);
        for (size_t a = 0; a < attacks.size(); ++a)
            for (int lost = 1; lost <= std::min(attacks[a].defenders, rolls_.step); ++lost) {
                deadline_.spend(50);
                Code next = after_[a * (rolls_.step + 1) + lost];
                if (codes_.add(next)) waiting.push_back(next);
            }
    }
    return true;
}

double Relaxed::value() {
    solve();
    View start;
    decode(start_, start);
    return average_losses(0, start, begin_.back());
}

// Computes N, E, K and T, as defined in relaxed.hpp, for each group and each set of items.
void Relaxed::connect() {
    size_t items = level_.items.size(), sets = size_t{1} << items;
    std::vector<int> ones(level_.light.size(), 1), armies, spare;
    for (const auto& land : level_.light) armies.push_back(land.defenders), spare.push_back(land.defenders - 1);
    nodes_ = spare_ = whole_ = connect_items(level_, ones, deadline_);
    if (level_.most_light) {
        spare_ = connect_items(level_, spare, deadline_);
        whole_ = connect_items(level_, armies, deadline_);
    }
    toll_ = nodes_;
    for (size_t g = 0; g < level_.groups.size(); ++g) {
        useful_.emplace_back(sets, 0);
        for (size_t q = sets; q-- > 0;) {
            deadline_.spend(10 * int64_t(items));
            int most = std::max(nodes_[g][q], whole_[g][q]);
            int need = nodes_[g][q] < UNREACHABLE ? std::min(most, level_.most_light) : 0;
            is_capped_ = is_capped_ || need < (nodes_[g][q] < UNREACHABLE ? most : 0);
            for (size_t i = 0; i < items; ++i) {
                need = std::max(need, useful_[g][q | size_t{1} << i]);
                toll_[g][q] = std::min(toll_[g][q], toll_[g][q | size_t{1} << i]);
            }
            useful_[g][q] = need;
        }
        if (level_.most_light) continue;
        // If light territories are not counted, the first attack of a group is on an item.
        toll_[g][0] = UNREACHABLE;
        for (size_t i = 0; i < items; ++i) toll_[g][0] = std::min(toll_[g][0], toll_[g][size_t{1} << i]);
    }
}

int Relaxed::digit(Code code, size_t i) const { return int(int64_t(code >> shift_[i]) & mask_[i]); }

void Relaxed::decode(Code code, View& view) const {
    size_t n = level_.groups.size(), digits = inner_.size();
    view.defenders.resize(inner_.size());
    view.outside.resize(level_.items.size());
    view.light.resize(n);
    view.able.resize(n);
    view.owned.assign(n, 0);
    for (size_t j = 0; j < inner_.size(); ++j) view.defenders[j] = digit(code, j);
    for (size_t i = 0; i < level_.items.size(); ++i) {
        view.outside[i] = uint64_t(digit(code, digits++));
        for (size_t g = 0; g < n; ++g)
            if (!(view.outside[i] >> g & 1)) view.owned[g] |= 1u << i;
    }
    for (size_t g = 0; g < n; ++g) {
        view.light[g] = caps_[g] - digit(code, digits++);
        int able = level_.groups[g].able - count_toll(view, g, view.owned[g]);
        for (size_t i = 0; i < level_.items.size(); ++i)
            if (view.owned[g] >> i & 1) able -= level_.items[i].left_behind;
        view.able[g] = std::max(able, 0);
    }
    view.lost = caps_[n] - digit(code, digits);
}

// Returns whether all territories of an item are taken.
bool Relaxed::is_taken(const View& view, size_t item) const {
    for (size_t j = first_[item]; j < first_[item + 1]; ++j)
        if (view.defenders[j]) return false;
    return true;
}

// Returns the number of armies that a group must leave on light territories, which are outside all items, if it
// owns territories of the items in `owned`.
int Relaxed::count_toll(const View& view, size_t g, uint32_t owned) const {
    return light_least_ * std::max(view.light[g], toll_[g][owned]);
}

bool Relaxed::is_won(const View& view) const {
    uint64_t everyone = (uint64_t{1} << level_.groups.size()) - 1;
    for (size_t i = 0; i < level_.items.size(); ++i) {
        if (any_ && level_.items[i].is_goal && view.outside[i] != everyone) return true;
        if (!any_ && level_.items[i].is_goal && !is_taken(view, i)) return false;
    }
    return !any_;
}

bool Relaxed::is_dead_end(const View& view, size_t item) const {
    bool ends = level_.items[item].lands.size() == 1 && level_.items[item].near_light.empty();
    for (size_t k = 0; k < level_.items.size(); ++k)
        ends = ends && (is_taken(view, k) || !(level_.items[item].near_items >> k & 1));
    return ends;
}

// Lists the attacks that are possible in a state. Writes the states after losses of 0, 1, 2, ... defenders in each
// attack to `after_`.
void Relaxed::find_attacks(Code code, const View& view, std::vector<Attack>& attacks) {
    attacks.clear();
    after_.clear();
    size_t n = level_.groups.size();
    int cap = caps_[n], step = rolls_.step;
    const Code *outside = &place_[inner_.size()], *light = outside + level_.items.size(), pool = light[n];
    int64_t spent = 0;
    for (size_t g = 0; g < n; ++g) spent += spare_[g][view.owned[g]];
    for (size_t g = 0; g < n; ++g) {
        if (!view.able[g]) continue;
        deadline_.spend(20 * int64_t(level_.items.size()));
        uint32_t owned = view.owned[g];
        int64_t others = spent - spare_[g][owned];
        bool wanted = view.light[g] < caps_[g] && view.light[g] < useful_[g][owned];
        for (auto [kind, defenders] : light_rows_) {
            bool useful = false;
            after_.push_back(code);
            for (int lost = 1; lost <= step; ++lost) {
                Code next = code;
                if (lost <= defenders) {
                    next -= Code(std::min(lost, std::min(defenders - 1, cap - view.lost))) * pool;
                    if (lost == defenders && wanted) next -= light[g];
                    useful = useful || next != code;
                }
                after_.push_back(next);
            }
            if (useful) attacks.push_back({int(g), kind, defenders, wanted ? light_kept_ : 0, 0});
            else after_.resize(attacks.size() * (step + 1));
        }
        for (size_t i = 0; i < level_.items.size(); ++i) {
            uint32_t more = owned | 1u << i;
            if (nodes_[g][more] >= UNREACHABLE || is_taken(view, i)) continue;
            if (view.light[g] < std::min(nodes_[g][more], caps_[g])) continue;
            int64_t whole = std::min<int64_t>(whole_[g][more] + others - view.lost, caps_[g]);
            if (view.lost < cap && (view.lost < spare_[g][more] + others || view.light[g] < whole)) continue;
            // The armies that advance to a dead end cannot return.
            int kept = is_dead_end(view, i) ? UNREACHABLE : 0;
            int toll = count_toll(view, g, more) - count_toll(view, g, owned);
            for (size_t j = first_[i]; j < first_[i + 1]; ++j) {
                int defenders = view.defenders[j];
                if (!defenders || (is_alike(i, j) && view.defenders[j - 1] == defenders)) continue;
                deadline_.spend(10 * step);
                attacks.push_back({int(g), inner_[j].kind, defenders, std::max(kept, inner_[j].keep), toll});
                after_.push_back(code);
                for (int lost = 1; lost <= step; ++lost) {
                    after_.push_back(code);
                    if (lost > defenders) continue;
                    size_t k = j;  // keep interchangeable territories sorted by their defenders
                    for (; is_alike(i, k) && view.defenders[k - 1] > defenders - lost; --k)
                        after_.back() -= Code(view.defenders[k] - view.defenders[k - 1]) * place_[k];
                    after_.back() -= Code(view.defenders[k] - defenders + lost) * place_[k];
                    if (lost == defenders && !(owned >> i & 1)) after_.back() -= outside[i] << g;
                }
            }
        }
    }
}
// Returns whether territory j of an item is interchangeable with territory j - 1 except for the number of
// defenders.
bool Relaxed::is_alike(size_t item, size_t j) const {
    return j > first_[item] && inner_[j - 1].kind == inner_[j].kind && inner_[j - 1].keep == inner_[j].keep;
}

}  // namespace iacta
