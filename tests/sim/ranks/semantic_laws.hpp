#pragma once
// Laws S1 and S2 over random deployments: of any backend, way of spreading and sizes. Compiled twice, over the model and over the one with planted
// faults.

#include <random>
#include <string>

namespace mx::tests {

using Draws = std::mt19937;

/// What came of one random deployment.
struct LawAnswer {
  int compared = 0;        ///< numbers of the model that were changed, or tokens that were routed; 0: the engine refuses the deployment
  std::string text;        ///< what does not hold; empty: the law does
  std::string deployment;  ///< for people
};

/// S1: every number that a model gives (alpha, beta, limit, both biases, a calibrated scale, a routing weight) changes the deployment's outputs, or
/// the simulation says that the backend ignores it, which then changes nothing. Which of the two is read from the backend's row.
LawAnswer law_of_parameters(Draws& random);

/// S2: a deployment fed by a router has the bits that it has when fed by the router's restatement: equal, negative, saturated and biased logits, in
/// fp32 and as bf16 numbers.
LawAnswer law_of_routers(Draws& random);

}  // namespace mx::tests
