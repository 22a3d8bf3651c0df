/* osprof doctor --calibrate: measures how long this machine takes for the things that latencies consist of, prints it, and
 * stores it for 'osprof show' to compare peaks with (thesis §3.1.2). All that can fail is tried before anything is
 * measured. */
#include <inttypes.h>
#include <netdb.h>
#include <string.h>
#include <time.h>

#include "base.h"
#include "calibrate.h"
#include "calibration.h"
#include "command.h"
#include "measure.h"
#include "mounts.h"
#include "path.h"
#include "screen.h"
#include "state_dir.h"
#include "units.h"

/* A directory whose device is measured. */
struct device {
    const char *directory;
    char *name;
    struct device_file file;
    bool is_direct;
};

struct run {
    const struct calibrate_options *options;
    struct effort effort;
    struct calibration_file file;
    struct device *devices;
    struct peer **peers;
    struct calibration taken; /* in this run */
    struct screen screen;
    struct units units;
    enum status status;
};

/* ---- Table -------------------------------------------------------------------------------------- */

#define TITLE_COLUMNS 22
#define TIME_COLUMNS 11
#define COUNT_COLUMNS 9

static void print_heading(const struct run *run, const struct calibration *calibration, bool with_date) {
    const struct screen *screen = &run->screen;
    fprintf(screen->stream, "host      ");
    screen_print_untrusted(screen, INK_PLAIN, calibration->host);
    fprintf(screen->stream, "\nclock     %s, %.3f MHz\n\n%*s", aggstats_clock_name(calibration->clock.kind),
            (double)calibration->clock.frequency_hz / 1e6, TITLE_COLUMNS, "");
    screen_print_right(screen, INK_FAINT, "median", TIME_COLUMNS);
    screen_print_right(screen, INK_FAINT, "quartiles", 2 * TIME_COLUMNS);
    screen_print_right(screen, INK_FAINT, "samples", COUNT_COLUMNS);
    fprintf(screen->stream, "%s\n", with_date ? "  taken" : "");
}

static void print_place(const struct run *run, const char *place) {
    screen_print_untrusted(&run->screen, INK_STRONG, place);
    putc('\n', run->screen.stream);
}

/* Times of a device or a peer are printed below its name. */
static void print_title(const struct run *run, enum characteristic_kind kind) {
    bool indented = characteristic_scope(kind) != SCOPE_MACHINE;
    fprintf(run->screen.stream, "%s%-*s", indented ? "  " : "", TITLE_COLUMNS - (indented ? 2 : 0),
            characteristic_title(kind));
}

static void print_time(const struct run *run, const struct characteristic *time, bool with_date) {
    const struct screen *screen = &run->screen;
    const double ns[] = {time->ns.median, time->ns.lower, time->ns.upper};
    char text[64];
    print_title(run, time->kind);
    for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
        units_format_seconds(&run->units, ns[i] / 1e9, text);
        screen_print_right(screen, i == 0 ? INK_STRONG : INK_PLAIN, text, TIME_COLUMNS);
    }
    units_format_count(time->sample_count, text);
    screen_print_right(screen, INK_PLAIN, text, COUNT_COLUMNS);
    time_t taken = (time_t)time->taken_s;
    struct tm tm;
    if (with_date && localtime_r(&taken, &tm) && strftime(text, sizeof(text), "  %Y-%m-%d", &tm) > 0)
        fputs(text, screen->stream);
    putc('\n', screen->stream);
    fflush(screen->stream); /* the next one takes a while */
}

/* ---- Measuring ---------------------------------------------------------------------------------- */

static const char *explain(enum characteristic_kind kind, int error) {
    switch (kind) {
    case CHARACTERISTIC_TIMER_INTERRUPT:
    case CHARACTERISTIC_TIMER_TICK:
        return error == -ENODATA ? "no interrupts in step with the kernel's clock were seen" : strerror(-error);
    case CHARACTERISTIC_QUANTUM:
        return error == -ENODATA ? "two threads that share a CPU took too few turns" : strerror(-error);
    case CHARACTERISTIC_DEVICE_READ:
    case CHARACTERISTIC_DEVICE_WRITE:
    case CHARACTERISTIC_DEVICE_FLUSH:
        if (error == -EINVAL)
            return "the file system has no direct I/O";
        return error == -ENODATA ? "the kernel counts no reads of a device: memory has answered" : strerror(-error);
    case CHARACTERISTIC_ROUND_TRIP:
        return error == -ETIMEDOUT ? "no answer within two seconds" : strerror(-error);
    default:
        return strerror(-error);
    }
}

