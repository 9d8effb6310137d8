"""Settings of the original Parakeet: programs and tests that were written for it assign them.

Those that print do so here too, each time a function is compiled. The others switched passes of its
compiler, or named a C compiler; they are kept and have no effect, and a warning says so.
"""

import warnings

from parakeet import _core

# What each prints: a text of a compilation, and its stage.
_PRINTED = {
    "print_untyped_function": ("ir", "parallel"),
    "print_specialized_function": ("ir", "parallel"),
    "print_indexified_function": ("ir", "indexed"),
    "print_loopy_function": ("ir", "scheduled"),
    "print_lowered_function": ("ir", "scheduled"),
    "print_generated_code": ("llvm", ""),
    "print_function_source": ("llvm", ""),
    "print_module_source": ("llvm", ""),
}
_WITHOUT_EFFECT = """
    opt_inline opt_fusion opt_combine_nested_maps opt_specialize_fn_args opt_index_elimination
    opt_range_propagation opt_licm opt_redundant_load_elimination opt_stack_allocation
    opt_shape_elim opt_copy_elimination opt_loop_unrolling opt_scalar_replacement
    opt_simplify_array_operators opt_verify value_specialization testing_find_broken_transform
    print_before_specialization print_functions_before_transforms print_functions_after_transforms
    print_escape_analysis print_transform_timings print_transform_times print_transform_names
    print_specialized_function_names fast_math sse2 opt_level compiler_path debug
    check_pyobj_types print_input_ir print_line_numbers print_commands print_command_elapsed_time
    pure_c delete_temp_files use_distutils suppress_compiler_output undef_posix_c_source
""".split()

NAMES = frozenset([*_PRINTED, *_WITHOUT_EFFECT])


def assign(settings, name, value):
    """Sets one of NAMES in `settings`, a dict of those that were set."""
    if name in _PRINTED:
        settings[name] = bool(value)
        texts = {_PRINTED[printed]: None for printed in _PRINTED if settings.get(printed)}
        _core.set_shown(_show, tuple(texts))
        return
    settings[name] = value
    message = f"config.{name} is a setting of the original Parakeet and has no effect here"
    warnings.warn(message, RuntimeWarning, stacklevel=3)


def _show(function, what, text):
    print(f"{what} of {function.__qualname__}:\n{text}")
