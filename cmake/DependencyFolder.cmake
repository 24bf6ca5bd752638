# The dependencies from one folder instead of the system's packages, for machines without network: scripts/gpu-deps makes it.
#
#   FLOPMARK_DEPS/include      headers of CLI11, fmt, Gloo and nlohmann_json
#   FLOPMARK_DEPS/googletest   source of GoogleTest, compiled with the tests

foreach(header IN ITEMS CLI/CLI.hpp fmt/format.h gloo/algorithm.h nlohmann/json.hpp)
  if(NOT EXISTS "${FLOPMARK_DEPS}/include/${header}")
    message(FATAL_ERROR "FLOPMARK_DEPS: no ${FLOPMARK_DEPS}/include/${header}; make the folder with scripts/gpu-deps")
  endif()
endforeach()

foreach(target IN ITEMS CLI11::CLI11 fmt::fmt-header-only nlohmann_json::nlohmann_json)
  add_library(${target} INTERFACE IMPORTED GLOBAL)
  set_target_properties(${target} PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${FLOPMARK_DEPS}/include")
endforeach()
set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)

if(FLOPMARK_TESTS)
  set(INSTALL_GTEST OFF)
  add_subdirectory("${FLOPMARK_DEPS}/googletest" googletest EXCLUDE_FROM_ALL SYSTEM)
  foreach(library IN ITEMS gtest gmock gtest_main)
    if(NOT TARGET GTest::${library})
      add_library(GTest::${library} ALIAS ${library})
    endif()
  endforeach()
endif()
