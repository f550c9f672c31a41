! Solves a system and finds eigenvalues, of a matrix that is the same in each run.
program lapack
  implicit none
  integer, parameter :: n = 60, work_size = 10000
  double precision :: a(n, n), s(n, n), b(n), w(n), wi(n), left(n, n), right(n, n), work(work_size)
  integer :: pivots(n), info, i, j
  external :: dgesv, dsyev, dgeev
  do j = 1, n
    do i = 1, n
      a(i, j) = mod(i * 7919 + j * 104729, 1009) / 1009d0 - 0.5d0
    end do
  end do
  s = a + transpose(a)
  b = 1
  left = a
  call dgesv(n, 1, left, n, pivots, b, n, info)
  print *, info, sum(abs(matmul(a, b) - 1)) < 1d-6
  call dsyev('V', 'U', n, s, n, w, work, work_size, info)
  print *, info, w(1), w(n)
  call dgeev('V', 'V', n, a, n, w, wi, left, n, right, n, work, work_size, info)
  print *, info, maxval(w)
  write (*, '(3f12.5)') wi(1:9)
end program lapack
