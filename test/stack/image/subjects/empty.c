/* Nothing: a library for its name alone. */
extern int nothing;
