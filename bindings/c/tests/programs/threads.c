/* Many threads on the same handles: threads [THREADS] [CALLS]. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { MOST = 64 };

static int calls;
static tw_warden shared;
/* Opened and closed by the first thread while the others use it. */
static _Atomic tw_warden fleeting;
static tw_answer expected;
static atomic_long asked, lost;

static void decide(void) {
  tw_answer answer;
  CHECK(tw_decide(shared, TEXT(DELETE), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_ASK && answer.len == expected.len);
  CHECK(memcmp(answer.json, expected.json, expected.len + 1) == 0);
  tw_free(&answer);
}

static void settle(int i) {
  tw_answer answer;
  char ticket[33];
  CHECK(tw_invoke(shared, TEXT(DELETE), &answer) == TW_STATUS_OK);
  ticket_of(&answer, ticket);
  tw_free(&answer);
  CHECK(tw_settle(shared, TEXT(ticket), TEXT(i % 2 ? "allowed-once" : "rejected"), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == (i % 2 ? TW_VERDICT_ALLOW : TW_VERDICT_DENY));
  tw_free(&answer);
}

/* Either there is the answer, or the handle is closed; never anything else. */
static void race(void) {
  tw_answer answer = garbage();
  tw_status status = tw_decide(atomic_load(&fleeting), TEXT(DELETE), &answer);
  if (status == TW_STATUS_OK) {
    CHECK(answer.verdict == TW_VERDICT_ASK && answer.len == expected.len);
    atomic_fetch_add(&asked, 1);
    tw_free(&answer);
  } else {
    CHECK(status == TW_STATUS_CLOSED && is_clear(&answer) && failed_with("closed"));
    atomic_fetch_add(&lost, 1);
  }
}

static void *run(void *first) {
  for (int i = 0; i < calls; i++) {
    decide();
    race();
    if (i % 4 == 0) settle(i / 4);
    if (i % 16 == 0) {
      tw_answer answer;
      CHECK(tw_stats(shared, &answer) == TW_STATUS_OK && holds(&answer, "\"verdicts\":{"));
      tw_free(&answer);
      CHECK(tw_decide(shared, TEXT("{}"), &answer) == TW_STATUS_REFUSED && failed_with("missing-field"));
    }
    if (first != NULL && i % 64 == 0) {
      tw_warden old = atomic_load(&fleeting);
      CHECK(tw_close(old) == TW_STATUS_OK);
      /* For a while others find it closed. */
      CHECK(tw_close(old) == TW_STATUS_CLOSED);
      atomic_store(&fleeting, opened(DANGEROUS));
    }
  }
  return NULL;
}

int main(int count, char **arguments) {
  int threads = count > 1 ? atoi(arguments[1]) : 16;
  pthread_t ids[MOST];
  tw_answer answer;
  calls = count > 2 ? atoi(arguments[2]) : 1000;
  CHECK(threads > 0 && threads <= MOST);
  shared = opened(DANGEROUS);
  atomic_store(&fleeting, opened(DANGEROUS));
  CHECK(tw_decide(shared, TEXT(DELETE), &expected) == TW_STATUS_OK);
  for (int i = 0; i < threads; i++) CHECK(pthread_create(&ids[i], NULL, run, i == 0 ? &ids : NULL) == 0);
  for (int i = 0; i < threads; i++) CHECK(pthread_join(ids[i], NULL) == 0);

  /* All questions are answered, and nothing was lost. */
  CHECK(tw_stats(shared, &answer) == TW_STATUS_OK && holds(&answer, "\"pending\":0"));
  tw_free(&answer);
  tw_free(&expected);
  CHECK(tw_close(shared) == TW_STATUS_OK && tw_close(atomic_load(&fleeting)) == TW_STATUS_OK);
  CHECK(atomic_load(&asked) + atomic_load(&lost) == (long)threads * calls);
  printf("%d threads, %d rounds each: fine; %ld times the handle was closed\n", threads, calls, atomic_load(&lost));
  return 0;
}
