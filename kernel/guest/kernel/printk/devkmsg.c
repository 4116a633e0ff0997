/* /dev/kmsg and syslog(2) (Linux's kernel/printk/printk.c). */
#include "fs.h"
#include "kmsg.h"
#include "poll.h"
#include "sched.h"
#include "slab.h"
#include "smp.h"
#include "syscalls.h"
#include "uaccess.h"

#define LOG_LINE_MAX	992
#define EXT_LINE_MAX	(4 * LOG_LINE_MAX + 64)

static DECLARE_WAIT_QUEUE_HEAD(log_wait);
static u64 syslog_seq;		/* the next record of SYSLOG_ACTION_READ */
static u64 clear_seq;		/* the first record behind SYSLOG_ACTION_CLEAR */
/* What the console shows; the default level of messages; the least the first may be; its default. */
int console_printk[4] = { 7, 4, 1, 7 };
#define console_loglevel (console_printk[0])

/* printk may hold any lock: readers are woken from an interrupt of their own. */
static void wake_up_klogd_work_func(struct irq_work *work)
{
	wake_up_interruptible_all(&log_wait);
}

static struct irq_work wake_up_klogd_work = { .func = wake_up_klogd_work_func };

void wake_up_klogd(void)
{
	if (waitqueue_active(&log_wait))
		irq_work_queue(&wake_up_klogd_work);
}

struct devkmsg_user {
	struct mutex lock;
	u64 seq;		/* the next record for this reader */
	char text[LOG_LINE_MAX];
	char line[EXT_LINE_MAX];
};

/* "PRIORITY,SEQ,MICROSECONDS,-;TEXT\n", with bytes that do not print as \xNN. */
static size_t format_record(struct devkmsg_user *user, const struct printk_info *info, u64 seq)
{
	char *p = user->line;

	p += sprintf(p, "%u,%lu,%lu,-;", info->level, seq, info->ts_nsec / NSEC_PER_USEC);
	for (unsigned int i = 0; i < info->text_len; i++) {
		unsigned char c = user->text[i];

		if (c < ' ' || c >= 127 || c == '\\')
			p += sprintf(p, "\\x%02x", c);
		else
			*p++ = c;
	}
	*p++ = '\n';
	return p - user->line;
}

static ssize_t devkmsg_read(struct file *file, char __user *buf, size_t count, loff_t *ppos)
{
	struct devkmsg_user *user = file->private_data;
	struct printk_info info;
	ssize_t ret;
	size_t len;
	u64 seq;

	ret = mutex_lock_interruptible(&user->lock);
	if (ret)
		return ret;
	while (seq = user->seq, !printk_get_record(&seq, &info, user->text, LOG_LINE_MAX)) {
		ret = -EAGAIN;
		if (file->f_flags & O_NONBLOCK)
			goto out;
		ret = wait_event_interruptible(log_wait, printk_next_seq() > user->seq);
		if (ret)
			goto out;
	}
	if (seq != user->seq) {		/* what comes next was overwritten: say so once */
		user->seq = seq;
		ret = -EPIPE;
		goto out;
	}
	len = format_record(user, &info, seq);
	user->seq = seq + 1;
	ret = -EINVAL;
	if (len > count)
		goto out;
	ret = copy_to_user(buf, user->line, len) ? -EFAULT : (ssize_t)len;
out:
	mutex_unlock(&user->lock);
	return ret;
}

/* One write is one record; "<N>" in front is its level. */
static ssize_t devkmsg_write_iter(struct kiocb *iocb, struct iov_iter *from)
{
	size_t len = iov_iter_count(from);
	char *buf, *line;
	int level = 4;

	if (len > LOG_LINE_MAX)
		return -EINVAL;
	buf = kmalloc(len + 1, GFP_KERNEL);
	if (!buf)
		return -ENOMEM;
	buf[len] = 0;
	if (copy_from_iter(buf, len, from) != len) {
		kfree(buf);
		return -EFAULT;
	}
	line = buf;
	if (line[0] == '<') {
		char *end;
		unsigned int u = simple_strtoul(line + 1, &end, 10);

		if (end != line + 1 && *end == '>') {
			level = u & 7;
			line = end + 1;
		}
	}
	*strchrnul(line, '\n') = 0;
	printk("\001%d%s\n", level, line);
	kfree(buf);
	return len;
}

static loff_t devkmsg_llseek(struct file *file, loff_t offset, int whence)
{
	struct devkmsg_user *user = file->private_data;

	if (offset)
		return -ESPIPE;
	switch (whence) {
	case SEEK_SET:
		user->seq = 0;
		break;
	case SEEK_DATA:		/* behind the last clear */
		user->seq = clear_seq;
		break;
	case SEEK_END:
		user->seq = printk_next_seq();
		break;
	default:
		return -EINVAL;
	}
	return 0;
}

static unsigned int devkmsg_poll(struct file *file, poll_table *wait)
{
	struct devkmsg_user *user = file->private_data;

	poll_wait(file, &log_wait, wait);
	return printk_next_seq() > user->seq ? POLLIN | POLLRDNORM : 0;
}

