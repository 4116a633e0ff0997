#pragma once
struct new_utsname { char sysname[65], nodename[65], release[65], version[65], machine[65], domainname[65]; };
extern struct new_utsname init_uts;
extern const char linux_banner[];
