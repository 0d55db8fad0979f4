/* Loaded before a test program of Rust (LD_PRELOAD): tells on descriptor 3, behind the word that standard input begins
   with, that the program's main function has come to its end with code 0. libtest's does if every test that it ran
   passed; a program that is ended from elsewhere never gets there. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD 32
typedef int Main(int, char **, char **);
typedef int Start(Main *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);
static Main *product;
static char word[WORD + 1];

static int recorded(int count, char **arguments, char **environment)
{
    int code = product(count, arguments, environment);
    if (code == 0)
        dprintf(3, "%s {\"t\": \"done\"}\n", word);
    return code;
}

int __libc_start_main(Main *own, int count, char **arguments, void (*init)(void), void (*fini)(void),
                      void (*loader)(void), void *stack)
{
    char *others = getenv("LD_PRELOAD"), end;
    product = own;
    if (read(0, word, WORD) != WORD || read(0, &end, 1) != 1)
        _exit(70);
    fcntl(3, F_SETFD, FD_CLOEXEC);
    if (others && (others = strchr(others, ' ')))
        setenv("LD_PRELOAD", others + 1, 1);
    else
        unsetenv("LD_PRELOAD");
    return ((Start *)dlsym(RTLD_NEXT, "__libc_start_main"))(recorded, count, arguments, init, fini, loader, stack);
}
