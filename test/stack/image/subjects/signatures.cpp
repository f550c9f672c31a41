// The same of C++: this, references, members of namespaces and classes.
namespace space {
struct thing {
  explicit thing(int x) : value(x) {}
  virtual ~thing() = default;
  virtual long of_this(double d, const thing &other);
  static int of_none();
  int value;
};
long thing::of_this(double d, const thing &other) { return value + other.value + static_cast<long>(d); }
int thing::of_none() { return 2; }
int of_member(int thing::*m, long (thing::*f)(double, const thing &), thing &&t) {
  return t.*m + static_cast<int>((t.*f)(1.0, t));
}
} // namespace space

int main() {
  space::thing t(1);
  return space::of_member(&space::thing::value, &space::thing::of_this, static_cast<space::thing &&>(t));
}
