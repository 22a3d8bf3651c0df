/* Looks for a tracepoint among the kernel's types (BTF): btf_trace_NAME has its arguments. */
#include "tracepoints.h"

#include <bpf/btf.h>
#include <stdio.h>

/* Its type is that of a pointer to a function, whose first argument is the program's own. */
int tracepoint_arguments(const struct btf *kernel, const char *name) {
    char type_name[80];
    snprintf(type_name, sizeof(type_name), "btf_trace_%s", name);
    const int id = kernel ? btf__find_by_name_kind(kernel, type_name, BTF_KIND_TYPEDEF) : -1;
    const struct btf_type *type = id > 0 ? btf__type_by_id(kernel, (unsigned)id) : NULL;
    for (int i = 0; i < 2 && type; i++)
        type = btf__type_by_id(kernel, type->type);
    return type && btf_is_func_proto(type) ? (int)btf_vlen(type) - 1 : -1;
}
