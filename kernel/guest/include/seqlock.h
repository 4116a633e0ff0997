/* Sequence counters: readers retry when a writer was, or is, at work (Linux's include/linux/seqlock.h). */
#ifndef _SEQLOCK_H
#define _SEQLOCK_H
#include "types.h"
#include "compiler.h"
#include "processor.h"
#include "spinlock.h"

typedef struct {
	unsigned int sequence;	/* odd while a writer is inside */
} seqcount_t;
typedef seqcount_t seqcount_spinlock_t;

typedef struct {
	seqcount_t seqcount;
	spinlock_t lock;
} seqlock_t;

#define SEQCNT_ZERO(name)		{ 0 }
#define __SEQLOCK_UNLOCKED(name)	{ .seqcount = { 0 }, .lock = { { { 0 } } } }
#define DEFINE_SEQLOCK(name)		seqlock_t name = __SEQLOCK_UNLOCKED(name)

static __always_inline void seqcount_init(seqcount_t *s)
{
	s->sequence = 0;
}

#define seqcount_spinlock_init(s, lock)	seqcount_init(s)

/* x86 keeps loads in order with loads and stores with stores: compiler barriers are enough. */
static __always_inline unsigned int __read_seqcount_begin(const seqcount_t *s)
{
	unsigned int seq;

	while ((seq = READ_ONCE(s->sequence)) & 1)
		cpu_relax();
	return seq;
}

static __always_inline unsigned int read_seqcount_begin(const seqcount_t *s)
{
	unsigned int seq = __read_seqcount_begin(s);

	barrier();
	return seq;
}

/* raw_seqcount_begin does not wait for a writer: the odd number, made even, fails the retry test. */
static __always_inline unsigned int raw_seqcount_begin(const seqcount_t *s)
{
	unsigned int seq = READ_ONCE(s->sequence);

	barrier();
	return seq & ~1u;
}

static __always_inline int __read_seqcount_retry(const seqcount_t *s, unsigned int start)
{
	return unlikely(READ_ONCE(s->sequence) != start);
}

static __always_inline int read_seqcount_retry(const seqcount_t *s, unsigned int start)
{
	barrier();
	return __read_seqcount_retry(s, start);
}

static __always_inline void write_seqcount_begin(seqcount_t *s)
{
	s->sequence++;
	barrier();
}

static __always_inline void write_seqcount_end(seqcount_t *s)
{
	barrier();
	s->sequence++;
}

/* write_seqcount_invalidate makes every reader that has begun fail, without a write section. */
static __always_inline void write_seqcount_invalidate(seqcount_t *s)
{
	barrier();
	s->sequence += 2;
}

#define raw_write_seqcount_begin	write_seqcount_begin
#define raw_write_seqcount_end		write_seqcount_end

static __always_inline unsigned int read_seqbegin(const seqlock_t *sl)
{
	return read_seqcount_begin(&sl->seqcount);
}

static __always_inline unsigned int read_seqretry(const seqlock_t *sl, unsigned int start)
{
	return read_seqcount_retry(&sl->seqcount, start);
}

static __always_inline void write_seqlock(seqlock_t *sl)
{
	spin_lock(&sl->lock);
	write_seqcount_begin(&sl->seqcount);
}

static __always_inline void write_sequnlock(seqlock_t *sl)
{
	write_seqcount_end(&sl->seqcount);
	spin_unlock(&sl->lock);
}
#endif
