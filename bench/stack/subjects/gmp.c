// Digits of pi by Chudnovsky's series, and a few primes.
#include <gmp.h>
#include <stdlib.h>

// Terms from..to of the series: p, q, t as binary splitting has them.
static void split(unsigned long from, unsigned long to, mpz_t p, mpz_t q, mpz_t t) {
  if (to - from == 1) {
    mpz_set_ui(p, from == 0 ? 1 : 6 * from - 5);
    mpz_mul_ui(p, p, from == 0 ? 1 : 2 * from - 1);
    mpz_mul_ui(p, p, from == 0 ? 1 : 6 * from - 1);
    mpz_set_ui(q, from == 0 ? 1 : from);
    mpz_mul_ui(q, q, from == 0 ? 1 : from);
    mpz_mul_ui(q, q, from == 0 ? 1 : from);
    mpz_mul_ui(q, q, from == 0 ? 1 : 10939058860032000UL);
    mpz_set_ui(t, 545140134);
    mpz_mul_ui(t, t, from);
    mpz_add_ui(t, t, 13591409);
    mpz_mul(t, t, p);
    if (from % 2 != 0)
      mpz_neg(t, t);
    return;
  }
  const unsigned long middle = (from + to) / 2;
  mpz_t p2, q2, t2;
  mpz_inits(p2, q2, t2, NULL);
  split(from, middle, p, q, t);
  split(middle, to, p2, q2, t2);
  mpz_mul(t, t, q2);
  mpz_addmul(t, p, t2);
  mpz_mul(p, p, p2);
  mpz_mul(q, q, q2);
  mpz_clears(p2, q2, t2, NULL);
}

int main(int argc, char **argv) {
  const unsigned long digits = argc > 1 ? strtoul(argv[1], NULL, 10) : 2000;
  mpz_t p, q, t, prime;
  mpz_inits(p, q, t, prime, NULL);
  split(0, digits / 14 + 2, p, q, t);
  mpf_set_default_prec(digits * 4);
  mpf_t pi, x;
  mpf_inits(pi, x, NULL);
  mpf_sqrt_ui(pi, 10005);
  mpf_mul_ui(pi, pi, 426880);
  mpf_set_z(x, q);
  mpf_mul(pi, pi, x);
  mpf_set_z(x, t);
  mpf_div(pi, pi, x);
  gmp_printf("%.*Ff\n", (int)digits, pi);
  mpz_ui_pow_ui(prime, 10, 40);
  for (int i = 0; i < 3; ++i) {
    mpz_nextprime(prime, prime);
    gmp_printf("%Zd\n", prime);
  }
  return 0;
}
