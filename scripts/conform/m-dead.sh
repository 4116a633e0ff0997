# What bash says about processes that a signal has ended, the names of signals, and the shell's limits.
exec 2>&1
sh -c 'kill -TERM $$'; echo $?
sh -c 'kill -KILL $$'; echo $?
sh -c 'kill -KILL $$' | cat; echo $?
true | sh -c 'kill -KILL $$'; echo $?
sh -c 'kill -KILL $$' | sh -c 'kill -KILL $$'; echo $?
false | true | sh -c 'kill -ABRT $$'; echo $?
set -o pipefail
sh -c 'kill -KILL $$' | cat; echo $?
set +o pipefail
x=$(sh -c 'kill -KILL $$'); echo $?
if (kill -KILL $BASHPID); then :; fi
! (kill -34 $BASHPID); echo $?
f() { (kill -SEGV $BASHPID); }
f
f | cat
{ (kill -KILL $BASHPID); } 2>/dev/null
(sh -c 'kill -HUP $$'; echo in $?)
false | true | sh -c 'kill -ABRT $$' &
wait $!; echo $?
sh -c 'kill -KILL $$' &
wait; echo $?
sh -c 'kill -9 $$' &
sleep 0.3
echo two
sleep 5 & kill -9 $!; sleep 0.1; wait $!; echo w $?
sleep 5 & kill -TERM $!; sleep 0.1; echo eight
sleep 9 & kill -RTMIN+1 $!; wait $!
sleep 9 & kill -s RTMAX $!; wait $!
trap 'echo got' RTMIN+2; kill -RTMIN+2 $$; trap
kill -l
kill -l 31 34 35 49 50 51 63 64 129 162
kill -l 65; kill -l 128; kill -l RTMIN+40
kill -l RTMIN SIGRTMIN+1 RTMAX-3 rtmin+2
ulimit -a | grep -v -e pending -e processes
ulimit -c; ulimit; ulimit -S -a | head -3; ulimit -z
ulimit -n 100; ulimit -n; ulimit -Hn; ulimit -n 200; ulimit -n abc; ulimit -c unlimited; ulimit -s 100; ulimit -s; ulimit -f -v
ulimit -n 10; for i in 5 6 7 8 9 10 11; do eval "exec $i</etc/passwd"; done; echo $?
