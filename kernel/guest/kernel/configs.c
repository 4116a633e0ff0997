/*
 * /proc/config.gz (kernel/configs.c): kernel/guest.config, which says what of Linux is here, as a gzip file. The file is in
 * the image as text, and is written as gzip with stored blocks (RFC 1951, 3.2.4): compressing would need a compressor.
 */
#include "proc_fs.h"
#include "init.h"
#include "string.h"

asm(".pushsection .rodata, \"a\"\n"
    ".globl kernel_config_data, kernel_config_data_end\n"
    "kernel_config_data:\n.incbin \"kernel/guest.config\"\nkernel_config_data_end:\n"
    ".popsection\n");
extern const u8 kernel_config_data[], kernel_config_data_end[];

static u32 crc32_le(u32 crc, const u8 *p, size_t len)
{
	int i;

	while (len--) {
		crc ^= *p++;
		for (i = 0; i < 8; i++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return crc;
}

static void put_le(struct seq_file *m, u32 v, int bytes)
{
	for (; bytes; bytes--, v >>= 8)
		seq_putc(m, (char)v);
}

static int ikconfig_show(struct seq_file *m, void *v)
{
	static const u8 header[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3 };	/* deflate, no name, no time, Unix */
	u32 len = kernel_config_data_end - kernel_config_data;

	BUILD_BUG_ON(sizeof(header) != 10);
	seq_write(m, header, sizeof(header));
	seq_putc(m, 1);			/* the last block, stored */
	put_le(m, len, 2);
	put_le(m, ~len, 2);
	seq_write(m, kernel_config_data, len);
	put_le(m, ~crc32_le(~0u, kernel_config_data, len), 4);
	put_le(m, len, 4);
	return 0;
}

static int __init ikconfig_init(void)
{
	proc_create_single("config.gz", 0444, NULL, ikconfig_show);
	return 0;
}
device_initcall(ikconfig_init);
