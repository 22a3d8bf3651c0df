/* By unwind tables, in the copy of the stack; else by frame pointers in the copy, and then by those that the kernel has
 * found. Libraries mostly have tables, programs mostly tables or frame pointers. */
#include "unwind.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define WORD_BYTES UINT64_C(8)

/* Numbers of registers in unwind tables. */
#if defined(__x86_64__)
enum { FRAME_REGISTER = 6, STACK_REGISTER = 7, LINK_REGISTER = -1 };
#else
enum { FRAME_REGISTER = 29, STACK_REGISTER = 31, LINK_REGISTER = 30 };
#endif

struct frame unwind_begin(const struct collected_user_stack *from) {
    return (struct frame){.instruction = from->instruction,
                          .stack = from->stack,
                          .frame = from->frame,
                          .link = from->link,
                          .has_stack = true,
                          .has_frame = true,
                          .has_link = from->link != 0,
                          .is_interrupted = true};
}

bool unwind_address(const struct mapping *mapping, const struct frame *frame, uint64_t *ret_address) {
    const uint64_t at = frame->instruction - (frame->is_interrupted ? 0 : 1);
    return mapping && mapping->file && at >= mapping->start &&
           elf_file_address(mapping->file, at - mapping->start + mapping->offset, ret_address);
}

static bool read_word(const struct collected_user_stack *from, uint64_t address, uint64_t *ret_word) {
    const uint64_t known = (uint64_t)from->part_count * COLLECTED_USER_PART_BYTES;
    if (known > sizeof(from->parts) || address < from->stack || address - from->stack + WORD_BYTES > known ||
        address - from->stack > known)
        return false;
    memcpy(ret_word, &from->parts[0][0] + (address - from->stack), WORD_BYTES);
    return true;
}

/* ---- Tables ------------------------------------------------------------------------------------- */

static bool find_base(const struct frame *frame, const Dwarf_Op *ops, size_t count, uint64_t *ret_base) {
    if (count != 1)
        return false;
    const bool is_long = ops[0].atom == DW_OP_bregx;
    if (!is_long && (ops[0].atom < DW_OP_breg0 || ops[0].atom > DW_OP_breg31))
        return false;
    const int number = is_long ? (int)ops[0].number : ops[0].atom - DW_OP_breg0;
    if (number == STACK_REGISTER && frame->has_stack)
        *ret_base = frame->stack + (is_long ? ops[0].number2 : ops[0].number);
    else if (number == FRAME_REGISTER && frame->has_frame)
        *ret_base = frame->frame + (is_long ? ops[0].number2 : ops[0].number);
    else
        return false;
    return true;
}

enum saved { SAVED, SAVED_NOWHERE, SAVED_BEYOND, SAVED_UNKNOWN };

/* Finds the value of a register in the caller. before: the value in the called function; NULL: unknown */
static enum saved find_saved(Dwarf_Frame *tables, int number, uint64_t base, const struct collected_user_stack *from,
                             const uint64_t *before, uint64_t *ret_value) {
    Dwarf_Op memory[3];
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    if (dwarf_frame_register(tables, number, memory, &ops, &count) != 0)
        return SAVED_UNKNOWN;
    if (count == 0 && ops)
        return SAVED_NOWHERE;
    if (count == 0 && !before)
        return SAVED_UNKNOWN;
    if (count == 0) {
        *ret_value = *before;
        return SAVED;
    }
    if (ops[0].atom != DW_OP_call_frame_cfa || count > 2 || (count == 2 && ops[1].atom != DW_OP_plus_uconst))
        return SAVED_UNKNOWN;
    return read_word(from, base + (count == 2 ? ops[1].number : 0), ret_value) ? SAVED : SAVED_BEYOND;
}

