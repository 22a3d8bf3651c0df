/* Taking over the terminal, and restoring it. */
#include "terminal.h"

#include <curses.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <term.h>
#include <termios.h>
#include <time.h>

#include "base.h"
#include "command.h"

/* State for signal handlers, which cannot get it otherwise. Written before they are installed. */
static struct {
    struct termios modes;
    char sequence[512]; /* undoes all that ncurses has switched on */
    size_t sequence_bytes;
    volatile sig_atomic_t resumed;
} handed_over;

/* The mask while waiting for keys. SIGWINCH, SIGCONT and SIGTSTP are delivered only then, when nothing is being drawn:
 * otherwise a change of size could come between checking for it and waiting, and be noticed only at the next key. */
static sigset_t mask_waiting;

/* ---- Signals ------------------------------------------------------------------------------------ */

/* A call of ncurses may be in progress: only async-signal-safe functions are allowed. */
static void give_back_and_end(int number) {
    int saved_errno = errno;
    if (tcgetpgrp(STDIN_FILENO) == getpgrp()) { /* else another process has the terminal at the moment */
        ssize_t ignored = write(STDOUT_FILENO, handed_over.sequence, handed_over.sequence_bytes);
        (void)ignored;
        tcsetattr(STDIN_FILENO, TCSANOW, &handed_over.modes);
    }
    raise(number); /* SA_RESETHAND: ends the process as soon as this returns */
    errno = saved_errno;
}

static void note_resumed(int number) {
    (void)number;
    handed_over.resumed = 1;
}

/* Signals that were ignored, as by nohup(1), stay so. */
static void take_signals(void) {
    static const int endings[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};
    static const int blocked[] = {SIGWINCH, SIGCONT, SIGTSTP};
    struct sigaction action = {.sa_handler = give_back_and_end, .sa_flags = SA_RESETHAND};
    sigset_t mask;
    for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
        struct sigaction before;
        if (sigaction(endings[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(endings[i], &action, NULL);
    }
    action = (struct sigaction){.sa_handler = note_resumed};
    sigaction(SIGCONT, &action, NULL);
    sigemptyset(&mask);
    for (size_t i = 0; i < ARRAY_SIZE(blocked); i++)
        sigaddset(&mask, blocked[i]);
    sigprocmask(SIG_BLOCK, &mask, &mask_waiting);
    for (size_t i = 0; i < ARRAY_SIZE(blocked); i++)
        sigdelset(&mask_waiting, blocked[i]);
}

static int collect(int character) {
    if (handed_over.sequence_bytes < sizeof(handed_over.sequence))
        handed_over.sequence[handed_over.sequence_bytes++] = (char)character;
    return character;
}

static void collect_capability(const char *capability) {
    if (capability)
        tputs(capability, 1, collect);
}

static void prepare_give_back(void) {
    handed_over.sequence_bytes = 0;
    collect_capability(exit_attribute_mode);
    collect_capability(orig_pair);
    collect_capability(tiparm(cursor_address, LINES - 1, 0)); /* if there is no alternate screen to leave */
    collect_capability(clr_eol);
    collect_capability(exit_ca_mode);
    collect_capability(keypad_local);
    collect_capability(cursor_normal);
}

/* ---- Taking over -------------------------------------------------------------------------------- */

static int complain_unfit(int error, const char *why) {
    complain("cannot draw on this terminal: %s; with --batch text is printed instead", why);
    return error;
}

/* Asks the terminal database, which writes nothing to the terminal. */
static int check_abilities(void) {
    char why[160];
    const char *name = getenv("TERM");
    if (!name || !name[0])
        return complain_unfit(-ENOTSUP, "TERM is not set");
    int found = 0;
    if (setupterm(NULL, STDOUT_FILENO, &found) != OK) {
        snprintf(why, sizeof(why),
                 found == 0 ? "TERM is '%.64s', of which nothing is known here"
                            : "TERM is '%.64s', but there is no database of terminals",
                 name);
        return complain_unfit(-ENOTSUP, why);
    }
    bool able = cursor_address && clear_screen;
    del_curterm(cur_term);
    if (able)
        return 0;
    snprintf(why, sizeof(why), "TERM is '%.64s', which cannot place its cursor", name);
    return complain_unfit(-ENOTSUP, why);
}

unsigned long terminal_attributes(enum ink ink) {
    switch (ink) {
    case INK_STRONG:
        return A_BOLD;
    case INK_FAINT:
        return A_DIM;
    case INK_BAR:
    case INK_WARNING:
        return (unsigned long)COLOR_PAIR(ink); /* not initialised: plain */
    case INK_PLAIN:
        break;
    }
    return A_NORMAL;
}

int terminal_enter(void) {
    const char *no_colour = getenv("NO_COLOR"); /* https://no-color.org: set and not empty means no colour */
    if (!isatty(STDOUT_FILENO))
        return complain_unfit(-ENOTTY, "standard output is none");
    if (!isatty(STDIN_FILENO))
        return complain_unfit(-ENOTTY, "standard input is none");
    int error = check_abilities();
    if (error)
        return error;
    if (tcgetattr(STDIN_FILENO, &handed_over.modes) < 0)
        return complain_unfit(negative_errno(), strerror(errno));
    if (!newterm(NULL, stdout, stdin))
        return complain_unfit(-ENOTSUP, "ncurses cannot set it up");
    prepare_give_back();
    take_signals();
    cbreak();
    noecho();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    curs_set(0);
    if (!(no_colour && no_colour[0]) && has_colors() && start_color() != ERR && use_default_colors() != ERR) {
        init_pair(INK_BAR, COLOR_CYAN, -1);
        init_pair(INK_WARNING, COLOR_YELLOW, -1);
    }
    return 0;
}

void terminal_leave(void) {
    endwin();
}

/* ---- Keys --------------------------------------------------------------------------------------- */

int terminal_wait_key(int64_t timeout_ns, int other_fd) {
    const struct timespec timeout = timespec_of(timeout_ns);
    struct pollfd inputs[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = other_fd, .events = POLLIN}};
    int key = getch(); /* ncurses may have buffered some */
    if (key != ERR)
        return key;
    if (ppoll(inputs, ARRAY_SIZE(inputs), timeout_ns < 0 ? NULL : &timeout, &mask_waiting) > 0 &&
        (inputs[0].revents & (POLLHUP | POLLERR | POLLNVAL)))
        return -1;
    if (handed_over.resumed) { /* ncurses cannot know what was done to the screen and to the modes meanwhile */
        handed_over.resumed = 0;
        endwin();
        refresh();
        return KEY_RESIZE;
    }
    key = getch();
    return key == ERR ? 0 : key;
}
