/* Which container a control group belongs to, and its name in made-up files of the runtimes, also where users have put
 * other things there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "containers.h"
#include "testing.h"

#define ID_A "3f2a9c1b2d4e5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcd"
#define ID_B "aaaaaaaaaaaa5f60718293a4b5c6d7e8f90123456789abcdef0123456789abcd"
#define DOCKER "/system.slice/docker-" ID_A ".scope"
#define USERS "/user.slice/user-1000.slice/user@1000.service/user.slice/"
#define DOCKER_FILE "/var/lib/docker/containers/" ID_A "/config.v2.json"
#define STORAGE "/containers/storage/overlay-containers"
#define TASKS "/run/containerd/io.containerd.runtime.v2.task"

static char root[] = "/tmp/test-containers-XXXXXX";
static char groups[sizeof(root) + 16];

static void set_up(void) {
    strcpy(root + strlen(root) - 6, "XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    snprintf(groups, sizeof(groups), "%s/sys/fs/cgroup", root);
}

static void tear_down(void) {
    char command[sizeof(root) + 32];
    snprintf(command, sizeof(command), "rm -rf -- %s", root);
    ck_assert_int_eq(system(command), 0); /* NOLINT(cert-env33-c) */
}

/* Makes the directories above it. */
static void path_in_root(const char *path, char ret_path[512]) {
    char *slash = ret_path + snprintf(ret_path, 512, "%s", root);
    strcpy(slash, path);
    for (slash = strchr(slash + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(ret_path, 0700);
        *slash = '/';
    }
}

static void write_file(const char *path, const char *text) {
    char whole[512];
    path_in_root(path, whole);
    FILE *stream = fopen(whole, "we");
    ck_assert_ptr_nonnull(stream);
    ck_assert_int_ge(fputs(text, stream), 0);
    ck_assert_int_eq(fclose(stream), 0);
}

static void make_group(const char *cgroup) {
    char path[512];
    char whole[512];
    snprintf(path, sizeof(path), "/sys/fs/cgroup%s%s/", cgroup[0] == '/' ? "" : "/", cgroup);
    path_in_root(path, whole);
}

/* What the control group is called; "": no container's. */
static const char *described(const char *cgroup) {
    static char text[256];
    struct container container;
    struct container_names *names = container_names_create(root, groups);
    text[0] = '\0';
    if (container_names_find(names, cgroup, &container))
        container_describe(&container, text, sizeof(text));
    container_names_destroy(names);
    return text;
}

/* ---- Control groups ----------------------------------------------------------------------------- */

static const struct {
    const char *path;
    const char *described;
    bool is_inner;
    uid_t user;
} paths[] = {
    {DOCKER, "docker 3f2a9c1b2d4e"},
    {DOCKER "/init.scope", "docker 3f2a9c1b2d4e", true},
    {"/docker/" ID_A, "docker 3f2a9c1b2d4e"},
    {"/docker/" ID_A "/docker/" ID_B, "docker 3f2a9c1b2d4e", true},
    {"/machine.slice/libpod-" ID_A ".scope/container", "podman 3f2a9c1b2d4e", true},
    {"/libpod_parent/libpod-" ID_A, "podman 3f2a9c1b2d4e"},
    {USERS "libpod-" ID_A ".scope", "podman 3f2a9c1b2d4e", false, 1000},
    {"/kubepods.slice/kubepods-pod1.slice/cri-containerd-" ID_A ".scope", "containerd 3f2a9c1b2d4e"},
    {"/system.slice/nerdctl-" ID_A ".scope", "containerd 3f2a9c1b2d4e"},
    {"/kubepods.slice/kubepods-pod1.slice/crio-" ID_A ".scope", "crio 3f2a9c1b2d4e"},
    {"/kubepods/burstable/pod1/" ID_A, "kubernetes 3f2a9c1b2d4e"},
    {"/", ""},
    {"/system.slice/docker.service", ""},
    {"/system.slice/" ID_A, ""},
    {"/" ID_A "/docker/", ""},
    {"/system.slice/docker-" ID_A "a.scope", ""},
    {"/system.slice/docker-" ID_A ".slice", ""},
    {"/system.slice/docker-3f2a9c1b2d4e.scope", ""},
    {"/machine.slice/libpod-conmon-" ID_A ".scope", ""},
};

TEST_CASE(.set_up = set_up, .tear_down = tear_down);

TEST(container_of_a_path_is_found, .to = ARRAY_SIZE(paths)) {
    struct container container;
    make_group(paths[_i].path);
    const bool is_found = container_parse(paths[_i].path, &container);
    ck_assert_str_eq(described(paths[_i].path), paths[_i].described);
    ck_assert_int_eq(is_found, paths[_i].described[0] != '\0');
    if (!is_found)
        return;
    ck_assert_int_eq(container.is_inner, paths[_i].is_inner);
    ck_assert_uint_eq(container.user, paths[_i].user);
}

/* ---- Names -------------------------------------------------------------------------------------- */

static const struct {
    const char *cgroup;
    const char *file;
    const char *text;
    const char *described;
} names[] = {
    {DOCKER, DOCKER_FILE, "{\"ID\": \"x\", \"Name\": \"/web1\"}", "web1 (docker 3f2a9c1b2d4e)"},
    {"/machine.slice/libpod-" ID_A ".scope", "/var/lib" STORAGE "/containers.json",
     "[{\"id\": \"" ID_B "\", \"names\": [\"db\"]}, {\"id\": \"" ID_A "\", \"names\": [\"web-1.x\"]}]",
     "web-1.x (podman 3f2a9c1b2d4e)"},
    {"/machine.slice/libpod-" ID_A ".scope", "/var/lib/containers/storage/vfs-containers/volatile-containers.json",
     "[{\"id\": \"" ID_A "\", \"names\": [\"web\"]}]", "web (podman 3f2a9c1b2d4e)"},
    {"/k.slice/crio-" ID_A ".scope", "/var/lib" STORAGE "/containers.json",
     "[{\"id\": \"" ID_A "\", \"names\": [\"k8s_web\"]}]", "k8s_web (crio 3f2a9c1b2d4e)"},
    {"/k.slice/cri-containerd-" ID_A ".scope", TASKS "/k8s.io/" ID_A "/config.json",
     "{\"annotations\": {\"io.kubernetes.cri.sandbox-name\": \"shop-0\", \"io.kubernetes.cri.container-name\": "
     "\"web\"}}",
     "shop-0/web (containerd 3f2a9c1b2d4e)"},
    {"/kubepods/pod1/" ID_A, TASKS "/k8s.io/" ID_A "/config.json",
     "{\"annotations\": {\"io.kubernetes.cri.sandbox-name\": \"shop-0\"}}", "shop-0 (kubernetes 3f2a9c1b2d4e)"},
    {"/system.slice/nerdctl-" ID_A ".scope", TASKS "/default/" ID_A "/config.json",
     "{\"annotations\": {\"nerdctl/name\": \"web\"}}", "web (containerd 3f2a9c1b2d4e)"},
    /* another's, or none */
    {"/system.slice/docker-" ID_B ".scope", DOCKER_FILE, "{\"Name\": \"/web1\"}", "docker aaaaaaaaaaaa"},
    {"...docker-" ID_A ".scope/docker-" ID_A ".scope", DOCKER_FILE, "{\"Name\": \"/web1\"}", ""},
    {DOCKER, DOCKER_FILE, "{\"Name\": \"/web1\"", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "[1, 2]", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "{\"Name\": 7}", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "{\"Name\": \"\"}", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "{\"Name\": \"/a\\u001b[31mb\"}", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "{\"Name\": \"/a\\nb\"}", "docker 3f2a9c1b2d4e"},
    {DOCKER, DOCKER_FILE, "{\"Name\": \"/a (docker 0123)\"}", "docker 3f2a9c1b2d4e"},
    {"/k.slice/cri-containerd-" ID_A ".scope", TASKS "/k8s.io/" ID_A "/config.json", "{\"annotations\": [\"a\"]}",
     "containerd 3f2a9c1b2d4e"},
    {"/k.slice/cri-containerd-" ID_A ".scope", TASKS "/k8s.io/" ID_A "/config.json",
     "{\"annotations\": {\"io.kubernetes.cri.sandbox-name\": \"a\", \"io.kubernetes.cri.container-name\": \"\\n\"}}",
     "containerd 3f2a9c1b2d4e"},
    {"/machine.slice/libpod-" ID_A ".scope", "/var/lib" STORAGE "/containers.json",
     "[7, {\"id\": 7}, {\"id\": \"" ID_A "\", \"names\": {}}]", "podman 3f2a9c1b2d4e"},
};

TEST(name_is_read, .to = ARRAY_SIZE(names)) {
    write_file(names[_i].file, names[_i].text);
    make_group(names[_i].cgroup);
    ck_assert_str_eq(described(names[_i].cgroup), names[_i].described);
}

TEST(name_of_a_users_container_is_in_his_home_only) {
    const char *ours = "[{\"id\": \"" ID_A "\", \"names\": [\"ours\"]}]";
    make_group(USERS);
    make_group("/machine.slice");
    write_file("/etc/passwd", "root:x:0:0::/root:/bin/sh\njane:x:1000:1000::/home/jane:/bin/sh\n");
    write_file("/var/lib" STORAGE "/containers.json", ours);
    ck_assert_str_eq(described(USERS "libpod-" ID_A ".scope"), "podman 3f2a9c1b2d4e");
    write_file("/home/jane/.local/share" STORAGE "/containers.json", "[{\"id\": \"" ID_A "\", \"names\": [\"hers\"]}]");
    ck_assert_str_eq(described(USERS "libpod-" ID_A ".scope"), "hers (podman 3f2a9c1b2d4e)");
    ck_assert_str_eq(described("/machine.slice/libpod-" ID_A ".scope"), "ours (podman 3f2a9c1b2d4e)");
}

TEST(name_is_looked_up_once) {
    struct container_names *all = container_names_create(root, groups);
    struct container container;
    make_group(DOCKER);
    write_file(DOCKER_FILE, "{\"Name\": \"/before\"}");
    ck_assert(container_names_find(all, DOCKER, &container));
    write_file(DOCKER_FILE, "{\"Name\": \"/after\"}");
    ck_assert(container_names_find(all, DOCKER "/init.scope", &container));
    ck_assert_str_eq(container.name, "before");
    container_names_destroy(all);
}

static void ask_many(struct container_names *all, const char *begin, const char *end) {
    struct container container;
    char cgroup[256];
    make_group(begin);
    for (unsigned i = 0; i < 10007; i++) {
        snprintf(cgroup, sizeof(cgroup), "%s%064x%s", begin, i, end);
        ck_assert(container_names_find(all, cgroup, &container));
        ck_assert_str_eq(container.name, "");
    }
}

/* Containers of users, and ids that were containers once. */
TEST(name_is_found_after_any_number_of_others) {
    static const char *const others[][2] = {{USERS "docker-", ".scope"}, {"/docker/", ""}};
    struct container container;
    for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
        struct container_names *all = container_names_create(root, groups);
        make_group(DOCKER);
        ask_many(all, others[i][0], others[i][1]);
        write_file(DOCKER_FILE, "{\"Name\": \"/later\"}");
        ck_assert(container_names_find(all, DOCKER, &container));
        ck_assert_str_eq(container.name, "later");
        container_names_destroy(all);
    }
}

