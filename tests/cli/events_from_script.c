/* events_from_script <SCRIPT >FILE: an events file, for tests; see events_script.h. */
#include "base.h"
#include "events_script.h"

int main(void) {
    struct events_writer writer = {0};
    events_script_read(stdin, &writer);
    int err = writer.error ? writer.error : write_all(STDOUT_FILENO, writer.bytes, writer.size_bytes);
    return events_writer_finish(&writer) < 0 || err < 0 ? 2 : 0;
}
