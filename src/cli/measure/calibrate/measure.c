/* Measuring characteristic times: calls of the kernel that neither wait nor touch a device, context switches, when the
 * kernel takes the CPU away and gives it back, a device at queue depth 1 through a file of its file system, and round
 * trips to another machine, as unprivileged programs can measure them. */
#include "measure.h"

#include <fcntl.h>
#include <math.h>
#include <netdb.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "base.h"
#include "characteristic.h"
#include "path.h"
#include "ticks.h"

#define BLOCK_BYTES 4096U

/* ---- Sampling ----------------------------------------------------------------------------------- */

/* Ignored beyond SAMPLES_MAX. */
static void samples_add(struct samples *samples, double ns) {
    if (samples->count < SAMPLES_MAX)
        samples->ns[samples->count++] = ns;
}

static double measure_ns(const struct aggstats_clock *clock, uint64_t cycles) {
    return (double)cycles / (double)clock->frequency_hz * 1e9;
}

/* The clock's value when that time is up. */
static uint64_t measure_deadline(const struct aggstats_clock *clock, double seconds) {
    return aggstats_clock_now(clock->kind) + (uint64_t)(seconds * (double)clock->frequency_hz);
}

/* Samples are taken in bursts, so that a short disturbance of the machine does not affect all of them. */
#define BURSTS 10U
#define BURST_PAUSE_NS 10000000

/* Does once, or a few times, what is measured. Returns 0 or -errno */
typedef int (*measured_fn)(void *context);

/* Times calls of a function until there are enough samples or time is up.
 * things: how many happen in one call; samples are of one thing */
static int samples_take(const struct effort *effort, double things, measured_fn function, void *context,
                        struct samples *ret_samples) {
    const struct aggstats_clock *clock = &effort->clock;
    const uint64_t deadline = measure_deadline(clock, effort->seconds_max);
    const struct timespec pause = {.tv_nsec = BURST_PAUSE_NS};
    int error = function(context); /* the first is slower */
    ret_samples->count = 0;
    while (!error && ret_samples->count < effort->sample_count) {
        uint64_t before = aggstats_clock_now(clock->kind);
        error = function(context);
        uint64_t after = aggstats_clock_now(clock->kind);
        samples_add(ret_samples, measure_ns(clock, after - before) / things);
        if (after > deadline)
            break;
        if (ret_samples->count % (effort->sample_count / BURSTS + 1) == 0)
            clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    return error;
}

/* Keeps this thread, and the threads and processes that it starts, on the current CPU until pin_release(). */
static int pin_take(cpu_set_t *ret_before) {
    cpu_set_t one;
    int cpu = sched_getcpu();
    if (cpu < 0 || sched_getaffinity(0, sizeof(*ret_before), ret_before) < 0)
        return negative_errno();
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    return sched_setaffinity(0, sizeof(one), &one) < 0 ? negative_errno() : 0;
}

static void pin_release(const cpu_set_t *before) {
    sched_setaffinity(0, sizeof(*before), before);
}

#define BLOCKS 16U /* few enough to stay in the CPU's caches, like data that was just read */
#define CALLS 64

/* ---- System call -------------------------------------------------------------------------------- */

static int call_often(void *context) {
    (void)context;
    for (int i = 0; i < CALLS; i++)
        syscall(SYS_getppid);
    return 0;
}

int measure_system_call(const struct effort *effort, struct samples *ret_samples) {
    return samples_take(effort, CALLS, call_often, NULL, ret_samples);
}

/* ---- Page cache --------------------------------------------------------------------------------- */

static int read_blocks(void *context) {
    const int *fd = context;
    char block[BLOCK_BYTES];
    for (unsigned i = 0; i < BLOCKS; i++)
        if (pread(*fd, block, sizeof(block), (off_t)i * BLOCK_BYTES) != (ssize_t)sizeof(block))
            return negative_errno();
    return 0;
}

int measure_cache_read(const struct effort *effort, struct samples *ret_samples) {
    char block[BLOCK_BYTES];
    memset(block, 'x', sizeof(block));
    CLEANUP_FD int fd = memfd_create("osprof", MFD_CLOEXEC);
    int error = fd < 0 ? negative_errno() : 0;
    for (unsigned i = 0; i < BLOCKS && !error; i++)
        error = write_all(fd, block, sizeof(block));
    return error ? error : samples_take(effort, BLOCKS, read_blocks, &fd, ret_samples);
}

/* ---- Context switch ----------------------------------------------------------------------------- */

struct ends {
    int read_fd;
    int write_fd;
};

static int hand_over(void *context) {
    const struct ends *ends = context;
    char byte = 0;
    if (write(ends->write_fd, &byte, 1) != 1 || read(ends->read_fd, &byte, 1) != 1)
        return negative_errno();
    return 0;
}

/* The child passes each byte back. It ends when this side closes its end. */
static int measure_with_child(const struct effort *effort, int to_child[2], int from_child[2],
                              struct samples *ret_samples) {
    char byte;
    pid_t child = fork();
    if (child < 0)
        return negative_errno();
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        close_fd(&to_child[1]);
        close_fd(&from_child[0]);
        while (read(to_child[0], &byte, 1) == 1 && write(from_child[1], &byte, 1) == 1)
            continue;
        _exit(0);
    }
    close_fd(&from_child[1]); /* so that a dead child is the end of the pipe, and no SIGPIPE */
    struct ends ends = {.read_fd = from_child[0], .write_fd = to_child[1]};
    int error = samples_take(effort, 2, hand_over, &ends, ret_samples);
    close_fd(&to_child[1]);
    kill(child, SIGKILL); /* it would end by itself, but later */
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
    return error;
}

