/* The reader of calibrations: any text becomes a calibration that survives the round trip, or an error with its line.
 */
#include <errno.h>
#include <string.h>

#include "calibration_text.h"
#include "fuzz.h"

static int parse(const char *text, size_t size_bytes, struct calibration *ret_calibration) {
    struct aggstats_parse_error error = {0};
    FILE *stream = size_bytes > 0 ? fmemopen((void *)(uintptr_t)text, size_bytes, "r") : fopen("/dev/null", "r");
    FUZZ_PROMISE(stream != NULL);
    int err = calibration_parse(stream, ret_calibration, &error);
    FUZZ_PROMISE(err == 0 || (err == -EBADMSG && error.line > 0 && error.message[0] != '\0'));
    fclose(stream);
    return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes) {
    struct calibration calibration;
    struct calibration again;
    char *first;
    char *second;
    size_t first_bytes;
    size_t second_bytes;
    if (parse((const char *)data, size_bytes, &calibration) != 0)
        return 0;
    FUZZ_PROMISE(calibration_format(&calibration, &first, &first_bytes) == 0);
    FUZZ_PROMISE(parse(first, first_bytes, &again) == 0);
    FUZZ_PROMISE(calibration_format(&again, &second, &second_bytes) == 0);
    FUZZ_PROMISE(first_bytes == second_bytes && memcmp(first, second, first_bytes) == 0);
    calibration_finish(&calibration);
    calibration_finish(&again);
    free(first);
    free(second);
    return 0;
}
