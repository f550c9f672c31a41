// Marks of GMP: integers, rationals, floats of many sizes.
#include "marks.hpp"

#include <cmath>
#include <gmp.h>

using namespace nth::marks;

namespace {

std::string digits(std::size_t n) {
  std::string s = "1";
  while (s.size() < n)
    s += static_cast<char>('0' + below(10));
  return s;
}
// Small, large, and beyond where multiplication changes its way (Karatsuba, Toom, FFT).
std::size_t size_of_round(int i) {
  static const std::vector<std::size_t> sizes = {5, 30, 300, 2000, 9000, 30000};
  return 1 + below(sizes[static_cast<std::size_t>(i) % sizes.size()]);
}

} // namespace

MARKS_ON(integers, 4U << 20U) {
  mpz_t a;
  mpz_t b;
  mpz_t c;
  mpz_t d;
  mpz_t e;
  for (mpz_ptr z : {a, b, c, d, e})
    call("__gmpz_init", z);
  for (int i = 0; i < rounds(60); ++i) {
    expect(call("__gmpz_set_str", a, digits(size_of_round(i)).c_str(), 10).as<int>() == 0, "a number");
    call("__gmpz_set_str", b, digits(size_of_round(i + static_cast<int>(below(2)))).c_str(), 10);
    for (const char *f :
         {"__gmpz_add", "__gmpz_sub", "__gmpz_mul", "__gmpz_and", "__gmpz_ior", "__gmpz_xor", "__gmpz_tdiv_q",
          "__gmpz_fdiv_r", "__gmpz_mod", "__gmpz_gcd", "__gmpz_addmul", "__gmpz_lcm"})
      call(f, c, a, b);
    for (const char *f : {"__gmpz_cmp", "__gmpz_cmpabs", "__gmpz_divisible_p", "__gmpz_hamdist"})
      call(f, a, b);
    call("__gmpz_tdiv_qr", c, d, a, b);
    call("__gmpz_gcdext", c, d, e, a, b);
    call("__gmpz_invert", c, a, b);
    call("__gmpz_sqrt", c, a);
    call("__gmpz_sqrtrem", c, d, a);
    call("__gmpz_root", c, a, 3UL + below(10));
    call("__gmpz_perfect_square_p", a);
    call("__gmpz_neg", c, a);
    call("__gmpz_abs", c, c);
    call("__gmpz_com", c, c);
    call("__gmpz_mul_2exp", c, a, below(500));
    call("__gmpz_tdiv_q_2exp", c, a, below(500));
    call("__gmpz_mul_ui", c, a, 7UL);
    call("__gmpz_mul_si", c, a, -7L);
    call("__gmpz_ui_pow_ui", c, 3UL + below(9), below(3000));
    call("__gmpz_pow_ui", c, a, below(6));
    call("__gmpz_set", c, a);
    call("__gmpz_get_d", a);
    call("__gmpz_sizeinbase", a, 7);
    call("__gmpz_popcount", a);
    call("free", call("__gmpz_get_str", nullptr, static_cast<int>(2 + below(60)), a).as<void *>());
    call("__gmpz_fac_ui", c, below(3000));
    call("__gmpz_bin_uiui", c, 100 + below(900), below(100));
    call("__gmpz_fib_ui", c, below(9000));
    call("__gmpz_lucnum_ui", c, below(9000));
    call("__gmpz_primorial_ui", c, below(2000));
    call("__gmpz_export", nullptr, nullptr, 1, 4UL, 0, 0UL, b);
    char room[300];
    call("__gmp_snprintf", room, sizeof room, "%Zd %d %Zx\n", a, 5, b);
    int small = 0;
    call("__gmp_sscanf", "123456789012345678901 5", "%Zd %d", c, &small);
  }
  for (int i = 0; i < rounds(6); ++i) {
    call("__gmpz_set_str", a, digits(1 + below(150)).c_str(), 10);
    call("__gmpz_set_str", b, digits(1 + below(150)).c_str(), 10);
    call("__gmpz_set_str", d, (digits(1 + below(150)) + "1").c_str(), 10);
    call("__gmpz_powm", c, a, b, d);
    call("__gmpz_powm_sec", c, a, b, d);
    call("__gmpz_probab_prime_p", d, 10);
    call("__gmpz_nextprime", c, b);
    call("__gmpz_remove", c, a, b);
    call("__gmpz_jacobi", a, d);
  }
  for (mpz_ptr z : {a, b, c, d, e})
    call("__gmpz_clear", z);
}

MARKS_ON(rationals, 1U << 20U) {
  mpq_t a;
  mpq_t b;
  mpq_t c;
  for (mpq_ptr q : {a, b, c})
    call("__gmpq_init", q);
  for (int i = 0; i < rounds(60); ++i) {
    const std::size_t n = size_of_round(i % 4);
    call("__gmpq_set_str", a, (digits(n) + "/" + digits(1 + n / 2)).c_str(), 10);
    call("__gmpq_set_str", b, (digits(n) + "/" + digits(1 + n / 3)).c_str(), 10);
    call("__gmpq_canonicalize", a);
    call("__gmpq_canonicalize", b);
    for (const char *f : {"__gmpq_add", "__gmpq_sub", "__gmpq_mul", "__gmpq_div"})
      call(f, c, a, b);
    call("__gmpq_cmp", a, b);
    call("__gmpq_equal", a, b);
    call("__gmpq_inv", c, a);
    call("__gmpq_set_d", c, std::ldexp(unit(), 20));
    call("__gmpq_get_d", a);
    call("free", call("__gmpq_get_str", nullptr, 10, a).as<void *>());
  }
  for (mpq_ptr q : {a, b, c})
    call("__gmpq_clear", q);
}

MARKS_ON(floats, 1U << 20U) {
  for (int i = 0; i < rounds(40); ++i) {
    mpf_t a;
    mpf_t b;
    mpf_t c;
    for (mpf_ptr f : {a, b, c})
      call("__gmpf_init2", f, 64 + below(i % 4 == 0 ? 40000 : 2000));
    call("__gmpf_set_str", a, (digits(20) + "." + digits(size_of_round(i % 4))).c_str(), 10);
    call("__gmpf_set_d", b, 1e10 * unit());
    for (const char *f : {"__gmpf_add", "__gmpf_sub", "__gmpf_mul", "__gmpf_div"})
      call(f, c, a, b);
    call("__gmpf_sqrt", c, a);
    call("__gmpf_pow_ui", c, a, below(20));
    call("__gmpf_floor", c, a);
    call("__gmpf_cmp", a, b);
    call("__gmpf_get_d", a);
    long exponent = 0;
    call("free", call("__gmpf_get_str", nullptr, &exponent, 10, 0UL, a).as<void *>());
    char room[500];
    call("__gmp_snprintf", room, sizeof room, "%.40Ff %Fe\n", a, b);
    for (mpf_ptr f : {a, b, c})
      call("__gmpf_clear", f);
  }
}

MARKS_ON(random_numbers, 1U << 20U) {
  gmp_randstate_t r;
  call("__gmp_randinit_mt", r);
  call("__gmp_randseed_ui", r, 5UL);
  mpz_t a;
  mpz_init(a);
  for (int i = 0; i < rounds(20); ++i) {
    call("__gmpz_urandomb", a, r, below(5000));
    call("__gmpz_rrandomb", a, r, 1 + below(5000));
    mpz_add_ui(a, a, 1);
    call("__gmpz_urandomm", a, r, a);
  }
  call("__gmp_randclear", r);
}