int measure_context_switch(const struct effort *effort, struct samples *ret_samples) {
    int to_child[2] = {-1, -1};
    int from_child[2] = {-1, -1};
    cpu_set_t before;
    int error = pin_take(&before);
    if (error)
        return error;
    if (pipe2(to_child, O_CLOEXEC) < 0 || pipe2(from_child, O_CLOEXEC) < 0)
        error = negative_errno();
    else
        error = measure_with_child(effort, to_child, from_child, ret_samples);
    for (int i = 0; i < 2; i++) {
        close_fd(&to_child[i]);
        close_fd(&from_child[i]);
    }
    pin_release(&before);
    return error;
}

/* ---- Timer -------------------------------------------------------------------------------------- */

#define GAPS_MAX 16384U
#define GAP_MIN_NS 500 /* reading the clock takes some 10 ns; an interrupt more than this */

/* From 50 to 2000 ticks a second. */
#define PERIOD_MIN_NS 500000
#define PERIOD_MAX_NS 20000000

/* How often this thread lost its CPU to another. */
static long preemptions(void) {
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nivcsw;
}

/* Reads the clock again and again. A long time between two readings is a gap, unless another thread ran in it: that is
 * no interrupt. */
static size_t watch_for_gaps(const struct aggstats_clock *clock, double seconds, struct gap *ret_gaps) {
    const uint64_t start = aggstats_clock_now(clock->kind);
    const uint64_t deadline = measure_deadline(clock, seconds);
    const uint64_t gap_min_cycles = (uint64_t)(GAP_MIN_NS * 1e-9 * (double)clock->frequency_hz);
    long preemptions_before = preemptions();
    size_t count = 0;
    uint64_t last = start;
    while (last < deadline && count < GAPS_MAX) {
        uint64_t now = aggstats_clock_now(clock->kind);
        if (now - last <= gap_min_cycles) {
            last = now;
            continue;
        }
        long preemptions_now = preemptions();
        if (preemptions_now == preemptions_before)
            ret_gaps[count++] = (struct gap){measure_ns(clock, last - start), measure_ns(clock, now - last)};
        preemptions_before = preemptions_now;
        last = aggstats_clock_now(clock->kind);
    }
    return count;
}

