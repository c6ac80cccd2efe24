// Exact evaluation of a policy: computes the probability that a turn visits each state, in the order of play.
//
// The result is exact except for rounding, hash collisions, and results of whole battles with chances below 1e-18,
// which are omitted.
//
// If the defender can choose between answers to a throw, they choose the answer that is worst for the policy. Therefore
// the value of the policy in each reachable state is computed first. Let throw y have the probability P(y), let answer
// j to this throw lead to result z with the probability P(z | y, j), and let r be the payment. Then
//
//     V(s) = Σ_y P(y) · min over answers j of Σ_z P(z | y, j) · (r(z) + V(s after z)).
//
// Every roll costs an army. Therefore states are visited in descending order of the armies on the board. To compute the
// chance of at least one attack over a border, each state stores, for each border, the probability that the turn
// reaches the state before any roll over this border.
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
    const bool is_settled;  // whether the outcomes in decisions already assume the worst answers of the defender
    int64_t states = 0;

    // Evaluates a policy over all courses of a turn that begins in a state. Returns false if a limit of the deadline
    // stops the evaluation. `decide(s)` returns the Decision of the policy.
    template <class Decide>
    bool run(const Position<W>& start, Decide decide, Deadline& deadline) try {
        add(start, 1.0, {});
        while (!waiting_.empty()) {
            auto last = std::prev(waiting_.end());
            std::vector<Node> nodes = std::move(last->second.nodes);
            waiting_.erase(last);
            for (Node& node : nodes) {
                if (states >= deadline.states() || deadline.work_done() / WORK_PER_STATE > deadline.states() ||
                    bytes_ > deadline.bytes())
                    return false;
                visit(node, decide, deadline);
                bytes_ -= count_bytes(node.fresh.size());
                node = {};
            }
        }
        return true;
    } catch (const Stopped&) {
        return false;
    }

  private:
    // `run` stops when its work exceeds this number times the number of states that the deadline allows.
    static constexpr int64_t WORK_PER_STATE = 1'000'000;

    struct Node {
        Position<W> s;
        double chance;
        // For each border: the chance that the turn reaches this state before any roll over the border.
        std::vector<double> fresh;
    };
    struct Layer {
        std::vector<Node> nodes;
        std::unordered_map<StateKey, size_t, StateKey::Hash> index;
    };

    int64_t count_bytes(size_t borders) const {
        return int64_t(sizeof(Node) + 100 + sizeof(int) * size_t(game_.lands) + sizeof(double) * borders);
    }

    void add(const Position<W>& s, double chance, std::vector<double> fresh) {
        int total = 0;
        for (int armies : s.armies) total += armies;
        Layer& layer = waiting_[total];
        auto [found, is_new] = layer.index.try_emplace(make_key(s), layer.nodes.size());
        if (is_new) {
            bytes_ += count_bytes(fresh.size());
            layer.nodes.push_back({s, chance, std::move(fresh)});
            return;
        }
        Node& node = layer.nodes[found->second];
        bytes_ -= count_bytes(node.fresh.size());
        size_t most = std::max(node.fresh.size(), fresh.size());
        node.fresh.resize(most, node.chance);
        fresh.resize(most, chance);
        bytes_ += count_bytes(most);
        for (size_t i = 0; i < most; ++i) node.fresh[i] += fresh[i];
        node.chance += chance;
    }

    // Returns the payment for a result, without the value of the next state.
    double find_payment(const Position<W>& s, const Roll& roll, const Outcome& outcome) const {
        double paid = -game_.price * outcome.attackers;
        if (outcome.defenders < s.armies[roll.to]) return paid;
        paid += game_.find_payment(roll.to, game_.unconquered(s));
        if (game_.has_end_payment()) {
            Position<W> next = s;
            apply(next, roll, outcome);
            paid += game_.find_end_payment(next);
        }
        return paid;
    }

    // Returns the decision of the policy, with its outcomes if the defender gives the answers that are worst for the
    // policy.
    template <class Decide>
    Decision decide_at_worst(Position<W>& s, Decide& decide, Deadline& deadline) {
        Decision d = decide(s);
        if (d.is_stop() || is_settled) return d;
        auto find = [&](int x, int y) {
            for (const auto* all : {&d.outcomes, &d.others})
                for (const Outcome& each : *all)
                    if (each.attackers == x && each.defenders == y) return each;
            return Outcome{0.0, x, y, 0, 0.0};  // a result that the policy omits because its chance is tiny
        };
        auto value_result = [&](int x, int y) {
            Outcome outcome = find(x, y);
            Position<W> next = s;
            apply(next, d.roll, outcome);
            return find_payment(s, d.roll, outcome) + (game_.is_over(next) ? 0.0 : find_worth(next, decide, deadline));
        };
        return make_decision(game_, d.roll, game_.spare(s, d.roll.start), s.armies[d.roll.to], value_result,
                             [&](int x, int y) { return find(x, y).moved; });
    }

    template <class Decide>
    double find_worth(Position<W>& s, Decide& decide, Deadline& deadline) {
        auto [known, is_new] = worth_.try_emplace(make_key(s), 0.0);
        if (!is_new) return known->second;
        deadline.spend(Deadline::STATE);
        if (int64_t(worth_.size()) > deadline.states() || bytes_ > deadline.bytes()) throw Stopped{};
        bytes_ += WORTH_BYTES;
        return worth_[make_key(s)] = decide_at_worst(s, decide, deadline).value;
    }

    template <class Decide>
    void visit(Node& node, Decide& decide, Deadline& deadline) {
        Position<W>& s = node.s;
        Decision d = decide_at_worst(s, decide, deadline);
        ++states;
        if (d.is_stop()) return tally.add_end(s, node.chance);
        size_t border = tally.find_border(d.roll);
        if (node.fresh.size() <= border) {
            bytes_ += int64_t(sizeof(double) * (border + 1 - node.fresh.size()));
            node.fresh.resize(border + 1, node.chance);
        }
        tally.visits[border].reached += node.fresh[border];
        node.fresh[border] = 0.0;
        for (const Outcome& outcome : d.outcomes) {
            deadline.spend(Deadline::STATE + int64_t(node.fresh.size()));
            double chance = node.chance * outcome.chance;
            tally.value += chance * find_payment(s, d.roll, outcome);
            if (outcome.defenders == s.armies[d.roll.to]) {
                int able = game_.spare(s, d.roll.start) - outcome.attackers;
                tally.add_conquest(border, able, outcome.moved, chance);
            }
            Position<W> next = s;
            apply(next, d.roll, outcome);
            if (!game_.is_over(next) && decide(next).is_stop()) tally.visits[border].ended += chance;
            std::vector<double> fresh = node.fresh;
            for (double& each : fresh) each *= outcome.chance;
            add(next, chance, std::move(fresh));
        }
    }

    const Game<W>& game_;
    std::map<int, Layer> waiting_;
    int64_t bytes_ = 0;  // the approximate memory in use
    std::unordered_map<StateKey, double, StateKey::Hash> worth_;
    static constexpr int64_t WORTH_BYTES = 80;  // the approximate memory of one entry of worth_
};

}  // namespace iacta
