/*
 * The kernel log (kernel/printk/printk.c): records in a ring, written under logbuf_lock, given to the console (a gate)
 * one by one by whoever holds the console.
 */
#include "sched.h"
#include "gates.h"
#include "syscalls.h"
#include "kmsg.h"
#include "tracepoint.h"

struct printk_record { u64 seq, ts_nsec; u16 text_len; u8 level, done; u32 caller; };
#define LOG_BUF_LEN	(64 << 10)
#define LOG_LINE_MAX	992
static char __log_buf[LOG_BUF_LEN] __aligned(8);
static unsigned long log_head, log_tail;	/* byte positions, growing for ever; records do not wrap */
static unsigned long console_pos;		/* the next record for the console */
static u64 log_seq;
static DEFINE_RAW_SPINLOCK(logbuf_lock);
static bool console_locked;
static struct { char text[LOG_LINE_MAX]; u16 len; u8 level; struct task_struct *owner; u64 ts; } cont;

#define rec_at(pos)	((struct printk_record *)&__log_buf[(pos) & (LOG_BUF_LEN - 1)])
#define rec_size(len)	ALIGN(sizeof(struct printk_record) + (len), 8)

/* The end of the buffer is skipped with a record of level 0xff when the next one does not fit. */
static unsigned long log_next(unsigned long pos)
{
	struct printk_record *r = rec_at(pos);

	return r->level == 0xff ? ALIGN(pos + 1, LOG_BUF_LEN) : pos + rec_size(r->text_len);
}

static void log_make_room(unsigned long upto)
{
	while (upto - log_tail > LOG_BUF_LEN) {
		if (console_pos == log_tail)
			console_pos = log_next(log_tail);
		log_tail = log_next(log_tail);
	}
}

/* logbuf_lock held. */
static void log_store(u8 level, const char *text, unsigned int len, u64 ts)
{
	unsigned long size = rec_size(len), left = LOG_BUF_LEN - (log_head & (LOG_BUF_LEN - 1));
	struct printk_record *r;

	if (left < size) {
		log_make_room(log_head + left);
		if (left >= sizeof(*r))
			rec_at(log_head)->level = 0xff;
		else
			memset(rec_at(log_head), 0xff, left);
		log_head += left;
	}
	log_make_room(log_head + size);
	r = rec_at(log_head);
	*r = (struct printk_record){ .seq = log_seq++, .ts_nsec = ts, .text_len = len, .level = level, .caller = current->pid };
	memcpy(r + 1, text, len);
	log_head += size;
}

static void cont_flush(void)
{
	if (cont.len)
		log_store(cont.level, cont.text, cont.len, cont.ts);
	cont.len = 0;
	cont.owner = NULL;
}

static u8 printk_parse_prefix(const char **text, bool *is_cont)
{
	u8 level = 4;

	while ((*text)[0] == KERN_SOH[0] && (*text)[1]) {
		if ((*text)[1] >= '0' && (*text)[1] <= '7')
			level = (*text)[1] - '0';
		else if ((*text)[1] == 'c')
			*is_cont = true;
		*text += 2;
	}
	return level;
}

/* A line without newline stays open for the same task's KERN_CONT. */
static noinline int vprintk_store(const char *fmt, va_list args)
{
	static char textbuf[LOG_LINE_MAX];
	const char *text = textbuf;
	int len = vscnprintf(textbuf, sizeof(textbuf), fmt, args);
	bool is_cont = false, newline = false;
	u8 level = printk_parse_prefix(&text, &is_cont);

	len -= text - textbuf;
	if (len && text[len - 1] == '\n') {
		len--;
		newline = true;
	}
	trace_console(text, len);
	if (cont.owner && (!is_cont || cont.owner != current))
		cont_flush();
	if (!cont.owner && newline) {
		log_store(level, text, len, local_clock());
		return len;
	}
	if (!cont.owner) {
		cont.owner = current;
		cont.level = level;
		cont.ts = local_clock();
	}
	len = min(len, (int)(sizeof(cont.text) - cont.len));
	memcpy(cont.text + cont.len, text, len);
	cont.len += len;
	if (newline) {
		log_store(cont.level, cont.text, cont.len, cont.ts);
		cont.len = 0;
		cont.owner = NULL;
	}
	return len;
}

/*
 * The first record from number *@seq on: its text, cut to @size, into @text. False: there is none yet. *@seq becomes its
 * number, which is higher than asked when older ones have been overwritten.
 */
bool printk_get_record(u64 *seq, struct printk_info *info, char *text, size_t size)
{
	unsigned long flags, pos;
	bool found = false;

	raw_spin_lock_irqsave(&logbuf_lock, flags);
	for (pos = log_tail; pos != log_head && !found; pos = log_next(pos)) {
		struct printk_record *r = rec_at(pos);

		if (r->level == 0xff || r->seq < *seq)
			continue;
		*seq = r->seq;
		*info = (struct printk_info){ .ts_nsec = r->ts_nsec, .level = r->level, .text_len = min((size_t)r->text_len, size) };
		memcpy(text, r + 1, info->text_len);
		found = true;
	}
	raw_spin_unlock_irqrestore(&logbuf_lock, flags);
	return found;
}

u64 printk_next_seq(void)
{
	return READ_ONCE(log_seq);
}

static bool console_emit_next_record(void)
{
	struct printk_record *r;

	while (console_pos != log_head) {
		r = rec_at(console_pos);
		console_pos = log_next(console_pos);
		if (r->level != 0xff) {
			console_emit((const char *)(r + 1), r->text_len, r->level);
			return true;
		}
	}
	return false;
}

/* Called with logbuf_lock held; who finds the console busy leaves the record to its holder. */
static noinline void console_unlock(void)
{
	if (console_locked)
		return;
	console_locked = true;
	while (console_emit_next_record())
		;
	console_locked = false;
}

static noinline int vprintk_emit(const char *fmt, va_list args)
{
	unsigned long flags;
	int len;

	raw_spin_lock_irqsave(&logbuf_lock, flags);
	len = vprintk_store(fmt, args);
	console_unlock();
	raw_spin_unlock_irqrestore(&logbuf_lock, flags);
	wake_up_klogd();
	return len;
}

static noinline int vprintk_default(const char *fmt, va_list args)
{
	return vprintk_emit(fmt, args);
}

int vprintk(const char *fmt, va_list args)
{
	return vprintk_default(fmt, args);
}

int _printk(const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = vprintk(fmt, args);
	va_end(args);
	return r;
}

void printk_flush(void);
void printk_flush(void)
{
	cont_flush();
	console_locked = false;
	console_unlock();
}
