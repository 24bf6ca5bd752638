# What every target of ours has in common, as interface targets; nothing global.

add_library(flopmark_options INTERFACE)
target_compile_features(flopmark_options INTERFACE cxx_std_20)
target_compile_options(flopmark_options INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
                       -Woverloaded-virtual $<$<BOOL:${FLOPMARK_WERROR}>:-Werror>
                       "-ffile-prefix-map=${PROJECT_SOURCE_DIR}=." "-ffile-prefix-map=${PROJECT_BINARY_DIR}=build")
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
