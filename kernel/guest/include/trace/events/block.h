/* The block layer: Linux 6.1's events, formats and ids, each with the way from its arguments to its fields; see trace_events.h. */

DECLARE_EVENT_CLASS(block_bio,
	TP_PROTO(struct bio *bio), TP_ARGS(bio),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct bio, bi_bdev), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(0), T_LD(8, struct bio, bi_iter.bi_sector))
		__field(unsigned int, nr_sector, T_ARG(0), T_LD(4, struct bio, bi_iter.bi_size), T_SHR(9))
		__array(char, rwbs, 8, T_ARG(0), T_LD(4, struct bio, bi_opf), T_RWBS)
		__array(char, comm, 16, T_CURRENT, T_ADD(struct task_struct, comm))),
	TP_printk("\"%d,%d %s %llu + %u [%s]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << "
		"20) - 1))), REC->rwbs, (unsigned long long)REC->sector, REC->nr_sector, REC->comm"))

DEFINE_EVENT(block_bio, block, block_bio_backmerge, 1186, TP_PROTO(struct bio *bio), TP_ARGS(bio))
DEFINE_EVENT(block_bio, block, block_bio_frontmerge, 1185, TP_PROTO(struct bio *bio), TP_ARGS(bio))
DEFINE_EVENT(block_bio, block, block_bio_queue, 1184, TP_PROTO(struct bio *bio), TP_ARGS(bio))
DEFINE_EVENT(block_bio, block, block_getrq, 1183, TP_PROTO(struct bio *bio), TP_ARGS(bio))

TRACE_EVENT(block, block_bio_complete, 1188,
	TP_PROTO(struct request_queue *q, struct bio *bio), TP_ARGS(q, bio),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(1), T_LD(8, struct bio, bi_bdev), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(1), T_LD(8, struct bio, bi_iter.bi_sector))
		__field(unsigned, nr_sector, T_ARG(1), T_LD(4, struct bio, bi_iter.bi_size), T_SHR(9))
		__field(int, error, T_ARG(1), T_LD(1, struct bio, bi_status), T_BLKERR)
		__array(char, rwbs, 8, T_ARG(1), T_LD(4, struct bio, bi_opf), T_RWBS)),
	TP_printk("\"%d,%d %s %llu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U << "
		"20) - 1))), REC->rwbs, (unsigned long long)REC->sector, REC->nr_sector, REC->error"))

DECLARE_EVENT_CLASS(block_rq,
	TP_PROTO(struct request *rq), TP_ARGS(rq),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct request, part), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(0), T_LD(8, struct request, __sector))
		__field(unsigned int, nr_sector, T_ARG(0), T_LD(4, struct request, __data_len), T_SHR(9))
		__field(unsigned int, bytes, T_ARG(0), T_LD(4, struct request, __data_len))
		__array(char, rwbs, 8, T_ARG(0), T_LD(4, struct request, cmd_flags), T_RWBS)
		__array(char, comm, 16, T_CURRENT, T_ADD(struct task_struct, comm))
		__string(cmd, T_IMM(0))),
	TP_printk("\"%d,%d %s %u (%s) %llu + %u [%s]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), REC->rwbs, REC->bytes, __get_str(cmd), (unsigned long long)REC->sector, "
		"REC->nr_sector, REC->comm"))

DEFINE_EVENT(block_rq, block, block_rq_insert, 1191, TP_PROTO(struct request *rq), TP_ARGS(rq))
DEFINE_EVENT(block_rq, block, block_rq_issue, 1190, TP_PROTO(struct request *rq), TP_ARGS(rq))

TRACE_EVENT(block, block_rq_requeue, 1194,
	TP_PROTO(struct request *rq), TP_ARGS(rq),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct request, part), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(0), T_LD(8, struct request, __sector))
		__field(unsigned int, nr_sector, T_ARG(0), T_LD(4, struct request, __data_len), T_SHR(9))
		__array(char, rwbs, 8, T_ARG(0), T_LD(4, struct request, cmd_flags), T_RWBS)
		__string(cmd, T_IMM(0))),
	TP_printk("\"%d,%d %s (%s) %llu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), REC->rwbs, __get_str(cmd), (unsigned long long)REC->sector, REC->nr_sector, 0"))

DECLARE_EVENT_CLASS(block_rq_completion,
	TP_PROTO(struct request *rq, u8 error, unsigned int nr_bytes), TP_ARGS(rq, error, nr_bytes),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct request, part), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(0), T_LD(8, struct request, __sector))
		__field(unsigned int, nr_sector, T_ARG(2), T_SHR(9))
		__field(int, error, T_ARG(1), T_BLKERR)
		__array(char, rwbs, 8, T_ARG(0), T_LD(4, struct request, cmd_flags), T_RWBS)
		__string(cmd, T_IMM(0))),
	TP_printk("\"%d,%d %s (%s) %llu + %u [%d]\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & "
		"((1U << 20) - 1))), REC->rwbs, __get_str(cmd), (unsigned long long)REC->sector, REC->nr_sector, "
		"REC->error"))

DEFINE_EVENT(block_rq_completion, block, block_rq_complete, 1193, TP_PROTO(struct request *rq, u8 error, unsigned int nr_bytes), TP_ARGS(rq, error, nr_bytes))
DEFINE_EVENT(block_rq_completion, block, block_rq_error, 1192, TP_PROTO(struct request *rq, u8 error, unsigned int nr_bytes), TP_ARGS(rq, error, nr_bytes))

TRACE_EVENT(block, block_plug, 1182,
	TP_PROTO(struct request_queue *q), TP_ARGS(q),
	TP_FIELDS(
		__array(char, comm, 16, T_CURRENT, T_ADD(struct task_struct, comm))),
	TP_printk("\"[%s]\", REC->comm"))

TRACE_EVENT(block, block_unplug, 1181,
	TP_PROTO(struct request_queue *q, unsigned int depth, bool explicit), TP_ARGS(q, depth, explicit),
	TP_FIELDS(
		__field(int, nr_rq, T_ARG(1))
		__array(char, comm, 16, T_CURRENT, T_ADD(struct task_struct, comm))),
	TP_printk("\"[%s] %d\", REC->comm, REC->nr_rq"))

DECLARE_EVENT_CLASS(block_buffer,
	TP_PROTO(struct buffer_head *bh), TP_ARGS(bh),
	TP_FIELDS(
		__field(dev_t, dev, T_ARG(0), T_LD(8, struct buffer_head, b_bdev), T_LD(4, struct block_device, bd_dev))
		__field(sector_t, sector, T_ARG(0), T_LD(8, struct buffer_head, b_blocknr))
		__field(size_t, size, T_ARG(0), T_LD(8, struct buffer_head, b_size))),
	TP_printk("\"%d,%d sector=%llu size=%zu\", ((unsigned int) ((REC->dev) >> 20)), ((unsigned int) ((REC->dev) & ((1U "
		"<< 20) - 1))), (unsigned long long)REC->sector, REC->size"))

DEFINE_EVENT(block_buffer, block, block_touch_buffer, 1196, TP_PROTO(struct buffer_head *bh), TP_ARGS(bh))
DEFINE_EVENT(block_buffer, block, block_dirty_buffer, 1195, TP_PROTO(struct buffer_head *bh), TP_ARGS(bh))
