! Module nth: the calls of nth.h for Fortran. Installed as source, for only the compiler that wrote a module
! file can read it: compile it with your program, e.g.
!   gfortran $(pkg-config --variable=includedir nth)/nth/nth.f90 program.f90 $(pkg-config --libs nth)
!
! A thread is a type(c_ptr) to its descriptor. A root is a subroutine with bind(C) whose arguments are
! integer(c_long) or type(c_ptr) by value; c_funloc gives its address. The calls with variable numbers of
! arguments have no Fortran form: the ones that take arrays stand for them. nth.h says what each call does,
! where it may be made and what it returns.
module nth
  use, intrinsic :: iso_c_binding, only: c_ptr, c_funptr, c_int, c_int32_t, c_long, c_size_t
  implicit none
  private :: c_ptr, c_funptr, c_int, c_int32_t, c_long, c_size_t

  integer(c_int), parameter :: NTH_OK = 0, NTH_EINVAL = 1, NTH_ENOMEM = 2, NTH_ESTATE = 3, NTH_EBUSY = 4, &
                               NTH_ESTALE = 5, NTH_ESYS = 6, NTH_EDEADLOCK = 7
  integer(c_long), parameter :: NTH_CALL_STACK = 160 ! bytes, see nth.h
  integer(c_int), parameter :: NTH_POLICY_DSR = 0, NTH_POLICY_LSA = 1, NTH_POLICY_DOS = 2

  ! Number of workers of the run; 0 while it is down. The library's own variable.
  integer(c_int), bind(C, name='kthreads') :: kthreads

  type, bind(C) :: nth_handle_t
    type(c_ptr) :: thread
    integer(c_int32_t) :: generation
  end type

  type, bind(C) :: nth_options
    integer(c_long) :: workers, stack_size, stack_policy, bind, backlog, spin_us, guard, report_deadlock, &
                       area_size, descriptors_local, descriptors_node, descriptors_global, stacks_local, &
                       stacks_node, stacks_global, stack_strict, &
                       stack_most, stats
    type(c_ptr) :: placement ! c_null_ptr, or c_loc of a string that ends in c_null_char
    integer(c_long) :: iso_size, slot_size, slot_cache, slot_prebuy, iso_check, cluster_thread, cluster_poll_us
    type(c_ptr) :: slot_distribution ! as placement
  end type

  type, bind(C) :: nth_counters
    integer(c_long) :: workers, stacks, stacks_unguarded, descriptors, descriptors_free, steals, &
                       steals_remote, sleeps, stack_bytes, descriptor_bytes, reserved_bytes, committed_bytes
  end type

  interface
    ! ---- Life cycle ----

    integer(c_int) function nth_options_init(options) bind(C)
      import :: c_int, nth_options
      type(nth_options), intent(out) :: options
    end function

    integer(c_int) function nth_init(options) bind(C)
      import :: c_int, nth_options
      type(nth_options), intent(in), optional :: options ! absent: defaults and environment
    end function

    integer(c_int) function nth_finalize() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_run_v(root, narg, args) bind(C)
      import :: c_int, c_funptr, c_long
      type(c_funptr), value :: root
      integer(c_int), value :: narg
      integer(c_long), intent(in) :: args(*)
    end function

    ! ---- Threads ----

    type(c_ptr) function nth_self() bind(C)
      import :: c_ptr
    end function

    type(c_ptr) function nth_create_v(root, ndep, nsucc, succ, narg, args) bind(C)
      import :: c_ptr, c_funptr, c_int, c_long
      type(c_funptr), value :: root
      integer(c_int), value :: ndep, nsucc
      type(c_ptr), intent(in) :: succ(*)
      integer(c_int), value :: narg
      integer(c_long), intent(in) :: args(*)
    end function

    type(c_ptr) function nth_create_ls_v(root, ndep, succ, narg, args) bind(C)
      import :: c_ptr, c_funptr, c_int, c_long
      type(c_funptr), value :: root
      integer(c_int), value :: ndep
      type(c_ptr), value :: succ ! c_null_ptr: none
      integer(c_int), value :: narg
      integer(c_long), intent(in) :: args(*)
    end function

    type(c_ptr) function nth_batch_get_desc(last, n) bind(C)
      import :: c_long, c_ptr
      type(c_ptr), intent(out) :: last
      integer(c_long), value :: n
    end function

    type(c_ptr) function nth_batch_get_next(thread) bind(C) ! c_null_ptr: the last
      import :: c_ptr
      type(c_ptr), value :: thread
    end function

    subroutine nth_batch_create_v(thread, root, ndep, nsucc, succ, narg, args) bind(C)
      import :: c_ptr, c_funptr, c_int, c_long
      type(c_ptr), value :: thread
      type(c_funptr), value :: root
      integer(c_int), value :: ndep, nsucc
      type(c_ptr), intent(in) :: succ(*)
      integer(c_int), value :: narg
      integer(c_long), intent(in) :: args(*)
    end subroutine

    subroutine nth_batch_create_ls_v(thread, root, ndep, succ, narg, args) bind(C)
      import :: c_ptr, c_funptr, c_int, c_long
      type(c_ptr), value :: thread
      type(c_funptr), value :: root
      integer(c_int), value :: ndep
      type(c_ptr), value :: succ ! c_null_ptr: none
      integer(c_int), value :: narg
      integer(c_long), intent(in) :: args(*)
    end subroutine

    subroutine nth_batch_to_lrq(which, first, last) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: which
      type(c_ptr), value :: first, last
    end subroutine

    subroutine nth_batch_to_lrq_end(which, first, last) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: which
      type(c_ptr), value :: first, last
    end subroutine

    subroutine nth_depadd(thread, n) bind(C)
      import :: c_ptr, c_long
      type(c_ptr), value :: thread
      integer(c_long), value :: n
    end subroutine

    subroutine nth_to_lrq(which, thread) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: which
      type(c_ptr), value :: thread
    end subroutine

    subroutine nth_to_lrq_end(which, thread) bind(C)
      import :: c_int, c_ptr
      integer(c_int), value :: which
      type(c_ptr), value :: thread
    end subroutine

    integer(c_int) function nth_set_stack_size(thread, bytes) bind(C) ! 16 KiB to 1 MiB
      import :: c_int, c_long, c_ptr
      type(c_ptr), value :: thread
      integer(c_long), value :: bytes
    end function

    integer(c_int) function nth_set_stack_need(thread, need) bind(C) ! proved: see nth.h
      import :: c_int, c_long, c_ptr
      type(c_ptr), value :: thread
      integer(c_long), value :: need
    end function

    integer(c_int) function nth_stack_bounds(lowest, above) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: lowest, above
    end function

    subroutine nth_no_suspend_begin() bind(C)
    end subroutine

    subroutine nth_no_suspend_end() bind(C)
    end subroutine

    subroutine nth_block() bind(C)
    end subroutine

    integer(c_int) function nth_try_block() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_unblock(handle) bind(C)
      import :: c_int, nth_handle_t
      type(nth_handle_t), value :: handle
    end function

    subroutine nth_yield() bind(C)
    end subroutine

    type(nth_handle_t) function nth_handle(thread) bind(C)
      import :: c_ptr, nth_handle_t
      type(c_ptr), value :: thread
    end function

    integer(c_int) function nth_alive(handle) bind(C)
      import :: c_int, nth_handle_t
      type(nth_handle_t), value :: handle
    end function

    subroutine nth_keep_fp(on) bind(C)
      import :: c_int
      integer(c_int), value :: on
    end subroutine

    ! ---- Kernel threads that are no workers ----

    type(c_ptr) function nth_attach() bind(C)
      import :: c_ptr
    end function

    integer(c_int) function nth_detach() bind(C)
      import :: c_int
    end function

    ! ---- Memory that keeps its address: iso.h. c_f_pointer makes an array of a block ----

    type(c_ptr) function nth_isomalloc(bytes) bind(C) ! c_null_ptr: nth_last_error says why
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: bytes
    end function

    subroutine nth_isofree(block) bind(C)
      import :: c_ptr
      type(c_ptr), value :: block
    end subroutine

    integer(c_size_t) function nth_isousable_size(block) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: block
    end function

    type(c_ptr) function nth_isorealloc(block, bytes) bind(C)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: block
      integer(c_size_t), value :: bytes
    end function

    type(c_ptr) function nth_isocalloc(count, bytes) bind(C)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: count, bytes
    end function

    type(c_ptr) function nth_isoaligned_alloc(alignment, bytes) bind(C)
      import :: c_ptr, c_size_t
      integer(c_size_t), value :: alignment, bytes
    end function

    ! ---- Cluster runs: cluster.h, library nth-cluster. All arguments of nth_cluster_init may be c_null_ptr ----

    integer(c_int) function nth_cluster_init(argc, argv, options) bind(C)
      import :: c_int, c_ptr
      type(c_ptr), value :: argc, argv, options
    end function

    integer(c_int) function nth_cluster_finalize() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_rank() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_ranks() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_cluster_barrier() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_regroup_slots() bind(C)
      import :: c_int
    end function

    ! ---- Queries ----

    integer(c_int) function nth_workers() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_worker() bind(C)
      import :: c_int
    end function

    integer(c_int) function nth_stack_policy() bind(C)
      import :: c_int
    end function

    type(c_ptr) function nth_last_error() bind(C) ! a string that ends in c_null_char
      import :: c_ptr
    end function

    subroutine nth_write_stats(fd) bind(C)
      import :: c_int
      integer(c_int), value :: fd
    end subroutine

    integer(c_int) function nth_get_counters(counters) bind(C)
      import :: c_int, nth_counters
      type(nth_counters), intent(out) :: counters
    end function

    integer(c_long) function nth_report_blocked(fd) bind(C)
      import :: c_int, c_long
      integer(c_int), value :: fd
    end function
  end interface
end module