TEST(users_containers_do_not_make_a_name_forgotten) {
    struct container_names *all = container_names_create(root, groups);
    struct container container;
    make_group(DOCKER);
    write_file(DOCKER_FILE, "{\"Name\": \"/before\"}");
    ck_assert(container_names_find(all, DOCKER, &container));
    write_file(DOCKER_FILE, "{\"Name\": \"/after\"}");
    ask_many(all, USERS "docker-", ".scope");
    ck_assert(container_names_find(all, DOCKER, &container));
    ck_assert_str_eq(container.name, "before");
    container_names_destroy(all);
}

TEST(name_longer_than_the_bound_is_not_taken) {
    char text[CONTAINER_NAME_SIZE + 32];
    make_group(DOCKER);
    for (size_t length = CONTAINER_NAME_SIZE - 1; length <= CONTAINER_NAME_SIZE; length++) {
        snprintf(text, sizeof(text), "{\"Name\": \"/%0*d\"}", (int)length, 0);
        write_file(DOCKER_FILE, text);
        ck_assert_int_eq(strncmp(described(DOCKER), "000", 3) == 0, length < CONTAINER_NAME_SIZE);
    }
}

/* ---- Groups that are called like a container's ------------------------------------------------- */

static void give_away(const char *cgroup, uid_t user) {
    char path[512];
    snprintf(path, sizeof(path), "%s%s", groups, cgroup);
    ck_assert_int_eq(chown(path, user, (gid_t)-1), 0);
}

