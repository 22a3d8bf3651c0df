/* libaggstats: which library a program fits.
 *
 * The hot path (hot.h) and the layouts of structures are compiled into programs, so they are part of the binary
 * interface. One number stands for all of it:
 *   - It goes up with every change of a layout, of hot.h, or of what a function takes.
 *   - It is the library's soversion and the version of its symbols: a program is never started with another library.
 *   - aggstats_recorder_create() gives it to the library, which refuses another one with -EPROTO. That finds what was
 *     compiled with other headers than those of the library that it was linked with.
 * Within one number functions may be added, and members at two places:
 *   - at the end of options, whose size the caller gives along: those that it does not know of are 0, and those that
 *     the library does not know of must be. So no padding may be added;
 *   - in place of the reserved members of what the library fills. */
#ifndef AGGSTATS_ABI_H
#define AGGSTATS_ABI_H

#define AGGSTATS_ABI 5

/* Around declarations: they are C, and the library's visible symbols. */
#ifdef __cplusplus
#define AGGSTATS_BEGIN_DECLARATIONS _Pragma("GCC visibility push(default)") extern "C" {
#define AGGSTATS_END_DECLARATIONS                                                                                      \
    }                                                                                                                  \
    _Pragma("GCC visibility pop")
#else
#define AGGSTATS_BEGIN_DECLARATIONS _Pragma("GCC visibility push(default)")
#define AGGSTATS_END_DECLARATIONS _Pragma("GCC visibility pop")
#endif

#endif
