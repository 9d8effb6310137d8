"""A folder's C++ tests: one cc_test of all, and one for each that needs a process of its own."""

load("//tools:cc_batches.bzl", "batches_of")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# What tests test is optimised as it is shipped; they themselves run for less time than -O2 takes.
_QUICKLY_COMPILED = ["-O1"]

# GoogleTest's headers are half of what most tests cost to compile: g++ parses them once for all.
# It would parse them again, and says so, where a macro that they ask about is another one: those
# that LLVM's headers are built with are every test's.
_MACROS = [
    "-D__STDC_CONSTANT_MACROS",
    "-D__STDC_FORMAT_MACROS",
    "-D__STDC_LIMIT_MACROS",
]
_PRECOMPILED = _MACROS + ["-Winvalid-pch", "-include", "tests/precompiled.h"]

def _precompile(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(ctx = ctx, cc_toolchain = toolchain)
    header = ctx.actions.declare_file(ctx.label.name + ".h")
    ctx.actions.symlink(output = header, target_file = ctx.file.header)
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    flags = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = "c++-compile",
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            source_file = header.path,
            output_file = compiled.path,
            use_pic = True,
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts +
                                 _QUICKLY_COMPILED + _MACROS,
        ),
    )
    ctx.actions.run(
        executable = toolchain.compiler_executable,
        arguments = ["-x", "c++-header"] + flags,
        inputs = depset([header], transitive = [toolchain.all_files]),
        outputs = [compiled],
        mnemonic = "PrecompileHeader",
    )
    return [DefaultInfo(files = depset([header, compiled]))]

precompiled_header = rule(
    implementation = _precompile,
    attrs = {
        "header": attr.label(allow_single_file = [".h"], mandatory = True),
        "_cc_toolchain": attr.label(default = "@bazel_tools//tools/cpp:current_cc_toolchain"),
    },
    fragments = ["cpp"],
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
)

def folder_cc_tests(deps, data = [], copts = [], alone = [], shards = {}):
    """Declares the tests of a folder's *_test.cc, and a library of what the files share.

    Most of a small test's cost is headers, GoogleTest's templates and the link: those that do not
    mind each other are compiled in batches, as libraries are, and are one test named `together`.
    A case of it: bazel test //tests/ir:together --test_filter=Parser.*

    Args:
      deps: what every test links, GoogleTest aside.
      data: files that every test may read.
      copts: flags for every test.
      alone: tests with a process of their own, each of its file's name.
      shards: by a test's name, in how many processes its cases run.
    """
    native.cc_library(
        name = "shared",
        testonly = True,
        srcs = native.glob(["*.cc"], exclude = ["*_test.cc"]),
        hdrs = native.glob(["*.h"]),
        copts = copts + _QUICKLY_COMPILED + _PRECOMPILED,
        visibility = ["//tests:__subpackages__"],
        deps = deps + ["//tests:precompiled_header", "@gtest//:main"],
    )
    tests = {name: [name + ".cc"] for name in alone}
    sources = native.glob(["*_test.cc"], exclude = [name + ".cc" for name in alone])
    if sources:
        tests["together"] = [batches_of("together", sources)]
        native.cc_library(
            name = "batched",
            testonly = True,
            textual_hdrs = sources,
        )
    for name, srcs in tests.items():
        native.cc_test(
            name = name,
            srcs = srcs,
            copts = copts + _QUICKLY_COMPILED + _PRECOMPILED,
            data = data,
            shard_count = shards.get(name),
            timeout = "eternal",  # A sanitizer on a busy machine needs over fifteen minutes.
            deps = deps + [":shared", "//tests:precompiled_header", "@gtest//:main"] +
                   ([":batched"] if name == "together" else []),
        )
