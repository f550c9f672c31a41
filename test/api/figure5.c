/* clang-format off */
/* Paper 003, figure 5, as printed there but for these includes; nth_func is figure 4's. */
#include "figure4.h"
#include "figure5.h"

/*****/

void nth_main()
{
    long          i, nth_batch, nth_batch_remainder;
    struct nth_desc *first_nth, *last_nth;
    struct nth_desc *temp_nth, *nth_myself = nth_self();

    nth_batch = NumOfThreads / BatchSize;
    nth_batch_remainder = NumOfThreads - nth_batch * BatchSize;

    nth_depadd(nth_myself, NumOfThreads + 1);

    for (i = 0; i < nth_batch; i++) {
        first_nth = nth_batch_get_desc(&last_nth, BatchSize);
        temp_nth = first_nth;
        while (temp_nth != NULL) {
            nth_batch_create_ls(temp_nth, nth_func, 0, nth_myself, 2, Arg1, Arg2);
            temp_nth = nth_batch_get_next(temp_nth);
        }
        nth_batch_to_lrq(i % kthreads, first_nth, last_nth);
    }

    first_nth = nth_batch_get_desc(&last_nth, nth_batch_remainder);
    temp_nth = first_nth;
    while (temp_nth != NULL) {
        nth_batch_create_ls(temp_nth, nth_func, 0, nth_myself, 2, Arg1, Arg2);
        temp_nth = nth_batch_get_next(temp_nth);
    }
    nth_batch_to_lrq(0, first_nth, last_nth);
    nth_block();
}

/*****/
