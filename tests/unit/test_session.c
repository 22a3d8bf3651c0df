/* What all sources of calls have in common: header, live file, what is recorded, and where the profile goes. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aggstats/joint_profiles.h"
#include "base.h"
#include "session.h"
#include "testing.h"

static char directory[64];
static char told[4096]; /* what the session has told the user */
static struct session session;
static struct session_options options;
static struct session_source source;

static const char *const op_names[] = {"READ", "WRITE"};

static void tell(void *context, const char *text) {
    ck_assert_ptr_eq(context, &session);
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s\n", text);
}

static const char *find_joint(const char *op, const char *value, unsigned *ret_op, enum aggstats_value *ret_value) {
    if (strcmp(op, "READ") != 0 && strcmp(op, "WRITE") != 0)
        return "no such operation";
    *ret_op = strcmp(op, "WRITE") == 0;
    *ret_value = strcmp(value, "size") == 0 ? AGGSTATS_SIZE : AGGSTATS_ERROR;
    return NULL;
}

static int set_joint(void *context, unsigned op, unsigned values) {
    return aggstats_recorder_set_joint(((struct session *)context)->recorder, op, values);
}

static void set_up(void) {
    const char *temporary = getenv("TMPDIR");
    snprintf(directory, sizeof(directory), "%.32s/test-session-XXXXXX", temporary ? temporary : "/tmp");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    told[0] = '\0';
    options = (struct session_options){.resolution = 1};
    source = (struct session_source){.name = "/mnt",
                                     .op_names = op_names,
                                     .op_count = ARRAY_SIZE(op_names),
                                     .header.layer = "fs",
                                     .directory = directory,
                                     .find_joint = find_joint,
                                     .set_joint = set_joint,
                                     .set_context = &session,
                                     .tell = tell,
                                     .context = &session};
}

