/* Allocations with a second thought, and copies of user memory (mm/util.c). */
#include "kernel.h"
#include "slab.h"
#include "err.h"
#include "uaccess.h"
#include "vmalloc.h"

/* Contiguous frames when there are any, else frames that only look contiguous; kvfree() frees either. */
void *kvmalloc_node(size_t size, gfp_t flags, int node)
{
	void *ret = __kmalloc_node(size, size > PAGE_SIZE ? flags | __GFP_NOWARN : flags, node);

	if (ret || size <= PAGE_SIZE)
		return ret;
	return vmalloc(size);
}

void kvfree(const void *addr)
{
	if (is_vmalloc_addr(addr))
		vfree(addr);
	else
		kfree(addr);
}

/* A copy of @len bytes of the user's, with a 0 behind; the caller frees it. */
void *memdup_user_nul(const void __user *src, size_t len)
{
	char *p = kmalloc(len + 1, GFP_KERNEL);

	if (!p)
		return ERR_PTR(-ENOMEM);
	if (copy_from_user(p, src, len)) {
		kfree(p);
		return ERR_PTR(-EFAULT);
	}
	p[len] = 0;
	return p;
}
