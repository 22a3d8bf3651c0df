/* Causes and chains of holders as members of JSON objects, for profiles, waits and the log of slow calls. The fields
 * of a link are the rows of link_fields. */
#include "json_chain.h"

#include "aggstats/links.h"
#include "aggstats/why.h"

void json_why(struct json_writer *writer, const struct aggstats_why *why) {
    char text[AGGSTATS_WHY_TEXT_SIZE];
    json_text(writer, "cause", aggstats_why_text(why, text));
    if (why->id[0])
        json_text(writer, "cause_id", why->id);
    json_text(writer, "cause_class", aggstats_cause_class_name(why->kind));
    if (why->flags & AGGSTATS_WHY_OTHER_THREAD)
        json_bool(writer, "other_thread", true);
    if (why->flags & AGGSTATS_WHY_SINCE_BEFORE)
        json_bool(writer, "since_before", true);
}

static void write_link(struct json_writer *writer, const struct aggstats_link *link) {
    json_begin(writer, NULL, '{');
    for (const struct link_field *field = link_fields; field->key; field++) {
        if (!link_has(link, field))
            continue;
        if (field->kind == LINK_FLAG)
            json_bool(writer, field->key, true);
        else if (field->kind == LINK_NUMBER)
            json_count(writer, field->key, link_number(link, field));
        else
            json_text(writer, field->key, link_word(link, field));
    }
    json_end(writer, '}');
}

void json_links(struct json_writer *writer, const struct aggstats_chain *chain) {
    json_begin(writer, "links", '[');
    for (size_t i = 0; chain && i < chain->count; i++)
        write_link(writer, &chain->links[i]);
    json_end(writer, ']');
    if (chain && chain->is_circle)
        json_bool(writer, "circle", true);
}
