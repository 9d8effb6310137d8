// What most C++ tests include, parsed once for all of them (tools/cc_tests.bzl). A file includes
// what it uses all the same.
#ifndef PARAKEET_TESTS_HEADERS_OF_TESTS_H_
#define PARAKEET_TESTS_HEADERS_OF_TESTS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <variant>
#include <vector>

#endif  // PARAKEET_TESTS_HEADERS_OF_TESTS_H_