static enum unwound step(Dwarf_Frame *tables, const struct collected_user_stack *from, struct frame *frame) {
    struct frame caller = {.has_stack = true};
    Dwarf_Op *ops = NULL;
    size_t count = 0;
    bool is_signal = false;
    const int return_register = dwarf_frame_info(tables, NULL, NULL, &is_signal);
    if (return_register < 0)
        return UNWOUND_LOST;
    const bool has_base = dwarf_frame_cfa(tables, &ops, &count) == 0 && find_base(frame, ops, count, &caller.stack);
    const uint64_t *link = return_register == LINK_REGISTER && frame->has_link ? &frame->link : NULL;
    const enum saved saved = find_saved(tables, return_register, caller.stack, from, link, &caller.instruction);
    if (saved == SAVED_NOWHERE)
        return UNWOUND_OUTERMOST;
    frame->is_beyond = frame->is_beyond || (has_base && saved == SAVED_BEYOND);
    if (saved != SAVED || !has_base)
        return UNWOUND_LOST;
    const uint64_t *before = frame->has_frame ? &frame->frame : NULL;
    caller.has_frame = find_saved(tables, FRAME_REGISTER, caller.stack, from, before, &caller.frame) == SAVED;
    caller.is_interrupted = is_signal;
    *frame = caller;
    return UNWOUND_CALLER;
}

static enum unwound unwind_by_tables(const struct collected_user_stack *from, const struct mapping *mapping,
                                     struct frame *frame) {
    uint64_t address = 0;
    Dwarf_Frame *tables = NULL;
    if (from->is_32 || !unwind_address(mapping, frame, &address) || !mapping->file->unwind ||
        dwarf_cfi_addrframe(mapping->file->unwind, address, &tables) != 0)
        return UNWOUND_LOST;
    const enum unwound unwound = step(tables, from, frame);
    free(tables);
    return unwound;
}

/* ---- Frame pointers ----------------------------------------------------------------------------- */

static enum unwound unwind_by_frame(const struct collected_user_stack *from, const struct process *process,
                                    struct frame *frame) {
    struct frame caller = {.has_stack = true, .has_frame = true, .stack = frame->frame + 2 * WORD_BYTES};
    if (from->is_32 || !frame->has_frame || frame->frame % WORD_BYTES != 0 ||
        (frame->has_stack && frame->frame < frame->stack) || !read_word(from, frame->frame, &caller.frame) ||
        !read_word(from, frame->frame + WORD_BYTES, &caller.instruction) || !mapped_at(process, caller.instruction))
        return UNWOUND_LOST;
    *frame = caller;
    return UNWOUND_BY_FRAME;
}

/* Takes the caller from the kernel's stack, if the kernel has found the same function. The kernel's stack ends at a
 * function without a frame, and at unreadable memory. */
static enum unwound unwind_by_kernel(const struct collected_user_stack *from, const struct process *process,
                                     struct frame *frame) {
    const unsigned count =
        from->address_count < COLLECTED_USER_FUNCTIONS ? from->address_count : COLLECTED_USER_FUNCTIONS;
    for (unsigned i = frame->kernel_place; i + 1 < count; i++)
        if (from->addresses[i] == frame->instruction && mapped_at(process, from->addresses[i + 1])) {
            *frame = (struct frame){
                .instruction = from->addresses[i + 1], .kernel_place = i + 1, .is_beyond = frame->is_beyond};
            return UNWOUND_BY_FRAME;
        }
    return UNWOUND_LOST;
}

enum unwound unwind(const struct collected_user_stack *from, const struct process *process, struct frame *frame) {
    const bool is_innermost = frame->is_interrupted; /* a wrapper of a system call, which has no frame */
    enum unwound unwound = unwind_by_tables(from, mapped_at(process, frame->instruction), frame);
    if (unwound == UNWOUND_LOST && is_innermost)
        return UNWOUND_LOST;
    if (unwound == UNWOUND_LOST && !frame->is_beyond) /* else the register is not known to be of a frame */
        unwound = unwind_by_frame(from, process, frame);
    if (unwound == UNWOUND_LOST)
        unwound = unwind_by_kernel(from, process, frame);
    return unwound;
}
