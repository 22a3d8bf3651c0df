#include "disk_others.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "units.h"

#define PLACE_COLUMNS 32
#define NAME_COLUMNS 20
#define BUSY_MIN_PERCENT 20 /* a disk that was less busy has delayed nobody */

unsigned disk_others_busy_percent(const struct aggstats_profile *profile) {
    const double watched_ns = (double)profile->disk_ns.watched;
    return watched_ns > 0 ? (unsigned)(100 * fmin((double)profile->disk_ns.busy / watched_ns, 1) + 0.5) : 0;
}

bool disk_others_are_known(const struct aggstats_profile *profile) {
    const bool was_idle = profile->disk_ns.watched > 0 && disk_others_busy_percent(profile) < BUSY_MIN_PERCENT;
    const char *place = aggstats_profile_label(profile, "disk_place");
    return profile->has_disk && profile->merged == 0 && !was_idle && place && place[0];
}

static void add_firm(struct str *text, const struct units_text value) {
    str_add(text, screen_firm(value).text);
}

/* "; backupd (4711) with its children wrote 300 MiB into files, of this or other disks" */
static void add_other(struct str *text, const struct aggstats_profile *profile, bool is_read,
                      const struct screen *screen) {
    const char *name = aggstats_profile_label(profile, "disk_other");
    const char *process = aggstats_profile_label(profile, "disk_other_process");
    const char *parent = aggstats_profile_label(profile, "disk_other_parent");
    CLEANUP_FREE char *shown = name ? screen_cut(screen, name, NAME_COLUMNS, SCREEN_BEGINNING) : NULL;
    CLEANUP_FREE char *number =
        process || parent ? screen_cut(screen, parent ? parent : process, NAME_COLUMNS, SCREEN_BEGINNING) : NULL;
    if (!shown || !number || profile->disk_other_bytes == 0)
        return;
    str_addf(text, "; %s (%s)%s %s ", shown, number, parent ? " with its children" : "", is_read ? "read" : "wrote");
    add_firm(text, units_bytes((double)profile->disk_other_bytes));
    str_addf(text, "%s this or other disks", is_read ? ", from" : " into files, of");
}

bool disk_others_add(struct str *text, const struct aggstats_profile *profile, const struct screen *screen) {
    if (!disk_others_are_known(profile))
        return false;
    const bool is_read = profile->disk_bytes.read > 0;
    const char *name = aggstats_profile_label(profile, "disk");
    CLEANUP_FREE char *disk = screen_cut(screen, name ? name : "", PLACE_COLUMNS, SCREEN_BEGINNING);
    CLEANUP_FREE char *place =
        screen_cut(screen, aggstats_profile_label(profile, "disk_place"), PLACE_COLUMNS, SCREEN_END);
    str_add(text, "Meanwhile ");
    add_firm(text, units_bytes((double)(is_read ? profile->disk_bytes.read : profile->disk_bytes.written)));
    str_addf(text, " were %s /dev/%s, the disk of %s, mostly for others: the command %s ",
             is_read ? "read from" : "written to", disk ? disk : "", place ? place : "", is_read ? "read" : "wrote");
    add_firm(text, units_bytes((double)profile->disk_bytes.own));
    if (profile->disk_ns.watched > 0) {
        struct units_text share;
        snprintf(share.text, sizeof(share.text), "%u %%", disk_others_busy_percent(profile));
        str_add(text, "; the disk was busy for ");
        add_firm(text, share);
        str_add(text, " of the time");
    }
    add_other(text, profile, is_read, screen);
    return true;
}
