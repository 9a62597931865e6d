/* Keeps a ring of samples. */

#ifndef RING_H
#define RING_H 1

#include <stddef.h>
#include "ring_config.h"

#define RING_EMPTY
#define RING_LIMIT 64
/* The larger of two. */
#define RING_MAX(a, b) \
  /* evaluates twice */ \
  ((a) > (b) ? (a) : (b))

#ifdef __cplusplus
extern "C" {
#endif

/* Not about the struct.

*/

/* One sample. */
struct sample {
  long when;
  union {
    int whole;
    double part;
  } value;
};

enum ring_state { RING_IDLE, RING_FULL };

union word {
  char bytes[4];
  int whole;
};

typedef struct ring_s {
  struct sample items[RING_LIMIT];
  size_t used;
} ring_t, *ring_ptr;

typedef struct {
  int low, high;
} range_t;

typedef enum { RED, GREEN } colour_t;
typedef unsigned long ring_size;
typedef int (*ring_visit)(const struct sample *sample, void *data);
typedef void *(*ring_alloc)(size_t size, ring_size most);
typedef struct ring *(ring_make)(ring_size most);
typedef int (RINGCALL *ring_hook)(ring_size most);
typedef struct ring_s ring_alias;

struct RING_PACKED header {
  char magic[4];
};

extern int ring_errors;
static ring_t shared_ring;
static const char *const names[] = {"idle", "full"};
const int version = 3;
int first = 1, *second;
int (*hook)(int) = NULL;

struct option {
  int id;
} options[] = {{1}, {2}};

/* Adds a sample. */
RING_API int ring_add(ring_t *ring, const struct sample *sample);
RING_API const char *ring_name(void) RING_PURE;
static int count(const ring_t *ring);

/* Counts them. */
static int count(const ring_t *ring) {
  int total = 0, extra;
  static const int step = 1;
  struct pair { int a, b; } pair = {0, 0};
  extern int elsewhere(int);
  total += step;
  return total + pair.a;
}

__attribute__((noinline))
int ring_add(ring_t *ring, const struct sample *sample RING_UNUSED) {
#ifdef RING_CHECKED
  if (ring == NULL) {
#else
  if (0) {
#endif
    return -1;
  }
  return count(ring);
}

RING_EXPORT(const char *) ring_label(void) {
  return names[0];
}

static RING_INLINE ring_t *ring_find(const char *RING_NONNULL name)
{
  return &shared_ring;
}

struct sample **ring_items(ring_t *ring) { return NULL; }

int (*ring_hook(int which))(int) { return hook; }

int old_style(ring, index)
  ring_t *ring;
  int index;
{
  return index;
}

#ifdef RING_CHECKED
int ring_close(ring_t *ring, int force) {
#else
int ring_close(ring_t *ring) {
#endif
  return 0;
}

#ifdef _WIN32
static void ring_sleep(void) { Sleep(1); }
#else
static void ring_sleep(void) { usleep(1); }
#endif

#if 0
int never(void) { isn't C }
#endif

DEFINE_COUNTER(ring_adds)
DEFINE_GAUGE(int, ring_used);

RING_TEST(add_one) {
  ring_add(&shared_ring, NULL);
}

RING_FUNCTION(ring_count)
{
  RETURN_LONG(1);
}

RING_EXPORT int (ring_first) (struct ring *ring) {
  return 0;
}

RING_UNUSED(static int ring_peek(struct ring *ring)) {
  return 1;
}

#ifdef __cplusplus
}
#endif

#endif /* RING_H */
