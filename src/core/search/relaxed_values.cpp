#include <algorithm>
#include <cstring>

#include "search/relaxed.hpp"

namespace iacta {

namespace {

// Two adjacent values in a table, which SIMD instructions process together.
typedef double Pair __attribute__((vector_size(16)));

}  // namespace

void Relaxed::find_plan(const std::vector<Attack>& attacks, Plan& plan) const {
    plan.actions.clear();
    plan.parts.clear();
    plan.returns.clear();
    plan.next.clear();
    for (size_t a = 0; a < attacks.size(); ++a) {
        const Attack& attack = attacks[a];
        const Row& row = rolls_.row(attack.kind, attack.defenders);
        size_t first = plan.next.size(), g = size_t(attack.group);
        for (int lost = 0; lost <= std::min(attack.defenders, rolls_.step); ++lost)
            plan.next.push_back(size_t(codes_.number(after_[a * (rolls_.step + 1) + lost])));
        for (const Choice& choice : attack.kept <= 1 && !row.plain.empty() ? row.plain : row.choices) {
            plan.actions.push_back({g, attack.toll + choice.from, attack.toll + choice.to, plan.parts.size(), 0, NONE});
            const Losses* same = g + 1 == level_.groups.size() ? find_only_return(choice) : nullptr;
            if (same) plan.actions.back().again = find_return(same->chance, size_t(same->attackers), plan.returns);
            for (const Throw& thrown : choice.throws) {
                for (const auto& answer : thrown.answers) {
                    for (const Losses& result : answer) {
                        deadline_.spend(10);
                        if (&result == same) continue;
                        int gone = result.attackers;
                        if (result.defenders == attack.defenders)
                            gone += attack.toll + std::min(result.advance, attack.kept);
                        size_t after = first + size_t(result.defenders);
                        size_t back = size_t(gone) * strides_[plan.next[after] * level_.groups.size() + g];
                        plan.parts.push_back({result.chance, after, back, false, -1.0, 0});
                    }
                    if (plan.parts.size() > plan.actions.back().first) plan.parts.back().is_last = true;
                }
                if (plan.parts.size() > plan.actions.back().first) plan.parts.back().thrown = thrown.chance;
            }
            plan.actions.back().count = plan.parts.size() - plan.actions.back().first;
        }
    }
    plan.place.resize(plan.next.size());
}

// Returns the result of a roll in which no defender is lost, or null if there are several such results or if the
// defender can choose between answers.
const Losses* Relaxed::find_only_return(const Choice& choice) {
    const Losses* found = nullptr;
    if (choice.throws.size() > 1 || choice.throws[0].answers.size() > 1) return nullptr;
    for (const Losses& result : choice.throws[0].answers[0])
        if (!result.defenders) {
            if (found) return nullptr;
            found = &result;
        }
    return found;
}
size_t Relaxed::find_return(double chance, size_t back, std::vector<Return>& returns) {
    for (size_t i = 0; i < returns.size(); ++i)
        if (returns[i].chance == chance && returns[i].back == back) return i;
    returns.push_back({chance, back, {}});
    return returns.size() - 1;
}

void Relaxed::solve() {
    std::vector<Code> states = codes_.number_codes();
    size_t n = level_.groups.size(), last = n - 1, total = 0;
    strides_ = fill_vector(states.size() * n, size_t{1}, deadline_);
    begin_.reserve(states.size());
    View view;
    for (size_t r = 0; r < states.size(); ++r) {
        deadline_.spend();
        decode(states[r], view);
        for (size_t g = last; g > 0; --g) strides_[r * n + g - 1] = strides_[r * n + g] * size_t(view.able[g] + 1);
        begin_.push_back(total);
        total += strides_[r * n] * size_t(view.able[0] + 1);
    }
    values_at_ = fill_vector(total, 0.0, deadline_);
    std::vector<Attack> attacks;
    Plan plan;
    std::vector<int> budgets(n);
    for (size_t r = 0; r < states.size(); ++r) {
        decode(states[r], view);
        double* line = &values_at_[begin_[r]];
        double* end = values_at_.data() + (r + 1 < states.size() ? begin_[r + 1] : total);
        if (is_won(view)) {
            std::fill(line, end, 1.0);
            continue;
        }
        find_attacks(states[r], view, attacks);
        find_plan(attacks, plan);
        std::fill(budgets.begin(), budgets.end(), 0);
        int width = view.able[last] + 1;
        for (; line < end; line += width) {
            for (size_t i = 0; i < plan.next.size(); ++i) {
                plan.place[i] = begin_[plan.next[i]];
                for (size_t h = 0; h < last; ++h) plan.place[i] += size_t(budgets[h]) * strides_[plan.next[i] * n + h];
            }
            for (Part& part : plan.parts) part.from = plan.place[part.after] - part.back;
            solve_line(line, width, &strides_[r * n], budgets, plan);
            for (size_t g = last; g-- > 0;) {
                if (++budgets[g] <= view.able[g]) break;
                budgets[g] = 0;
            }
        }
    }
}

// Computes the values of a state for all budgets of the last group. The budgets of the other groups are fixed.
void Relaxed::solve_line(double* line, int width, const size_t* stride, const std::vector<int>& budgets,
                         Plan& plan) const {
    size_t last = level_.groups.size() - 1;
    bool is_hard = false;
    deadline_.spend(int64_t(budgets.size() * plan.next.size() + plan.parts.size()));
    for (size_t g = 0; g < last; ++g)  // a value is at least the value for a smaller budget
        for (int x = 0; budgets[g] && x < width; ++x) line[x] = std::max(line[x], (line - stride[g])[x]);
    for (Return& again : plan.returns) again.rest.assign(size_t(width), -1.0);
    for (const Action& action : plan.actions) {
        if (action.group != last) {
            if (budgets[action.group] >= action.from && budgets[action.group] < action.to)
                raise(line, 0, width, action, plan);
        } else if (action.again != NONE) {
            raise(plan.returns[action.again].rest.data(), action.from, std::min(action.to, width), action, plan);
        } else {
            is_hard = true;
        }
    }
    // Compute the values in ascending order, because rolls of the last group lead to smaller budgets.
    for (int x = 1; x < width; ++x) {
        double best = std::max(line[x], line[x - 1]);
        for (const Return& again : plan.returns)
            if (again.rest[size_t(x)] >= 0.0)
                best = std::max(best, again.rest[size_t(x)] + again.chance * line[size_t(x) - again.back]);
        deadline_.spend(int64_t(plan.returns.size() + is_hard * 2 * plan.parts.size()));
        if (is_hard)
            for (const Action& action : plan.actions)
                if (action.group == last && action.again == NONE && action.from <= x && x < action.to)
                    best = std::max(best, value_of<double>(action, x, plan));
        line[x] = best;
    }
}

// Raises values[x] to the value of a roll, if that is greater, for budgets x from `first` to `end` - 1 of the last
// group.
void Relaxed::raise(double* values, int first, int end, const Action& action, const Plan& plan) const {
    deadline_.spend(std::max(end - first, 0) * int64_t(action.count));
    const Part* parts = plan.parts.data() + action.first;
    auto at = [&](size_t i, int x) {
        Pair found;
        std::memcpy(&found, &values_at_[parts[i].from + size_t(x)], sizeof found);
        return parts[i].chance * found;
    };
    auto raise_by = [&](auto value) {
        int x = first;
        for (; x + 1 < end; x += 2) {
            Pair old, best = value(x);
            std::memcpy(&old, values + x, sizeof old);
            best = best > old ? best : old;
            std::memcpy(values + x, &best, sizeof best);
        }
        if (x < end) values[x] = std::max(values[x], value_of<double>(action, x, plan));
    };
    // Most rolls have only one or two results besides a Return. Separate code for these cases halves the time.
    bool is_sum = action.count > 0 && parts[action.count - 1].thrown == 1.0;
    if (is_sum && action.count == 1) raise_by([&](int x) { return at(0, x); });
    else if (is_sum && action.count == 2 && !parts[0].is_last) raise_by([&](int x) { return at(0, x) + at(1, x); });
    else raise_by([&](int x) { return value_of<Pair>(action, x, plan); });
}

// Returns the value of a roll if the defender's answers are the worst for the attacker. x: the budget of the last
// group. If `Values` is Pair, returns the values for the budgets x and x + 1.
template <class Values>
Values Relaxed::value_of(const Action& action, int x, const Plan& plan) const {
    Values value{}, mean{}, least = Values{} + 2.0, each;
    for (const Part *part = plan.parts.data() + action.first, *end = part + action.count; part < end; ++part) {
        std::memcpy(&each, &values_at_[part->from + size_t(x)], sizeof each);
        mean += part->chance * each;
        if (!part->is_last) continue;
        least = mean < least ? mean : least;
        mean = Values{};
        if (part->thrown < 0.0) continue;
        value += part->thrown * least;
        least = Values{} + 2.0;
    }
    return value;
}

// Returns the value at the start, averaged over the losses that the groups suffer before they reach items.
double Relaxed::average_losses(size_t g, const View& start, size_t place) const {
    if (g == level_.groups.size()) return values_at_[place];
    const std::vector<double>& lost = level_.groups[g].lost;
    size_t stride = strides_[strides_.size() - level_.groups.size() + g];
    double sum = 0.0;
    deadline_.spend(int64_t(lost.size()));
    for (size_t x = 0; x < lost.size(); ++x)
        if (lost[x] > 0.0)
            sum += lost[x] * average_losses(g + 1, start, place + size_t(std::max(start.able[g] - int(x), 0)) * stride);
    return sum;
}

}  // namespace iacta
