package kernel

import "fmt"

// Errno is a Linux error number, positive. Its text is that of glibc's strerror, as every command prints it.
type Errno int

// The errors of asm-generic/errno-base.h and errno.h that the guest or a tool can return.
const (
	EPERM         Errno = 1
	ENOENT        Errno = 2
	ESRCH         Errno = 3
	EINTR         Errno = 4
	EIO           Errno = 5
	ENXIO         Errno = 6
	E2BIG         Errno = 7
	ENOEXEC       Errno = 8
	EBADF         Errno = 9
	ECHILD        Errno = 10
	EAGAIN        Errno = 11
	ENOMEM        Errno = 12
	EACCES        Errno = 13
	EFAULT        Errno = 14
	ENOTBLK       Errno = 15
	EBUSY         Errno = 16
	EEXIST        Errno = 17
	EXDEV         Errno = 18
	ENODEV        Errno = 19
	ENOTDIR       Errno = 20
	EISDIR        Errno = 21
	EINVAL        Errno = 22
	ENFILE        Errno = 23
	EMFILE        Errno = 24
	ENOTTY        Errno = 25
	ETXTBSY       Errno = 26
	EFBIG         Errno = 27
	ENOSPC        Errno = 28
	ESPIPE        Errno = 29
	EROFS         Errno = 30
	EMLINK        Errno = 31
	EPIPE         Errno = 32
	EDOM          Errno = 33
	ERANGE        Errno = 34
	EDEADLK       Errno = 35
	ENAMETOOLONG  Errno = 36
	ENOSYS        Errno = 38
	ENOTEMPTY     Errno = 39
	ELOOP         Errno = 40
	EOVERFLOW     Errno = 75
	EILSEQ        Errno = 84
	EOPNOTSUPP    Errno = 95
	EADDRNOTAVAIL Errno = 99
	ETIMEDOUT     Errno = 110
	EUCLEAN       Errno = 117
	ECANCELED     Errno = 125
)

// errnos is the one table of names and texts.
var errnos = map[Errno]struct{ name, text string }{
	EPERM:         {"EPERM", "Operation not permitted"},
	ENOENT:        {"ENOENT", "No such file or directory"},
	ESRCH:         {"ESRCH", "No such process"},
	EINTR:         {"EINTR", "Interrupted system call"},
	EIO:           {"EIO", "Input/output error"},
	ENXIO:         {"ENXIO", "No such device or address"},
	E2BIG:         {"E2BIG", "Argument list too long"},
	ENOEXEC:       {"ENOEXEC", "Exec format error"},
	EBADF:         {"EBADF", "Bad file descriptor"},
	ECHILD:        {"ECHILD", "No child processes"},
	EAGAIN:        {"EAGAIN", "Resource temporarily unavailable"},
	ENOMEM:        {"ENOMEM", "Cannot allocate memory"},
	EACCES:        {"EACCES", "Permission denied"},
	EFAULT:        {"EFAULT", "Bad address"},
	ENOTBLK:       {"ENOTBLK", "Block device required"},
	EBUSY:         {"EBUSY", "Device or resource busy"},
	EEXIST:        {"EEXIST", "File exists"},
	EXDEV:         {"EXDEV", "Invalid cross-device link"},
	ENODEV:        {"ENODEV", "No such device"},
	ENOTDIR:       {"ENOTDIR", "Not a directory"},
	EISDIR:        {"EISDIR", "Is a directory"},
	EINVAL:        {"EINVAL", "Invalid argument"},
	ENFILE:        {"ENFILE", "Too many open files in system"},
	EMFILE:        {"EMFILE", "Too many open files"},
	ENOTTY:        {"ENOTTY", "Inappropriate ioctl for device"},
	ETXTBSY:       {"ETXTBSY", "Text file busy"},
	EFBIG:         {"EFBIG", "File too large"},
	ENOSPC:        {"ENOSPC", "No space left on device"},
	ESPIPE:        {"ESPIPE", "Illegal seek"},
	EROFS:         {"EROFS", "Read-only file system"},
	EMLINK:        {"EMLINK", "Too many links"},
	EPIPE:         {"EPIPE", "Broken pipe"},
	EDOM:          {"EDOM", "Numerical argument out of domain"},
	ERANGE:        {"ERANGE", "Numerical result out of range"},
	EDEADLK:       {"EDEADLK", "Resource deadlock avoided"},
	ENAMETOOLONG:  {"ENAMETOOLONG", "File name too long"},
	ENOSYS:        {"ENOSYS", "Function not implemented"},
	ENOTEMPTY:     {"ENOTEMPTY", "Directory not empty"},
	ELOOP:         {"ELOOP", "Too many levels of symbolic links"},
	EOVERFLOW:     {"EOVERFLOW", "Value too large for defined data type"},
	EILSEQ:        {"EILSEQ", "Invalid or incomplete multibyte or wide character"},
	EOPNOTSUPP:    {"EOPNOTSUPP", "Operation not supported"},
	EADDRNOTAVAIL: {"EADDRNOTAVAIL", "Cannot assign requested address"},
	ETIMEDOUT:     {"ETIMEDOUT", "Connection timed out"},
	EUCLEAN:       {"EUCLEAN", "Structure needs cleaning"},
	ECANCELED:     {"ECANCELED", "Operation canceled"},
}

func (e Errno) Error() string {
	if row, ok := errnos[e]; ok {
		return row.text
	}
	return fmt.Sprintf("Unknown error %d", int(e))
}

// Name is the symbolic name, "ENOENT".
func (e Errno) Name() string {
	if row, ok := errnos[e]; ok {
		return row.name
	}
	return fmt.Sprintf("E%d", int(e))
}

// Ret is the value that a system call or gate returns for e: -e as a register.
func (e Errno) Ret() uint64 { return uint64(-int64(e)) }

// maxErrno is MAX_ERRNO of include/linux/err.h: returns from -4095 to -1 are errors.
const maxErrno = 4095

// RetError splits a register returned by guest code as IS_ERR_VALUE does.
func RetError(ret uint64) (int64, error) {
	if v := int64(ret); v < 0 && v >= -maxErrno {
		return 0, Errno(-v)
	}
	return int64(ret), nil
}
