/* GMP: factorials, greatest common divisors, powers modulo a number, conversion of large numbers to text and back. Much of
 * it takes room for its numbers by alloca, up to 64 KiB at a time. */
#include "program.h"

#include <gmp.h>
#include <stdlib.h>
#include <string.h>

static void product(mpz_t r, unsigned long from, unsigned long to) {
  if (from == to) {
    mpz_set_ui(r, from);
    return;
  }
  mpz_t high;
  mpz_init(high);
  const unsigned long middle = from + (to - from) / 2;
  product(r, from, middle);
  product(high, middle + 1, to);
  mpz_mul(r, r, high);
  mpz_clear(high);
}

static void say_number(struct text *out, const char *name, const mpz_t n) {
  let_others_run();
  char *digits = mpz_get_str(NULL, 10, n);
  say_long(out, name, digits, strlen(digits));
  mpz_t again;
  if (mpz_init_set_str(again, digits, 10) != 0 || mpz_cmp(again, n) != 0)
    say(out, "%s: not the same when read again\n", name);
  mpz_clear(again);
  free(digits);
}

void prepare(void) {}

void work(struct text *out, long size) {
  for (long i = 0; i < size; ++i) {
    mpz_t a, b, c;
    mpz_inits(a, b, c, NULL);
    mpz_fac_ui(a, 6000);
    product(b, 1, 6000);
    say(out, "factorials: %d\n", mpz_cmp(a, b));
    say_number(out, "6000!", a);
    mpz_fib_ui(c, 60000);
    say_number(out, "fibonacci", c);
    mpz_gcd(b, a, c);
    say_number(out, "gcd", b);
    mpz_ui_pow_ui(b, 3, 2000);
    mpz_setbit(a, 0);
    mpz_tdiv_r_2exp(c, a, 4000);
    mpz_setbit(c, 0);
    mpz_powm(a, b, b, c);
    say_number(out, "power", a);
    say(out, "inverse: %d\n", mpz_invert(a, b, c));
    say_number(out, "inverse", a);
    mpz_fac_ui(a, 3000);
    mpz_sqrt(b, a);
    say_number(out, "root", b);
    mpz_ui_pow_ui(a, 2, 521);
    mpz_sub_ui(a, a, 1);
    say(out, "prime: %d\n", mpz_probab_prime_p(a, 15));
    mpz_ui_pow_ui(a, 7, 40000);
    mpz_tdiv_q(b, a, c);
    say_number(out, "quotient", b);
    mpz_clears(a, b, c, NULL);
  }
}
