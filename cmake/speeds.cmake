# Which target is compiled how; cmake/speed.cmake says what each line does.

# What is hot is in model/ and kernels/: the rest reads, compares and prints.
mxact_optimize(2 mxact_sim mxact_sim_faultless mxact_sim_faulty mxact_vectors mxact_vectors_faultless mxact_vectors_faulty mxact_props)
mxact_optimize(1 mxact_golden mxact_arguments mxact_cli mxact)

set(standard <algorithm> <array> <bit> <cmath> <cstdint> <functional> <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <utility> <variant> <vector>)
set(printing ${standard} <filesystem> <fmt/core.h> <fmt/format.h>)
mxact_precompile(model LIKE mxact_model HEADERS ${standard} TARGETS mxact_model mxact_model_faultless mxact_model_faulty)
mxact_precompile(kernels LIKE mxact_kernels HEADERS ${standard} TARGETS mxact_kernels mxact_kernels_faultless mxact_kernels_faulty)
mxact_precompile(sim LIKE mxact_sim HEADERS ${printing} TARGETS mxact_sim mxact_sim_faultless mxact_sim_faulty)
mxact_precompile(vectors LIKE mxact_vectors HEADERS ${printing} TARGETS mxact_vectors mxact_vectors_faultless mxact_vectors_faulty)
mxact_precompile(printing LIKE mxact_golden HEADERS ${printing} TARGETS mxact_golden mxact_cli mxact_table_mutants mxact_faults)
mxact_precompile(props LIKE mxact_props HEADERS ${standard} <rapidcheck.h> TARGETS mxact_props)
get_property(tests GLOBAL PROPERTY MXACT_TESTS)
mxact_precompile(tests LIKE mxact_catch_main HEADERS ${standard} <filesystem> <fstream> "${PROJECT_SOURCE_DIR}/tests/catch.hpp" TARGETS ${tests})
