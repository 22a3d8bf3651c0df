/* Causes: reading kernel stacks, reading the table, and the first line that fits. */
#include "causes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "testing.h"

static struct causes *parse(const char *text) {
    struct causes *causes = NULL;
    struct causes_error error = {0};
    int err = causes_parse(text, &causes, &error);
    ck_assert_msg(err == 0, "line %zu: %s", error.line, error.message);
    return causes;
}

/* The words, with "- " before those of waiting for work. */
static const char *find_on(const char *type, const char *table, const char *stack_text) {
    static char found[AGGSTATS_CAUSE_SIZE + 2];
    struct kernel_stack stack;
    struct causes *causes = parse(table);
    kernel_stack_parse(stack_text, &stack);
    const struct cause *cause = causes_find(causes, &stack, type);
    snprintf(found, sizeof(found), "%s%s", cause && cause->is_work ? "- " : "", cause ? cause->why.words : "(none)");
    causes_free(causes);
    return found;
}

static const char *find_in(const char *table, const char *stack_text) {
    return find_on("", table, stack_text);
}

TEST(stacks_are_read) {
    struct kernel_stack stack;
    kernel_stack_parse("[<0>] jbd2_log_wait_commit+0xcd/0x140 [jbd2]\n"
                       "[<0>] ext4_sync_file.isra.0+0x1/0x2\n[<0>] 0xffffffff\n",
                       &stack);
    ck_assert_uint_eq(stack.count, 3);
    ck_assert_str_eq(stack.functions[0], "jbd2_log_wait_commit");
    ck_assert_str_eq(stack.functions[1], "ext4_sync_file");
    kernel_stack_parse("do_sigtimedwait.isra.0", &stack); /* as wchan has it */
    ck_assert_uint_eq(stack.count, 1);
    ck_assert_str_eq(stack.functions[0], "do_sigtimedwait");
    kernel_stack_parse("0", &stack);
    ck_assert_uint_eq(stack.count, 0);
    ck_assert_ptr_null(kernel_stack_place(&stack));
}

TEST(long_stacks_are_cut) {
    char text[CAUSE_FUNCTIONS_MAX * 2 * 100] = "";
    struct kernel_stack stack;
    for (int i = 0; i < 2 * CAUSE_FUNCTIONS_MAX; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "[<0>] %080d_name+0x1/0x2\n", i);
    kernel_stack_parse(text, &stack);
    ck_assert_uint_eq(stack.count, CAUSE_FUNCTIONS_MAX);
    ck_assert_uint_eq(strlen(stack.functions[0]), CAUSE_FUNCTION_SIZE - 1);
}

TEST(first_that_fits) {
    const char *table = "# a comment\n\nspecial: inner < outer\n  general :  inner\nother: in?er_* < main\n";
    ck_assert_str_eq(find_in(table, "inner+0x1\nbetween+0x1\nouter+0x2\n"), "special");
    ck_assert_str_eq(find_in(table, "outer+0x1\ninner+0x2\n"), "general"); /* the other way round */
    ck_assert_str_eq(find_in(table, "inner_part+0x1\nmain+0x2\n"), "other");
    ck_assert_str_eq(find_in(table, "inner_part+0x1\n"), "(none)");
    ck_assert_str_eq(find_in(table, ""), "(none)");
    ck_assert_str_eq(find_in("words: ^inner", "inner+0x1\nouter+0x2\n"), "words");
    ck_assert_str_eq(find_in("words:^in* < main", "inner+0x1\nouter+0x2\nmain+0x2\n"), "words");
    ck_assert_str_eq(find_in("words: ^outer", "inner+0x1\nouter+0x2\n"), "(none)");
    ck_assert_str_eq(find_in("words: ^outer", ""), "(none)");
    ck_assert_str_eq(find_in("", "inner"), "(none)");
}

static bool needs_type(const char *table, const char *stack_text) {
    struct kernel_stack stack;
    struct causes *causes = parse(table);
    kernel_stack_parse(stack_text, &stack);
    bool needs = causes_need_type(causes, &stack);
    causes_free(causes);
    return needs;
}

TEST(lines_may_be_for_types_of_file_systems) {
    const char *table = "first: special\nserver: @nfs,nfs4 wait\ndisk: @ext[234],xfs ^wait < read\nany: wait\n";
    ck_assert_str_eq(find_on("nfs4", table, "wait+0x1\nread+0x1\n"), "server");
    ck_assert_str_eq(find_on("ext4", table, "wait+0x1\nread+0x1\n"), "disk");
    ck_assert_str_eq(find_on("xfs", table, "wait+0x1\nwrite+0x1\n"), "any");
    ck_assert_str_eq(find_on("nf", table, "wait+0x1\nread+0x1\n"), "any");
    ck_assert_str_eq(find_on("", table, "wait+0x1\nread+0x1\n"), "any");
    ck_assert_str_eq(find_on("", "all: @* wait", "wait+0x1\n"), "(none)"); /* unknown is no type */
    ck_assert(needs_type(table, "wait+0x1\n"));
    ck_assert(!needs_type(table, "special+0x1\nwait+0x1\n"));
    ck_assert(!needs_type(table, "read+0x1\n"));
}

TEST(lines_may_be_of_waiting_for_work) {
    const char *table = "- idle: ep_poll\nbusy: write\n  -idle, too: read\nwell-known - words: open\n";
    ck_assert_str_eq(find_in(table, "ep_poll+0x1\n"), "- idle");
    ck_assert_str_eq(find_in(table, "write+0x1\n"), "busy");
    ck_assert_str_eq(find_in(table, "read+0x1\n"), "- idle, too");
    ck_assert_str_eq(find_in(table, "open+0x1\n"), "well-known - words");
}

