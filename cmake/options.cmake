# Flags that every mxact target is compiled with, as one interface target.
find_program(MXACT_CCACHE ccache)
if(MXACT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${MXACT_CCACHE})
endif()

add_library(mxact_options INTERFACE)
# Contraction would turn a*b+c into an fma: other bits. It is off everywhere, also for ISO modes in which compilers still contract.
target_compile_options(mxact_options INTERFACE
  -ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion $<$<BOOL:${MXACT_WERROR}>:-Werror>)
# g++ 12 reports overlapping copies inside std::string's own operator+ (GCC bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(mxact_options INTERFACE -Wno-restrict)
endif()
target_include_directories(mxact_options INTERFACE ${PROJECT_SOURCE_DIR})
if(MXACT_PORTABLE)
  target_compile_definitions(mxact_options INTERFACE MXACT_PORTABLE)
endif()
if(MXACT_SANITIZE)
  target_compile_options(mxact_options INTERFACE -fsanitize=${MXACT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mxact_options INTERFACE -fsanitize=${MXACT_SANITIZE})
  # Instrumented code confuses g++'s flow analysis inside the standard library's and Catch2's own headers.
  target_compile_options(mxact_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

# A library of one folder: mxact_library(model) makes mxact_model and mxact::model.
function(mxact_library name)
  add_library(mxact_${name} STATIC)
  add_library(mxact::${name} ALIAS mxact_${name})
  target_link_libraries(mxact_${name} PUBLIC mxact_options)
endfunction()