int measure_timer(const struct effort *effort, struct samples *ret_interrupt, struct samples *ret_tick) {
    CLEANUP_FREE struct gap *gaps = calloc(GAPS_MAX, sizeof(*gaps));
    CLEANUP_FREE struct gap *ticks = calloc(GAPS_MAX, sizeof(*ticks));
    struct timespec resolution;
    cpu_set_t before;
    if (!gaps || !ticks)
        return -ENOMEM;
    if (clock_getres(CLOCK_MONOTONIC_COARSE, &resolution) < 0) /* the coarse clock advances with each tick */
        return negative_errno();
    const double period_ns = (double)resolution.tv_sec * 1e9 + (double)resolution.tv_nsec;
    if (period_ns < PERIOD_MIN_NS || period_ns > PERIOD_MAX_NS)
        return -ENODATA;
    int error = pin_take(&before);
    if (error)
        return error;
    size_t gap_count = watch_for_gaps(&effort->clock, effort->seconds_max, gaps);
    pin_release(&before);
    size_t tick_count = ticks_find(gaps, gap_count, period_ns, ticks);
    if (tick_count < 2)
        return -ENODATA;
    tick_count = tick_count < SAMPLES_MAX ? tick_count : SAMPLES_MAX;
    ret_interrupt->count = 0;
    for (size_t i = 0; i < tick_count; i++)
        samples_add(ret_interrupt, ticks[i].length_ns);
    ret_tick->count = ticks_periods(ticks, tick_count, period_ns, ret_tick->ns);
    return 0;
}

/* ---- Sleep -------------------------------------------------------------------------------------- */

static int sleep_shortly(void *context) {
    (void)context;
    const struct timespec shortest = {.tv_nsec = 1};
    return -clock_nanosleep(CLOCK_MONOTONIC, 0, &shortest, NULL);
}

int measure_sleep(const struct effort *effort, struct samples *ret_samples) {
    return samples_take(effort, 1, sleep_shortly, NULL, ret_samples);
}

/* ---- Quantum ------------------------------------------------------------------------------------ */

#define TURNS_MIN 5U
#define CONTESTS 5
#define CONTEST_PAUSE_NS 20000000
#define CONTEST_SECONDS_MIN 0.1

/* Shared by the two threads. */
struct contest {
    const struct aggstats_clock *clock;
    uint64_t deadline;
    int running; /* the thread that ran last: 0, 1; -1: none yet */
};

struct contestant {
    struct contest *contest;
    int number;
    struct samples turns;
};

