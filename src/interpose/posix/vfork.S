/* The wrapper of vfork(2). A function of C cannot wrap it: the child would return from that, and its parent once more
 * from the same stack frame. So this one leaves nothing on the stack and jumps to the wrapped function, which
 * vfork_begins() (sharing.c) returns. */

#if defined(__x86_64__) || defined(__aarch64__)

#if defined(__CET__)
#include <cet.h>
#else
#define _CET_ENDBR
#endif

    .text
    .globl vfork
    .globl __vfork
    .type vfork, %function
    .type __vfork, %function
    .p2align 4
vfork:
__vfork:
    .cfi_startproc
#if defined(__x86_64__)
    _CET_ENDBR
    subq $8, %rsp /* aligned as for any call */
    .cfi_adjust_cfa_offset 8
    call vfork_begins
    addq $8, %rsp
    .cfi_adjust_cfa_offset -8
    jmp *%rax
#elif defined(__aarch64__)
    hint #34 /* a target of indirect jumps */
    stp x29, x30, [sp, #-16]!
    .cfi_adjust_cfa_offset 16
    bl vfork_begins
    ldp x29, x30, [sp], #16
    .cfi_adjust_cfa_offset -16
    mov x16, x0
    br x16
#endif
    .cfi_endproc
    .size vfork, . - vfork
    .size __vfork, . - __vfork

#endif

    .section .note.GNU-stack, "", %progbits