/* Stores a time and prints it; error: of measuring it. */
static void take(struct run *run, enum characteristic_kind kind, const char *place, int error,
                 struct samples *samples) {
    struct characteristic measured = {.kind = kind, .taken_s = (int64_t)time(NULL)};
    CLEANUP_FREE char *copy = place ? strdup(place) : NULL;
    measured.place = copy;
    if (!error && samples->count == 0)
        error = -ENODATA;
    if (!error) {
        measured.sample_count = samples->count;
        measured.ns = quartiles_of(samples->ns, samples->count);
        error = place && !copy ? -ENOMEM : calibration_put(&run->taken, &measured);
    }
    if (!error) {
        print_time(run, &measured, false);
        return;
    }
    print_title(run, kind);
    fprintf(run->screen.stream, "  not measured: %s\n", explain(kind, error));
    if (characteristic_scope(kind) != SCOPE_MACHINE) /* the user asked for it */
        run->status = STATUS_NOT_SO;
}

static void measure_machine(struct run *run) {
    static const struct {
        enum characteristic_kind kind;
        int (*measure)(const struct effort *effort, struct samples *ret_samples);
    } calls[] = {
        {CHARACTERISTIC_SYSTEM_CALL, measure_system_call},
        {CHARACTERISTIC_CACHE_READ, measure_cache_read},
        {CHARACTERISTIC_CONTEXT_SWITCH, measure_context_switch},
    };
    struct samples samples = {.count = 0};
    struct samples ticks = {.count = 0};
    for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
        int error = calls[i].measure(&run->effort, &samples);
        take(run, calls[i].kind, NULL, error, &samples);
    }
    int error = measure_timer(&run->effort, &samples, &ticks);
    take(run, CHARACTERISTIC_TIMER_INTERRUPT, NULL, error, &samples);
    take(run, CHARACTERISTIC_TIMER_TICK, NULL, error, &ticks);
    error = measure_sleep(&run->effort, &samples);
    take(run, CHARACTERISTIC_SLEEP, NULL, error, &samples);
    error = measure_quantum(&run->effort, &samples);
    take(run, CHARACTERISTIC_QUANTUM, NULL, error, &samples);
}

static void measure_device(struct run *run, struct device *device) {
    struct samples samples = {.count = 0};
    struct samples flushes = {.count = 0};
    print_place(run, device->name);
    int error = device->is_direct ? measure_device_read(&run->effort, &device->file, &samples) : -EINVAL;
    take(run, CHARACTERISTIC_DEVICE_READ, device->name, error, &samples);
    if (!error)
        error = measure_device_write(&run->effort, &device->file, &samples, &flushes);
    take(run, CHARACTERISTIC_DEVICE_WRITE, device->name, error, &samples);
    take(run, CHARACTERISTIC_DEVICE_FLUSH, device->name, error, &flushes);
}

static void measure_all(struct run *run) {
    print_heading(run, &run->taken, false);
    measure_machine(run);
    for (size_t i = 0; i < run->options->directory_count; i++)
        measure_device(run, &run->devices[i]);
    for (size_t i = 0; i < run->options->networks.count; i++) {
        const char *peer = run->options->networks.texts[i];
        struct samples samples = {.count = 0};
        print_place(run, peer);
        int error = measure_round_trip(&run->effort, run->peers[i], &samples);
        take(run, CHARACTERISTIC_ROUND_TRIP, peer, error, &samples);
    }
}

/* ---- Checks before measuring --------------------------------------------------------------------- */

static enum status complain_no_file(const struct run *run, int error) {
    if (error == -EINVAL)
        complain("cannot keep a calibration for a host named '%s': a file is named after it", run->taken.host);
    else if (error == -ENXIO)
        complain("cannot keep calibrations: %s; XDG_STATE_HOME can name a directory", state_dir_reason(error));
    else if (run->options->print)
        complain("cannot read calibration %s: %s", run->file.path, state_dir_reason(error));
    else
        complain("cannot save calibration %s: %s", run->file.path, state_dir_reason(error));
    return STATUS_TROUBLE;
}

static enum status complain_device(const char *directory, int error, size_t size_bytes) {
    if (error == -ENOSPC || error == -EDQUOT)
        complain("cannot measure the device of %s: %s; it needs %zu MiB for a while", directory, strerror(-error),
                 size_bytes >> 20);
    else
        complain("cannot measure the device of %s: %s; a directory in which files can be made is expected", directory,
                 strerror(-error));
    return STATUS_TROUBLE;
}

static enum status prepare_device(const struct run *run, const char *directory, struct device *device) {
    CLEANUP_FREE char *path = realpath(directory, NULL);
    CLEANUP_MOUNTS struct mounts_table table = {.stream = NULL};
    struct mounts_device found = {0};
    int error = path ? mounts_open(&table) : negative_errno();
    if (!error)
        error = mounts_find_device(&table, path, false, &found);
    if (error)
        return complain_device(directory, error, 0);
    device->directory = directory;
    device->name = found.name;
    if (found.is_profiled) {
        complain("cannot measure the device of %s: it is in a mount of osproffs; give the directory below it",
                 directory);
        return STATUS_TROUBLE;
    }
    error = device_file_create(directory, run->effort.file_bytes, &device->file);
    device->is_direct = error != -EINVAL;
    return error && device->is_direct ? complain_device(directory, error, run->effort.file_bytes) : STATUS_OK;
}

