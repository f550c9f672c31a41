#include "cluster/transport.hpp"

#include "base/error.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

#define OMPI_SKIP_MPICXX 1
#define MPICH_SKIP_MPICXX 1
#include <mpi.h>

namespace nth::detail::cluster::transport {

namespace {

// A message on its way: MPI reads it until its request is done.
struct parcel {
  parcel *next;
  MPI_Request request;
  std::size_t bytes;
  char *data() noexcept { return reinterpret_cast<char *>(this + 1); }
};

constexpr std::size_t small_bytes = 512; // parcels of this size are kept

struct state {
  MPI_Comm all{MPI_COMM_NULL};
  int rank{0};
  int ranks{1};
  bool ours{false}; // MPI was started here
  parcel *under_way{nullptr};
  parcel *spare{nullptr}; // small ones
  long under_way_count{0};
  char *room{nullptr}; // for what is received
  std::size_t room_bytes{0};
  MPI_Request barrier{MPI_REQUEST_NULL};
  long *sent_to{nullptr}; // [ranks]
  numbers sum{};
} here;

[[noreturn, gnu::cold]] void no_memory(std::size_t bytes) noexcept {
  char text[120];
  std::snprintf(text, sizeof text,
                "no memory for a message of %zu bytes between ranks; raise the limit on it", bytes);
  end_program(text);
}

parcel *make_parcel(std::size_t bytes) noexcept {
  if (bytes <= small_bytes && here.spare != nullptr) {
    parcel *p = here.spare;
    here.spare = p->next;
    return p;
  }
  auto *p = static_cast<parcel *>(std::malloc(sizeof(parcel) + (bytes < small_bytes ? small_bytes : bytes)));
  if (p == nullptr)
    no_memory(bytes);
  return p;
}

void drop_parcel(parcel *p) noexcept {
  if (p->bytes > small_bytes) {
    std::free(p);
    return;
  }
  p->next = here.spare;
  here.spare = p;
}

void free_all(parcel *p) noexcept {
  while (p != nullptr) {
    parcel *next = p->next;
    std::free(p);
    p = next;
  }
}

// What the launchers of Open MPI and of MPICH tell each rank. A program of the other one does not hear it, and is alone.
bool is_alone_by_mistake() noexcept {
  constexpr const char *names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  for (const char *name : names) {
    const char *told = std::getenv(name);
    if (told != nullptr && here.ranks == 1 && std::strtol(told, nullptr, 10) > 1)
      return true;
  }
  return false;
}

} // namespace

bool start(int *argc, char ***argv, const char *&why) noexcept {
  int running = 0, ended = 0, level = MPI_THREAD_SINGLE;
  MPI_Finalized(&ended);
  if (ended != 0) {
    why = "MPI has been ended in this process, and cannot be started again";
    return false;
  }
  MPI_Initialized(&running);
  here = state{};
  here.ours = running == 0;
  if (here.ours)
    MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level);
  else
    MPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED)
    why = "MPI was started, or can be, for one kernel thread alone: call MPI_Init_thread for "
          "MPI_THREAD_MULTIPLE, or "
          "leave it to nth_cluster_init";
  MPI_Comm_dup(MPI_COMM_WORLD, &here.all);
  MPI_Comm_rank(here.all, &here.rank);
  MPI_Comm_size(here.all, &here.ranks);
  if (is_alone_by_mistake())
    why = "mpirun has started several ranks, but this program's MPI knows of one: they are of different MPIs";
  here.sent_to = static_cast<long *>(std::calloc(static_cast<std::size_t>(here.ranks), sizeof(long)));
  if (here.sent_to == nullptr)
    no_memory(static_cast<std::size_t>(here.ranks) * sizeof(long));
  return true;
}

void stop() noexcept {
  while (unsent() != 0) {
  }
  free_all(here.spare);
  std::free(here.room);
  std::free(here.sent_to);
  MPI_Comm_free(&here.all);
  if (here.ours)
    MPI_Finalize();
  here = state{};
}

int rank() noexcept { return here.rank; }
int ranks() noexcept { return here.ranks; }

void gather(const void *mine, std::size_t bytes, void *all) noexcept {
  const int n = static_cast<int>(bytes);
  MPI_Gather(mine, n, MPI_BYTE, all, n, MPI_BYTE, 0, here.all);
}

