"""LLVM and Python as Bazel repositories, found by asking the machine; nothing is downloaded."""

def _ask(ctx, command):
    result = ctx.execute(command)
    if result.return_code:
        fail("%s failed: %s" % (" ".join([str(word) for word in command]), result.stderr))
    return result.stdout.strip()

# Header directories stand whole as `hdrs`: listing LLVM's 2,000 headers one by one would cost every
# clean build ten seconds.
_LLVM_BUILD = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = ["include/llvm", "include/llvm-c"],
    defines = [
        "_GNU_SOURCE",
        "__STDC_CONSTANT_MACROS",
        "__STDC_FORMAT_MACROS",
        "__STDC_LIMIT_MACROS",
    ],
    includes = ["include"],
)

# For the library we ship.
cc_library(
    name = "static",
    srcs = {archives},
    linkopts = ["-l:libz.a", "-l:libzstd.a", "-lrt", "-ldl", "-lm", "-lpthread"],
    deps = [":headers"],
)

# For tests, which link in a tenth of the time.
cc_library(
    name = "shared",
    srcs = ["lib/{shared}"],
    deps = [":headers"],
)

# The OpenMP runtime, which the wheel carries and compiled code is bound to at run time.
filegroup(
    name = "libomp",
    srcs = ["lib/libomp.so.5"],
)

exports_files(["version"])
"""

def _llvm_repository(ctx):
    config = [ctx.attr.llvm_config]
    include = _ask(ctx, config + ["--includedir"])
    for folder in ["llvm", "llvm-c"]:
        ctx.symlink(include + "/" + folder, "include/" + folder)
    flags = _ask(ctx, config + ["--link-static", "--libs"] + ctx.attr.components).split(" ")
    archives = ["lib/lib%s.a" % flag[2:] for flag in flags if flag.startswith("-l")]
    shared = _ask(ctx, config + ["--link-shared", "--libs"])[2:]
    libraries = _ask(ctx, config + ["--libdir"])
    shared_name = "lib%s.so" % shared
    for file in archives + ["lib/" + shared_name, "lib/libomp.so.5"]:
        ctx.symlink(libraries + "/" + file[len("lib/"):], file)
    ctx.file("version", _ask(ctx, config + ["--version"]) + "\n")
    ctx.file("BUILD", _LLVM_BUILD.format(archives = repr(archives), shared = shared_name))

llvm_repository = repository_rule(
    implementation = _llvm_repository,
    attrs = {
        "components": attr.string_list(mandatory = True),
        "llvm_config": attr.string(mandatory = True),
    },
    configure = True,
    local = True,
)

# Py_LIMITED_API is 3.11's: one extension serves it and every later Python.
_PYTHON_BUILD = """\
package(default_visibility = ["//visibility:public"])

cc_library(
    name = "headers",
    hdrs = ["include"],
    defines = ["Py_LIMITED_API=0x030B0000"],
    includes = ["include"],
)

# For C++ tests, which start an interpreter of their own; what we ship finds Python in its process.
cc_library(
    name = "embedded",
    linkopts = ["-l{library}"],
    deps = [":headers"],
)
"""

_PYTHON_PATHS = "import sysconfig as s; print(s.get_path('include'), s.get_config_var('LDVERSION'))"

def _python_repository(ctx):
    include, version = _ask(ctx, [ctx.attr.interpreter, "-c", _PYTHON_PATHS]).split(" ")
    ctx.symlink(include, "include")
    ctx.file("BUILD", _PYTHON_BUILD.format(library = "python" + version))

python_repository = repository_rule(
    implementation = _python_repository,
    attrs = {"interpreter": attr.string(mandatory = True)},
    configure = True,
    local = True,
)
