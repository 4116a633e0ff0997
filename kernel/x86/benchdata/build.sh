#!/bin/sh
# Builds mix.bin, the flat image that bench_test.go runs at 0xffffffff81000000; entry i is at 16*i and ends in hlt.
set -e
cd "$(dirname "$0")"
flags="-std=gnu11 -O2 -ffreestanding -fno-builtin -nostdlib -mcmodel=kernel -mno-red-zone -mno-sse -mno-mmx -mno-80387
 -fno-pic -fno-pie -fno-stack-protector -fcf-protection=none -fno-asynchronous-unwind-tables -fno-strict-aliasing
 -fno-tree-loop-distribute-patterns -falign-functions=16"
gcc $flags -c mix.c -o /tmp/mix.o
gcc -c start.S -o /tmp/start.o
ld -T mix.ld /tmp/start.o /tmp/mix.o -o /tmp/mix.elf
objcopy -O binary /tmp/mix.elf mix.bin
# qemu_test.go builds mix.c with -DHOST for the comparison with qemu-x86_64