/* In a group that somebody has been given, he makes others, with any names. */
TEST(group_of_somebody_else_is_no_container, .to = 5) {
    static const struct {
        const char *group;
        uid_t owner;
        const char *name;
        const char *described;
    } made[] = {
        {"/lxc.payload.x", 100000, "/docker-" ID_A ".scope", ""},
        {"/system.slice/x.service", 65534, "/docker/" ID_A, ""},
        {"/user.slice/user-1000.slice/user@1000.service", 1000, "/docker-" ID_A ".scope", "docker 3f2a9c1b2d4e"},
        {"/user.slice/user-1000.slice/user@1000.service", 1001, "/docker-" ID_A ".scope", ""},
        {"/system.slice/docker-" ID_B ".scope", 100000, "/docker-" ID_A ".scope", "docker aaaaaaaaaaaa"},
    };
    char cgroup[256];
    if (geteuid() != 0)
        return;
    snprintf(cgroup, sizeof(cgroup), "%s%s", made[_i].group, made[_i].name);
    write_file(DOCKER_FILE, "{\"Name\": \"/web1\"}");
    make_group(cgroup);
    give_away(made[_i].group, made[_i].owner);
    if (strchr(made[_i].name + 1, '/')) {
        snprintf(cgroup, sizeof(cgroup), "%s/docker", made[_i].group);
        give_away(cgroup, made[_i].owner);
        snprintf(cgroup, sizeof(cgroup), "%s%s", made[_i].group, made[_i].name);
    }
    ck_assert_str_eq(described(cgroup), made[_i].described);
}

