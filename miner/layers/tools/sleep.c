/*
 * Preloaded before libfaketime. Its clock_nanosleep, up to release 0.9.10, takes every moment to sleep until for one of a
 * faked clock, also where the monotonic clock is left real, and then fails or sleeps for years. Python's time.sleep
 * sleeps that way. Here the monotonic clock goes to the kernel as it is, and a date is turned into a real one.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000LL

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left)
{
    int before = errno;
    struct timespec until = *wanted;
    if (clock == CLOCK_REALTIME && (flags & TIMER_ABSTIME)) {
        struct timespec faked, real;
        clock_gettime(CLOCK_REALTIME, &faked);
        syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
        long long away = (wanted->tv_sec - faked.tv_sec) * SECOND + wanted->tv_nsec - faked.tv_nsec;
        long long moment = real.tv_sec * SECOND + real.tv_nsec + (away > 0 ? away : 0);
        until.tv_sec = moment / SECOND;
        until.tv_nsec = moment % SECOND;
    }
    int failed = syscall(SYS_clock_nanosleep, clock, flags, &until, left) ? errno : 0;
    errno = before;
    return failed;
}
