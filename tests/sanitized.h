// Whether a test runs under sanitizers. A test that takes long runs a part of its cases then, as
// most cases show the faults that sanitizers look for, and all of them without.
#ifndef SHARDCC_TESTS_SANITIZED_H
#define SHARDCC_TESTS_SANITIZED_H

#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif

#endif
