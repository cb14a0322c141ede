# Flags of all that is compiled here, and functions that make libraries.

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Assertions stay in every build: each of them is a broken invariant of ours. -g1, functions and lines without variables,
# compiles a quarter faster than -g.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g1")
set(CMAKE_C_FLAGS_RELEASE "-O2")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g3")

# Members that an initializer leaves out are zero, and meant: clang warns of them where gcc doesn't.
add_compile_options(-Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers -Wshadow -Wstrict-prototypes
                    -Wmissing-prototypes)
add_compile_definitions(_GNU_SOURCE)
include_directories(${CMAKE_SOURCE_DIR})

# The flags of kernels are in runtime/rt_flags.def, which the compiler reads too.
file(STRINGS ${CMAKE_SOURCE_DIR}/runtime/rt_flags.def lines REGEX "^RT_FLAG")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/runtime/rt_flags.def)
set(KERNEL_FLAGS -march=${SHARDCC_MARCH})
foreach(line IN LISTS lines)
  string(REGEX REPLACE "^RT_FLAG\\(\"(.*)\"\\)$" "\\1" flag "${line}")
  list(APPEND KERNEL_FLAGS ${flag})
endforeach()

# A library of all sources in this folder and those beneath it, linked with the libraries named.
function(add_stage name)
  file(GLOB sources CONFIGURE_DEPENDS *.c */*.c */*/*.c)
  add_library(${name} STATIC ${sources})
  target_link_libraries(${name} PUBLIC ${ARGN})
endfunction()
