/* Numbers as people read them. */
#include <math.h>

#include "base.h"
#include "testing.h"
#include "units.h"

static const struct {
    wide_count count;
    const char *text;
} counts[] = {
    {0, "0"},
    {7, "7"},
    {999, "999"},
    {1000, "1,000"},
    {13640, "13,640"},
    {1000007, "1,000,007"},
    {UINT64_MAX, "18,446,744,073,709,551,615"},
    {4096 * (wide_count)UINT64_MAX, "75,557,863,725,914,323,415,040"}, /* of as many operations as there may be */
};

TEST(counts_have_their_thousands_separated, .to = ARRAY_SIZE(counts)) {
    char text[UNITS_TEXT_SIZE];
    units_format_count(counts[_i].count, text);
    ck_assert_str_eq(text, counts[_i].text);
}

static const struct {
    double number;
    const char *text;
} numbers[] = {{0, "0"}, {0.25, "0.25"}, {12.34, "12.3"}, {999.4, "999"}, {999.6, "1,000"}, {13640, "13,640"}};

TEST(numbers_have_three_digits_below_a_thousand, .to = ARRAY_SIZE(numbers)) {
    char text[UNITS_TEXT_SIZE];
    units_format_number(numbers[_i].number, text);
    ck_assert_str_eq(text, numbers[_i].text);
}

static const struct {
    double bytes;
    const char *text;
} bytes[] = {
    {0, "0 B"},
    {1, "1 B"},
    {0.5, "0.50 B"},
    {1023, "1023 B"},
    {1024, "1.00 KiB"},
    {1536, "1.50 KiB"},
    {999.4 * 1024, "999 KiB"},
    {1000 * 1024, "0.98 MiB"},
    {5242880, "5.00 MiB"},
    {0x1p64, "16.0 EiB"},
};

TEST(bytes_have_binary_units, .to = ARRAY_SIZE(bytes)) {
    char text[UNITS_TEXT_SIZE];
    units_format_bytes(bytes[_i].bytes, text);
    ck_assert_str_eq(text, bytes[_i].text);
}

static const struct {
    double seconds;
    const char *text;
} times[] = {
    {0, "0 ns"},           {0.4e-9, "0.4 ns"},   {1e-9, "1.00 ns"},    {1.638e-6, "1.64 µs"}, {9.994e-6, "9.99 µs"},
    {9.996e-6, "10.0 µs"}, {99.96e-6, "100 µs"}, {999.4e-6, "999 µs"}, {999.6e-6, "1.00 ms"}, {0.0161, "16.1 ms"},
    {0.9996, "1.00 s"},    {59.94, "59.9 s"},    {3599.6, "3,600 s"},  {1e6, "1,000,000 s"},
};

TEST(shares_are_percent) {
    char text[UNITS_TEXT_SIZE];
    units_format_share(0.7434, text);
    ck_assert_str_eq(text, "74.3 %");
    units_format_share(1, text);
    ck_assert_str_eq(text, "100.0 %");
}

TEST(times_have_three_digits_and_a_unit, .to = ARRAY_SIZE(times)) {
    const struct units units = {.frequency_hz = 1000000000};
    char text[UNITS_TEXT_SIZE];
    units_format_seconds(&units, times[_i].seconds, text);
    ck_assert_str_eq(text, times[_i].text);
}

TEST(cycles_are_time_where_the_rate_is_known) {
    const struct units units = {.frequency_hz = 2500000000};
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(&units, 4096, text);
    ck_assert_str_eq(text, "1.64 µs");
}

static const struct {
    double cycles;
    const char *text;
} bare[] = {
    {0, "0"}, {512, "512"}, {999.6, "1.00k"}, {4096, "4.10k"}, {131072, "131k"}, {18446744073709551616.0, "18.4E"},
};

TEST(cycles_stay_cycles_where_it_is_not, .to = ARRAY_SIZE(bare)) {
    const struct units units = {.frequency_hz = 0};
    char text[UNITS_TEXT_SIZE];
    units_format_cycles(&units, bare[_i].cycles, text);
    ck_assert_str_eq(text, bare[_i].text);
}

TEST(ascii_has_no_micro_sign) {
    const struct units units = {.frequency_hz = 1000000000, .ascii = true};
    char text[UNITS_TEXT_SIZE];
    units_format_seconds(&units, 1.638e-6, text);
    ck_assert_str_eq(text, "1.64 us");
    units_format_power_seconds(&units, -5, text);
    ck_assert_str_eq(text, "10 us");
}

static const struct {
    int exponent;
    const char *seconds;
} powers[] = {
    {-10, "1e-10 s"}, {-9, "1 ns"}, {-7, "100 ns"}, {-6, "1 µs"},
    {-1, "100 ms"},   {0, "1 s"},   {2, "100 s"},   {3, "1e3 s"},
};

TEST(powers_of_ten_are_whole_numbers_of_units, .to = ARRAY_SIZE(powers)) {
    const struct units units = {.frequency_hz = 1};
    char text[UNITS_TEXT_SIZE];
    units_format_power_seconds(&units, powers[_i].exponent, text);
    ck_assert_str_eq(text, powers[_i].seconds);
}

TEST(powers_of_ten_as_counts) {
    static const char *const expected[] = {"1", "10", "100", "1k", "10k", "100k", "1M"};
    char text[UNITS_TEXT_SIZE];
    for (int exponent = 0; exponent < (int)ARRAY_SIZE(expected); exponent++) {
        units_format_power_count(exponent, text);
        ck_assert_str_eq(text, expected[exponent]);
    }
    units_format_power_count(19, text);
    ck_assert_str_eq(text, "10E");
}

/* Several in one expression are texts of their own. */
TEST(values_are_texts_of_their_own) {
    const struct units units = {.frequency_hz = 1000000000, .ascii = true};
    char text[6 * UNITS_TEXT_SIZE];
    snprintf(text, sizeof(text), "%s|%s|%s|%s|%s|%s", units_count(1234).text, units_number(12.34).text,
             units_bytes(1536).text, units_share(0.743).text, units_seconds(&units, 0.002).text,
             units_cycles(&units, 3000).text);
    ck_assert_str_eq(text, "1,234|12.3|1.50 KiB|74.3 %|2.00 ms|3.00 us");
}

TEST(a_character_is_a_column) {
    ck_assert_int_eq(units_text_columns(""), 0);
    ck_assert_int_eq(units_text_columns("16 us"), 5);
    ck_assert_int_eq(units_text_columns("16 µs"), 5);
    ck_assert_int_eq(units_text_columns("p50 ≤"), 5);
}
