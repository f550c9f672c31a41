! Threads from Fortran: the main program starts the run-time and runs one thread, which makes a hundred more
! and waits for them. Each of those writes one element of an array.
!
!   gfortran nth.f90 hello.f90 -lnth -o hello     (nth.f90 is installed beside nth.h)
module hello_threads
  use, intrinsic :: iso_c_binding
  use nth
  implicit none
  integer, parameter :: width = 100
  integer(c_long) :: squares(width) = 0

contains

  ! A root has bind(C); its arguments come by value.
  subroutine square(i) bind(C)
    integer(c_long), value :: i
    squares(i) = i * i
  end subroutine

  subroutine create_all() bind(C)
    type(c_ptr) :: self, thread
    integer(c_long) :: i

    self = nth_self()
    call nth_depadd(self, int(width + 1, c_long)) ! one for nth_block itself
    do i = 1, width
      thread = nth_create_ls_v(c_funloc(square), 0_c_int, self, 1_c_int, [i])
      call nth_to_lrq(int(mod(i, int(kthreads, c_long)), c_int), thread)
    end do
    call nth_block()
  end subroutine
end module

program hello
  use hello_threads
  implicit none
  integer(c_long) :: none(1) = 0
  integer :: i

  if (nth_init() /= NTH_OK) stop 1
  if (nth_run_v(c_funloc(create_all), 0_c_int, none) /= NTH_OK) stop 2
  if (nth_finalize() /= NTH_OK) stop 3

  print '(a, i0)', 'hello from Fortran: the sum of the first hundred squares is ', sum(squares)
  if (sum(squares) /= sum([(int(i, c_long)**2, i = 1, width)])) stop 4
end program
