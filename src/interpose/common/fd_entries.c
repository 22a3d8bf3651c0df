/* The table alone, as fd_table.c uses subjects.c, which reads the table too. */
#include "fd_entries.h"

fd_entry fd_table[FD_TABLE_SIZE];