TEST(lines_may_have_an_identifier_and_a_class) {
    struct kernel_stack stack;
    struct causes *causes = parse("- a-b.C_9  pipe_data :  some words: with: read\nmy words: write\n");
    kernel_stack_parse("read+0x1\n", &stack);
    const struct cause *cause = causes_find(causes, &stack, "");
    ck_assert(cause->has_class && cause->is_work);
    ck_assert_str_eq(cause->why.id, "a-b.C_9");
    ck_assert_int_eq(cause->why.kind, AGGSTATS_CAUSE_PIPE_DATA);
    ck_assert_str_eq(cause->why.words, "some words: with");
    kernel_stack_parse("write+0x1\n", &stack);
    cause = causes_find(causes, &stack, "");
    ck_assert(!cause->has_class);
    ck_assert_str_eq(cause->why.id, "");
    causes_free(causes);
}

TEST(place_without_a_cause) {
    struct kernel_stack stack;
    kernel_stack_parse("io_schedule+0x1\nfolio_wait_bit_common+0x2\nsome_function+0x3\nvfs_read+0x4\n", &stack);
    ck_assert_str_eq(kernel_stack_place(&stack), "some_function");
    kernel_stack_parse("schedule+0x1\nschedule_timeout+0x2\n", &stack);
    ck_assert_str_eq(kernel_stack_place(&stack), "schedule_timeout");
}

static void expect_error(const char *text, size_t line, const char *message) {
    struct causes *causes = NULL;
    struct causes_error error = {0};
    ck_assert_int_eq(causes_parse(text, &causes, &error), -EBADMSG);
    ck_assert_ptr_null(causes);
    ck_assert_uint_eq(error.line, line);
    ck_assert_msg(strstr(error.message, message) != NULL, "%s", error.message);
}

TEST(wrong_lines) {
    char text[300];
    expect_error("words\n", 1, "no colon");
    expect_error("disk: words: function\n", 1, "expected ID CLASS");
    expect_error("a<b disk: words: function\n", 1, "expected ID CLASS");
    expect_error("a disk b: words: function\n", 1, "no such class");
    expect_error("a journal: words: function\n", 1, "no such class");
    expect_error("a unknown: words: function\n", 1, "no such class");
    expect_error("a disk:: function\n", 1, "before the colon");
    expect_error("# comment\n\n: function\n", 3, "before the colon");
    expect_error("-: function\n", 1, "before the colon");
    expect_error("words:\n", 1, "behind the colon");
    expect_error("words: a <\n", 1, "on each side");
    expect_error("words: ^\n", 1, "on each side");
    expect_error("words: a b\n", 1, "< between");
    expect_error("words: @ a\n", 1, "behind @");
    expect_error("words: @ext4\n", 1, "behind the colon");
    expect_error("words: a < a < a < a < a < a < a < a < a\n", 1, "at most 8");
    expect_error("a\033b: function\n", 1, "control characters");
    snprintf(text, sizeof(text), "%096d: function\n", 0);
    expect_error(text, 1, "95 characters");
    snprintf(text, sizeof(text), "words: @%0128d a\n", 0);
    expect_error(text, 1, "127 characters");
    snprintf(text, sizeof(text), "words: %064d\n", 0);
    expect_error(text, 1, "63 characters");
}

/* ---- The table that comes with osproffs ---- */

/* Innermost functions of stacks, as /proc/PID/task/TID/stack has shown them on Linux 6.18, unless they follow from the
 * kernel's sources. */
