# Makes a script a string of C.
s/[\\"]/\\&/g
s/.*/    "&\\n"/
