// NVIDIA's functions of mathematics for GPUs, as LLVM bitcode.
        .section .rodata
        .balign 16
        .global parakeet_libdevice
parakeet_libdevice:
        .incbin "third_party/libdevice/libdevice.10.bc"
        .global parakeet_libdevice_end
parakeet_libdevice_end:
        .section .note.GNU-stack, "", @progbits
