! LAPACK: systems of equations (with its recursive factorisation), eigenvalues, singular values; automatic arrays.
subroutine lapack_numbers(n, found) bind(c)
  use iso_c_binding, only: c_long, c_double
  implicit none
  integer(c_long), value :: n
  real(c_double), intent(out) :: found(6)
  real(c_double) :: a(n, n), b(n), s(n), u(n, n), vt(n, n), work(8 * n * n + 200)
  integer :: pivots(n), iwork(8 * n), info, i, j, m
  m = int(n)

  call make(a)
  b = [(real(i, c_double), i = 1, m)]
  call dgesv(m, 1, a, m, pivots, b, m, info)
  if (info /= 0) stop 'dgesv'
  found(1) = norm2(b)

  call make(a)
  call dgetrf2(m, m, a, m, pivots, info)
  if (info /= 0) stop 'dgetrf2'
  found(2) = sum([(log(abs(a(i, i))), i = 1, m)])

  call make(a)
  a = a + transpose(a)
  call dsyev('V', 'U', m, a, m, s, work, size(work), info)
  if (info /= 0) stop 'dsyev'
  found(3) = s(1)
  found(4) = s(m)

  call make(a)
  call dgesdd('A', m, m, a, m, s, u, m, vt, m, work, size(work), iwork, info)
  if (info /= 0) stop 'dgesdd'
  found(5) = s(1)
  found(6) = s(m)

contains

  subroutine make(x)
    real(c_double), intent(out) :: x(:, :)
    do j = 1, m
      do i = 1, m
        x(i, j) = sin(real(i * j + i, c_double)) + merge(2, 0, i == j)
      end do
    end do
  end subroutine make
end subroutine lapack_numbers

! By the library of Fortran: its text of a number.
subroutine lapack_text(x, text) bind(c)
  use iso_c_binding, only: c_double, c_char
  implicit none
  real(c_double), value :: x
  character(kind=c_char), intent(out) :: text(32)
  character(32) :: line
  integer :: i
  write (line, '(es31.16)') x
  text = [(line(i:i), i = 1, 32)]
end subroutine lapack_text
