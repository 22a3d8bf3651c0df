/* libaggstats, inside this project: the fields of a link, as text profiles, JSON and the live file have them. */
#ifndef AGGSTATS_LINKS_H
#define AGGSTATS_LINKS_H

#include "aggstats.h"

enum link_field_kind {
    LINK_FLAG,   /* true, or not there */
    LINK_NUMBER, /* 0: not there, unless a member says that it is known */
    LINK_TEXT,   /* "": not there */
    LINK_CLASS,  /* the name of a class of causes; other: not there */
    LINK_RELATION,
};

struct link_field {
    const char *key;
    enum link_field_kind kind;
    uint16_t offset; /* in struct aggstats_link */
    uint16_t size_bytes;
    uint16_t known_offset; /* of a bool; 0: there is none */
};

/* The rows: key is NULL behind the last one. */
extern const struct link_field link_fields[];

/* Of a kind of field each; the words are those of texts, classes and relations.
 * Owner:   the link, or static */
bool link_has(const struct aggstats_link *link, const struct link_field *field);
uint64_t link_number(const struct aggstats_link *link, const struct link_field *field);
const char *link_word(const struct aggstats_link *link, const struct link_field *field);

/* Sets a field to a word, of a number to its digits. Returns false if it is none of its kind */
bool link_set(struct aggstats_link *link, const struct link_field *field, const char *word);

/* A copy; NULL: no memory, or no chain. Owner: the caller frees it */
struct aggstats_chain *chain_copy(const struct aggstats_chain *chain);

#define CHAIN_TEXT_SIZE 1024 /* with its NUL; of a longer chain the last links are left out */

/* The chain as a text of fields, as in a line of a profile; "": there is no link. */
void chain_encode(const struct aggstats_chain *chain, char ret_text[CHAIN_TEXT_SIZE]);

/* The inverse. Any bytes may be given. Returns false if it is no such text */
bool chain_decode(const char text[CHAIN_TEXT_SIZE], struct aggstats_chain *ret_chain);

#endif
