/* System calls that a preloaded object makes for itself. They bypass its wrapper of syscall(2), which observes those of
 * the program, and any other preloaded wrapper of that function. */
#ifndef OWN_CALL_H
#define OWN_CALL_H

typedef long own_call_fn(long number, ...);

extern own_call_fn *own_call_found; /* atomic; NULL: not looked for yet */

/* Keeps errno */
own_call_fn *own_call_find(void);

static inline own_call_fn *own_call_function(void) {
    own_call_fn *found = __atomic_load_n(&own_call_found, __ATOMIC_RELAXED);
    return __builtin_expect(!found, 0) ? own_call_find() : found;
}

/* As syscall(2). */
#define own_call(...) own_call_function()(__VA_ARGS__)

#endif