void broadcast(void *what, std::size_t bytes) noexcept {
  MPI_Bcast(what, static_cast<int>(bytes), MPI_BYTE, 0, here.all);
}

std::int64_t minimum(std::int64_t mine) noexcept {
  std::int64_t least = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, here.all);
  return least;
}

std::int64_t maximum(std::int64_t mine) noexcept {
  std::int64_t most = 0;
  MPI_Allreduce(&mine, &most, 1, MPI_INT64_T, MPI_MAX, here.all);
  return most;
}

share share_host(const void *what, std::size_t bytes, long mine) noexcept {
  MPI_Comm host;
  MPI_Comm_split_type(here.all, MPI_COMM_TYPE_SHARED, here.rank, MPI_INFO_NULL, &host);
  int size = 0, own = 0;
  MPI_Comm_size(host, &size);
  MPI_Comm_rank(host, &own);
  const auto count = static_cast<std::size_t>(size);
  auto *const amounts = static_cast<long *>(std::malloc(count * (sizeof(long) + bytes)));
  if (amounts == nullptr)
    no_memory(count * (sizeof(long) + bytes));
  char *const whats = reinterpret_cast<char *>(amounts + count);
  const int n = static_cast<int>(bytes);
  MPI_Allgather(what, n, MPI_BYTE, whats, n, MPI_BYTE, host);
  MPI_Allgather(&mine, 1, MPI_LONG, amounts, 1, MPI_LONG, host);
  share sum{0, 0};
  for (int r = 0; r < size; ++r) {
    if (std::memcmp(whats + bytes * static_cast<std::size_t>(r), what, bytes) != 0)
      continue;
    sum.all += amounts[r];
    sum.before += r < own ? amounts[r] : 0;
  }
  std::free(amounts);
  MPI_Comm_free(&host);
  return sum;
}

void send(int to, channel on, const void *data, std::size_t bytes) noexcept {
  parcel *p = make_parcel(bytes);
  p->bytes = bytes;
  std::memcpy(p->data(), data, bytes);
  MPI_Isend(p->data(), static_cast<int>(bytes), MPI_BYTE, to, static_cast<int>(on), here.all, &p->request);
  ++here.sent_to[to];
  ++here.sum.sent;
  here.sum.sent_bytes += static_cast<long>(bytes);
  int done = 0; // short ones usually are
  MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
  if (done != 0)
    return drop_parcel(p); // NOLINT(clang-analyzer-optin.mpi.MPI-Checker): MPI_Test is its wait
  p->next = here.under_way;
  here.under_way = p;
  ++here.under_way_count;
}

long unsent() noexcept {
  for (parcel **link = &here.under_way; *link != nullptr;) {
    parcel *p = *link;
    int done = 0;
    MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
    if (done == 0) {
      link = &p->next;
      continue;
    }
    *link = p->next;
    --here.under_way_count;
    drop_parcel(p);
  }
  return here.under_way_count;
}

bool receive(envelope &next) noexcept {
  if (here.under_way != nullptr)
    unsent();
  int any = 0;
  MPI_Message message;
  MPI_Status status;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, here.all, &any, &message, &status);
  if (any == 0)
    return false;
  int count = 0;
  MPI_Get_count(&status, MPI_BYTE, &count);
  const auto bytes = static_cast<std::size_t>(count);
  if (bytes > here.room_bytes) {
    std::free(here.room);
    here.room_bytes = bytes < 4096 ? 4096 : bytes;
    here.room = static_cast<char *>(std::malloc(here.room_bytes));
    if (here.room == nullptr)
      no_memory(here.room_bytes);
  }
  MPI_Mrecv(here.room, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  ++here.sum.received;
  next = {static_cast<channel>(status.MPI_TAG), status.MPI_SOURCE, bytes, here.room};
  return true;
}

void begin_barrier() noexcept { MPI_Ibarrier(here.all, &here.barrier); }

bool barrier_done() noexcept {
  int done = 0;
  MPI_Test(&here.barrier, &done, MPI_STATUS_IGNORE);
  return done != 0;
}

numbers count() noexcept { return here.sum; }

long addressed_here() noexcept {
  long mine = 0;
  MPI_Reduce_scatter_block(here.sent_to, &mine, 1, MPI_LONG, MPI_SUM, here.all);
  return mine;
}

} // namespace nth::detail::cluster::transport
