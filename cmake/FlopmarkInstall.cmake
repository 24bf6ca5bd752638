# What `cmake --install` puts where: the programs and, with the worker, the SDK for plug-ins: find_package(flopmark) gives
# flopmark::sdk.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS flopmark)
if(NOT FLOPMARK_WORKER)
  return()
endif()

# LibTorch stays where it is.
set_target_properties(flopmark-worker PROPERTIES INSTALL_RPATH "${LibTorch_ROOT}/lib")
install(TARGETS flopmark-worker)

set(_sdk_headers batch.h dataset.h error.h model.h plugin.h)
list(TRANSFORM _sdk_headers PREPEND "${PROJECT_SOURCE_DIR}/include/flopmark/")
add_library(flopmark_sdk INTERFACE)
add_library(flopmark::sdk ALIAS flopmark_sdk)
set_target_properties(flopmark_sdk PROPERTIES EXPORT_NAME sdk)
target_compile_features(flopmark_sdk INTERFACE cxx_std_20)
target_link_options(flopmark_sdk INTERFACE -Wl,--no-undefined)  # what is missing is told when linking, not when loading
target_link_libraries(flopmark_sdk INTERFACE $<BUILD_INTERFACE:flopmark::libtorch>)
target_sources(flopmark_sdk INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}/include" FILES ${_sdk_headers})

set(_package "${CMAKE_INSTALL_LIBDIR}/cmake/flopmark")
install(TARGETS flopmark_sdk EXPORT flopmarkTargets FILE_SET HEADERS)
install(EXPORT flopmarkTargets NAMESPACE flopmark:: DESTINATION "${_package}")
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/flopmarkConfig.cmake.in" "${PROJECT_BINARY_DIR}/flopmarkConfig.cmake"
                              INSTALL_DESTINATION "${_package}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/flopmarkConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/flopmarkConfig.cmake" "${PROJECT_BINARY_DIR}/flopmarkConfigVersion.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/FindLibTorch.cmake" DESTINATION "${_package}")
