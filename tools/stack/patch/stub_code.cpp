#include "patch/stub_code.hpp"

#include <initializer_list>

namespace nth::stack {

namespace {

// Emits bytes one after the other into a slot of which the rest stays full of int3.
class assembler {
public:
  explicit assembler(address at) : at_(at) { code.bytes.fill(0xcc); }

  void emit(std::initializer_list<std::uint8_t> bytes) {
    for (const std::uint8_t b : bytes)
      code.bytes[size_++] = b;
  }
  void number(std::int32_t n) {
    for (unsigned k = 0; k < 4; ++k)
      code.bytes[size_++] = static_cast<std::uint8_t>(static_cast<std::uint32_t>(n) >> (8 * k));
  }
  void distance(address to) {
    const auto d = static_cast<std::int64_t>(to - (here() + 4));
    in_reach = in_reach && d == static_cast<std::int32_t>(d);
    number(static_cast<std::int32_t>(d));
  }
  [[nodiscard]] address here() const noexcept { return at_ + size_; }

  stub_code code;
  bool in_reach = true;

private:
  address at_;
  std::size_t size_ = 0;
};

} // namespace

stub_code make_stub(const planned_stub &stub, address at, std::uint32_t limit,
                    const stub_surroundings &around) {
  assembler a(at);
  a.code.target = stub.target;
  if (around.branch_tracking)
    a.emit({0xf3, 0x0f, 0x1e, 0xfa}); // endbr64
  const auto call_morestack = [&] {
    a.emit({0xe8}); // call
    a.distance(around.morestack);
    a.emit({0xc3}); // ret
  };
  if (stub.longjmp) {
    call_morestack();
  } else {
    a.emit({0x64, 0x48, 0x3b, 0x24, 0x25}); // cmp %fs:…, %rsp
    a.number(around.limits + static_cast<std::int32_t>(limit * sizeof(std::uint64_t)));
    if (stub.slot)
      a.emit({0x72, 0x06}); // jb over the jump
    else
      a.emit({0x0f, 0x83}); // jae
  }
  if (stub.slot) {
    a.code.target = a.here(); // __morestack calls this jump
    a.emit({0xff, 0x25});     // jmp *…(%rip)
  }
  if (stub.slot || !stub.longjmp)
    a.distance(stub.target);
  if (!stub.longjmp)
    call_morestack();
  if (!a.in_reach)
    a.code.target = 0;
  return a.code;
}

} // namespace nth::stack