static double cpu_time_ns(void) {
    struct timespec used;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

/* Spins. A thread that finds that the other ran last has just got the CPU back: the CPU time since it got it the time
 * before was its turn, whatever else ran in between. */
static void *contend(void *context) {
    struct contestant *self = context;
    struct contest *contest = self->contest;
    double turn_start_ns = -1;
    while (aggstats_clock_now(contest->clock->kind) < contest->deadline) {
        if (__atomic_load_n(&contest->running, __ATOMIC_RELAXED) == self->number)
            continue;
        __atomic_store_n(&contest->running, self->number, __ATOMIC_RELAXED);
        double now_ns = cpu_time_ns();
        if (turn_start_ns >= 0)
            samples_add(&self->turns, now_ns - turn_start_ns);
        turn_start_ns = now_ns;
    }
    return NULL;
}

static int run_contest(const struct aggstats_clock *clock, double seconds, struct samples *ret_turns) {
    struct contest contest = {.clock = clock, .running = -1, .deadline = measure_deadline(clock, seconds)};
    CLEANUP_FREE struct contestant *contestants = calloc(2, sizeof(*contestants));
    pthread_t thread;
    if (!contestants)
        return -ENOMEM;
    for (int i = 0; i < 2; i++)
        contestants[i] = (struct contestant){.contest = &contest, .number = i};
    int error = -pthread_create(&thread, NULL, contend, &contestants[1]);
    if (error)
        return error;
    contend(&contestants[0]);
    error = -pthread_join(thread, NULL);
    ret_turns->count = 0;
    for (int i = 0; i < 2; i++)
        for (size_t turn = 0; turn < contestants[i].turns.count; turn++)
            samples_add(ret_turns, contestants[i].turns.ns[turn]);
    weigh_by_value(ret_turns->ns, ret_turns->count);
    return error;
}

static double median_of(struct samples *samples) {
    return samples->count >= TURNS_MIN ? quartiles_of(samples->ns, samples->count).median : 0;
}

int measure_quantum(const struct effort *effort, struct samples *ret_samples) {
    const struct timespec pause = {.tv_nsec = CONTEST_PAUSE_NS};
    const double seconds = fmax(effort->seconds_max / CONTESTS, CONTEST_SECONDS_MIN);
    struct samples turns;
    cpu_set_t before;
    ret_samples->count = 0;
    for (int i = 0; i < CONTESTS; i++) {
        /* Each contest may be on another CPU, depending on where the scheduler has put this thread in between. */
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
        int error = pin_take(&before);
        if (error)
            return error;
        error = run_contest(&effort->clock, seconds, &turns);
        pin_release(&before);
        if (error)
            return error;
        if (median_of(&turns) > median_of(ret_samples))
            *ret_samples = turns;
    }
    return ret_samples->count == 0 ? -ENODATA : 0;
}

#define FILL_BYTES (1U << 20)

/* ---- The file ----------------------------------------------------------------------------------- */

/* With random blocks, which no device can compress or deduplicate. */
static int fill(int fd, size_t size_bytes, unsigned char *data) {
    if (getrandom(data, FILL_BYTES, 0) != (ssize_t)FILL_BYTES)
        return negative_errno();
    for (size_t at = 0; at < size_bytes; at += FILL_BYTES) {
        for (size_t block = 0; block < FILL_BYTES; block += BLOCK_BYTES)
            memcpy(data + block, &(uint64_t){at + block}, sizeof(uint64_t));
        int error = write_all(fd, data, FILL_BYTES);
        if (error)
            return error;
    }
    return fsync(fd) < 0 ? negative_errno() : 0;
}

/* A file without a name. On a file system without O_TMPFILE, the name is removed at once. */
static int open_nameless(const char *directory) {
    int fd = open(directory, O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC, 0600);
    if (fd >= 0)
        return fd;
    if (errno != EOPNOTSUPP && errno != EISDIR)
        return negative_errno();
    CLEANUP_FREE char *path = path_join(directory, ".osprof-calibrate-XXXXXX");
    if (!path)
        return -ENOMEM;
    fd = mkostemp(path, O_CLOEXEC);
    if (fd < 0)
        return negative_errno();
    unlink(path);
    return fd;
}

int device_file_create(const char *directory, size_t size_bytes, struct device_file *ret_file) {
    struct device_file file = {.fd = open_nameless(directory), .size_bytes = size_bytes};
    int error = file.fd < 0 ? file.fd : posix_memalign(&file.block, BLOCK_BYTES, FILL_BYTES) != 0 ? -ENOMEM : 0;
    int flags = error ? -1 : fcntl(file.fd, F_GETFL);
    if (!error && (flags < 0 || fcntl(file.fd, F_SETFL, flags | O_DIRECT) < 0))
        error = negative_errno();
    if (!error)
        error = fill(file.fd, size_bytes, file.block);
    if (error)
        device_file_finish(&file);
    else
        *ret_file = file;
    return error;
}

void device_file_finish(struct device_file *file) {
    close_fd(&file->fd);
    free(file->block);
    file->block = NULL;
}

/* ---- Reading ------------------------------------------------------------------------------------ */

static off_t random_offset(const struct device_file *file) {
    return (off_t)((size_t)random() % (file->size_bytes / BLOCK_BYTES) * BLOCK_BYTES);
}

static int read_block(void *context) {
    const struct device_file *file = context;
    ssize_t size_bytes = pread(file->fd, file->block, BLOCK_BYTES, random_offset(file));
    if (size_bytes < 0)
        return negative_errno();
    return size_bytes == BLOCK_BYTES ? 0 : -EIO;
}

/* Bytes that the kernel has fetched from devices and servers for this process. */
static uint64_t fetched_bytes(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_inblock * 512;
}

int measure_device_read(const struct effort *effort, struct device_file *file, struct samples *ret_samples) {
    uint64_t before_bytes = fetched_bytes();
    int error = samples_take(effort, 1, read_block, file, ret_samples);
    if (!error && fetched_bytes() - before_bytes < ret_samples->count * BLOCK_BYTES)
        return -ENODATA;
    return error;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* samples_take() would time the flush together with the write. */
int measure_device_write(const struct effort *effort, struct device_file *file, struct samples *ret_write,
                         struct samples *ret_flush) {
    const struct aggstats_clock *clock = &effort->clock;
    const uint64_t deadline = measure_deadline(clock, effort->seconds_max);
    ret_write->count = 0;
    ret_flush->count = 0;
    do {
        uint64_t before = aggstats_clock_now(clock->kind);
        ssize_t size_bytes = pwrite(file->fd, file->block, BLOCK_BYTES, random_offset(file));
        uint64_t written = aggstats_clock_now(clock->kind);
        if (size_bytes < 0)
            return negative_errno();
        if (size_bytes != BLOCK_BYTES)
            return -EIO;
        if (fdatasync(file->fd) < 0)
            return negative_errno();
        samples_add(ret_write, measure_ns(clock, written - before));
        samples_add(ret_flush, measure_ns(clock, aggstats_clock_now(clock->kind) - written));
    } while (ret_write->count < effort->sample_count && aggstats_clock_now(clock->kind) < deadline);
    return 0;
}

#define TIMEOUT_SECONDS 2
#define CONNECTIONS_MAX 50U /* a server may take more for an attack */
#define PAUSE_NS 5000000

struct peer {
    struct addrinfo *addresses;
};

/* Splits "[ADDRESS]:PORT" or "HOST:PORT". */
static int split(char *name, char **ret_host, char **ret_port) {
    char *colon = strrchr(name, ':');
    if (!colon || colon == name || colon[1] == '\0')
        return EAI_NONAME;
    *colon = '\0';
    *ret_port = colon + 1;
    *ret_host = name;
    if (name[0] == '[' && colon[-1] == ']') {
        colon[-1] = '\0';
        *ret_host = name + 1;
    } else if (strchr(name, ':')) {
        return EAI_NONAME; /* ambiguous: it has several colons */
    }
    return 0;
}

int peer_find(const char *name, struct peer **ret_peer) {
    const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM};
    CLEANUP_FREE char *copy = strdup(name);
    CLEANUP_FREE struct peer *peer = calloc(1, sizeof(*peer));
    char *host;
    char *port;
    if (!copy || !peer)
        return EAI_MEMORY;
    int error = split(copy, &host, &port);
    /* A service's name, or a number; getaddrinfo() accepts numbers of any size. */
    unsigned long number = error ? 0 : strtoul(port, NULL, 10);
    if (!error && port[strspn(port, "0123456789")] == '\0' && (number == 0 || number > UINT16_MAX))
        error = EAI_SERVICE;
    if (!error)
        error = getaddrinfo(host, port, &wanted, &peer->addresses);
    if (error)
        return error;
    *ret_peer = steal_pointer(&peer);
    return 0;
}

void peer_destroy(struct peer *peer) {
    if (!peer)
        return;
    freeaddrinfo(peer->addresses);
    free(peer);
}

/* ---- Connecting --------------------------------------------------------------------------------- */

/* A socket that does not wait for ever for an answer, and leaves nothing behind when it is closed. */
static int open_socket(const struct addrinfo *address) {
    const struct timeval timeout = {.tv_sec = TIMEOUT_SECONDS};
    const struct linger reset = {.l_onoff = 1};
    CLEANUP_FD int fd = socket(address->ai_family, address->ai_socktype | SOCK_CLOEXEC, address->ai_protocol);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) < 0)
        return negative_errno();
    return steal_fd(&fd);
}

