/* What a forked child may do: forks [TIMES]. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static atomic_int stop;
static tw_warden shared;

/* Holds and releases every lock there is, so that a fork comes while some are held. */
static void *busy(void *unused) {
  (void)unused;
  while (!atomic_load(&stop)) {
    tw_answer answer;
    CHECK(tw_invoke(shared, TEXT(DELETE), &answer) == TW_STATUS_OK);
    tw_free(&answer);
    CHECK(tw_close(opened("")) == TW_STATUS_OK);
  }
  return NULL;
}

static void forked(tw_status status, const tw_answer *answer) {
  CHECK(status == TW_STATUS_FORKED && (answer == NULL || is_clear(answer)) && failed_with("forked"));
}

static void child(tw_answer *kept) {
  tw_answer answer = garbage();
  tw_warden warden = 77;
  /* Where it hangs, it fails. */
  alarm(60);
  forked(tw_open(TEXT(""), &warden), NULL);
  CHECK(warden == 0);
  forked(tw_decide(shared, TEXT(LIST), &answer), &answer);
  answer = garbage();
  forked(tw_invoke(shared, TEXT(LIST), &answer), &answer);
  answer = garbage();
  forked(tw_settle(shared, TEXT("0"), TEXT("allowed-once"), &answer), &answer);
  answer = garbage();
  forked(tw_set_tools(shared, TEXT("[]"), &answer), &answer);
  answer = garbage();
  forked(tw_plan(shared, &answer), &answer);
  answer = garbage();
  forked(tw_listed(shared, &answer), &answer);
  answer = garbage();
  forked(tw_stats(shared, &answer), &answer);
  answer = garbage();
  forked(tw_reload(shared, &answer), &answer);
  answer = garbage();
  forked(tw_rollback(shared, &answer), &answer);
  forked(tw_close(shared), NULL);
  CHECK(holds(kept, "\"verdict\":\"allow\""));
  tw_free(kept);
  _exit(0);
}

static void joined(pid_t pid) {
  int status;
  CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(int count, char **arguments) {
  int times = count > 1 ? atoi(arguments[1]) : 20;
  pthread_t threads[3];
  tw_answer kept;
  pid_t pid;

  /* Before the first handle a fork is nothing: a server that forks its workers first opens one in each. */
  pid = fork();
  if (pid == 0) {
    CHECK(tw_close(opened(DANGEROUS)) == TW_STATUS_OK);
    _exit(0);
  }
  joined(pid);

  shared = opened(DANGEROUS);
  CHECK(tw_decide(shared, TEXT(LIST), &kept) == TW_STATUS_OK);
  for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, busy, NULL) == 0);
  for (int i = 0; i < times; i++) {
    pid = fork();
    if (pid == 0) child(&kept);
    joined(pid);
  }
  atomic_store(&stop, 1);
  for (int i = 0; i < 3; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  tw_free(&kept);
  CHECK(tw_decide(shared, TEXT(LIST), &kept) == TW_STATUS_OK && kept.verdict == TW_VERDICT_ALLOW);
  tw_free(&kept);
  CHECK(tw_close(shared) == TW_STATUS_OK);
  puts("forks: fine");
  return 0;
}
