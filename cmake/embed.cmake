# Data files in libraries: who edits a file changes the library.

# As a script, at build time: SOURCE holds the bytes of FILES and defines NAME.
if(CMAKE_SCRIPT_MODE_FILE)
  set(arrays)
  set(rows)
  foreach(file ${FILES})
    file(READ ${file} bytes HEX)
    if(NOT bytes)
      message(FATAL_ERROR "${file} is empty")
    endif()
    string(MAKE_C_IDENTIFIER k_${file} array)
    string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${bytes}")
    string(APPEND arrays "constexpr char ${array}[] = {${bytes}};\n")
    string(APPEND rows "    {\"${file}\", {${array}, sizeof ${array}}},\n")
  endforeach()
  file(WRITE ${SOURCE} "// By cmake/embed.cmake.\n#include <span>\n\n#include \"model/embedded.hpp\"\n\nnamespace mx::embedded {\nnamespace {\n"
    "${arrays}constexpr EmbeddedFile kFiles[] = {\n${rows}};\n}\nextern const std::span<const EmbeddedFile> ${NAME};\nconst std::span<const EmbeddedFile> ${NAME} = kFiles;\n}\n")
  return()
endif()

# mxact_embed(mxact_support page_style support/page.css): the files as `const std::span<const EmbeddedFile> mx::embedded::page_style`, in this order. They are named
# from the project's folder. The one source that reads them declares the span. Before the library's twin.
function(mxact_embed target name)
  set(source ${CMAKE_CURRENT_BINARY_DIR}/embedded_${name}.cpp)
  set(rule ${PROJECT_SOURCE_DIR}/cmake/embed.cmake)
  list(TRANSFORM ARGN PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DFILES=${ARGN}" -DNAME=${name} -DSOURCE=${source} -P ${rule}
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} DEPENDS ${files} ${rule} COMMENT "Embedding ${name}" VERBATIM)
  # A target of its own: within the library, what is generated would wait for all that the library links, and the library's sources for it.
  add_library(mxact_embedded_${name} OBJECT ${source})
  target_link_libraries(mxact_embedded_${name} PRIVATE mxact_options)
  set_target_properties(mxact_embedded_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_sources(${target} PRIVATE $<TARGET_OBJECTS:mxact_embedded_${name}>)
endfunction()
