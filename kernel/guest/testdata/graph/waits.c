// The second part, as t2: page faults, waits, locks. The marks of the first part's sections went through trace_marker.
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/sendfile.h>
#include <signal.h>
static void sh(const char*f,const char*s){int d=open(f,O_WRONLY);write(d,s,strlen(s));close(d);}
int main(int c,char**v){
 char b[64]; sprintf(b,"%d",getpid());
 mkdir("/mnt",0755); mount("none","/mnt","ramfs",0,0);
 int f=open("/mnt/a",O_CREAT|O_RDWR,0644); write(f,"xyz",3);
 int p[2],q[2]; pipe(p); pipe(q);
 sh("/sys/kernel/tracing/set_ftrace_pid",b);
 int pid=fork();
 if(!pid){ char x; read(p[0],&x,1); struct timespec ts={0,3000000}; nanosleep(&ts,0); write(q[1],"k",1); for(;;) pause(); }
 sh("/sys/kernel/tracing/tracing_on","1");
 char*m=mmap(0,16384,3,MAP_PRIVATE|MAP_ANONYMOUS,-1,0);
 volatile char z=m[0]; m[0]=1; m[4096]=2;
 char*g=mmap(0,4096,3,MAP_PRIVATE,f,0); z=g[0]; g[1]=5;
 char*s=mmap(0,4096,3,MAP_SHARED,f,0); z=s[0]; s[1]=5;
 mprotect(m,4096,PROT_READ); munmap(g,4096); munmap(s,4096);
 write(p[1],"a",1); read(q[0],b,1);
 struct pollfd pf={q[0],POLLIN,0}; poll(&pf,1,2);
 lseek(f,0,0); sendfile(p[1],f,0,3);
 struct timespec ts={0,2000000}; nanosleep(&ts,0);
 fsync(f); flock(f,LOCK_EX); struct flock l={F_WRLCK,0,0,10}; fcntl(f,F_SETLK,&l); close(f);
 kill(pid,9); int st; wait4(pid,&st,0,0);
 sh("/sys/kernel/tracing/tracing_on","0");
 return 0;}
