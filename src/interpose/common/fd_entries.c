#include "fd_entries.h"

fd_entry fd_table[FD_TABLE_SIZE];
