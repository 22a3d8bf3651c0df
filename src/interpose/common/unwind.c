/* The unwinder's entry points, which compiled code needs to end a call when its thread is cancelled.
 *
 * They are in libgcc_s, which every program would have to load for us. But when a thread unwinds through our frames the
 * library is loaded, and found here. If it is linked into the program itself, the unwinding skips our frames, and calls
 * in progress do not end. */
#include <dlfcn.h>
#include <stddef.h>
#include <unwind.h>

static void *find(const char *symbol) {
    void *library = dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
    return library ? dlsym(library, symbol) : NULL;
}

typedef _Unwind_Reason_Code personality_fn(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                           struct _Unwind_Exception *exception, struct _Unwind_Context *context);
typedef void resume_fn(struct _Unwind_Exception *exception);

personality_fn __gcc_personality_v0;

_Unwind_Reason_Code __gcc_personality_v0(int version, _Unwind_Action actions, _Unwind_Exception_Class kind,
                                         struct _Unwind_Exception *exception, struct _Unwind_Context *context) {
    personality_fn *real = (personality_fn *)(__UINTPTR_TYPE__)find("__gcc_personality_v0");
    return real ? real(version, actions, kind, exception, context) : _URC_CONTINUE_UNWIND;
}

/* Called only after the above has found it. */
void _Unwind_Resume(struct _Unwind_Exception *exception) {
    resume_fn *real = (resume_fn *)(__UINTPTR_TYPE__)find("_Unwind_Resume");
    if (real)
        real(exception);
    __builtin_trap();
}
