# Makes a text a string of C, causes_text.
s/[\\"]/\\&/g
s/.*/    "&\\n"/
1i\
#include "causes.h"\
const char causes_text[] =
$a\
    ;