static const struct {
    const char *cause;
    const char *stack;
    const char *type; /* of the file system; NULL: unknown */
} stacks[] = {
    {"waiting for memory to be freed",
     "shrink_folio_list\nshrink_lruvec\nshrink_node\ndo_try_to_free_pages\ntry_to_free_mem_cgroup_pages\n"
     "try_charge_memcg\nfilemap_add_folio\n__filemap_get_folio\next4_da_write_begin\nvfs_write\n"},
    {"waiting because too much is to be written (dirty pages)",
     "balance_dirty_pages\nbalance_dirty_pages_ratelimited_flags\ngeneric_perform_write\next4_buffered_write_iter\n"
     "vfs_write\n"},
    {"waiting for a lock of a file that another holds (fcntl)",
     "fcntl_setlk\ndo_fcntl\n__x64_sys_fcntl\ndo_syscall_64\n"},
    {"waiting for a lock of a file that another holds (flock)",
     "locks_lock_inode_wait\n__do_sys_flock\ndo_syscall_64\n"},
    {"waiting for who has a lease of the file",
     "__break_lease\ndo_dentry_open\nvfs_open\npath_openat\ndo_file_open_root\nfile_open_root\ndo_handle_open\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\nmnt_want_write\npath_openat\ndo_filp_open\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\nvfs_write\n__x64_sys_pwrite64\ndo_syscall_64\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\ndo_ftruncate\ndo_sys_ftruncate\ndo_syscall_64\n"},
    {"copying a file up to the upper layer (overlayfs)",
     "folio_wait_bit_common\nfilemap_get_pages\nfilemap_splice_read\nsplice_direct_to_actor\ndo_splice_direct\n"
     "ovl_copy_up_file\novl_copy_up_one\novl_copy_up_flags\novl_open\ndo_dentry_open\nvfs_open\npath_openat\n"},
    {"waiting for another FUSE daemon", "request_wait_answer\n__fuse_simple_request\nfuse_lookup_name\nfuse_lookup\n"},
    {"waiting for another FUSE daemon", "fuse_lock_inode\nfuse_lookup\n__lookup_slow\nwalk_component\npath_lookupat\n"},
    {"waiting for another FUSE daemon",
     "folio_wait_bit_common\nfilemap_get_pages\nfilemap_splice_read\nfuse_splice_read\ndo_splice\n"},
    {"waiting for the ext4 journal to commit", "jbd2_log_wait_commit\next4_sync_file\ndo_fsync\n__x64_sys_fsync\n"},
    {"waiting for a block that the ext4 journal holds",
     "do_get_write_access\njbd2_journal_get_write_access\n__ext4_journal_get_write_access\next4_reserve_inode_write\n"
     "__ext4_mark_inode_dirty\next4_dirty_inode\n__mark_inode_dirty\next4_setattr\nnotify_change\nchmod_common\n"},
    {"waiting for a lock of a directory", "path_openat\ndo_filp_open\ndo_sys_openat2\n__x64_sys_openat\n"},
    {"waiting for a lock of a directory", "filename_create\ndo_linkat\n__x64_sys_linkat\n"},
    {"waiting for a lock of a directory",
     "walk_component\npath_lookupat\nfilename_lookup\nuser_path_at\n__x64_sys_name_to_handle_at\n"},
    {"waiting for a lock of a directory", "iterate_dir\n__x64_sys_getdents64\n"},
    {"waiting for a lock of a directory", "do_unlinkat\n__x64_sys_unlinkat\n"},
    {"waiting for a lock of a directory", "do_rmdir\n__x64_sys_unlinkat\n"},
    {"waiting for a lock of a directory", "do_renameat2\n__x64_sys_renameat2\n"},
    {"waiting for a lock of a file", "ext4_buffered_write_iter\nvfs_write\n__x64_sys_pwrite64\n"},
    {"waiting for a lock of a file", "ext4_file_write_iter\nvfs_write\n__x64_sys_pwrite64\n"},
    {"waiting for a lock of a file", "chmod_common\n__x64_sys_fchmodat\n"},
    {"waiting for a lock of a file", "do_truncate\ndo_ftruncate\ndo_sys_ftruncate\n__x64_sys_ftruncate\n"},
    {"waiting for a lock of a file", "vfs_utimes\ndo_utimes\n__x64_sys_utimensat\n"},
    {"waiting for a lock of a file", "vfs_setxattr\nfilename_setxattr\npath_setxattrat\n__x64_sys_setxattr\n"},
    {"waiting for a lock of a file", "vfs_unlink\ndo_unlinkat\n__x64_sys_unlinkat\n"},
    {"waiting for a lock of a file", "ext4_fallocate\nvfs_fallocate\n__x64_sys_fallocate\n"},
    {"waiting for a lock of a file", "ext4_llseek\nksys_lseek\n"},
    {"waiting for a lock of a file",
     "page_cache_ra_order\nfilemap_get_pages\nfilemap_splice_read\ndo_splice\n__do_splice\n__x64_sys_splice\n"},
    {"reading from the disk",
     "ext4_read_bh\next4_block_zero_page_range\next4_truncate\next4_setattr\nnotify_change\ndo_truncate\n"},
    {"reading metadata from the disk",
     "ext4_read_bh\next4_bread\n__ext4_read_dirblock\nhtree_dirblock_to_tree\next4_htree_fill_tree\next4_readdir\n"
     "iterate_dir\n"},
    {"reading metadata from the disk",
     "__ext4_find_entry\next4_lookup\n__lookup_slow\nwalk_component\npath_lookupat\nfilename_lookup\n"},
    {"reading metadata from the disk",
     "__ext4_get_inode_loc\n__ext4_get_inode_loc_noinmem\n__ext4_iget\next4_lookup\n__lookup_slow\n"},
    {"reading metadata from the disk",
     "ext4_wait_block_bitmap\next4_mb_init_cache\next4_mb_load_buddy_gfp\next4_mb_scan_group\n"
     "ext4_mb_regular_allocator\next4_mb_new_blocks\next4_ext_map_blocks\next4_map_blocks\next4_do_writepages\n"
     "file_write_and_wait_range\next4_sync_file\ndo_fsync\n"},
    {"waiting for the disk to flush its cache", "submit_bio_wait\nblkdev_issue_flush\next4_sync_file\ndo_fsync\n"},
    {"waiting for pages to be written",
     "folio_wait_bit\nfolio_wait_writeback\n__filemap_fdatawait_range\nfile_write_and_wait_range\next4_sync_file\n"
     "ext4_buffered_write_iter\nvfs_write\n"},
    {"waiting for pages to be written", "ext4_bio_write_folio\next4_do_writepages\nfile_write_and_wait_range\n"},
    {"writing to the disk, past the cache", "__iomap_dio_rw\niomap_dio_rw\next4_file_write_iter\nvfs_write\n"},
    {"reading from the disk, past the cache", "__iomap_dio_rw\niomap_dio_rw\next4_file_read_iter\nvfs_read\n"},
    {"reading from the disk",
     "ext4_block_write_begin\next4_da_write_begin\ngeneric_perform_write\next4_buffered_write_iter\nvfs_write\n"},
    {"reading from the disk",
     "folio_wait_bit_common\nfilemap_get_pages\nfilemap_splice_read\ndo_splice\n__do_splice\n__x64_sys_splice\n",
     "ext4"},
    {"waiting for another FUSE daemon",
     "folio_wait_bit_common\nfilemap_get_pages\nfilemap_splice_read\ndo_splice\n__do_splice\n__x64_sys_splice\n",
     "fuse.bindfs"},
    /* From the sources: */
    {"waiting for memory to be freed",
     "shrink_folio_list\nshrink_node\ndo_try_to_free_pages\ntry_to_free_pages\n__alloc_pages_slowpath\n"},
    {"waiting for memory to be freed", "throttle_direct_reclaim\ndo_page_fault\n"},
    {"waiting for memory of its control group", "mem_cgroup_handle_over_high\nexit_to_user_mode_loop\n"},
    {"waiting for memory of its control group", "__mem_cgroup_handle_over_high\nexit_to_user_mode_loop\n"},
    {"waiting for memory of its control group", "mem_cgroup_out_of_memory\ntry_charge_memcg\n"},
    {"waiting for a lock of a file that another holds (fcntl)", "posix_lock_inode_wait\nnlmclnt_lock\n"},
    {"waiting for a lock of a file that another holds (flock)", "flock_lock_inode_wait\nnlmclnt_lock\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\nsb_start_write_trylock\ndo_clone_file_range\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\next4_page_mkwrite\ndo_page_mkwrite\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\n__ext4_journal_start_sb\next4_dirty_inode\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\next4_evict_inode\nevict\niput\n"},
    {"waiting for a frozen file system", "percpu_rwsem_wait\nxfs_trans_alloc_inode\nxfs_setattr_nonsize\n"},
    {"waiting for another FUSE daemon", "fuse_get_req\n__fuse_simple_request\nfuse_getattr\n"},
    {"waiting for another FUSE daemon", "__fuse_request_send\nfuse_simple_request\n"},
    {"waiting for another FUSE daemon", "fuse_wait_on_folio_writeback\nfuse_write_begin\n"},
    {"waiting for another FUSE daemon", "fuse_set_nowrite\nfuse_do_setattr\nfuse_setattr\n"},
    {"waiting for the server (NFS)", "rpc_wait_bit_killable\n__rpc_execute\nrpc_execute\nrpc_run_task\n"},
    {"waiting for the server (NFS)", "xprt_reserve\nrpc_execute\nrpc_run_task\nnlmclnt_async_call\n"},
    {"waiting for the server (NFS)", "folio_wait_bit_common\nnfs_wb_folio\nnfs_write_begin\n"},
    {"waiting for the server (NFS)", "nfs4_do_close\n__nfs4_close\n"},
    {"waiting for the server (CIFS)", "wait_for_response\ncompound_send_recv\ncifs_send_recv\n"},
    {"waiting for the server (CIFS)", "wait_for_response\ncompound_send_recv\nsmb2_query_path_info\n"},
    {"waiting for the server (CIFS)", "wait_for_response\nSMB2_open\n"},
    {"waiting for the server (Ceph)", "ceph_mdsc_wait_request\nceph_mdsc_do_request\nceph_lookup\n"},
    {"waiting for the server (9p)", "p9_client_rpc\np9_client_walk\nv9fs_vfs_lookup\n"},
    {"waiting for the ext4 journal to commit", "jbd2_complete_transaction\next4_sync_file\n"},
    {"waiting for the ext4 journal to commit", "jbd2_fc_begin_commit\next4_sync_file\n"},
    {"waiting for the ext4 journal to commit", "ext4_fc_commit\next4_sync_file\n"},
    {"waiting for room in the ext4 journal", "wait_transaction_locked\nadd_transaction_credits\nstart_this_handle\n"},
    {"waiting for room in the ext4 journal", "add_transaction_credits\nstart_this_handle\njbd2__journal_start\n"},
    {"waiting for room in the ext4 journal", "__jbd2_log_wait_for_space\nstart_this_handle\n"},
    {"waiting for room in the ext4 journal", "jbd2_log_do_checkpoint\njbd2_journal_flush\n"},
    {"waiting for the XFS log", "xlog_wait_on_iclog\nxlog_force_lsn\nxfs_file_fsync\n"},
    {"waiting for the XFS log", "xfs_log_force_seq\nxfs_file_fsync\n"},
    {"waiting for the btrfs transaction to commit", "wait_current_trans\nstart_transaction\n"},
    {"waiting for the btrfs transaction to commit", "btrfs_commit_transaction\nbtrfs_sync_file\n"},
    {"waiting for the btrfs transaction to commit", "btrfs_wait_for_commit\nbtrfs_sync_fs\n"},
    {"waiting for the btrfs transaction to commit", "btrfs_sync_log\nbtrfs_sync_file\n"},
    {"waiting for a lock of a directory", "open_last_lookups\npath_openat\n"},
    {"waiting for a lock of a directory", "lookup_slow\nwalk_component\n"},
    {"waiting for a lock of a directory", "lock_rename\ndo_renameat2\n"},
    {"waiting for a lock of a directory", "lock_two_directories\nlock_rename\ndo_renameat2\n"},
    {"waiting for a lock of a directory", "wrap_directory_iterator\niterate_dir\n"},
    {"waiting for a lock of a directory", "start_dirop\nfilename_create\n"},
    {"waiting for a lock of a directory", "filename_renameat2\n__x64_sys_renameat2\n"},
    {"waiting for a lock of a file", "chown_common\ndo_fchownat\n"},
    {"waiting for a lock of a file", "vfs_removexattr\nremovexattr\n"},
    {"waiting for a lock of a file", "vfs_link\ndo_linkat\n"},
    {"waiting for a lock of a file", "vfs_rmdir\ndo_rmdir\n"},
    {"waiting for a lock of a file", "vfs_rename\ndo_renameat2\n"},
    {"waiting for a lock of a file", "filemap_fault\n__do_fault\n"},
    {"waiting for a lock of a file", "ext4_map_blocks\next4_da_get_block_prep\n"},
    {"waiting for a lock of a file", "ext4_da_get_block_prep\n__block_write_begin_int\next4_da_write_begin\n"},
    {"waiting for a lock of a file", "ext4_da_map_blocks\next4_da_get_block_prep\n"},
    {"waiting for a lock of a file", "xfs_ilock_nowait\nxfs_file_write_checks\n"},
    {"waiting for direct I/O on the file to end", "inode_dio_wait\next4_setattr\n"},
    {"waiting for a quota", "dquot_get_dqblk\nquota_getquota\n"},
    {"waiting in the limit on I/O of its control group", "__blkcg_maybe_throttle_current\nexit_to_user_mode_loop\n"},
    {"waiting for a free request of the disk", "blk_mq_get_tag\n__blk_mq_alloc_requests\nblk_mq_submit_bio\n"},
    {"waiting for a free request of the disk", "rq_qos_wait\nwbt_wait\nblk_mq_submit_bio\n"},
    {"reading metadata from the disk", "ext4_mb_init_cache\next4_mb_load_buddy_gfp\n"},
    {"reading metadata from the disk", "folio_wait_bit_common\next4_mb_load_buddy_gfp\n"},
    {"reading metadata from the disk", "__wait_on_buffer\n__bread_gfp\next2_get_inode\n"},
    {"reading metadata from the disk", "xfs_buf_iowait\nxfs_buf_read_map\n"},
    {"reading metadata from the disk", "read_extent_buffer_pages\nread_tree_block\n"},
    {"writing metadata to the disk", "__sync_dirty_buffer\next4_write_inode\nsync_inode_metadata\n"},
    {"writing metadata to the disk", "fsync_buffers_list\nsync_mapping_buffers\next4_sync_file\ndo_fsync\n"},
    {"waiting for pages to be written", "wait_on_page_writeback\nshmem_write_begin\n"},
    {"waiting for pages to be written", "__writeback_single_inode\nwriteback_single_inode\nsync_inode_metadata\n"},
    {"waiting for pages to be written", "folio_wait_bit\n__filemap_fdatawait_range\nfilemap_fdatawait_keep_errors\n"},
    {"writing to the disk, past the cache", "__blkdev_direct_IO_simple\nblkdev_write_iter\n"},
    {"waiting for a page to be read", "folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n", "overlay"},
    {"waiting for the server (NFS)", "folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n", "nfs4"},
    {"waiting for the server (CIFS)", "folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n", "cifs"},
    {"waiting for the server (Ceph)", "folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n", "ceph"},
    {"waiting for the server (9p)", "folio_wait_bit_common\nfilemap_get_pages\nfilemap_read\n", "9p"},
    {"reading from the disk", "filemap_read\nvfs_read\n", "xfs"},
    {"reading from the disk", "filemap_splice_read\ndo_splice\n", "btrfs"},
    {"reading from the disk", "read_pages\npage_cache_ra_unbounded\n", "ext4"},
    {"waiting for the disk", "folio_wait_bit_common\nsome_function\n", "ext4"},
    {"reading from the disk", "__wait_on_buffer\nbh_read\n"},
    {"waiting for the disk", "submit_bio_wait\nblkdev_zone_mgmt\n"},
    /* Memory, CPU time and page faults of programs */
    {"waiting for memory to be freed",
     "__alloc_frozen_pages_slowpath\n__alloc_frozen_pages_noprof\nalloc_pages_mpol\n"},
    {"freeing memory for others (kswapd)", "reclaim_throttle\nshrink_node\nbalance_pgdat\nkswapd\nkthread\n"},
    {"waiting for memory of its control group",
     "mem_cgroup_oom_synchronize\npagefault_out_of_memory\nexc_page_fault\n"},
    {"waiting for CPU time of its control group",
     "throttle_cfs_rq_work\ntask_work_run\nexit_to_user_mode_loop\nirqentry_exit_to_user_mode\n"},
    {"waiting for a page that the kernel moves", "migration_entry_wait\ndo_swap_page\nhandle_mm_fault\n"},
    {"waiting for its page faults to be served (userfaultfd)",
     "handle_userfault\ndo_anonymous_page\nhandle_mm_fault\n"},
    {"reading from the swap", "folio_wait_bit_common\n__folio_lock_or_retry\ndo_swap_page\n__handle_mm_fault\n"},
    {"reading from the swap", "wait_on_page_bit_common\n__lock_page_or_retry\ndo_swap_page\nhandle_mm_fault\n"},
    {"reading from the swap", "submit_bio_wait\nswap_read_folio\nswap_cluster_readahead\n"},
    {"reading from the swap", "folio_wait_bit\nswapin_readahead\nunuse_vma\n"},
    {"reading from the swap", "folio_wait_bit\nshmem_swapin_folio\nshmem_get_folio_gfp\n"},
    {"writing to the swap", "submit_bio_wait\nswap_writeout\nzswap_writeback_entry\n"},
    {"reading a page of a mapped file", "folio_wait_bit_common\nfilemap_fault\n__do_fault\ndo_read_fault\n"},
    {"reading a page of a mapped file", "wait_on_page_bit_common\n__lock_page_killable\nfilemap_fault\n__do_fault\n"},
    {"reading a page of a mapped file", "folio_wait_bit_common\nfilemap_fault\n__do_fault\n", "fuse.sshfs"},
    {"- waiting for work (kernel thread)", "svc_recv\nnfs4_callback_svc\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)",
     "sk_wait_data\ntcp_recvmsg\ncifs_read_from_socket\ncifs_demultiplex_thread\n"},
    /* Programs and the kernel's other locks */
    {"freezing a file system", "freeze_super\ndo_vfs_ioctl\n__x64_sys_ioctl\n"},
    {"waiting for a lock of control groups", "percpu_rwsem_wait\ncopy_process\nkernel_clone\n"},
    {"waiting for a lock of control groups", "percpu_rwsem_wait\nexit_signals\ndo_exit\n"},
    {"waiting for a lock of control groups", "percpu_rwsem_wait\ncgroup_can_fork\n"},
    {"waiting for a lock of control groups", "cgroup_kn_lock_live\ncgroup_mkdir\n"},
    {"waiting for a lock of control groups", "cgroup_procs_write_start\n__cgroup_procs_write\n"},
    {"writing the ext4 journal", "__wait_on_buffer\njbd2_journal_commit_transaction\nkjournald2\nkthread\n"},
    {"waiting for another call on the same open file", "fdget_pos\nksys_read\n__x64_sys_read\n"},
    {"waiting for another call on the same open file", "__fdget_pos\nksys_write\n__x64_sys_write\n"},
    {"waiting for another call on the same open file", "ksys_read\n__x64_sys_read\n"},
    {"waiting for another call on the same open file", "ksys_write\n__x64_sys_write\n"},
    {"waiting for another call on the same open file", "__x64_sys_getdents64\ndo_syscall_64\n"},
    {"waiting in the limit on I/O of its control group", "ioc_rqos_throttle\n__rq_qos_throttle\nblk_mq_submit_bio\n"},
    {"waiting in the limit on I/O of its control group", "rq_qos_wait\nblkcg_iolatency_throttle\n__rq_qos_throttle\n"},
    {"waiting for requests of the disk to end", "blk_mq_freeze_queue_wait\nblk_mq_freeze_queue_nomemsave\n"},
    {"waiting for a command of the disk", "blk_execute_rq\nnvme_submit_user_cmd\n"},
    {"waiting for pages to be written", "wb_wait_for_completion\nsync_inodes_sb\nsync_filesystem\n"},
    {"waiting for pages to be written", "sync_inodes_sb\nsync_filesystem\n"},
    {"waiting for a child process to start a program (vfork)", "kernel_clone\n__do_sys_vfork\n"},
    {"waiting for a child process to start a program (vfork)", "wait_for_vfork_done\nkernel_clone\n"},
    {"waiting for other threads to end (exec)", "de_thread\nbegin_new_exec\nload_elf_binary\n"},
    {"waiting for other threads to end (exec)", "begin_new_exec\nload_elf_binary\n"},
    {"waiting for processes of its namespace to end", "zap_pid_ns_processes\ndo_exit\n"},
    {"waiting for a core dump to be written", "coredump_task_exit\ndo_exit\n"},
    {"writing a core dump", "elf_core_dump\nvfs_coredump\nget_signal\n"},
    {"waiting for its requests of io_uring to end", "io_uring_cancel_generic\ndo_exit\n"},
    {"waiting for a supervisor of system calls (seccomp)", "seccomp_do_user_notification\n__seccomp_filter\n"},
    {"waiting for automount", "autofs_wait\nautofs_mount_wait\nautofs_d_automount\n"},
    {"waiting for a permission of fanotify", "fanotify_handle_event\nfsnotify\ndo_dentry_open\n"},
    {"waiting for the lock of a file's mappings",
     "unlink_file_vma_batch_process\nunlink_file_vma_batch_final\nexit_mmap\n"},
    {"waiting for the lock of a file's mappings", "vma_link_file\nmmap_region\n"},
    {"waiting for the lock of a file's mappings", "__mmap_region\ndo_mmap\nvm_mmap_pgoff\n"},
    {"waiting for the lock of an address space", "lock_mm_and_find_vma\nexc_page_fault\n"},
    {"waiting for the lock of an address space", "do_user_addr_fault\nexc_page_fault\n"},
    {"waiting for the lock of an address space", "exc_page_fault\nasm_exc_page_fault\n"},
    {"waiting for the lock of an address space", "vm_mmap_pgoff\nksys_mmap_pgoff\n"},
    {"waiting for the lock of an address space", "__vm_munmap\n__x64_sys_munmap\n"},
    {"waiting for the lock of an address space", "do_mprotect_pkey\n__x64_sys_mprotect\n"},
    {"waiting for the lock of an address space", "__x64_sys_brk\ndo_syscall_64\n"},
    {"waiting for the lock of an address space", "__do_sys_mremap\ndo_syscall_64\n"},
    {"waiting for the lock of an address space", "do_madvise\n__x64_sys_madvise\n"},
    {"waiting for the lock of an address space", "do_mlock\n__x64_sys_mlock\n"},
    {"waiting for the lock of an address space", "__mm_populate\nvm_mmap_pgoff\n"},
    {"waiting for the lock of an address space", "dup_mmap\ncopy_process\n"},
    {"waiting for the lock of an address space", "exit_mmap\nmmput\n"},
    {"waiting for the lock of an address space", "__access_remote_vm\nproc_pid_cmdline_read\n"},
    {"waiting for the lock of an address space", "get_user_pages_unlocked\ndio_refill_pages\n"},
    {"waiting for the lock of an address space", "__vma_start_write\nvma_expand\n"},
    {"waiting for a file system that is frozen, mounted or unmounted just now", "super_lock\nfreeze_super\n"},
    {"waiting for a file system that is frozen, mounted or unmounted just now", "grab_super\nsget_fc\n"},
    {"waiting for the lock of mounts", "do_lock_mount\npath_mount\n"},
    {"waiting for the lock of mounts", "path_umount\n__x64_sys_umount\n"},
    {"waiting for the lock of mounts", "do_move_mount\n__x64_sys_move_mount\n"},
    {"unmounting a file system", "kthread_stop\next4_put_super\ngeneric_shutdown_super\nkill_block_super\n"},
    {"unmounting a file system", "deactivate_super\ncleanup_mnt\n"},
    {"unmounting a file system", "some_function\ncleanup_mnt\ntask_work_run\n"},
    {"waiting for the lock of the network's settings", "rtnl_lock\nrtnetlink_rcv_msg\n"},
    {"waiting for the kernel's other CPUs (RCU)", "synchronize_rcu_expedited\nnamespace_unlock\n"},
    {"waiting for the kernel's other CPUs (RCU)", "__wait_rcu_gp\nsome_function\n"},
    {"waiting for the kernel's other CPUs (RCU)", "rcu_barrier\nkmem_cache_destroy\n"},
    {"waiting for a helper program of the kernel", "call_usermodehelper_exec\n__request_module\n"},
    {"loading a module of the kernel", "idempotent_wait_for_completion\n__do_sys_finit_module\n"},
    {"waiting for a worker of the kernel", "__flush_work\nlru_add_drain_all\n"},
    {"waiting for a worker of the kernel", "__flush_workqueue\nsome_function\n"},
    {"writing back what is in memory", "some_function\nwriteback_sb_inodes\nwb_workfn\nprocess_one_work\n"},
    /* Pipes, sockets, terminals */
    {"waiting for another process to read from a full pipe", "anon_pipe_write\nvfs_write\nksys_write\n"},
    {"waiting for another process to read from a full pipe", "pipe_wait_writable\nopipe_prep\ndo_splice\n"},
    {"waiting for another process to read from a full pipe", "wait_for_space\nsplice_file_to_pipe\n"},
    {"waiting for another process to read from a full socket", "unix_wait_for_peer\nunix_dgram_sendmsg\n"},
    {"waiting for another process to read from a full socket", "sock_alloc_send_pskb\nunix_stream_sendmsg\n"},
    {"waiting for another process to accept a connection", "unix_wait_for_peer\nunix_stream_connect\n__sys_connect\n"},
    {"waiting for another process to read from a full terminal", "wait_woken\nn_tty_write\nfile_tty_write\n"},
    {"waiting for another process at a socket", "unix_wait_for_peer\n"}, /* wchan: either */
    {"waiting for room in a message queue", "do_msgsnd\ndo_syscall_64\n"},
    {"waiting for room in a message queue", "wq_sleep\ndo_mq_timedsend\n"},
    {"waiting for a connection over the network", "wait_woken\n__inet_stream_connect\ninet_stream_connect\n"},
    {"waiting for a connection over the network", "inet_wait_for_connect\n"},
    {"waiting for a connection over the network", "vsock_connect\n__sys_connect\n"},
    {"waiting for the network", "sk_stream_wait_close\ntcp_close\ninet_release\n"},
    {"waiting for room to send over the network", "sk_stream_wait_memory\ntcp_sendmsg_locked\ntcp_sendmsg\n"},
    {"waiting for room to send over the network", "sock_alloc_send_pskb\nudp_sendmsg\n"},
    {"- waiting for connections", "inet_csk_accept\ninet_accept\ndo_accept\n__sys_accept4\n"},
    {"- waiting for connections", "__skb_wait_for_more_packets\nskb_recv_datagram\nunix_accept\ndo_accept\n"},
    {"- waiting for connections", "some_function\n__sys_accept4\n"},
    {"- waiting for another process at a pipe", "anon_pipe_read\nvfs_read\nksys_read\n"},
    {"- waiting for another process at a pipe", "pipe_wait_readable\ndo_splice\n__do_splice\n"},
    {"- waiting for another process to open a FIFO", "wait_for_partner\nfifo_open\ndo_dentry_open\n"},
    {"- waiting for another process at a socket", "unix_stream_read_generic\nunix_stream_recvmsg\nsock_read_iter\n"},
    {"- waiting for another process at a socket", "__skb_wait_for_more_packets\n__unix_dgram_recvmsg\n"},
    {"- waiting for events", "__skb_wait_for_more_packets\nskb_recv_datagram\nnetlink_recvmsg\nsock_recvmsg\n"},
    {"- waiting for the network", "wait_woken\nsk_wait_data\ntcp_recvmsg_locked\ntcp_recvmsg\ninet_recvmsg\n"},
    {"- waiting for the network", "__skb_wait_for_more_packets\nudp_recvmsg\ninet_recvmsg\n"},
    {"- waiting for the network", "tun_do_read\ntun_chr_read_iter\nvfs_read\n"},
    {"- waiting for input at a terminal", "wait_woken\nn_tty_read\ntty_read\nvfs_read\n"},
    {"- waiting for a message", "do_msgrcv\ndo_syscall_64\n"},
    {"- waiting for a message", "wq_sleep\ndo_mq_timedreceive\n__x64_sys_mq_timedreceive\n"},
    /* Waiting for work */
    {"- waiting for events", "ep_poll\n"},
    {"- waiting for events", "do_epoll_wait\n__x64_sys_epoll_wait\n"},
    {"- waiting for events", "do_poll.constprop.0\n"},
    {"- waiting for events", "poll_schedule_timeout.constprop.0\ndo_sys_poll\n__x64_sys_ppoll\n"},
    {"- waiting for events", "poll_schedule_timeout.constprop.0\ndo_select\ncore_sys_select\n"},
    {"- waiting for events", "wait_woken\ninotify_read\nvfs_read\n"},
    {"- waiting for events", "do_wait_intr_irq\neventfd_read\nvfs_read\n"},
    {"- waiting for events", "signalfd_read_iter\nvfs_read\n"},
    {"- waiting for events", "wait_woken\nfanotify_read\nvfs_read\n"},
    {"- waiting for events", "userfaultfd_read_iter\nvfs_read\n"},
    {"- waiting for events", "ring_buffer_wait\nwait_on_pipe\ntracing_read_pipe\n"},
    {"- waiting for events", "evdev_read\nvfs_read\n"},
    {"- waiting for events (virtual machine)", "kvm_vcpu_block\nkvm_vcpu_halt\nvcpu_run\n"},
    {"- waiting for messages of the kernel", "devkmsg_read\nvfs_read\n"},
    {"- waiting for messages of the kernel", "do_syslog\n__x64_sys_syslog\n"},
    {"- sleeping", "hrtimer_nanosleep\ncommon_nsleep\n__x64_sys_clock_nanosleep\n"},
    {"- sleeping", "common_nsleep\n__x64_sys_clock_nanosleep\n"},
    {"- sleeping", "do_wait_intr_irq\ntimerfd_read_iter\nvfs_read\n"},
    {"- waiting for a child process", "do_wait\nkernel_wait4\n"},
    {"- waiting for a signal", "sigsuspend.isra.0\n__x64_sys_rt_sigsuspend\n"},
    {"- waiting for a signal", "do_sigtimedwait.isra.0\n__x64_sys_rt_sigtimedwait\n"},
    {"- waiting for a signal", "__do_sys_pause\ndo_syscall_64\n"},
    {"- waiting for completions (libaio)", "read_events\ndo_io_getevents\n__x64_sys_io_getevents\n"},
    {"- waiting for completions (io_uring)", "io_cqring_wait\n__do_sys_io_uring_enter\n"},
    {"- waiting for another thread (futex)", "futex_do_wait\n__futex_wait\nfutex_wait\ndo_futex\n__x64_sys_futex\n"},
    {"- waiting for another process (semaphore)", "__do_semtimedop\ndo_semtimedop\ndo_syscall_64\n"},
    {"- waiting for requests (FUSE daemon)", "fuse_dev_do_read\nfuse_dev_read\nvfs_read\nksys_read\n"},
    {"- waiting for requests (NBD)", "nbd_start_device_ioctl\n__nbd_ioctl\nnbd_ioctl\n"},
    {"- stopped by a debugger", "ptrace_stop\nget_signal\narch_do_signal_or_restart\n"},
    {"- stopped by a debugger", "do_jobctl_trap\nget_signal\n"},
    {"- stopped by a signal", "do_signal_stop\nget_signal\narch_do_signal_or_restart\n"},
    {"- stopped by a signal", "get_signal\narch_do_signal_or_restart\n"},
    {"- stopped by the freezer of control groups", "__refrigerator\nget_signal\n"},
    {"- stopped by the freezer of control groups", "cgroup_enter_frozen\nget_signal\n"},
    {"- waiting for work (kernel thread)", "worker_thread\nkthread\nret_from_fork\nret_from_fork_asm\n"},
    {"- waiting for work (kernel thread)", "smpboot_thread_fn\nkthread\nret_from_fork\nret_from_fork_asm\n"},
    {"- waiting for work (kernel thread)", "kthread_worker_fn\nkthread\nret_from_fork\nret_from_fork_asm\n"},
    {"- waiting for work (kernel thread)", "kthreadd\nret_from_fork\nret_from_fork_asm\n"},
    {"- waiting for work (kernel thread)", "rcu_gp_fqs_loop\nrcu_gp_kthread\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "kswapd\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "kcompactd\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "khugepaged\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "kdamond_fn\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "oom_reaper\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "watchdog\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "hwrng_fillfn\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "devtmpfs_work_loop\ndevtmpfsd\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "kjournald2\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "gc_thread_func\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "xfsaild\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "nocb_gp_wait\nrcu_nocb_gp_kthread\nkthread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "io_wq_worker\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "io_sq_thread\nret_from_fork\n"},
    {"- waiting for work (kernel thread)", "vhost_task_fn\nret_from_fork\n"},
    /* The innermost function alone, as wchan has it */
    {"waiting for room to send at a socket", "sock_alloc_send_pskb\n"},
    {"- waiting for a datagram or a connection at a socket", "__skb_wait_for_more_packets\n"},
    {"- waiting for another process to open a FIFO", "wait_for_partner\n"},
    {"- waiting for events", "poll_schedule_timeout.constprop.0\n"},
    {"- waiting for events", "do_wait_intr_irq\n"},
};

