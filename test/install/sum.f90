! A Fortran program against the installed library: as sum.c. Each thread writes an element of its own, by way of an
! array in memory that keeps its address.
module work
  use, intrinsic :: iso_c_binding
  use nth
  implicit none
  integer(c_long) :: squares(1000) = 0
contains
  subroutine square(i) bind(C)
    integer(c_long), value :: i
    integer(c_long), pointer :: of_thread(:)
    type(c_ptr) :: block
    block = nth_isomalloc(2 * c_sizeof(i))
    if (.not. c_associated(block)) error stop 'nth_isomalloc'
    if (nth_isousable_size(block) < 2 * c_sizeof(i)) error stop 'nth_isousable_size'
    call c_f_pointer(block, of_thread, [2])
    of_thread = i
    squares(i) = product(of_thread)
    call nth_isofree(block)
  end subroutine

  subroutine root(threads) bind(C)
    integer(c_long), value :: threads
    type(c_ptr) :: self
    integer(c_long) :: i
    self = nth_self()
    call nth_depadd(self, threads + 1)
    call nth_no_suspend_begin()
    do i = 1, threads
      call nth_to_lrq(int(mod(i, int(kthreads, c_long)), c_int), &
                      nth_create_ls_v(c_funloc(square), 0_c_int, self, 1_c_int, [i]))
    end do
    call nth_no_suspend_end()
    call nth_block()
  end subroutine
end module

program sum_fortran
  use work
  implicit none
  interface
    integer(c_long) function size_of_options() bind(C)
      import :: c_long
    end function
    integer(c_long) function size_of_counters() bind(C)
      import :: c_long
    end function
    integer(c_long) function size_of_handle() bind(C)
      import :: c_long
    end function
  end interface
  type(nth_options) :: options
  type(nth_counters) :: counters
  type(nth_handle_t) :: handle
  integer(c_long) :: i

  if (c_sizeof(options) /= size_of_options()) error stop 'nth_options differs from nth.h'
  if (c_sizeof(counters) /= size_of_counters()) error stop 'nth_counters differs from nth.h'
  if (c_sizeof(handle) /= size_of_handle()) error stop 'nth_handle_t differs from nth.h'

  if (nth_init() /= NTH_OK) error stop 'nth_init'
  if (kthreads < 1 .or. kthreads /= nth_workers()) error stop 'kthreads'
  if (nth_run_v(c_funloc(root), 1_c_int, [1000_c_long]) /= NTH_OK) error stop 'nth_run_v'
  if (nth_finalize() /= NTH_OK) error stop 'nth_finalize'
  print '(a, i0)', 'sum.f90: ', sum(squares)
  if (any(squares /= [(i * i, i = 1, 1000)])) error stop 'squares'
end program
