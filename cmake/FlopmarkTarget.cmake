# What every target of ours has in common, as interface targets; nothing global.

add_library(flopmark_options INTERFACE)
target_compile_features(flopmark_options INTERFACE cxx_std_20)
target_compile_options(flopmark_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual $<$<BOOL:${FLOPMARK_WERROR}>:-Werror>
                       "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
# Optimizing, g++ 12 sees overlaps and unset members in std::string that are not there (GCC bugs 105329, 105651, 105562).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(flopmark_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-maybe-uninitialized)
endif()
if(FLOPMARK_SANITIZE)
  target_compile_options(flopmark_options INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                         -fno-omit-frame-pointer)
  target_link_options(flopmark_options INTERFACE -fsanitize=address,undefined)
endif()

# ccache where there is one; the precompiled header needs its time stamps forgiven.
find_program(FLOPMARK_CCACHE ccache)
if(FLOPMARK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${CMAKE_COMMAND};-E;env;CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime;${FLOPMARK_CCACHE}")
endif()

# Compiles the sources of each folder as one: a third of the time of compiling them one by one.
# -DFLOPMARK_UNITY=OFF compiles every file alone.
option(FLOPMARK_UNITY "Compile the sources of a folder together" ON)
function(flopmark_compile_by_folder target)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder "${source}" DIRECTORY)
    string(REPLACE "${PROJECT_SOURCE_DIR}" "" folder "${folder}")  # equal names wherever the project lies
    string(MAKE_C_IDENTIFIER "${folder}" group)
    set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP "of_${group}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${FLOPMARK_UNITY} UNITY_BUILD_MODE GROUP)
endfunction()
