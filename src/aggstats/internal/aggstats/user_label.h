/* Labels that users give to a profile as KEY=VALUE: "rack=7".
 *
 * In the profile's header its key is "label KEY". No key of the format, or of a program, begins with "label ", now or
 * later; readers that do not know user labels treat it as any other label. A KEY must be a valid label name of
 * Prometheus. */
#ifndef USER_LABEL_H
#define USER_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define USER_LABEL_KEY_MAX 31    /* bytes */
#define USER_LABEL_VALUE_MAX 255 /* bytes */
#define USER_LABELS_MAX 16

#define USER_LABEL_HEADER_SIZE 64     /* for "label KEY" */
#define USER_LABEL_COMPLAINT_SIZE 256 /* for one line */

/* True if all texts can be labels of one profile. ret_complaint: says why the first bad one cannot, safe to print on a
 * terminal; set only if the result is false */
bool user_labels_valid(const char *const *texts, size_t count, char ret_complaint[USER_LABEL_COMPLAINT_SIZE]);

/* The header key of a valid text. Returns its value, within text */
const char *user_label_split(const char *text, char ret_key[USER_LABEL_HEADER_SIZE]);

/* The KEY in a header key "label KEY". Returns NULL if key is not of this form. */
const char *user_label_of_key(const char *key);

#endif
