// Marks of libm: each function for float, double, long double and the complex ones.
#include "marks.hpp"

#include <cfenv>
#include <cmath>

using namespace nth::marks;

namespace {

template <class T>
T value(int i) {
  static const std::vector<double> special = {
      0.0,       -0.0,   1.0,    -1.0,      0.5,    2.0,  HUGE_VAL,
      -HUGE_VAL, NAN,    5e-324, 1e308,     -1e308, 1e22, 3.14159265358979,
      709.8,     -745.2, 1e-300, 0.9999999, 1.5e5};
  if (i < static_cast<int>(special.size()))
    return static_cast<T>(special[static_cast<std::size_t>(i)]);
  return static_cast<T>(i % 2 == 0 ? real() : (unit() - 0.5) * 60);
}
template <class T>
std::string named(const char *base) {
  return std::string(base) + (std::is_same_v<T, float> ? "f" : std::is_same_v<T, long double> ? "l" : "");
}

template <class T>
void all_of_type() {
  for (int i = 0; i < rounds(150); ++i) {
    const T x = value<T>(i);
    const T y = value<T>(static_cast<int>(below(150)));
    for (const char *f :
         {"acos",   "acosh", "asin",      "asinh",       "atan",  "atanh",  "cbrt",   "ceil",    "cos",
          "cosh",   "erf",   "erfc",      "exp",         "exp10", "exp2",   "expm1",  "fabs",    "floor",
          "j0",     "j1",    "lgamma",    "log",         "log10", "log1p",  "log2",   "logb",    "nearbyint",
          "rint",   "round", "roundeven", "significand", "sin",   "sinh",   "sqrt",   "tan",     "tanh",
          "tgamma", "trunc", "y0",        "y1",          "lrint", "llrint", "lround", "llround", "ilogb",
          "llogb",  "gamma", "nextup",    "nextdown"})
      call(named<T>(f), x);
    for (const char *f : {"atan2", "copysign", "drem", "fdim", "fmax", "fmin", "fmod", "hypot", "nextafter",
                          "pow", "remainder", "scalb", "fmaxmag", "fminmag"})
      call(named<T>(f), x, y);
    call(named<T>("fma"), x, y, value<T>(static_cast<int>(below(100))));
    call(named<T>("nexttoward"), x, static_cast<long double>(y));
    int number = 0;
    T part = 0;
    T other = 0;
    call(named<T>("frexp"), x, &number);
    call(named<T>("modf"), x, &part);
    call(named<T>("remquo"), x, y, &number);
    call(named<T>("sincos"), x, &part, &other);
    call(named<T>("lgamma") + "_r", x, &number);
    call(named<T>("ldexp"), x, static_cast<int>(below(200)) - 100);
    call(named<T>("scalbn"), x, static_cast<int>(below(200)) - 100);
    call(named<T>("scalbln"), x, static_cast<long>(below(200)) - 100);
    call(named<T>("jn"), static_cast<int>(below(40)), x);
    call(named<T>("yn"), static_cast<int>(below(40)), x);
    call(named<T>("nan"), "123");

    const std::complex<T> z(x, y);
    const std::complex<T> w(value<T>(static_cast<int>(below(100))), value<T>(static_cast<int>(below(100))));
    for (const char *f : {"cabs",  "carg",  "cacos", "cacosh", "casin", "casinh", "catan", "catanh",
                          "ccos",  "ccosh", "cexp",  "cimag",  "clog",  "clog10", "conj",  "cproj",
                          "creal", "csin",  "csinh", "csqrt",  "ctan",  "ctanh"})
      call(named<T>(f), z);
    call(named<T>("cpow"), z, w);
  }
}

} // namespace

MARKS(floats) { all_of_type<float>(); }
MARKS(doubles) {
  all_of_type<double>();
  for (int i = 0; i < rounds(100); ++i) {
    const double x = (unit() - 0.5) * 1e6;
    expect(call("sin", x).as<double>() == std::sin(x), "the sine");
    expect(call("pow", x * x, 0.3).as<double>() == std::pow(x * x, 0.3), "the power");
  }
}
MARKS(long_doubles) { all_of_type<long double>(); }

MARKS(environment_of_floating_point) {
  std::fenv_t e;
  std::fexcept_t x;
  for (int i = 0; i < rounds(5); ++i) {
    call("fegetenv", &e);
    call("feholdexcept", &e);
    call("feraiseexcept", FE_INEXACT);
    call("fegetexceptflag", &x, FE_ALL_EXCEPT);
    call("fesetexceptflag", &x, FE_ALL_EXCEPT);
    call("fetestexcept", FE_ALL_EXCEPT);
    call("feclearexcept", FE_ALL_EXCEPT);
    call("feupdateenv", &e);
    call("fegetround");
    call("fesetround", FE_TONEAREST);
    call("fesetenv", &e);
    call("fegetexcept");
  }
}
