# What `cmake --install` and `cpack` deliver, in four components: `tools` (the program, its manual, completions), `c` (libmxact.so), `dev` (headers, static
# libraries, CMake package, pkg-config) and `vectors` (the committed set and the SystemVerilog package).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# Manual and completions are written by the program itself, from its own options.
if(NOT CMAKE_CROSSCOMPILING)
  set(generated ${PROJECT_BINARY_DIR}/share)
  file(MAKE_DIRECTORY ${generated})
  add_custom_command(OUTPUT ${generated}/mxact.1 ${generated}/mxact.bash ${generated}/_mxact
    COMMAND mxact manual > ${generated}/mxact.1
    COMMAND mxact completion bash > ${generated}/mxact.bash
    COMMAND mxact completion zsh > ${generated}/_mxact
    DEPENDS mxact VERBATIM)
  add_custom_target(mxact_manual ALL DEPENDS ${generated}/mxact.1 ${generated}/mxact.bash ${generated}/_mxact)
  install(FILES ${generated}/mxact.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
  install(FILES ${generated}/mxact.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME mxact COMPONENT tools)
  install(FILES ${generated}/_mxact DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
endif()
install(TARGETS mxact RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR}/docs COMPONENT tools)

# The C API: no dependency but the C++ runtime.
install(TARGETS mxact_c_shared EXPORT mxact-c
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT c NAMELINK_COMPONENT dev)
install(TARGETS mxact_c_static EXPORT mxact-c ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
# A checkpoint's layer and a scoreboard in C stand on what the program stands on.
install(TARGETS mxact_c_layer mxact_c_score LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT tools NAMELINK_COMPONENT dev)
install(FILES golden/c/mxact.h golden/c/mxact_layer.h golden/c/mxact_score.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev)

# The C++ libraries, with the headers where their own includes look for them: "model/numerics/convert.hpp".
set(MXACT_HEADERS ${CMAKE_INSTALL_INCLUDEDIR}/mxact)
set(libraries mxact_options mxact_model mxact_kernels mxact_support mxact_checkpoint mxact_sim mxact_vectors mxact_golden mxact_select mxact_verbs)
install(TARGETS ${libraries} EXPORT mxact-cxx ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/mxact COMPONENT dev)
foreach(folder model kernels support checkpoint sim golden verbs props)
  install(DIRECTORY ${folder} DESTINATION ${MXACT_HEADERS} COMPONENT dev FILES_MATCHING PATTERN "*.hpp" PATTERN "witness" EXCLUDE PATTERN "v1" EXCLUDE)
endforeach()
if(TARGET mxact_props)
  install(TARGETS mxact_props mxact_laws_and_model EXPORT mxact-props ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/mxact COMPONENT dev)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/mxact)
foreach(part c cxx props)
  if(NOT part STREQUAL props OR TARGET mxact_props)
    install(EXPORT mxact-${part} NAMESPACE mxact:: DESTINATION ${package} COMPONENT dev)
  endif()
endforeach()
set(MXACT_WITH_MPI ${MPI_C_FOUND})
configure_package_config_file(cmake/mxact-config.cmake.in ${PROJECT_BINARY_DIR}/mxact-config.cmake INSTALL_DESTINATION ${package})
# Until 1.0 every minor version may change the C++ interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/mxact-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/mxact-config.cmake ${PROJECT_BINARY_DIR}/mxact-config-version.cmake DESTINATION ${package} COMPONENT dev)
# Wherever the tree is moved to, the prefix lies above the file.
file(RELATIVE_PATH MXACT_PREFIX_ABOVE /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/mxact.pc.in ${PROJECT_BINARY_DIR}/mxact.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/mxact.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

install(DIRECTORY golden/v1 golden/sv golden/vhdl DESTINATION ${CMAKE_INSTALL_DATADIR}/mxact COMPONENT vectors)
install(FILES python/mxact/_record.py RENAME record.py DESTINATION ${CMAKE_INSTALL_DATADIR}/mxact COMPONENT vectors)

set(CPACK_PACKAGE_VENDOR mxact)
set(CPACK_PACKAGE_CONTACT "the maintainers of mxact <maintainers@mxact.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_FILE_NAME mxact-${PROJECT_VERSION})
set(CPACK_COMPONENTS_ALL c dev tools vectors)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_C_PACKAGE_NAME libmxact1)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libmxact-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libmxact1 (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "libfmt-dev, libboost-dev, zlib1g-dev, librapidcheck-dev")
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME mxact-tools)
set(CPACK_DEBIAN_VECTORS_PACKAGE_NAME mxact-vectors)
set(CPACK_DEBIAN_VECTORS_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_VECTORS_PACKAGE_ARCHITECTURE all)
include(CPack)
