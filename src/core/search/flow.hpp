// How a policy goes, exactly: the probability of visiting each state, by one forward pass. "Exactly" is
// but for rounding, for the battles as their tables have them (without chances below 1e-18), and as far
// as keys tell states apart.
//
// Where the defender has a choice, it answers in the way that is worst for the policy: what the
// policy is worth in each state that it may come to is found first, by
//
//     V(s) = Σ_y P(y) · min over answers j of Σ_z P(z | y, j) · (r(z) + V(s after z)).
//
// Every roll costs an army, so states are visited in order of the armies on the board. To know the
// chance that a border is ever rolled over, each state also carries, for each border, the
// probability of coming to it without having rolled over that border.
#pragma once

#include <map>
#include <unordered_map>

#include "search/tally.hpp"

namespace iacta {

template <int W>
class Flow {
  public:
    Flow(const Game<W>& game, bool is_settled) : tally(game), is_settled(is_settled), game_(game) {}

    Tally<W> tally;
    const bool is_settled;  // whether decisions have the answers that are worst for the policy itself
    int64_t states = 0;

    // Follows a policy from a state to all its ends; returns whether the deadline allowed it.
    // `decide(s)` returns a Decision.
    template <class Decide>
    bool run(const Position<W>& start, Decide decide, Deadline& deadline) try {
        add(start, 1.0, {});
        while (!waiting_.empty()) {
            auto last = std::prev(waiting_.end());
            std::vector<Node> nodes = std::move(last->second.nodes);
            waiting_.erase(last);
            for (Node& node : nodes) {
                if (states >= deadline.states() || deadline.done() / WORK > deadline.states() ||
                    bytes_ > deadline.bytes())
                    return false;
                visit(node, decide, deadline);
                bytes_ -= bytes_of(node.fresh.size());
                node = {};
            }
        }
        return true;
    } catch (const Stopped&) {
        return false;
    }

  private:
    static constexpr int64_t WORK = 1'000'000;  // for a state, on average, as deadlines count it

    struct Node {
        Position<W> s;
        double chance;
        std::vector<double> fresh;  // by border: the chance to be here without having rolled over it
    };
    struct Layer {
        std::vector<Node> nodes;
        std::unordered_map<StateKey, size_t, StateKey::Hash> index;
    };

    int64_t bytes_of(size_t borders) const {
        return int64_t(sizeof(Node) + 100 + sizeof(int) * size_t(game_.lands) + sizeof(double) * borders);
    }

    void add(const Position<W>& s, double chance, std::vector<double> fresh) {
        int total = 0;
        for (int armies : s.armies) total += armies;
        Layer& layer = waiting_[total];
        auto [found, is_new] = layer.index.try_emplace(key_of(s), layer.nodes.size());
        if (is_new) {
            bytes_ += bytes_of(fresh.size());
            layer.nodes.push_back({s, chance, std::move(fresh)});
            return;
        }
        Node& node = layer.nodes[found->second];
        bytes_ -= bytes_of(node.fresh.size());
        size_t most = std::max(node.fresh.size(), fresh.size());
        node.fresh.resize(most, node.chance);
        fresh.resize(most, chance);
        bytes_ += bytes_of(most);
        for (size_t i = 0; i < most; ++i) node.fresh[i] += fresh[i];
        node.chance += chance;
    }

    // What a result pays at once.
    double paid(const Position<W>& s, const Roll& roll, const Outcome& outcome) const {
        double paid = -game_.price * outcome.attackers;
        if (outcome.defenders == s.armies[roll.to]) paid += game_.paid(roll.to, game_.left(s));
        return paid;
    }

    // What the policy says, with the answers that are worst for it.
    template <class Decide>
    Decision settled(Position<W>& s, Decide& decide, Deadline& deadline) {
        Decision d = decide(s);
        if (d.stops() || is_settled) return d;
        auto find = [&](int x, int y) {
            for (const auto* all : {&d.outcomes, &d.others})
                for (const Outcome& each : *all)
                    if (each.attackers == x && each.defenders == y) return each;
            return Outcome{0.0, x, y, 0, 0.0};  // of a battle that cannot happen
        };
        auto value_of = [&](int x, int y) {
            Outcome outcome = find(x, y);
            Position<W> next = s;
            apply(next, d.roll, outcome);
            return paid(s, d.roll, outcome) + (game_.over(next) ? 0.0 : worth(next, decide, deadline));
        };
        return decision_of(game_, d.roll, game_.spare(s, d.roll.start), s.armies[d.roll.to], value_of,
                           [&](int x, int y) { return find(x, y).moved; });
    }

    template <class Decide>
    double worth(Position<W>& s, Decide& decide, Deadline& deadline) {
        auto [known, is_new] = worth_.try_emplace(key_of(s), 0.0);
        if (!is_new) return known->second;
        deadline.go_on(Deadline::STATE);
        if (int64_t(worth_.size()) > deadline.states() || bytes_ > deadline.bytes()) throw Stopped{};
        bytes_ += BYTES;
        return worth_[key_of(s)] = settled(s, decide, deadline).value;
    }

    template <class Decide>
    void visit(Node& node, Decide& decide, Deadline& deadline) {
        Position<W>& s = node.s;
        Decision d = settled(s, decide, deadline);
        ++states;
        if (d.stops()) return tally.end(s, node.chance);
        size_t border = tally.border(d.roll);
        if (node.fresh.size() <= border) {
            bytes_ += int64_t(sizeof(double) * (border + 1 - node.fresh.size()));
            node.fresh.resize(border + 1, node.chance);
        }
        tally.visits[border].reached += node.fresh[border];
        node.fresh[border] = 0.0;
        for (const Outcome& outcome : d.outcomes) {
            deadline.go_on(Deadline::STATE + int64_t(node.fresh.size()));
            double chance = node.chance * outcome.chance;
            tally.value += chance * paid(s, d.roll, outcome);
            if (outcome.defenders == s.armies[d.roll.to]) {
                int able = game_.spare(s, d.roll.start) - outcome.attackers;
                tally.conquest(border, able, outcome.moved, chance);
            }
            Position<W> next = s;
            apply(next, d.roll, outcome);
            if (!game_.over(next) && decide(next).stops()) tally.visits[border].ended += chance;
            std::vector<double> fresh = node.fresh;
            for (double& each : fresh) each *= outcome.chance;
            add(next, chance, std::move(fresh));
        }
    }

    const Game<W>& game_;
    std::map<int, Layer> waiting_;
    int64_t bytes_ = 0;  // about what they take
    std::unordered_map<StateKey, double, StateKey::Hash> worth_;
    static constexpr int64_t BYTES = 80;  // about what each of them takes
};

}  // namespace iacta