static const char *type_of(size_t i) {
    return stacks[i].type ? stacks[i].type : "";
}

/* A worker of the kernel that works is not idle, nor is one that has no cause. */
TEST(a_worker_that_works_does_not_wait_for_work) {
    ck_assert_str_eq(find_in(causes_text, "some_function\nprocess_one_work\nworker_thread\nkthread\n"), "(none)");
    ck_assert_str_eq(find_in(causes_text, "submit_bio_wait\nprocess_one_work\nworker_thread\nkthread\n"),
                     "waiting for the disk");
}

TEST(stacks_have_causes, .to = ARRAY_SIZE(stacks)) {
    ck_assert_str_eq(find_on(type_of(_i), causes_text, stacks[_i].stack), stacks[_i].cause);
}

/* As a caller sees that has no more than wchan. */
TEST(causes_without_a_stack) {
    ck_assert_str_eq(find_in(causes_text, "jbd2_log_wait_commit"), "waiting for the ext4 journal to commit");
    ck_assert_str_eq(find_in(causes_text, "filename_create"), "waiting for a lock of a directory");
    ck_assert_str_eq(find_in(causes_text, "request_wait_answer"), "waiting for another FUSE daemon");
    ck_assert_str_eq(find_on("fuse", causes_text, "folio_wait_bit_common"), "waiting for another FUSE daemon");
    ck_assert_str_eq(find_on("nfs", causes_text, "folio_wait_bit_common"), "waiting for the server (NFS)");
    ck_assert_str_eq(find_on("xfs", causes_text, "folio_wait_bit_common"), "waiting for the disk");
    ck_assert_str_eq(find_in(causes_text, "folio_wait_bit_common"), "(none)");
}

