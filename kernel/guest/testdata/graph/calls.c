// What graph-6.1.txt was recorded from, first part: built static as t and run by record.sh in the oracle.
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <stdio.h>
#include <string.h>
#include <dirent.h>
#include <time.h>
#include <sys/mman.h>
static int mk;
static void m(const char*s){write(mk,s,strlen(s));}
int main(int c,char**v){
 if(c>1){ return 0; }
 mkdir("/mnt",0755); mount("none","/mnt","ramfs",0,0);
 mk=open("/sys/kernel/tracing/trace_marker",O_WRONLY);
 char b[8192]; struct stat st; char buf[100];
 int on=open("/sys/kernel/tracing/tracing_on",O_WRONLY);
 int f=open("/mnt/a",O_CREAT|O_RDWR,0644); write(f,"x",1); close(f); // warm
 mkdir("/mnt/w",0755);
 sprintf(b,"%d",getpid()); int p=open("/sys/kernel/tracing/set_ftrace_pid",O_WRONLY); write(p,b,strlen(b)); close(p);
 write(on,"1",1);
 m("open creat"); f=open("/mnt/w/h",O_CREAT|O_RDWR,0644);
 m("write"); write(f,b,6000);
 m("lseek"); lseek(f,0,0);
 m("read"); read(f,b,5000);
 m("pread"); pread(f,b,100,10);
 m("fstat"); fstat(f,&st);
 m("close"); close(f);
 m("open rd"); f=open("/mnt/w/h",O_RDONLY);
 m("read"); read(f,b,5000);
 m("read eof"); pread(f,b,100,60000);
 m("close"); close(f);
 m("open trunc"); f=open("/mnt/w/h",O_WRONLY|O_TRUNC);
 m("dup"); int g=dup(f);
 m("dup2"); dup2(f,40);
 m("close"); close(g);close(f);close(40);
 m("stat"); stat("/mnt/w/h",&st);
 m("stat enoent"); stat("/mnt/w/hx",&st);
 m("mkdir"); mkdir("/mnt/w/d",0755);
 m("opendir"); f=open("/mnt/w",O_RDONLY|O_DIRECTORY);
 m("getdents"); syscall(SYS_getdents64,f,b,8192); close(f);
 m("chdir"); chdir("/mnt/w");
 m("getcwd"); syscall(SYS_getcwd,b,200);
 m("unlink"); unlink("/mnt/w/h");
 m("rmdir"); rmdir("/mnt/w/d");
 m("access"); access("/mnt/w",R_OK);
 m("rename"); rename("/mnt/a","/mnt/b");
 m("truncate"); truncate("/mnt/b",10);
 m("symlink"); symlink("b","/mnt/c");
 m("open symlink"); f=open("/mnt/c",O_RDONLY);close(f);
 int pp[2]; m("pipe"); pipe(pp);
 m("pipe write"); write(pp[1],"hello",5);
 m("pipe read"); read(pp[0],b,5);
 m("close pipe"); close(pp[1]); close(pp[0]);
 m("null"); f=open("/dev/null",O_RDWR); write(f,"a",1); read(f,b,1); close(f);
 m("zero"); f=open("/dev/zero",O_RDWR); write(f,"a",1); read(f,b,10); close(f);
 m("tracing read"); f=open("/sys/kernel/tracing/tracing_on",O_RDONLY); read(f,b,10); close(f);
 m("tracing filter"); f=open("/sys/kernel/tracing/set_ftrace_notrace",O_RDONLY); read(f,b,10); close(f);
 m("nanosleep"); struct timespec ts={0,1000000}; nanosleep(&ts,0);
 m("fork"); int pid=fork(); if(!pid){_exit(3);} int s; m("wait4"); wait4(pid,&s,0,0);
 m("brk"); sbrk(8192);
 m("mmap"); char*q=mmap(0,8192,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
 m("munmap"); munmap(q,8192);
 m("execve"); execl("/proc/self/exe","t","x",NULL);
 return 0;}
