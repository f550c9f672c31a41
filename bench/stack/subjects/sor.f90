! Red-black relaxation: no recursion, automatic arrays. The smallest of the scientific programs.
program sor
  implicit none
  integer, parameter :: n = 64
  double precision :: u(n, n)
  integer :: turn
  u = 0
  u(:, 1) = 1
  do turn = 1, 50
    call relax(u, n, 0)
    call relax(u, n, 1)
  end do
  print '(f10.6)', u(n / 2, n / 2)
contains
  subroutine relax(u, n, colour)
    integer, intent(in) :: n, colour
    double precision, intent(inout) :: u(n, n)
    double precision :: line(n)
    integer :: i, j
    do j = 2, n - 1
      line = u(:, j)
      do i = 2 + mod(j + colour, 2), n - 1, 2
        line(i) = line(i) + 0.375d0 * (u(i - 1, j) + u(i + 1, j) + u(i, j - 1) + u(i, j + 1) - 4 * u(i, j))
      end do
      u(:, j) = line
    end do
  end subroutine relax
end program sor