static int devkmsg_open(struct inode *inode, struct file *file)
{
	struct devkmsg_user *user;
	struct printk_info info;

	if ((file->f_flags & O_ACCMODE) == O_WRONLY)
		return 0;
	user = kmalloc(sizeof(*user), GFP_KERNEL);
	if (!user)
		return -ENOMEM;
	mutex_init(&user->lock);
	user->seq = 0;
	printk_get_record(&user->seq, &info, user->text, LOG_LINE_MAX);	/* the oldest there is */
	file->private_data = user;
	return 0;
}

static int devkmsg_release(struct inode *inode, struct file *file)
{
	kfree(file->private_data);
	return 0;
}

const struct file_operations kmsg_fops = {
	.open = devkmsg_open, .read = devkmsg_read, .write_iter = devkmsg_write_iter, .llseek = devkmsg_llseek,
	.poll = devkmsg_poll, .release = devkmsg_release,
};

/* "<6>[    0.000000] text\n" */
static size_t record_print_text(const struct printk_info *info, const char *text, char *line)
{
	int n = sprintf(line, "<%u>[%5lu.%06lu] ", info->level, info->ts_nsec / NSEC_PER_SEC, info->ts_nsec % NSEC_PER_SEC / 1000);

	memcpy(line + n, text, info->text_len);
	line[n + info->text_len] = '\n';
	return n + info->text_len + 1;
}

/* Records from *@seq on, whole ones, as many as fit; *@seq becomes the first one left. */
static int syslog_print_from(u64 *seq, char __user *buf, int size)
{
	char *text = kmalloc(2 * LOG_LINE_MAX + 64, GFP_KERNEL), *line = text + LOG_LINE_MAX;
	struct printk_info info;
	int len = 0;

	if (!text)
		return -ENOMEM;
	while (printk_get_record(seq, &info, text, LOG_LINE_MAX)) {
		int n = record_print_text(&info, text, line);

		if (n > size - len)
			break;
		if (copy_to_user(buf + len, line, n)) {
			len = len ? len : -EFAULT;
			break;
		}
		len += n;
		++*seq;
	}
	kfree(text);
	return len;
}

/* The number of the first record from which all of the rest fits into @size. */
static u64 find_first_fitting_seq(u64 seq, int size, int *total)
{
	char *text = kmalloc(2 * LOG_LINE_MAX + 64, GFP_KERNEL), *line = text + LOG_LINE_MAX;
	struct printk_info info;
	u64 first = seq, s;
	int len = 0;

	if (!text)
		return seq;
	for (s = seq; printk_get_record(&s, &info, text, LOG_LINE_MAX); s++)
		len += record_print_text(&info, text, line);
	*total = len;
	for (; len > size && printk_get_record(&first, &info, text, LOG_LINE_MAX); first++)
		len -= record_print_text(&info, text, line);
	kfree(text);
	return first;
}

enum { ACTION_CLOSE, ACTION_OPEN, ACTION_READ, ACTION_READ_ALL, ACTION_READ_CLEAR, ACTION_CLEAR, ACTION_CONSOLE_OFF,
	ACTION_CONSOLE_ON, ACTION_CONSOLE_LEVEL, ACTION_SIZE_UNREAD, ACTION_SIZE_BUFFER };

static noinline int do_syslog(int type, char __user *buf, int len)
{
	int error = 0, total = 0;
	u64 seq;

	if ((type == ACTION_READ || type == ACTION_READ_ALL || type == ACTION_READ_CLEAR) && (!buf || len < 0))
		return -EINVAL;
	switch (type) {
	case ACTION_CLOSE:
	case ACTION_OPEN:
	case ACTION_CONSOLE_OFF:
	case ACTION_CONSOLE_ON:
		break;
	case ACTION_READ:
		error = wait_event_interruptible(log_wait, printk_next_seq() > syslog_seq);
		if (!error)
			error = syslog_print_from(&syslog_seq, buf, len);
		break;
	case ACTION_READ_CLEAR:
	case ACTION_READ_ALL:
		seq = find_first_fitting_seq(clear_seq, len, &total);
		error = syslog_print_from(&seq, buf, len);
		if (type == ACTION_READ_CLEAR)
			clear_seq = printk_next_seq();
		break;
	case ACTION_CLEAR:
		clear_seq = printk_next_seq();
		break;
	case ACTION_CONSOLE_LEVEL:
		if (len < 1 || len > 8)
			return -EINVAL;
		console_loglevel = len;
		break;
	case ACTION_SIZE_UNREAD:
		find_first_fitting_seq(syslog_seq, INT_MAX, &error);
		break;
	case ACTION_SIZE_BUFFER:
		error = 64 << 10;
		break;
	default:
		error = -EINVAL;
	}
	return error;
}

SYSCALL_DEFINE3(syslog, int, type, char __user *, buf, int, len)
{
	return do_syslog(type, buf, len);
}