static enum status prepare_peers(struct run *run) {
    for (size_t i = 0; i < run->options->networks.count; i++) {
        const char *name = run->options->networks.texts[i];
        int error = peer_find(name, &run->peers[i]);
        if (!error)
            continue;
        complain("cannot measure the network to '%s': %s; HOST:PORT or [ADDRESS]:PORT is expected", name,
                 error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error));
        return STATUS_TROUBLE;
    }
    return STATUS_OK;
}

/* Loads earlier times of this machine; anything else is dropped. */
static int load_older(const struct run *run, struct calibration *ret_older) {
    const struct calibration *taken = &run->taken;
    int error = calibration_load(&run->file, ret_older);
    if (error == -ENOENT)
        return 0;
    if (!error && !calibration_is_of(ret_older, taken->host, &taken->clock))
        calibration_finish(ret_older);
    return error;
}

static enum status prepare(struct run *run) {
    struct calibration older = {0};
    enum status status = prepare_peers(run);
    if (status != STATUS_OK)
        return status;
    int error = calibration_file_open(run->taken.host, true, &run->file);
    if (error)
        return complain_no_file(run, error);
    if (load_older(run, &older) != 0)
        return STATUS_TROUBLE;
    calibration_finish(&older);
    for (size_t i = 0; i < run->options->directory_count && status == STATUS_OK; i++)
        status = prepare_device(run, run->options->directories[i], &run->devices[i]);
    return status;
}

/* Times that were not measured again stay. */
static enum status save(struct run *run) {
    struct calibration all = {0};
    if (load_older(run, &all) != 0)
        return STATUS_TROUBLE;
    all.clock = run->taken.clock;
    snprintf(all.host, sizeof(all.host), "%s", run->taken.host);
    int error = 0;
    for (size_t i = 0; i < run->taken.count && !error; i++)
        error = calibration_put(&all, &run->taken.times[i]);
    if (!error)
        error = calibration_save(&run->file, &all);
    calibration_finish(&all);
    if (error)
        return complain_no_file(run, error);
    fprintf(run->screen.stream, "\nSaved in %s\n", run->file.path);
    return STATUS_OK;
}

/* ---- All of it ---------------------------------------------------------------------------------- */

static enum status print_saved(struct run *run) {
    struct calibration calibration;
    const int open_error = calibration_file_open(run->taken.host, false, &run->file);
    if (open_error && open_error != -ENOENT)
        return complain_no_file(run, open_error);
    const int error = open_error ? open_error : calibration_load(&run->file, &calibration);
    if (error == -ENOENT)
        complain("no calibration of this machine: there is no %s; 'osprof doctor --calibrate' makes it",
                 run->file.path);
    if (error)
        return STATUS_TROUBLE;
    print_heading(run, &calibration, true);
    for (size_t i = 0; i < calibration.count; i++) {
        const struct characteristic *time = &calibration.times[i];
        if (time->place && (i == 0 || !time[-1].place || strcmp(time->place, time[-1].place) != 0))
            print_place(run, time->place);
        print_time(run, time, true);
    }
    calibration_finish(&calibration);
    return STATUS_OK;
}

enum status calibrate(const struct calibrate_options *options) {
    CLEANUP_FREE struct device *devices = calloc(options->directory_count + 1, sizeof(*devices));
    CLEANUP_FREE struct peer **peers = calloc(options->networks.count + 1, sizeof(struct peer *));
    struct run run = {
        .options = options, .devices = devices, .peers = peers, .file = {.dir_fd = -1}, .screen = screen_of_stdout()};
    run.units.ascii = run.screen.ascii;
    run.effort = options->quick
                     ? (struct effort){.sample_count = 101, .seconds_max = 0.3, .file_bytes = (size_t)8 << 20}
                     : (struct effort){.sample_count = 1001, .seconds_max = 2, .file_bytes = (size_t)64 << 20};
    gethostname(run.taken.host, sizeof(run.taken.host) - 1);
    if (!devices || !peers) {
        complain("cannot calibrate: %s", strerror(ENOMEM));
        return STATUS_TROUBLE;
    }
    enum status status;
    if (options->print) {
        status = print_saved(&run);
    } else {
        aggstats_clock_detect(&run.effort.clock);
        run.taken.clock = run.effort.clock;
        status = prepare(&run);
        if (status == STATUS_OK) {
            measure_all(&run);
            status = save(&run);
            status = status == STATUS_OK ? run.status : status;
        }
    }
    for (size_t i = 0; i < options->directory_count; i++) {
        if (devices[i].file.block)
            device_file_finish(&devices[i].file);
        free(devices[i].name);
    }
    for (size_t i = 0; i < options->networks.count; i++)
        peer_destroy(peers[i]);
    calibration_finish(&run.taken);
    calibration_file_close(&run.file);
    return status;
}
