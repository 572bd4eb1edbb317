# Flags that every mxact target is compiled with, as one interface target.
find_program(MXACT_CCACHE ccache)
if(MXACT_CCACHE)
  # Without these words it caches nothing that uses a precompiled header; with them it still compares what that header was made of.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${MXACT_CCACHE})
endif()

add_library(mxact_options INTERFACE)
set_target_properties(mxact_options PROPERTIES EXPORT_NAME options)
# Contraction would turn a*b+c into an fma: other bits. It is off everywhere, also for ISO modes in which compilers still contract.
target_compile_options(mxact_options INTERFACE -ffp-contract=off
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wsign-conversion;$<$<BOOL:${MXACT_WERROR}>:-Werror>>")
target_compile_features(mxact_options INTERFACE cxx_std_20)
# g++ 12 reports overlapping, endless and misplaced copies inside std::string's own functions (GCC bugs 105651, 105329), and a precompiled header
# forgets that it is the system's.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  target_compile_options(mxact_options INTERFACE "$<BUILD_INTERFACE:-Wno-restrict;-Wno-stringop-overflow;-Wno-stringop-overread;-Wno-array-bounds>")
endif()
target_include_directories(mxact_options INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/mxact>)
if(MXACT_PORTABLE)
  target_compile_definitions(mxact_options INTERFACE MXACT_PORTABLE)
endif()
if(MXACT_SANITIZE)
  target_compile_options(mxact_options INTERFACE -fsanitize=${MXACT_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(mxact_options INTERFACE -fsanitize=${MXACT_SANITIZE})
  # Instrumented code confuses g++'s flow analysis inside the standard library's and Catch2's own headers.
  target_compile_options(mxact_options INTERFACE $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()

if(MXACT_COVERAGE)
  add_link_options($<$<LINK_LANGUAGE:CXX>:-fprofile-instr-generate>)
endif()
if(MXACT_FUZZ)
  target_compile_options(mxact_options INTERFACE $<BUILD_INTERFACE:-fsanitize=fuzzer-no-link>)
endif()

# A library of one folder: mxact_library(model) makes mxact_model and mxact::model.
function(mxact_library name)
  add_library(mxact_${name} STATIC)
  add_library(mxact::${name} ALIAS mxact_${name})
  set_target_properties(mxact_${name} PROPERTIES EXPORT_NAME ${name})
  target_link_libraries(mxact_${name} PUBLIC mxact_options)
endfunction()

# What a shared object is made of too (libmxact.so, the Python extension): position-independent, and hidden, so that calls among them stay direct.
function(mxact_for_shared_objects target)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
