/* Sizes of the structs that nth.f90 declares once more. */
#include <nth/nth.h>

long size_of_options(void);
long size_of_counters(void);
long size_of_handle(void);

long size_of_options(void) { return (long)sizeof(nth_options); }
long size_of_counters(void) { return (long)sizeof(nth_counters); }
long size_of_handle(void) { return (long)sizeof(nth_handle_t); }
