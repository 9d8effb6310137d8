// Modules as text for libNVVM: every kind of instruction, in LLVM 19's assembly and in that of
// LLVM 7. What libNVVM says to whole kernels is in tests/python/test_ptx.py.
#include "backends/nvvm/write_nvvm_ir.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "backends/nvvm/lower_for_nvvm.h"
#include "ir/diagnostics.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

namespace parakeet::backends {
namespace {

// The lines of a text, of which some here are continued in the next, behind four spaces.
std::string WithWholeLines(std::string text) {
  for (size_t at = 0; (at = text.find("\n    ")) != text.npos;) text.replace(at, 5, " ");
  return text;
}

// What is written for a module, between the triple and the version, which are in all.
std::string Written(const std::string& assembly) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const auto module = llvm::parseAssemblyString(assembly, problem, context);
  if (module == nullptr) return "not parsed: " + problem.getMessage().str();
  LowerForNvvm(*module);
  const std::string text = WriteNvvmIr(*module);
  const size_t start = text.find('\n', text.find("target triple")) + 1;
  return "\n" + text.substr(start, text.find("!nvvmir.version") - start);
}

std::string Refusal(const std::string& assembly) {
  try {
    return "written: " + Written(assembly);
  } catch (const ir::Failure& failure) {
    EXPECT_EQ(failure.kind(), ir::FailureKind::kLimitation);
    return failure.what();
  }
}

TEST(WriteNvvmIr, BeginsAndEndsAsLibNvvmWants) {
  llvm::LLVMContext context;
  const std::string text = WriteNvvmIr(llvm::Module("empty", context));
  EXPECT_TRUE(text.starts_with("target datalayout = \"e-p:64:64:64-i1:8:8-i8:8:8-")) << text;
  EXPECT_NE(text.find("target triple = \"nvptx64-nvidia-cuda\"\n"), text.npos);
  EXPECT_TRUE(text.ends_with("!nvvmir.version = !{!0}\n!0 = !{i32 2, i32 0}\n")) << text;
}

TEST(WriteNvvmIr, KernelsTakeTheirCapturesByValue) {
  EXPECT_EQ(Written(R"(
define ptx_kernel void @k(ptr byval([16 x i8]) align 8 %captures) nounwind "target-cpu"="sm_90" {
  %at = getelementptr inbounds i8, ptr %captures, i64 8
  %x = load ptr, ptr %at, align 8
  store float 1.5, ptr %x, align 4
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{ptr @k, !"kernel", i32 1}
!1 = !{ptr @k, !"maxntidx", i32 256}
)"),
            R"(
define void @k([16 x i8]* byval align 8 %a0) nounwind {
b0:
  %a0_bytes = bitcast [16 x i8]* %a0 to i8*
  %v0 = getelementptr inbounds i8, i8* %a0_bytes, i64 8
  %t0 = bitcast i8* %v0 to i8**
  %v1 = load i8*, i8** %t0, align 8
  %t1 = bitcast i8* %v1 to float*
  store float 1.500000e+00, float* %t1, align 4
  ret void
}
!nvvm.annotations = !{!0, !1}
!0 = !{void ([16 x i8]*)* @k, !"kernel", i32 1}
!1 = !{void ([16 x i8]*)* @k, !"maxntidx", i32 256}
)");
}

TEST(WriteNvvmIr, Arithmetic) {
  EXPECT_EQ(Written(R"(
define double @f(i32 %a, i64 %b, float %x, double %y, half %h) {
  %1 = add nuw nsw i32 %a, 3
  %2 = sub i32 %1, %a
  %3 = mul nsw i32 %2, -4
  %4 = udiv exact i32 %3, 5
  %5 = srem i32 %4, 6
  %6 = shl nuw i32 %5, 7
  %7 = ashr exact i32 %6, 8
  %8 = or disjoint i32 %7, 9
  %9 = zext nneg i32 %8 to i64
  %10 = xor i64 %9, %b
  %11 = trunc nuw i64 %10 to i1
  %12 = fadd contract float %x, 0x3FB99999A0000000
  %13 = fmul fast float %12, %x
  %14 = fdiv nnan ninf nsz arcp afn reassoc float %13, %x
  %15 = fneg float %14
  %16 = frem float %15, 2.0
  %17 = fpext float %16 to double
  %18 = fsub double %17, %y
  %19 = fcmp nnan olt double %18, 0x7FF8000000000000
  %20 = icmp ule i64 %10, 18446744073709551615
  %21 = and i1 %19, %20
  %22 = fadd half %h, 0xH3C00
  %23 = fptosi half %22 to i16
  %24 = sitofp i16 %23 to double
  %25 = bitcast double %24 to i64
  %26 = uitofp i64 %25 to double
  %27 = select nnan i1 %21, double %26, double poison
  ret double %27
}
)"),
            R"(
define double @f(i32 %a0, i64 %a1, float %a2, double %a3, half %a4) {
b0:
  %v0 = add nuw nsw i32 %a0, 3
  %v1 = sub i32 %v0, %a0
  %v2 = mul nsw i32 %v1, -4
  %v3 = udiv exact i32 %v2, 5
  %v4 = srem i32 %v3, 6
  %v5 = shl nuw i32 %v4, 7
  %v6 = ashr exact i32 %v5, 8
  %v7 = or i32 %v6, 9
  %v8 = zext i32 %v7 to i64
  %v9 = xor i64 %v8, %a1
  %v10 = trunc i64 %v9 to i1
  %v11 = fadd contract float %a2, 0x3FB99999A0000000
  %v12 = fmul fast float %v11, %a2
  %v13 = fdiv nnan ninf nsz arcp afn reassoc float %v12, %a2
  %v14 = fsub float -0.000000e+00, %v13
  %v15 = frem float %v14, 2.000000e+00
  %v16 = fpext float %v15 to double
  %v17 = fsub double %v16, %a3
  %v18 = fcmp nnan olt double %v17, 0x7FF8000000000000
  %v19 = icmp ule i64 %v9, -1
  %v20 = and i1 %v18, %v19
  %v21 = fadd half %a4, 0xH3C00
  %v22 = fptosi half %v21 to i16
  %v23 = sitofp i16 %v22 to double
  %v24 = bitcast double %v23 to i64
  %v25 = uitofp i64 %v24 to double
  %v26 = select i1 %v20, double %v25, double undef
  ret double %v26
}
)");
}

TEST(WriteNvvmIr, MemoryHasCastsInFrontOfItsUses) {
  EXPECT_EQ(Written(R"(
define i8 @f(ptr noalias nocapture readonly align 8 %p, ptr addrspace(1) %q, i64 %i) {
  %own = alloca [4 x double], align 8
  %1 = getelementptr inbounds [4 x double], ptr %own, i64 0, i64 %i
  store double 0.0, ptr %1, align 8
  %2 = addrspacecast ptr addrspace(1) %q to ptr
  %3 = icmp eq ptr %2, null
  %4 = select i1 %3, ptr %p, ptr %2
  %5 = ptrtoint ptr %4 to i64
  %6 = inttoptr i64 %5 to ptr addrspace(1)
  %7 = load <4 x float>, ptr addrspace(1) %6, align 16
  store volatile <4 x float> %7, ptr %p, align 16
  %8 = getelementptr i8, ptr %p, i64 %i
  %9 = load i8, ptr %8, align 1
  ret i8 %9
}
)"),
            R"(
define i8 @f(i8* noalias nocapture readonly align 8 %a0, i8 addrspace(1)* %a1, i64 %a2) {
b0:
  %t0 = alloca [4 x double], align 8
  %v0 = bitcast [4 x double]* %t0 to i8*
  %t1 = bitcast i8* %v0 to [4 x double]*
  %t2 = getelementptr inbounds [4 x double], [4 x double]* %t1, i64 0, i64 %a2
  %v1 = bitcast double* %t2 to i8*
  %t3 = bitcast i8* %v1 to double*
  store double 0.000000e+00, double* %t3, align 8
  %v2 = addrspacecast i8 addrspace(1)* %a1 to i8*
  %v3 = icmp eq i8* %v2, null
  %v4 = select i1 %v3, i8* %a0, i8* %v2
  %v5 = ptrtoint i8* %v4 to i64
  %v6 = inttoptr i64 %v5 to i8 addrspace(1)*
  %t4 = bitcast i8 addrspace(1)* %v6 to <4 x float> addrspace(1)*
  %v7 = load <4 x float>, <4 x float> addrspace(1)* %t4, align 16
  %t5 = bitcast i8* %a0 to <4 x float>*
  store volatile <4 x float> %v7, <4 x float>* %t5, align 16
  %v8 = getelementptr i8, i8* %a0, i64 %a2
  %v9 = load i8, i8* %v8, align 1
  ret i8 %v9
}
)");
}

TEST(WriteNvvmIr, GlobalsAreInASpaceOfTheDevice) {
  EXPECT_EQ(Written(R"(
@shared = external addrspace(3) global [0 x i8], align 64
@table = private constant [2 x double] [double 1.0, double -0.0], align 8
@0 = internal global { i32, <{ i8, ptr }> } zeroinitializer
@text = private constant [3 x i8] c"a\00\FF"
define double @f() {
  %1 = load double, ptr getelementptr inbounds ([2 x double], ptr @table, i64 0, i64 1), align 8
  store double %1, ptr addrspacecast (ptr addrspace(3)
    getelementptr inbounds (i8, ptr addrspace(3) @shared, i64 32) to ptr), align 8
  store i64 ptrtoint (ptr @0 to i64), ptr @0, align 8
  %2 = load i8, ptr @text, align 1
  ret double %1
}
)"),
            WithWholeLines(R"(
@shared = external addrspace(3) global [0 x i8], align 64
@table = internal addrspace(4) constant [2 x double] [double 1.000000e+00, double -0.000000e+00],
    align 8
@unnamed_0 = internal addrspace(1) global {i32, <{i8, i8*}>} zeroinitializer
@text = internal addrspace(4) constant [3 x i8] [i8 97, i8 0, i8 -1]
define double @f() {
b0:
  %t0 = bitcast i8* bitcast (double* getelementptr inbounds ([2 x double], [2 x double]* bitcast
    (i8* addrspacecast (i8 addrspace(4)* bitcast ([2 x double] addrspace(4)* @table to i8
    addrspace(4)*) to i8*) to [2 x double]*), i64 0, i64 1) to i8*) to double*
  %v0 = load double, double* %t0, align 8
  %t1 = bitcast i8* addrspacecast (i8 addrspace(3)* bitcast (i8 addrspace(3)* getelementptr
    inbounds (i8, i8 addrspace(3)* bitcast (i8 addrspace(3)* bitcast ([0 x i8] addrspace(3)*
    @shared to i8 addrspace(3)*) to i8 addrspace(3)*), i64 32) to i8 addrspace(3)*) to i8*) to
    double*
  store double %v0, double* %t1, align 8
  %t2 = bitcast i8* addrspacecast (i8 addrspace(1)* bitcast ({i32, <{i8, i8*}>} addrspace(1)*
    @unnamed_0 to i8 addrspace(1)*) to i8*) to i64*
  store i64 ptrtoint (i8* addrspacecast (i8 addrspace(1)* bitcast ({i32, <{i8, i8*}>}
    addrspace(1)* @unnamed_0 to i8 addrspace(1)*) to i8*) to i64), i64* %t2, align 8
  %v1 = load i8, i8* addrspacecast (i8 addrspace(4)* bitcast ([3 x i8] addrspace(4)* @text to i8
    addrspace(4)*) to i8*), align 1
  ret double %v0
}
)"));
}

TEST(WriteNvvmIr, ControlFlow) {
  EXPECT_EQ(Written(R"(
define void @f(i32 %n, ptr %p) {
entry:
  switch i32 %n, label %loop [ i32 0, label %end
                               i32 -7, label %never ]
loop:
  %i = phi i32 [ %n, %entry ], [ %less, %loop ]
  %at = phi ptr [ %p, %entry ], [ null, %loop ]
  %less = sub i32 %i, 1
  store i32 %i, ptr %at, align 4
  %more = icmp sgt i32 %less, 0
  br i1 %more, label %loop, label %end, !llvm.loop !0
never:
  call void @llvm.trap()
  unreachable
end:
  ret void
}
declare void @llvm.trap()
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 4}
)"),
            R"(
define void @f(i32 %a0, i8* %a1) {
b0:
  switch i32 %a0, label %b1 [ i32 0, label %b3 i32 -7, label %b2 ]
b1:
  %v0 = phi i32 [ %a0, %b0 ], [ %v2, %b1 ]
  %v1 = phi i8* [ %a1, %b0 ], [ null, %b1 ]
  %v2 = sub i32 %v0, 1
  %t0 = bitcast i8* %v1 to i32*
  store i32 %v0, i32* %t0, align 4
  %v3 = icmp sgt i32 %v2, 0
  br i1 %v3, label %b1, label %b3, !llvm.loop !0
b2:
  call void @llvm.trap()
  unreachable
b3:
  ret void
}
declare void @llvm.trap()
!0 = distinct !{!0, !1}
!1 = !{!"llvm.loop.unroll.count", i32 4}
)");
}

TEST(WriteNvvmIr, Vectors) {
  EXPECT_EQ(Written(R"(
define <4 x i32> @f(<2 x i32> %v, i32 %a) {
  %1 = insertelement <2 x i32> %v, i32 %a, i32 1
  %2 = add <2 x i32> %1, <i32 1, i32 undef>
  %3 = icmp slt <2 x i32> %2, zeroinitializer
  %4 = select <2 x i1> %3, <2 x i32> %2, <2 x i32> <i32 3, i32 3>
  %5 = extractelement <2 x i32> %4, i64 0
  %6 = insertelement <2 x i32> poison, i32 %5, i64 0
  %7 = shufflevector <2 x i32> %6, <2 x i32> %v, <4 x i32> <i32 0, i32 poison, i32 3, i32 2>
  ret <4 x i32> %7
}
)"),
            R"(
define <4 x i32> @f(<2 x i32> %a0, i32 %a1) {
b0:
  %v0 = insertelement <2 x i32> %a0, i32 %a1, i32 1
  %v1 = add <2 x i32> %v0, <i32 1, i32 undef>
  %v2 = icmp slt <2 x i32> %v1, zeroinitializer
  %v3 = select <2 x i1> %v2, <2 x i32> %v1, <2 x i32> <i32 3, i32 3>
  %v4 = extractelement <2 x i32> %v3, i64 0
  %v5 = insertelement <2 x i32> undef, i32 %v4, i64 0
  %v6 = shufflevector <2 x i32> %v5, <2 x i32> %a0, <4 x i32> <i32 0, i32 undef, i32 3, i32 2>
  ret <4 x i32> %v6
}
)");
}

TEST(WriteNvvmIr, Atomics) {
  EXPECT_EQ(Written(R"(
define void @f(ptr %p, ptr addrspace(1) %q, i32 %a, double %d) {
  %1 = cmpxchg weak ptr %p, i32 0, i32 1 acq_rel monotonic
  %2 = extractvalue { i32, i1 } %1, 1
  %3 = insertvalue { i32, i1 } %1, i1 %2, 1
  %4 = atomicrmw umax ptr %p, i32 %a monotonic
  %5 = atomicrmw xchg ptr %p, i64 1 syncscope("device") seq_cst
  %6 = atomicrmw fadd ptr addrspace(1) %q, double %d monotonic
  %7 = load atomic i32, ptr %p syncscope("block") acquire, align 4
  store atomic i32 %7, ptr %p release, align 4
  fence seq_cst
  ret void
}
)"),
            R"(
define void @f(i8* %a0, i8 addrspace(1)* %a1, i32 %a2, double %a3) {
b0:
  call void @llvm.nvvm.membar.sys()
  %t0 = bitcast i8* %a0 to i32*
  %v0 = cmpxchg i32* %t0, i32 0, i32 1 monotonic monotonic
  call void @llvm.nvvm.membar.sys()
  %v1 = extractvalue {i32, i1} %v0, 1
  %v2 = insertvalue {i32, i1} %v0, i1 %v1, 1
  %t1 = bitcast i8* %a0 to i32*
  %v3 = atomicrmw umax i32* %t1, i32 %a2 monotonic
  call void @llvm.nvvm.membar.gl()
  %t2 = bitcast i8* %a0 to i64*
  %v4 = atomicrmw xchg i64* %t2, i64 1 monotonic
  call void @llvm.nvvm.membar.gl()
  %t3 = bitcast i8 addrspace(1)* %a1 to double addrspace(1)*
  %v5 = call double @llvm.nvvm.atomic.load.add.f64.p1f64(double addrspace(1)* %t3, double %a3)
  %t4 = bitcast i8* %a0 to i32*
  %v6 = load volatile i32, i32* %t4, align 4
  call void @llvm.nvvm.membar.cta()
  call void @llvm.nvvm.membar.sys()
  %t5 = bitcast i8* %a0 to i32*
  store volatile i32 %v6, i32* %t5, align 4
  call void @llvm.nvvm.membar.sys()
  ret void
}
declare double @llvm.nvvm.atomic.load.add.f64.p1f64(double addrspace(1)*, double)
declare void @llvm.nvvm.membar.cta()
declare void @llvm.nvvm.membar.gl()
declare void @llvm.nvvm.membar.sys()
)");
}

TEST(WriteNvvmIr, CallsAndMetadata) {
  EXPECT_EQ(Written(R"(
define internal float @inner(ptr %p) noinline memory(argmem: read) {
  %1 = load i64, ptr %p, align 8, !range !0, !alias.scope !1, !noundef !4
  %2 = load i64, ptr %p, align 8, !invariant.load !4, !tbaa !5
  %3 = add i64 %1, %2
  %4 = sitofp i64 %3 to float
  %5 = call fast float @llvm.fma.f32(float %4, float %4, float 1.0)
  %6 = call float @__nv_sinf(float %5) memory(none)
  call void @llvm.memcpy.p0.p1.i64(ptr align 8 %p, ptr addrspace(1) null, i64 %3, i1 false)
  call void @llvm.nvvm.barrier0()
  %7 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  ret float %6
}
define float @outer(ptr %p) {
  %1 = tail call float @inner(ptr noundef nonnull %p) nounwind
  ret float %1
}
declare float @__nv_sinf(float) nounwind willreturn memory(none)
declare float @llvm.fma.f32(float, float, float)
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!0 = !{i64 0, i64 -9223372036854775808}
!1 = !{!2}
!2 = distinct !{!2, !3, !"x"}
!3 = distinct !{!3}
!4 = !{}
!5 = !{!6, !6, i64 0}
!6 = !{!"word"}
)"),
            WithWholeLines(R"(
define internal float @inner(i8* %a0) noinline readonly argmemonly {
b0:
  %t0 = bitcast i8* %a0 to i64*
  %v0 = load i64, i64* %t0, align 8, !range !0, !alias.scope !1
  %t1 = bitcast i8* %a0 to i64*
  %v1 = load i64, i64* %t1, align 8, !invariant.load !2
  %v2 = add i64 %v0, %v1
  %v3 = sitofp i64 %v2 to float
  %v4 = call fast float @llvm.fma.f32(float %v3, float %v3, float 1.000000e+00) readnone
  %v5 = call float @__nv_sinf(float %v4) readnone
  call void @llvm.memcpy.p0i8.p1i8.i64(i8* align 8 %a0, i8 addrspace(1)* null,
    i64 %v2, i1 false) argmemonly
  call void @llvm.nvvm.barrier0()
  %v6 = call i32 @llvm.nvvm.read.ptx.sreg.tid.x() readnone
  ret float %v5
}
define float @outer(i8* %a0) {
b0:
  %v0 = call float @inner(i8* %a0) nounwind readonly argmemonly
  ret float %v0
}
declare float @__nv_sinf(float) nounwind readnone
declare float @llvm.fma.f32(float, float, float)
declare void @llvm.memcpy.p0i8.p1i8.i64(i8*, i8 addrspace(1)*, i64, i1)
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!0 = !{i64 0, i64 -9223372036854775808}
!1 = !{!3}
!2 = !{}
!3 = distinct !{!3, !4, !"x"}
!4 = distinct !{!4}
)"));
}

TEST(LowerForNvvm, IntegersAreComparedAndSelected) {
  EXPECT_EQ(Written(R"(
define i32 @f(i32 %a, i32 %b) {
  %1 = call i32 @llvm.smin.i32(i32 %a, i32 %b)
  %2 = call i32 @llvm.smax.i32(i32 %1, i32 %b)
  %3 = call i32 @llvm.umin.i32(i32 %2, i32 %b)
  %4 = call i32 @llvm.umax.i32(i32 %3, i32 %b)
  %5 = call i32 @llvm.abs.i32(i32 %4, i1 false)
  %6 = call i32 @llvm.ctpop.i32(i32 %5)
  %7 = call i32 @llvm.fshl.i32(i32 %6, i32 %a, i32 %b)
  ret i32 %7
}
declare i32 @llvm.smin.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.umin.i32(i32, i32)
declare i32 @llvm.umax.i32(i32, i32)
declare i32 @llvm.abs.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
)"),
            R"(
define i32 @f(i32 %a0, i32 %a1) {
b0:
  %v0 = icmp slt i32 %a0, %a1
  %v1 = select i1 %v0, i32 %a0, i32 %a1
  %v2 = icmp sgt i32 %v1, %a1
  %v3 = select i1 %v2, i32 %v1, i32 %a1
  %v4 = icmp ult i32 %v3, %a1
  %v5 = select i1 %v4, i32 %v3, i32 %a1
  %v6 = icmp ugt i32 %v5, %a1
  %v7 = select i1 %v6, i32 %v5, i32 %a1
  %v8 = icmp slt i32 %v7, 0
  %v9 = sub i32 0, %v7
  %v10 = select i1 %v8, i32 %v9, i32 %v7
  %v11 = call i32 @llvm.ctpop.i32(i32 %v10) readnone
  %v12 = call i32 @llvm.fshl.i32(i32 %v11, i32 %a0, i32 %a1) readnone
  ret i32 %v12
}
declare i32 @llvm.ctpop.i32(i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
)");
}

TEST(LowerForNvvm, FunctionsOfFloatsAreLibdevices) {
  EXPECT_EQ(Written(R"(
define half @f(float %x, double %y, half %h) {
  %1 = call float @llvm.fabs.f32(float %x)
  %2 = call double @llvm.copysign.f64(double %y, double 1.0)
  %3 = call half @llvm.floor.f16(half %h)
  %4 = call half @llvm.copysign.f16(half %3, half %h)
  %5 = call float @llvm.sqrt.f32(float %1)
  call void @llvm.assume(i1 true)
  ret half %4
}
declare float @llvm.fabs.f32(float)
declare double @llvm.copysign.f64(double, double)
declare half @llvm.floor.f16(half)
declare half @llvm.copysign.f16(half, half)
declare float @llvm.sqrt.f32(float)
declare void @llvm.assume(i1)
)"),
            R"(
define half @f(float %a0, double %a1, half %a2) {
b0:
  %v0 = call float @__nv_fabsf(float %a0) readnone
  %v1 = call double @__nv_copysign(double %a1, double 1.000000e+00) readnone
  %v2 = bitcast half %a2 to i16
  %v3 = call float @llvm.convert.from.fp16.f32(i16 %v2) readnone
  %v4 = call float @__nv_floorf(float %v3) readnone
  %v5 = call i16 @llvm.convert.to.fp16.f32(float %v4) readnone
  %v6 = bitcast i16 %v5 to half
  %v7 = bitcast half %v6 to i16
  %v8 = and i16 %v7, 32767
  %v9 = bitcast half %a2 to i16
  %v10 = and i16 %v9, -32768
  %v11 = or i16 %v8, %v10
  %v12 = bitcast i16 %v11 to half
  %v13 = call float @llvm.sqrt.f32(float %v0) readnone
  ret half %v12
}
declare float @__nv_fabsf(float) nounwind readnone
declare double @__nv_copysign(double, double) nounwind readnone
declare float @__nv_floorf(float) nounwind readnone
declare float @llvm.convert.from.fp16.f32(i16)
declare i16 @llvm.convert.to.fp16.f32(float)
declare float @llvm.sqrt.f32(float)
)");
}

TEST(LowerForNvvm, HalvesAreWidenedByIntrinsics) {
  EXPECT_EQ(Written(R"(
define half @f(half %h) {
  %1 = fpext half %h to float
  %2 = fadd float %1, 1.0
  %3 = fptrunc float %2 to half
  ret half %3
}
)"),
            R"(
define half @f(half %a0) {
b0:
  %v0 = bitcast half %a0 to i16
  %v1 = call float @llvm.convert.from.fp16.f32(i16 %v0) readnone
  %v2 = fadd float %v1, 1.000000e+00
  %v3 = call i16 @llvm.convert.to.fp16.f32(float %v2) readnone
  %v4 = bitcast i16 %v3 to half
  ret half %v4
}
declare float @llvm.convert.from.fp16.f32(i16)
declare i16 @llvm.convert.to.fp16.f32(float)
)");
}

TEST(LowerForNvvm, FrozenValuesAreCopiesInRegisters) {
  EXPECT_EQ(Written(R"(
define i8 @f(i8 %a, double %y, ptr %p, i32 noundef %known) {
  %1 = freeze i8 %a
  %2 = freeze double %y
  %3 = freeze ptr %p
  %4 = freeze i32 %known
  store double %2, ptr %3, align 8
  store i32 %4, ptr %3, align 4
  ret i8 %1
}
)"),
            R"(
define i8 @f(i8 %a0, double %a1, i8* %a2, i32 %a3) {
b0:
  %v0 = zext i8 %a0 to i32
  %v1 = call i32 asm "mov.b32 $0, $1;", "=r,r"(i32 %v0)
  %v2 = trunc i32 %v1 to i8
  %v3 = call double asm "mov.f64 $0, $1;", "=d,d"(double %a1)
  %v4 = ptrtoint i8* %a2 to i64
  %v5 = call i64 asm "mov.b64 $0, $1;", "=l,l"(i64 %v4)
  %v6 = inttoptr i64 %v5 to i8*
  %t0 = bitcast i8* %v6 to double*
  store double %v3, double* %t0, align 8
  %t1 = bitcast i8* %v6 to i32*
  store i32 %a3, i32* %t1, align 4
  ret i8 %v2
}
)");
}

TEST(WriteNvvmIr, NamesWhatItRefuses) {
  const std::string advice =
      "; parakeet.config.gpu_assembler = 'nvptx' compiles kernels without libNVVM";
  const auto refused = [&](const std::string& what, const std::string& body) {
    EXPECT_EQ(Refusal(body), "libNVVM cannot be given " + what + advice);
  };
  refused("the intrinsic 'llvm.is.fpclass.f32'",
          "define i1 @f(float %x) { %1 = call i1 @llvm.is.fpclass.f32(float %x, i32 3) ret i1 %1 }"
          "declare i1 @llvm.is.fpclass.f32(float, i32)");
  refused("'atomicrmw add' of i16",
          "define void @f(ptr %p) { %1 = atomicrmw add ptr %p, i16 1 monotonic ret void }");
  refused("'atomicrmw fmin' of float",
          "define void @f(ptr %p) { %1 = atomicrmw fmin ptr %p, float 1.0 monotonic ret void }");
  refused("a 'call' of a pointer", "define void @f(ptr %p) { call void %p() ret void }");
  refused("the instruction 'freeze'",
          "define <2 x i64> @f(<2 x i64> %v) { %1 = freeze <2 x i64> %v ret <2 x i64> %1 }");
  refused("the instruction 'indirectbr'",
          "define void @f(ptr %p) { indirectbr ptr %p, [label %b] b: ret void }");
  refused("the type bfloat", "define bfloat @f(bfloat %x) { ret bfloat %x }");
  refused("'alloca' of a number of elements",
          "define void @f(i32 %n) { %1 = alloca i8, i32 %n ret void }");
}

}  // namespace
}  // namespace parakeet::backends
