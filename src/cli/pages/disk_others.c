#include "disk_others.h"

#include <stdio.h>
#include <string.h>

#include "base.h"
#include "units.h"

#define PLACE_COLUMNS 32
#define NAME_COLUMNS 20
#define BUSY_MIN_PERCENT 20 /* a disk that was less busy has delayed nobody */

/* "318767104 bytes, 4194304 of the command, loop0 of /mnt" */
struct did {
    unsigned long long bytes;
    unsigned long long own_bytes;
    char disk[64];
    const char *place; /* Owner: the profile */
};

static bool parse_did(const char *text, struct did *ret_did) {
    int end = 0;
    if (!text || sscanf(text, "%llu bytes, %llu of the command, %63s of %n", &ret_did->bytes, &ret_did->own_bytes,
                        ret_did->disk, &end) != 3)
        return false;
    ret_did->place = text + end;
    return end > 0 && ret_did->place[0];
}

/* Returns the key of what others did; NULL: they did nothing that is known. */
static const char *find_did(const struct aggstats_profile *profile, struct did *ret_did) {
    static const char *const keys[] = {"disk_written", "disk_read"};
    for (size_t i = 0; i < ARRAY_SIZE(keys) && !aggstats_profile_label(profile, "merged"); i++)
        if (parse_did(aggstats_profile_label(profile, keys[i]), ret_did))
            return keys[i];
    return NULL;
}

static bool was_idle(const struct aggstats_profile *profile) {
    const char *label = aggstats_profile_label(profile, "disk_busy");
    unsigned percent;
    return label && sscanf(label, "%u %%", &percent) == 1 && percent < BUSY_MIN_PERCENT;
}

bool disk_others_are_known(const struct aggstats_profile *profile) {
    struct did did;
    return find_did(profile, &did) && !was_idle(profile);
}

static void format_bytes(double bytes, char ret_text[UNITS_TEXT_SIZE]) {
    units_format_bytes(bytes, ret_text);
    screen_make_blanks_firm(ret_text);
}

/* "75 %" */
static void format_busy(const char *label, char ret_text[DISK_OTHERS_SIZE]) {
    unsigned percent;
    ret_text[0] = '\0';
    if (!label || sscanf(label, "%u %%", &percent) != 1)
        return;
    char share[32];
    snprintf(share, sizeof(share), "%u %%", percent);
    screen_make_blanks_firm(share);
    snprintf(ret_text, DISK_OTHERS_SIZE, "; the disk was busy for %s of the time", share);
}

/* "314572800 bytes, process 4711, dd", or "process 4711 with its children, make" */
static void format_other(const char *label, bool is_read, const struct screen *screen,
                         char ret_text[DISK_OTHERS_SIZE]) {
    static const char children[] = " with its children";
    char amount[UNITS_TEXT_SIZE];
    unsigned long long bytes;
    unsigned long long pid;
    int end = 0;
    ret_text[0] = '\0';
    if (!label || sscanf(label, "%llu bytes, process %llu%n", &bytes, &pid, &end) != 2)
        return;
    const bool has_children = strncmp(label + end, children, strlen(children)) == 0;
    const char *name = label + end + (has_children ? strlen(children) : 0);
    CLEANUP_FREE char *shown =
        strncmp(name, ", ", 2) == 0 ? screen_cut(screen, name + 2, NAME_COLUMNS, SCREEN_BEGINNING) : NULL;
    format_bytes((double)bytes, amount);
    if (shown)
        snprintf(ret_text, DISK_OTHERS_SIZE, "; %.80s (%llu)%s %s %s%s this or other disks", shown, pid,
                 has_children ? children : "", is_read ? "read" : "wrote", amount,
                 is_read ? ", from" : " into files, of");
}

bool disk_others_format(const struct aggstats_profile *profile, const struct screen *screen,
                        char ret_text[DISK_OTHERS_SIZE]) {
    struct did did;
    char all[UNITS_TEXT_SIZE];
    char own[UNITS_TEXT_SIZE];
    char busy[DISK_OTHERS_SIZE];
    char other[DISK_OTHERS_SIZE];
    ret_text[0] = '\0';
    const char *key = find_did(profile, &did);
    if (!key || was_idle(profile))
        return false;
    const bool is_read = strcmp(key, "disk_read") == 0;
    CLEANUP_FREE char *disk = screen_cut(screen, did.disk, PLACE_COLUMNS, SCREEN_BEGINNING);
    CLEANUP_FREE char *place = screen_cut(screen, did.place, PLACE_COLUMNS, SCREEN_END);
    format_bytes((double)did.bytes, all);
    format_bytes((double)did.own_bytes, own);
    format_busy(aggstats_profile_label(profile, "disk_busy"), busy);
    format_other(aggstats_profile_label(profile, "disk_other"), is_read, screen, other);
    snprintf(ret_text, DISK_OTHERS_SIZE,
             "Meanwhile %s were %s /dev/%.64s, the disk of %.100s, mostly for others: the command %s %s%.80s%.200s",
             all, is_read ? "read from" : "written to", disk ? disk : "", place ? place : "",
             is_read ? "read" : "wrote", own, busy, other);
    return true;
}

bool disk_others_may_cause(const char *cause) {
    static const char *const words[] = {
        "disk", "journal", "XFS log", "dirty pages", "pages to be written", "page to be read", "direct I/O"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        if (strstr(cause, words[i]))
            return true;
    return false;
}
