! Subjects of fortran.cpp: what the run-time library of gfortran does for a program.
module fortran_subjects
  use iso_c_binding
  implicit none
contains

  integer(c_int) function fortran_write_text(i, x) bind(c)
    integer(c_int), value :: i
    real(c_double), value :: x
    character(len=400) :: line
    complex(c_double_complex) :: z
    z = cmplx(x, i, c_double_complex)
    write (line, '(i8, f20.6, e15.7, es12.3, en14.3, g20.10, l3, a, 1x, z8, o12, b33)') i, x, x, x, x, x, i > 3, &
      'text', i, i, i
    write (line, *) i, x, z, 'list', [1, 2, 3], real(x, 16)
    fortran_write_text = len_trim(line)
  end function

  integer(c_int) function fortran_read_text(i) bind(c)
    integer(c_int), value :: i
    character(len=100) :: line
    character(len=10) :: word
    integer :: a, status
    double precision :: x
    complex :: z
    logical :: l
    write (line, '(i6, a)') i, ' 2.5d3 word (1.0,2.0) T'
    read (line, *, iostat=status) a, x, word, z, l
    read (line, '(i6, f6.2)', iostat=status) a, x
    read (line, '(a3, i2)', iostat=status) word, a
    fortran_read_text = a
  end function

  integer(c_int) function fortran_files(n) bind(c)
    integer(c_int), value :: n
    integer :: unit, i, k, status
    double precision :: x(100), y(100)
    logical :: there
    character(len=80) :: line
    namelist /group/ i, x
    x = n
    open (newunit=unit, status='scratch', form='formatted', action='readwrite')
    do i = 1, n
      write (unit, '(10f12.4)') x
      write (unit, *) i, x(1:3)
    end do
    write (unit, nml=group)
    rewind unit
    do i = 1, n
      read (unit, '(10f12.4)', iostat=status) y
      read (unit, *, iostat=status) k, y(1:3)
    end do
    backspace unit
    read (unit, nml=group, iostat=status)
    inquire (unit=unit, opened=there, name=line)
    close (unit)
    open (newunit=unit, status='scratch', form='unformatted', access='stream')
    write (unit) x
    read (unit, pos=1, iostat=status) y
    flush (unit)
    close (unit)
    open (newunit=unit, status='scratch', form='unformatted', access='direct', recl=800)
    write (unit, rec=3) x
    read (unit, rec=3, iostat=status) y
    close (unit)
    open (newunit=unit, file='/none/such/file', status='old', iostat=status)
    fortran_files = merge(1, 0, there)
  end function

  real(c_double) function fortran_arrays(n) bind(c)
    integer(c_int), value :: n
    double precision, allocatable :: a(:, :), b(:, :)
    integer, allocatable :: order(:)
    character(len=:), allocatable :: s
    integer :: i
    allocate (a(n, n), b(n, n))
    call random_number(a)
    b = matmul(transpose(a), a) + spread(a(1, :), 1, n)
    b = cshift(b, 1, dim=2) + eoshift(b, 2, dim=1)
    order = pack([(i, i = 1, n)], [(mod(i, 3) == 0, i = 1, n)])
    a = reshape(b, [n, n], order=[2, 1])
    s = repeat('ab', n) // adjustl('  x') // trim('y   ')
    i = index(s, 'ba', back=.true.) + scan(s, 'xy') + verify(s, 'ab')
    fortran_arrays = sum(a, mask=a > 0) + maxval(b) + product(a(1, :)) + dot_product(a(:, 1), b(:, 1)) + i + &
      size(order) + norm2(a) + minloc(a(:, 1), dim=1) + count(a > b)
  end function

  integer(c_int) function fortran_system() bind(c)
    integer :: values(8), clock, rate, length, status
    character(len=20) :: day, hour, zone
    character(len=200) :: text
    integer, allocatable :: seed(:)
    call date_and_time(day, hour, zone, values)
    call system_clock(clock, rate)
    call get_environment_variable('PATH', text, length, status)
    call get_command_argument(0, text, length, status)
    call random_seed(size=length)
    allocate (seed(length))
    seed = 5
    call random_seed(put=seed)
    fortran_system = values(1)
  end function

  integer(c_int) function fortran_print(i) bind(c)
    integer(c_int), value :: i
    print *, 'a line', i, 2.5d0
    write (*, '(a, i5)') 'formatted', i
    fortran_print = i
  end function

  recursive function fortran_recursion(n) result(r) bind(c)
    integer(c_int), value :: n
    real(c_double) :: r
    double precision :: line(10 + mod(n, 20))
    line = n
    r = sum(line)
    if (n > 0) r = r + fortran_recursion(n - 1)
  end function

end module
