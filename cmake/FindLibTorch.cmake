# LibTorch as one imported target, flopmark::libtorch, made from the LibTorch folder itself: no CUDA toolkit needed.
# Looked for in CMAKE_PREFIX_PATH, in .deps/libtorch (scripts/setup puts it there), in python3's torch, in that order.
#
#   LibTorch_FOUND, LibTorch_ROOT, LibTorch_VERSION

set(_inside include/torch/csrc/api/include/torch/torch.h)
set(_candidates "")
foreach(prefix IN LISTS CMAKE_PREFIX_PATH)
  list(APPEND _candidates "${prefix}" "${prefix}/torch" "${prefix}/../../.." "${prefix}/..")
endforeach()
foreach(prefix IN ITEMS $ENV{CMAKE_PREFIX_PATH})
  list(APPEND _candidates "${prefix}" "${prefix}/torch")
endforeach()
list(APPEND _candidates "${PROJECT_SOURCE_DIR}/.deps/libtorch/torch")

set(LibTorch_ROOT "")
foreach(candidate IN LISTS _candidates)
  if(EXISTS "${candidate}/${_inside}")
    get_filename_component(LibTorch_ROOT "${candidate}" ABSOLUTE)
    break()
  endif()
endforeach()
if(NOT LibTorch_ROOT)
  find_program(_python3 python3)
  if(_python3)
    execute_process(
      COMMAND "${_python3}" -c
              "import importlib.util as u; s = u.find_spec('torch'); print(s.submodule_search_locations[0] if s else '')"
      OUTPUT_VARIABLE _python_torch OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(_python_torch AND EXISTS "${_python_torch}/${_inside}")
      set(LibTorch_ROOT "${_python_torch}")
    endif()
  endif()
endif()

set(LibTorch_VERSION "")
if(LibTorch_ROOT)
  foreach(header IN ITEMS torch/headeronly/version.h torch/csrc/api/include/torch/version.h)
    if(NOT LibTorch_VERSION AND EXISTS "${LibTorch_ROOT}/include/${header}")
      file(STRINGS "${LibTorch_ROOT}/include/${header}" _lines REGEX "define TORCH_VERSION_(MAJOR|MINOR|PATCH) [0-9]")
      list(TRANSFORM _lines REPLACE "[^0-9]*([0-9]+)[^0-9]*" "\\1")
      list(JOIN _lines "." LibTorch_VERSION)
    endif()
  endforeach()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(LibTorch REQUIRED_VARS LibTorch_ROOT VERSION_VAR LibTorch_VERSION
  REASON_FAILURE_MESSAGE "run scripts/setup, or give -DCMAKE_PREFIX_PATH=/path/to/libtorch")

if(LibTorch_FOUND AND NOT TARGET flopmark::libtorch)
  add_library(flopmark_libtorch INTERFACE)
  add_library(flopmark::libtorch ALIAS flopmark_libtorch)
  target_include_directories(flopmark_libtorch SYSTEM INTERFACE "${LibTorch_ROOT}/include"
                             "${LibTorch_ROOT}/include/torch/csrc/api/include")
  target_link_options(flopmark_libtorch INTERFACE -Wl,--allow-shlib-undefined)
  target_link_libraries(flopmark_libtorch INTERFACE "${LibTorch_ROOT}/lib/libtorch_cpu.so"
                        "${LibTorch_ROOT}/lib/libc10.so")
  if(FLOPMARK_CUDA)
    get_filename_component(_site "${LibTorch_ROOT}/.." ABSOLUTE)
    file(GLOB _cuda_includes "${_site}/nvidia/*/include")
    if(NOT _cuda_includes)  # CUDA of the system instead of wheels
      find_path(FLOPMARK_CUDA_INCLUDE cuda_runtime_api.h PATHS "$ENV{CUDA_HOME}/include" /usr/local/cuda/include REQUIRED)
      set(_cuda_includes "${FLOPMARK_CUDA_INCLUDE}")
    endif()
    target_include_directories(flopmark_libtorch SYSTEM INTERFACE ${_cuda_includes})
    target_link_libraries(flopmark_libtorch INTERFACE -Wl,--no-as-needed "${LibTorch_ROOT}/lib/libtorch_cuda.so"
                          "${LibTorch_ROOT}/lib/libc10_cuda.so" -Wl,--as-needed)
  endif()
endif()
