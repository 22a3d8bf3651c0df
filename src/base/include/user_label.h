/* Labels that users give to a profile as KEY=VALUE: "rack=7".
 *
 * The header line of one has the key "label KEY". No key of the format or of a program begins so, now or later, and
 * readers that know nothing of it take it for a label as any other. A KEY is a name that Prometheus takes for a label.
 */
#ifndef USER_LABEL_H
#define USER_LABEL_H

#include <stdbool.h>
#include <stddef.h>

#define USER_LABEL_KEY_MAX 31    /* bytes */
#define USER_LABEL_VALUE_MAX 255 /* bytes */
#define USER_LABELS_MAX 16

#define USER_LABEL_HEADER_SIZE 64     /* for "label KEY" */
#define USER_LABEL_COMPLAINT_SIZE 256 /* for one line */

/* Whether all texts can be labels of one profile. ret_complaint: of the first that cannot, what a terminal might obey
 * made harmless; set only then */
bool user_labels_valid(const char *const *texts, size_t count, char ret_complaint[USER_LABEL_COMPLAINT_SIZE]);

/* The header line's key of a valid text. Returns its value, within text */
const char *user_label_split(const char *text, char ret_key[USER_LABEL_HEADER_SIZE]);

/* KEY, within a key "label KEY"; NULL if that is the key of no such label. */
const char *user_label_of_key(const char *key);

#endif
