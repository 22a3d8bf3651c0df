/* libaggstats: which library a program needs.
 *
 * The hot path (hot.h) and the layouts of structures are compiled into programs, so they are part of the binary
 * interface. One number stands for all of it:
 *   - It goes up with every change of a layout, of hot.h, or of a function's parameters.
 *   - It is the library's soversion and the version of its symbols: a program is never started with another library.
 *   - aggstats_recorder_create() passes it to the library, which refuses another number with -EPROTO. This check finds
 *     programs whose headers do not match the library.
 * Within one number functions may be added, and members at two places:
 *   - at the end of options. The caller passes their size: members that it does not know are 0, and members that the
 *     library does not know must be 0. So no padding may be added;
 *   - in place of the reserved members of what the library fills. */
#ifndef AGGSTATS_ABI_H
#define AGGSTATS_ABI_H

#define AGGSTATS_ABI 11

/* Call around declarations: C linkage, and visible symbols of the library. */
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
