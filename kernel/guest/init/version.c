/* Who we are (init/version.c). The release names Linux's level that this kernel follows. */
#include "types.h"
#include "utsname.h"
#define UTS_RELEASE "6.1.0-kscope"
#define UTS_VERSION "#1 SMP PREEMPT_DYNAMIC Thu Jan 1 00:00:00 UTC 2026"

struct new_utsname init_uts = { "Linux", "kscope", UTS_RELEASE, UTS_VERSION, "x86_64", "(none)" };
const char linux_banner[] = "Linux version " UTS_RELEASE " (kscope@kscope) (gcc " __VERSION__ ") " UTS_VERSION "\n";
