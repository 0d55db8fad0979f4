/* Loaded before a test program of Rust (LD_PRELOAD), which is started once and runs each test in a copy of itself. For each
   message on standard input, a socket (a word, and the program's arguments, each with a NUL behind it), the program forks
   before its first line; the copy goes on with these arguments, and its wait status is sent back. On descriptor 3 a copy
   tells, behind the word, that its main function has come to its end with code 0. libtest's does if every test that it ran
   passed; a program that is ended from elsewhere never gets there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define LONGEST 65536
#define MOST 64
typedef int Main(int, char **, char **);
typedef int Start(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
static Main *product;
static char asked[LONGEST];

static int recorded(int count, char **arguments, char **environment)
{
    int code = product(count, arguments, environment);
    if (code == 0)
        dprintf(3, "%s {\"t\": \"done\"}\n", asked);
    return code;
}

static void serve(void)
{
    for (;;) {
        ssize_t length = recv(0, asked, LONGEST - 1, 0);
        int status = 70 << 8;
        pid_t copy;
        if (length <= 0)
            _exit(length < 0 ? 70 : 0);
        asked[length] = 0;
        copy = fork();
        if (copy == 0)
            return;
        while (copy > 0 && waitpid(copy, &status, 0) < 0 && errno == EINTR)
            ;
        send(0, &status, sizeof status, MSG_NOSIGNAL);
    }
}

int __libc_start_main(Main *own, int count, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void *stack)
{
    static char *words[MOST];
    char *others = getenv("LD_PRELOAD"), *word;
    int number, empty;
    product = own;
    fcntl(3, F_SETFD, FD_CLOEXEC);
    if (others && (others = strchr(others, ' ')))
        setenv("LD_PRELOAD", others + 1, 1);
    else
        unsetenv("LD_PRELOAD");
    prctl(PR_SET_DUMPABLE, 0);
    serve();
    prctl(PR_SET_DUMPABLE, 1);
    empty = open("/dev/null", O_RDONLY);
    if (empty < 0 || dup2(empty, 0) < 0)
        _exit(70);
    close(empty);
    words[0] = arguments[0];
    word = asked + strlen(asked) + 1;
    for (number = 1; *word && number < MOST - 1; number++, word += strlen(word) + 1)
        words[number] = word;
    return ((Start *)dlsym(RTLD_NEXT, "__libc_start_main"))(recorded, number, words, init, fini, loader, stack);
}