static bool is_first_for_a_stack(const char *before, const char *line) {
    for (size_t i = 0; i < ARRAY_SIZE(stacks); i++)
        if (strcmp(find_on(type_of(i), line, stacks[i].stack), stacks[i].cause) == 0 &&
            strcmp(find_on(type_of(i), before, stacks[i].stack), "(none)") == 0)
            return true;
    return false;
}

/* No line of the table is hidden by others before it, or fits nothing. */
TEST(each_line_is_the_first_for_a_stack) {
    CLEANUP_FREE char *before = calloc(1, strlen(causes_text) + 1);
    CLEANUP_FREE char *copy = strdup(causes_text);
    unsigned lines = 0;
    char *rest = copy;
    char *end = before;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        if (!line[0] || line[0] == '#')
            continue;
        ck_assert_msg(is_first_for_a_stack(before, line), "never the first that fits: %s", line);
        end = stpcpy(end, line);
        *end++ = '\n';
        lines++;
    }
    ck_assert_uint_gt(lines, 50);
}

#define ROWS_MAX 512

/* "ID CLASS: WORDS" of each row. */
static size_t read_heads(char heads[ROWS_MAX][192]) {
    size_t count = 0;
    for (const char *line = causes_text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        if (*line == '#' || *line == '\n')
            continue;
        const char *head = line + 2 * (line[0] == '-');
        const char *words = strstr(head, ": ") + 2;
        ck_assert_uint_lt(count, ROWS_MAX);
        snprintf(heads[count++], sizeof(heads[0]), "%.*s", (int)(words + strcspn(words, ":\n") - head), head);
    }
    return count;
}

/* Rows of one cause have one identifier, one class and the same words, and no other cause has them. */
TEST(identifiers_and_words_go_together) {
    static char heads[ROWS_MAX][192];
    const size_t count = read_heads(heads);
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++) {
            const size_t id = strcspn(heads[i], " ") + 1;
            const bool is_same = strcmp(heads[i], heads[j]) == 0;
            const bool has_same_id = strncmp(heads[i], heads[j], id) == 0;
            const bool has_same_words = strcmp(strchr(heads[i], ':'), strchr(heads[j], ':')) == 0;
            ck_assert_msg(is_same == has_same_id && is_same == has_same_words, "'%s', '%s'", heads[i], heads[j]);
        }
}