static int connect_often(const struct effort *effort, const struct addrinfo *address, struct samples *ret_samples) {
    const struct aggstats_clock *clock = &effort->clock;
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    const uint64_t deadline = measure_deadline(clock, effort->seconds_max);
    int error = 0;
    ret_samples->count = 0;
    do {
        CLEANUP_FD int fd = open_socket(address);
        uint64_t before = aggstats_clock_now(clock->kind);
        error = fd < 0 ? fd : connect(fd, address->ai_addr, address->ai_addrlen) < 0 ? negative_errno() : 0;
        uint64_t after = aggstats_clock_now(clock->kind);
        if (error == -EINPROGRESS || error == -EAGAIN)
            error = -ETIMEDOUT;
        if (fd >= 0 && error == -ECONNREFUSED) /* a refusal is an answer */
            error = 0;
        if (!error)
            samples_add(ret_samples, measure_ns(clock, after - before));
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    } while (!error && ret_samples->count < effort->sample_count && ret_samples->count < CONNECTIONS_MAX &&
             aggstats_clock_now(clock->kind) < deadline);
    return error;
}

int measure_round_trip(const struct effort *effort, const struct peer *peer, struct samples *ret_samples) {
    int error = -ENODATA;
    for (const struct addrinfo *address = peer->addresses; address && error; address = address->ai_next)
        error = connect_often(effort, address, ret_samples);
    return error;
}
