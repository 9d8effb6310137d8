"""A folder's C++ tests: one cc_test for each *_test.cc in it."""

# What tests test is optimised as it is shipped; they themselves run for less time than -O2 takes.
_QUICKLY_COMPILED = ["-O1"]

def folder_cc_tests(deps, data = [], copts = [], shards = {}):
    """Declares a test for each file, and a library of what the files share.

    Args:
      deps: what every test links, GoogleTest aside.
      data: files that every test may read.
      copts: flags for every test.
      shards: by a test's name, in how many processes its cases run.
    """
    native.cc_library(
        name = "shared",
        testonly = True,
        srcs = native.glob(["*.cc"], exclude = ["*_test.cc"]),
        hdrs = native.glob(["*.h"]),
        copts = copts + _QUICKLY_COMPILED,
        visibility = ["//tests:__subpackages__"],
        deps = deps + ["@gtest//:main"],
    )
    for source in native.glob(["*_test.cc"]):
        native.cc_test(
            name = source[:-len(".cc")],
            srcs = [source],
            copts = copts + _QUICKLY_COMPILED,
            data = data,
            shard_count = shards.get(source[:-len("_test.cc")]),
            timeout = "eternal",  # A sanitizer on a busy machine needs over fifteen minutes.
            deps = deps + [":shared", "@gtest//:main"],
        )
