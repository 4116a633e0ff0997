#!/bin/bash
# Transcript: every line below is shown behind "$ " and run; a status other than 0 is shown as "[exit N]".
exec 2>&1; cd /sys/kernel/tracing || exit 1
while IFS= read -r l <&9; do
  case $l in ""|"#"*) echo "$l"; continue;; esac
  printf "\$ %s\n" "$l"; eval "$l"; rc=$?; [ $rc = 0 ] || echo "[exit $rc]"
done 9<<'EOF'
t() { L=$2; echo "[$2]"; echo > error_log; printf '%s\n' "$2" >> events/$1/trigger || echo "  exit $?"; grep . error_log; grep '^hist' events/$1/trigger; return 0; }
x() { echo "!${2:-$L}" >> events/$1/trigger; grep '^[^#]' events/$1/trigger; return 0; }
R=syscalls/sys_enter_read
F=' if count == 7777 || count == 7001 || count == 7002 || count == 7013'
d() { while [ $# -gt 0 ]; do dd if=/dev/zero of=/dev/null bs=$1 count=$2 status=none; shift 2; done; }
s() { echo "[$1]"; echo > error_log; printf '%s\n' "$1" >> synthetic_events || echo "  exit $?"; grep . error_log; return 0; }
## variables
t $R "hist:keys=count:a=count$F"; d 7777 2; tail -6 events/$R/hist; x $R
t $R "hist:keys=count:a=count,b=fd:c=5:vals=fd:sort=fd$F"; x $R
t $R "hist:keys=count:a=count:b=\$a+1$F"; x $R
t $R "hist:keys=count:a=count.hex:b=common_pid.execname:c=common_cpu:d=common_timestamp.usecs$F"; x $R
t $R "hist:keys=count:a=count.log2$F"
t $R "hist:keys=count:a=count.buckets=5$F"
t $R "hist:keys=count:a=buf.sym$F"; x $R
t $R "hist:keys=count:a=buf.sym-offset:b=count.syscall$F"; x $R
t $R "hist:keys=count:a=count.percent$F"
t $R "hist:keys=count:vals=count.syscall$F"
t $R "hist:keys=count:vals=common_pid.execname$F"; x $R
t $R "hist:keys=count:a=stacktrace$F"
t $R "hist:keys=count:a=$F"
t $R "hist:keys=count:=count$F"; x $R
t $R "hist:keys=count:a,b=count$F"
t $R "hist:keys=count:a=b=count$F"
t $R "hist:keys=count:a=count,$F"
t $R "hist:keys=\$a$F"
t $R "hist:keys=count:a=count:keys=\$a$F"; x $R
t $R "hist:keys=count:a=count:vals=\$a$F"; x $R
t $R "hist:keys=count:a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=10,k=11,l=12,m=13,n=14,o=15,p=16$F"; x $R
t $R "hist:keys=count:a=1,b=2,c=3,d=4,e=5,f=6,g=7,h=8,i=9,j=10,k=11,l=12,m=13,n=14,o=15,p=16,q=17$F"; x $R
t $R "hist:keys=count:clock=local:a=common_timestamp$F"; cat trace_clock; x $R
t $R "hist:keys=count:clock=nosuch:a=common_timestamp$F"
t $R "hist:keys=count:clock=nosuch$F"; x $R
t $R "hist:keys=count:clock= counter :a=common_timestamp.usecs$F"; cat trace_clock; d 7777 1; tail -6 events/$R/hist; x $R; echo local > trace_clock
## expressions
e() { t $R "hist:keys=count:v=$1$F"; if grep -q '^hist' events/$R/trigger; then x $R; fi; }
e count+fd; e count-fd; e 'count*2'; e count/2; e count/3; e count/fd; e -count; e '-(count)'; e '-(count+1)'; e '-(count)+1'; e 1+2; e 10-3; e 6/2; e '6*7'; e 7/0; e count/0; e count+; e +count; e count--fd; e 'count+-(fd)'; e 1+2+3; e 1+2+3+4; e 1+2+3+4+5; e count+1+2; e count+1+2+3; e count+1+2+3+4; e 100/10/2; e 14-7-5; e '2*3+4*5'; e '2+3*4'; e 0x10+010; e 5x; e 1.5; e count.hex+1; e common_timestamp-5; e common_timestamp.usecs-5; e common_timestamp.usecs+common_timestamp; e common_timestamp.usecs-count; e count+nosuch; e 'nosuch*2'; e count/2000000; e 'count%2'; e '(count)'; e 'count+(fd)'; e '$v+1'; e 'count/1000'
t sched/sched_switch 'hist:keys=prev_pid:v=prev_comm+1'
t sched/sched_switch 'hist:keys=prev_pid:v=-(prev_comm)'
t sched/sched_switch 'hist:keys=prev_pid:v=prev_comm'; x sched/sched_switch
t sched/sched_switch 'hist:keys=prev_comm+1'
t raw_syscalls/sys_enter 'hist:keys=args'
t raw_syscalls/sys_enter 'hist:keys=id:vals=args'
t $R "hist:keys=count/1000,count/2048:vals=count/1000$F"; d 7777 3 7001 2; cat events/$R/hist; x $R
## references
t $R "hist:keys=common_pid:a=count,b=fd$F"; A=$L
t syscalls/sys_exit_read 'hist:keys=common_pid:c=$a+1:d=$b'; cat events/syscalls/sys_exit_read/trigger; x $R "$A"; x syscalls/sys_exit_read
t syscalls/sys_exit_read 'hist:keys=common_pid:c=$a,d=ret-$a:vals=ret if ret == 7777'; d 7777 2; grep -a hitcount events/syscalls/sys_exit_read/hist | sed 's/pid: *[0-9]*/pid: N/'; x syscalls/sys_exit_read
t syscalls/sys_exit_read 'hist:keys=common_pid:c=$nosuch'
t syscalls/sys_exit_read 'hist:keys=common_pid:c=syscalls.sys_enter_read.$a'; x syscalls/sys_exit_read
t syscalls/sys_exit_read 'hist:keys=common_pid:c=syscalls.sys_enter_write.$a'
t syscalls/sys_exit_read 'hist:keys=common_pid:c=syscalls.sys_enter_read.$nosuch'
t syscalls/sys_exit_read 'hist:keys=common_pid:c=a.b.c'
t syscalls/sys_exit_read 'hist:keys=common_pid:vals=$a'; x syscalls/sys_exit_read
t syscalls/sys_enter_write 'hist:keys=common_pid:a=count'; B=$L
t syscalls/sys_exit_read 'hist:keys=common_pid:c=$a'
t syscalls/sys_exit_read 'hist:keys=common_pid:c=syscalls.sys_enter_write.$a'; x syscalls/sys_enter_write "$B"; echo > events/syscalls/sys_enter_write/trigger; cat events/syscalls/sys_enter_write/trigger; x syscalls/sys_exit_read
x syscalls/sys_enter_write "$B"; x $R "$A"
t $R "hist:keys=common_pid:a=count"; t $R "hist:keys=fd:a=count"; t $R "hist:keys=fd:b=\$a"; echo > events/$R/trigger; cat events/$R/trigger
## synthetic events
s 'l u64 v; pid_t pid'
s 'n u64 v; char comm[16]; char dyn[]; s8 a; u8 b; s16 c; u16 d; s32 e; u32 f; s64 g; bool h; gfp_t i; unsigned int j; unsigned long k; unsigned char m; char o; long p; int q'
cat synthetic_events; cat dynamic_events; cat events/synthetic/n/format events/synthetic/l/id events/synthetic/l/enable
s 'bad unsigned x'
s 'bad unsigned'
s 'bad unsigned char'
s 'bad u64 1x'
s 'bad u64 x-y'
s 'bad char c[300]'
s 'bad char c[256]'; s '!bad'
s 'bad char c[16'
s 'bad char c[16]x'
s 'bad char c[1000]'
s 'bad char c[x]'
s 'bad u64 c[4]'
s 'bad int c[]'
s 'bad;'
s ' spaces   u64   x ;  s32  y  ; '; tail -1 synthetic_events; s '!spaces nonsense'
s 'bad u64 x u64 y'; tail -1 synthetic_events; s '!bad'
s 'bad struct x'
s '!'
s '# comment'
s ''
s 'a u64 x # comment'; s '!a'
s 'bad+ u64 x'
s '1bad u64 x'
printf 'm1 u64 x\nm2 u64 y\nm3\nm4 u64 z\n' >> synthetic_events; cat synthetic_events | tail -2; s '!m1'; s '!m2'
s "many $(for i in $(seq 1 64); do printf 'u8 f%d; ' $i; done)"; s '!many'
s "many $(for i in $(seq 1 65); do printf 'u8 f%d; ' $i; done)"
dy() { echo "[$1]"; echo > error_log; printf '%s\n' "$1" >> dynamic_events || echo "  exit $?"; grep . error_log; return 0; }
dy 's:dy u64 x'; dy 's:synthetic/dz u64 x'; dy 's:other/dw u64 x'; dy 's:dv'; dy 's: u64 x'; dy 's:synthetic/ u64 x'; dy 's:bad x'; dy 's bad u64 x'; cat dynamic_events; dy '-:dy'; dy '-:synthetic/dz'; dy '-:nosuch'; dy '-:l'; cat synthetic_events; s 'l u64 v; pid_t pid'
echo 'p:kp do_sys_openat2' >> kprobe_events; dy 's:last u64 x'; dy 'p:kp2 vfs_read'; cat dynamic_events kprobe_events synthetic_events; dy '-:last'; echo > kprobe_events; cat dynamic_events
ls events/synthetic; echo 1 > events/synthetic/enable; cat events/synthetic/l/enable; echo > synthetic_events; s '!l'; echo 0 > events/synthetic/enable; cat set_event; s 'lt u64 v; pid_t pid'; s 'rt s64 v; s32 pid'; echo 'v > 5' > events/synthetic/l/filter; cat events/synthetic/l/filter; echo 0 > events/synthetic/l/filter
## actions
W=syscalls/sys_exit_read
t $R "hist:keys=common_pid:ts=common_timestamp.usecs,c=count$F"; A=$L
a() { t $W "hist:keys=common_pid:$1"; if grep -q '^hist' events/$W/trigger; then x $W; fi; }
a 'v=ret:onmatch(syscalls.sys_enter_read).lt($v,common_pid)'
a 'v=ret:onmatch(syscalls.sys_enter_read).trace(lt,$v,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt($c,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt(syscalls.sys_enter_read.$c,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt(count,common_pid)'; cat events/$R/trigger
a 'onmatch(syscalls.sys_enter_read).lt(syscalls.sys_enter_read.count,common_pid)'; cat events/$R/trigger
a 'onmatch(syscalls.sys_enter_read).lt(ret,common_pid)'
a 'v=ret,p=common_pid:onmatch(syscalls.sys_enter_read).rt($v,$p)'
a 'v=ret,p=common_pid:onmatch(syscalls.sys_enter_read).trace(rt,$v,$p)'
a 'p=common_pid:onmatch(syscalls.sys_enter_read).lt($c,$p)'
a 'v=ret,p=common_pid:onmax($v).trace(rt,$v,$p)'
a 'v=ret,p=common_pid:onchange($v).rt($v,$p):onmax($p).save(ret)'
a 'p=common_pid:onmatch(syscalls.sys_enter_read).trace(lt,syscalls.sys_enter_read.count,$p)'; cat events/$R/trigger
a 'onmatch(syscalls.sys_enter_read).lt($c)'
a 'onmatch(syscalls.sys_enter_read).lt($c,common_pid,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt(common_pid,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt($nosuch,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt(nosuch,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt(a.b,common_pid)'
a 'onmatch(syscalls.sys_enter_read).lt()'
a 'onmatch(syscalls.sys_enter_read).l'
a 'onmatch(syscalls.sys_enter_read)'
a 'onmatch(syscalls.sys_enter_read).trace()'
a 'onmatch(syscalls.sys_enter_read).trace(lt)'
a 'onmatch(syscalls.sys_enter_read).trace(nosuch,$c)'
a 'onmatch(syscalls.sys_enter_read).nosuch($c)'
a 'onmatch(syscalls.sys_enter_read).lt(x,y)'
a 'onmatch(syscalls.sys_enter_read).save(ret)'
a 'onmatch(syscalls.sys_enter_read).snapshot()'
a 'onmatch(syscalls).lt($c)'
a 'onmatch(syscalls.nosuch).lt($c)'
a 'onmatch(.).lt($c)'
a 'onmatch(syscalls.sys_enter_read'
a 'onmax(ret).save(ret)'
a 'onmax($nosuch).save(ret)'
a 'm=ret:onmax($m).save(nosuch)'
a 'm=ret:onmax($m).save(ret,__syscall_nr,common_pid)'
a 'm=ret:onmax($m).save()'
a 'm=ret:onmax($m).save(ret'
a 'm=ret:onmax($m)'
a 'm=ret:onmax($m).'
a 'm=ret:onmax($m).save(ret):onmax($m).save(ret)'
a 'm=ret:onmax($m).save(ret):onchange($m).snapshot()'
a 'm=ret:onmax($m).save(ret):onchange($m).save(common_pid)'
a 'm=ret:onmax($m).snapshot(x)'
a 'm=ret:onmax($m).snapshot('
a 'm=ret:onmax($m).snapshot():onmax($m).snapshot()'
a 'm=ret:onmax($m).lt($m,common_pid)'
a 'm=ret:onchange($m).trace(lt,$m,common_pid)'
a 'm=ret:onchange($m).save(ret):onmatch(syscalls.sys_enter_read).lt($m,common_pid)'
a 'onsomething(x).lt(y)'
a 'a=1:onmax($a).save(ret):b=2'
x $R "$A"
## values
t $R "hist:keys=common_pid:c=count,m=common_pid.execname$F"
t $W 'hist:keys=common_pid:p=common_pid:v=$c-5:onmatch(syscalls.sys_enter_read).trace(lt,$v,$p):onmax($v).save(ret) if ret > 0'; C=$L
t synthetic/lt 'hist:keys=v:vals=v'; echo 1 > events/synthetic/lt/enable; echo > trace; d 7777 2 7001 3; echo 0 > events/synthetic/lt/enable; grep -v '^#' trace | sed 's/pid=[0-9]*/pid=N/'; cat events/synthetic/lt/hist; grep -a -A1 hitcount events/$W/hist | sed 's/common_pid: *[0-9]*/common_pid: N/'
s '!lt'; echo > synthetic_events; x synthetic/lt; s '!lt'; x $W "$C"; s '!lt'
t $W 'hist:keys=common_pid:onmatch(syscalls.sys_enter_read).trace(n,$c,$m,$m,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret,ret)'
s '!n'; s 'nn u64 v; char comm[]; pid_t pid; s64 ret'; t $W 'hist:keys=common_pid:p=common_pid,r=ret:onmatch(syscalls.sys_enter_read).trace(nn,$c,$m,$p,$r) if ret > 0'; echo 1 > events/synthetic/nn/enable; echo > trace; d 7777 2; echo 0 > events/synthetic/nn/enable; grep -v '^#' trace | sed 's/pid=[0-9]*/pid=N/'; x $W
s '!nn'; s 'no u64 v; char comm[16]'; t $W 'hist:keys=common_pid:onmatch(syscalls.sys_enter_read).trace(no,$c,$m)'; x $W
s 'sw char comm[16]; pid_t pid; int prio'; t sched/sched_process_exit 'hist:keys=pid:p=prio:onchange($p).trace(sw,comm,pid,prio) if comm == "true"'; echo 1 > events/synthetic/sw/enable; echo > trace; /bin/true; /bin/true; echo 0 > events/synthetic/sw/enable; grep -v '^#' trace | sed 's/pid=[0-9]*/pid=N/'; cat events/synthetic/sw/format; x sched/sched_process_exit; echo > synthetic_events; cat synthetic_events
## snapshots
t sched/sched_process_exit 'hist:keys=comm:p=prio:onmax($p).snapshot() if comm == "true"'; echo 1 > events/sched/sched_process_exit/enable; echo > trace; /bin/true; cat snapshot | grep -v '^#' | tail -1 | sed 's/pid=[0-9]*/pid=N/'; cat events/sched/sched_process_exit/hist; echo 1 > snapshot; echo 2 > snapshot; echo 0 > snapshot; t sched/sched_switch 'hist:keys=prev_pid:p=prev_prio:onmax($p).snapshot()'; x sched/sched_process_exit 'hist:keys=comm:p=prio:onmax($p).snapshot() if comm == "true"'; echo 1 > snapshot; echo 0 > snapshot; echo 0 > events/sched/sched_process_exit/enable
EOF
