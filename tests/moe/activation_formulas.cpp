#include "tests/moe/activation_formulas.hpp"

namespace mx::tests {

Single sg(Single x) { return Single(1) / (Single(1) + exp(-x)); }
Single silu_of(Single x) { return x / (Single(1) + exp(-x)); }

namespace {

// torch.clamp keeps a NaN; fminf and fmaxf return the bound.
Single at_most(Single x, Single bound) { return bound < x ? bound : x; }
Single within(Single x, Single bound) { return at_most(x, bound) < -bound ? -bound : at_most(x, bound); }
Single fmin_at_most(Single x, Single bound) { return x.nan() ? bound : at_most(x, bound); }
Single fmin_within(Single x, Single bound) { return x.nan() ? bound : within(x, bound); }

Single gelu_of(Single x) { return (x * Single(0.5F)) * (Single(1) + erf(x * Single(0.70710678118654752F))); }
Single gelu_tanh_of(Single x) {
  const Single inner = Single(0.79788456080286536F) * (x + Single(0.044715F) * ((x * x) * x));
  return (Single(0.5F) * x) * (Single(1) + tanh(inner));
}

}  // namespace

const std::map<std::string_view, Formula>& activation_formulas() {
  static const std::map<std::string_view, Formula> kFormulas{
      {"swiglu_oai",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = at_most(x, c.limit);
         return c.t(g / (Single(1) + exp(-(c.alpha * g))) * (within(y, c.limit) + c.beta));
       }},
      {"swiglu_oai_torch",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = c.t(at_most(x, c.limit));
         const Single u = c.t(within(y, c.limit));
         const Single glu = c.t(g * c.t(sg(c.t(g * c.alpha))));
         return c.t(c.t(u + c.beta) * glu);
       }},
      {"swiglu_oai_cuda",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = fmin_at_most(x, c.limit);
         return c.t((fmin_within(y, c.limit) + c.beta) * g / (Single(1) + exp(-g * c.alpha)));
       }},
      {"swiglu_oai_triton",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = fmin_at_most(x, c.limit);
         const Single s = g / (Single(1) + exp(-c.alpha * g));
         return c.t(fma(s, fmin_within(y, c.limit), s));
       }},
      {"swiglu_oai_flashinfer",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = fmin_at_most(x, c.limit);
         return c.t(g * sg(g * c.alpha) * (fmin_within(y, c.limit) + c.beta));
       }},
      {"swiglu_oai_aiter",
       [](Single x, Single y, const FormulaSetting& c) {
         // fminf(fmaxf(y, -7), 7): a NaN meets the lower bound first.
         const Single u = y.nan() ? Single(-7) : within(y, Single(7));
         return c.t(fmin_at_most(x, Single(7)) * sg(Single(-1.702F) * -fmin_at_most(x, Single(7))) * (u + Single(1)));
       }},
      {"swiglu_oai_uninterleave",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single g = c.t(fmin_at_most(x, c.limit));
         const Single u = c.t(fmin_within(y, c.limit));
         return c.t(c.t(g / (Single(1) + exp(-g * c.alpha))) * (u + c.beta));
       }},
      {"swiglu_step", [](Single x, Single y, const FormulaSetting& c) { return c.t(fmin_at_most(silu_of(x), c.limit) * fmin_within(y, c.limit)); }},
      {"silu_and_mul", [](Single x, Single y, const FormulaSetting& c) { return c.t(c.t(silu_of(x)) * y); }},
      {"silu_and_mul_clamp_torch",
       [](Single x, Single y, const FormulaSetting& c) { return c.t(c.t(silu_of(c.t(at_most(x, c.limit)))) * c.t(within(y, c.limit))); }},
      {"silu_and_mul_clamp_cuda",
       [](Single x, Single y, const FormulaSetting& c) { return c.t(c.t(silu_of(c.t(fmin_at_most(x, c.limit)))) * c.t(fmin_within(y, c.limit))); }},
      {"gelu_and_mul", [](Single x, Single y, const FormulaSetting& c) { return c.t(c.t(gelu_of(x)) * y); }},
      {"gelu_tanh_and_mul", [](Single x, Single y, const FormulaSetting& c) { return c.t(c.t(gelu_tanh_of(x)) * y); }},
      {"situ_and_mul",
       [](Single x, Single y, const FormulaSetting& c) {
         const Single gate = c.beta * tanh(x * (Single(1) / c.beta)) / (Single(1) + exp(-x));
         const Single up = Single(0) < c.linear_beta ? c.linear_beta * tanh(y * (Single(1) / c.linear_beta)) : y;
         return c.t(gate * up);
       }},
      {"silu_no_mul", [](Single x, Single, const FormulaSetting& c) { return c.t(silu_of(x)); }},
      {"gelu_no_mul", [](Single x, Single, const FormulaSetting& c) { return c.t(gelu_of(x)); }},
      {"gelu_tanh_no_mul", [](Single x, Single, const FormulaSetting& c) { return c.t(gelu_tanh_of(x)); }},
      {"relu2_no_mul", [](Single x, Single, const FormulaSetting& c) { return c.t(Single(0) < x || x.nan() ? x * x : Single(0)); }},
      {"relu2_no_mul_cuda", [](Single x, Single, const FormulaSetting& c) { return c.t(Single(0) < x ? x * x : Single(0)); }},
  };
  return kFormulas;
}

}  // namespace mx::tests
