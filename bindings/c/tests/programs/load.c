/* The library loaded by hand, let go and loaded again: load LIBRARY. */
#include <dlfcn.h>

#include "check.h"

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  CHECK(found != NULL);
  return found;
}

int main(int count, char **arguments) {
  CHECK(count == 2);
  for (int round = 0; round < 3; round++) {
    tw_warden warden = 0;
    tw_answer answer;
    uint32_t (*version)(void);
    tw_status (*open)(const char *, size_t, tw_warden *);
    tw_status (*decide)(tw_warden, const char *, size_t, tw_answer *);
    tw_status (*close)(tw_warden);
    void (*release)(tw_answer *);
    void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
    CHECK(library != NULL);
    /* POSIX: a function's address in a pointer to void. */
    *(void **)&version = symbol(library, "tw_abi_version");
    *(void **)&open = symbol(library, "tw_open");
    *(void **)&decide = symbol(library, "tw_decide");
    *(void **)&close = symbol(library, "tw_close");
    *(void **)&release = symbol(library, "tw_free");
    CHECK(version() == TW_ABI_VERSION);
    CHECK(open(TEXT(DANGEROUS), &warden) == TW_STATUS_OK);
    CHECK(decide(warden, TEXT(DELETE), &answer) == TW_STATUS_OK && answer.verdict == TW_VERDICT_ASK);
    release(&answer);
    /* Every other time it stays open: its threads run on while nobody holds the library. */
    if (round % 2 == 0) CHECK(close(warden) == TW_STATUS_OK);
    CHECK(dlclose(library) == 0);
  }
  puts("load: fine");
  return 0;
}
