! Fortran: recursion, automatic arrays, internal procedures, formatted output.
module arrays
  use, intrinsic :: iso_c_binding
  implicit none
contains
  recursive function total(a) result(s)
    real(8), intent(in) :: a(:)
    real(8) :: s, left(size(a) / 2)
    integer :: half
    half = size(a) / 2
    if (half == 0) then
      s = sum(a)
      return
    end if
    left = a(1:half)
    s = total(left) + total(a(half + 1:))
  end function

  recursive integer(8) function hanoi(n, from, to, by) result(moves)
    integer, value :: n, from, to, by
    if (n == 0) then
      moves = 0
    else
      moves = hanoi(n - 1, from, by, to) + 1 + hanoi(n - 1, by, to, from)
    end if
  end function

  recursive subroutine apply(f, n, x)
    interface
      real(8) function f(x)
        real(8), intent(in) :: x
      end function
    end interface
    integer, value :: n
    real(8), intent(inout) :: x
    real(8) :: scratch(20)
    if (n == 0) return
    scratch = f(x)
    call apply(f, n - 1, x)
    x = x + scratch(mod(n, 20) + 1) * 1d-3
  end subroutine

  subroutine compute(values) bind(c)
    real(c_double), intent(out) :: values(4)
    real(8) :: list(1000), x
    integer :: i
    character(len=40) :: text
    list = [(1d0 / i, i = 1, 1000)]
    values(1) = total(list)
    values(2) = real(hanoi(12, 1, 2, 3), 8)
    x = 0.5d0
    call apply(curve, 400, x)
    values(3) = x
    write (text, '(f20.10)') x
    values(4) = len_trim(text)
  contains
    real(8) function curve(y)
      real(8), intent(in) :: y
      curve = y * y + list(3)
    end function
  end subroutine
end module
