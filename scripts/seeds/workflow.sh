# ftrace-and-kprobe.txt, "Ftrace Operation via tracefs": the complete workflow, with its comments.
#lines ftrace-and-kprobe.txt 26-51