TEST(group_whose_beginning_is_missing_is_no_container) {
    make_group(".../docker-" ID_A ".scope");
    ck_assert_str_eq(described(".../docker-" ID_A ".scope"), "");
}

/* ---- Other things in place of the file ---------------------------------------------------------- */

TEST(file_beyond_the_bound_is_not_read) {
    char path[512];
    make_group(DOCKER);
    write_file(DOCKER_FILE, "{\"Name\": \"/web1\"}");
    path_in_root(DOCKER_FILE, path);
    ck_assert_int_eq(truncate(path, (off_t)1 << 40), 0);
    ck_assert_str_eq(described(DOCKER), "docker 3f2a9c1b2d4e");
}

TEST(fifo_is_not_waited_for) {
    char path[512];
    make_group(DOCKER);
    path_in_root(DOCKER_FILE, path);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    ck_assert_str_eq(described(DOCKER), "docker 3f2a9c1b2d4e");
}

TEST(link_in_place_of_the_file_is_not_followed) {
    char path[512];
    make_group(DOCKER);
    write_file("/elsewhere", "{\"Name\": \"/web1\"}");
    path_in_root(DOCKER_FILE, path);
    ck_assert_int_eq(symlink("../../../../../elsewhere", path), 0);
    ck_assert_str_eq(described(DOCKER), "docker 3f2a9c1b2d4e");
}

TEST(link_in_a_home_is_not_followed) {
    char path[512];
    make_group(USERS);
    write_file("/etc/passwd", "jane:x:1000:1000::/home/jane:/bin/sh\n");
    write_file("/var/lib" STORAGE "/containers.json", "[{\"id\": \"" ID_A "\", \"names\": [\"ours\"]}]");
    path_in_root("/home/jane/.local/share", path);
    ck_assert_int_eq(symlink("../../../var/lib", path), 0);
    ck_assert_str_eq(described(USERS "libpod-" ID_A ".scope"), "podman 3f2a9c1b2d4e");
}

/* ---- What users call them ----------------------------------------------------------------------- */

TEST(container_is_called_by_name_and_id) {
    const struct container container = {.id = ID_A, .name = "web1"};
    const struct container nameless = {.id = ID_A};
    ck_assert(container_is_called(&container, "web1"));
    ck_assert(container_is_called(&container, "3f2a9c1b2d4e"));
    ck_assert(container_is_called(&container, ID_A));
    ck_assert(!container_is_called(&container, "web"));
    ck_assert(!container_is_called(&container, "web10"));
    ck_assert(!container_is_called(&container, "3f2a9c1b2d4"));
    ck_assert(!container_is_called(&container, "3f2a9c1b2d4f"));
    ck_assert(!container_is_called(&container, ID_A "0"));
    ck_assert(!container_is_called(&nameless, ""));
}