/* Only what a test has made by itself, or a live file that had to stay, is left. */
static void tear_down(void) {
    session_finish(&session);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

/* DIRECTORY/PID<rest>; in a buffer that the next call reuses */
static const char *path_of_own(const char *rest) {
    static char path[256];
    snprintf(path, sizeof(path), "%s/%ld%s", directory, (long)getpid(), rest);
    return path;
}

static void make_file(const char *path) {
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void open_session(const char *tag) {
    source.tag = tag;
    ck_assert_int_eq(session_open(&session, &options, &source), 0);
}

static void begin_session(const char *tag) {
    open_session(tag);
    ck_assert_int_eq(session_record(&session), 0);
}

/* ---- The live file and its header --------------------------------------------------------------- */

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(header_has_what_is_known_in_its_order) {
    static const char *const keys[] = {"layer", "host",    "lower", "calls of process", "mount",
                                       "cache", "control", "data",  "label a"};
    const char *labels[] = {"a=1"};
    struct aggstats_profile profile;
    options.labels = (struct option_list){.texts = labels, .count = 1};
    source.header.lower = "/srv";
    source.header.whose = (struct aggstats_label){(char[]){"calls of process"}, (char[]){"7"}};
    source.header.mount = "/mnt";
    source.header.cache = "auto";
    source.header.control = ".osprof";
    source.header.data = "passthrough";
    open_session(NULL);
    ck_assert_int_eq(aggstats_recorder_snapshot(session.recorder, &profile), 0);
    size_t found = 0;
    for (size_t i = 0; i < profile.label_count && found < ARRAY_SIZE(keys); i++)
        found += strcmp(profile.labels[i].key, keys[found]) == 0;
    ck_assert_uint_eq(found, ARRAY_SIZE(keys));
    ck_assert_ptr_null(aggstats_profile_label(&profile, "profile"));
    ck_assert_str_eq(aggstats_profile_label(&profile, "label a"), "1");
    aggstats_profile_finish(&profile);
}

static const struct {
    const char *tag;
    const char *names[3]; /* in the order in which they are tried */
} names[] = {
    {"", {".live", "-1.live", "-2.live"}},
    {"-", {"-0.live", "-1.live", "-2.live"}},
    {"-user-", {"-user-0.live", "-user-1.live", "-user-2.live"}},
};

TEST(live_file_gets_the_first_name_that_is_free, .to = (int)ARRAY_SIZE(names)) {
    make_file(path_of_own(names[_i].names[0]));
    make_file(path_of_own(names[_i].names[1]));
    open_session(names[_i].tag);
    ck_assert_str_eq(session.live_path, path_of_own(names[_i].names[2]));
    ck_assert_int_eq(access(session.live_path, F_OK), 0);
    ck_assert_ptr_null(session.socket_path);
    ck_assert_int_eq(unlink(path_of_own(names[_i].names[0])) + unlink(path_of_own(names[_i].names[1])), 0);
}

TEST(name_whose_socket_was_left_behind_is_not_taken) {
    struct aggstats_profile profile;
    make_file(path_of_own("-0.sock"));
    source.has_socket = true;
    open_session("-");
    ck_assert_str_eq(session.live_path, path_of_own("-1.live"));
    ck_assert_str_eq(session.socket_path, path_of_own("-1.sock"));
    ck_assert_int_eq(aggstats_recorder_snapshot(session.recorder, &profile), 0);
    ck_assert_str_eq(aggstats_profile_label(&profile, "control"), path_of_own("-1.sock"));
    aggstats_profile_finish(&profile);
    ck_assert_int_eq(unlink(path_of_own("-0.sock")), 0);
}

TEST(where_no_live_file_can_be_made_nothing_is_left) {
    source.directory = "/nowhere";
    source.tag = "-";
    ck_assert_int_eq(session_open(&session, &options, &source), -ENOENT);
    ck_assert_str_eq(session.directory, "/nowhere");
    ck_assert_ptr_null(session.recorder);
    ck_assert_ptr_null(session.live_path);
}

/* ---- What is recorded --------------------------------------------------------------------------- */

TEST(joint_profiles_are_those_of_the_options_and_of_commands) {
    ck_assert_ptr_null(session_parse_joint(find_joint, "WRITE:size", options.joint));
    ck_assert_str_eq(session_parse_joint(find_joint, "WRITE", options.joint), "must be OP:VALUE, such as read:size");
    ck_assert_str_eq(session_parse_joint(find_joint, "SEEK:size", options.joint), "no such operation");
    begin_session(NULL);
    ck_assert_uint_eq(session.joint[1], 1U << AGGSTATS_SIZE);
    ck_assert_ptr_null(session.control.joint(session.control.joint_context, "READ size", false)); /* is only checked */
    ck_assert_uint_eq(session.joint[0], 0);
    ck_assert_ptr_null(session.control.joint(session.control.joint_context, "READ size", true));
    ck_assert_ptr_null(session.control.joint(session.control.joint_context, "READ error", true));
    ck_assert_uint_eq(session.joint[0], 1U << AGGSTATS_SIZE | 1U << AGGSTATS_ERROR);
    ck_assert_ptr_null(session.control.joint(session.control.joint_context, "WRITE off", true));
    ck_assert_uint_eq(session.joint[1], 0);
    ck_assert_ptr_null(session.control.joint(session.control.joint_context, "off", true));
    ck_assert_uint_eq(session.joint[0], 0);
}

TEST(what_cannot_be_begun_is_named) {
    options.groupings = 1U << AGGSTATS_BY_FILE; /* without a way to name files */
    open_session(NULL);
    ck_assert_int_eq(session_record(&session), -EINVAL);
    ck_assert_str_eq(session.failed, "profile by file");
}

/* ---- Where the profile goes --------------------------------------------------------------------- */

TEST(live_file_goes_when_the_profile_is_saved) {
    options.profile = "saved";
    begin_session("-");
    ck_assert_int_eq(session_end(&session), 0);
    ck_assert_str_eq(told, "");
    ck_assert_int_eq(access(path_of_own("-0.live"), F_OK), -1);
    ck_assert_int_eq(unlink("saved"), 0);
}

TEST(live_file_stays_when_the_profile_cannot_be_saved) {
    char wanted[512];
    options.profile = "/nowhere/saved";
    begin_session("-");
    ck_assert_int_eq(session_end(&session), -ENOENT);
    snprintf(wanted, sizeof(wanted),
             "cannot write the profile of /mnt to /nowhere/saved: No such file or directory; it is in %s, from where "
             "'osprof save' takes it\n",
             path_of_own("-0.live"));
    ck_assert_str_eq(told, wanted);
    session_finish(&session);
    ck_assert_int_eq(unlink(path_of_own("-0.live")), 0);
}

TEST(nothing_is_saved_in_the_mount) {
    struct stat attr;
    ck_assert_int_eq(stat(directory, &attr), 0);
    ck_assert_int_eq(session_check_place("saved", attr.st_dev + 1), 0);
    ck_assert_int_eq(session_check_place("saved", attr.st_dev), -ELOOP);
    source.device = attr.st_dev;
    options.profile = "saved";
    begin_session(NULL);
    ck_assert_int_eq(session_save(&session), -ELOOP);
    ck_assert_str_eq(told, "cannot write the profile of /mnt to saved: it lies in the mount itself\n");
}

TEST(live_file_that_is_left_stays) {
    char wanted[512];
    begin_session("-");
    session_leave(&session);
    ck_assert_int_eq(session_end(&session), 0);
    session_finish(&session);
    snprintf(wanted, sizeof(wanted), "the profile of /mnt is in %s, from where 'osprof save' takes it\n",
             path_of_own("-0.live"));
    ck_assert_str_eq(told, wanted);
    ck_assert_int_eq(unlink(path_of_own("-0.live")), 0);
}
