/* Every function, on every way out: every [ROUNDS] [HABITS]. HABITS is a policy module that misbehaves where it is told to. */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <time.h>

#include "check.h"

typedef tw_status (*asks)(tw_warden, const char *, size_t, tw_answer *);
typedef tw_status (*tells)(tw_warden, tw_answer *);

/* The layout that programs were built with. */
_Static_assert(sizeof(tw_status) == 4 && sizeof(tw_verdict) == 4 && sizeof(tw_warden) == 8, "numbers");
_Static_assert(offsetof(tw_answer, verdict) == 0 && offsetof(tw_answer, json) == sizeof(char *) &&
                   offsetof(tw_answer, len) == 2 * sizeof(char *) && sizeof(tw_answer) == 3 * sizeof(char *),
               "tw_answer");
_Static_assert(TW_STATUS_OK == 0 && TW_VERDICT_DENY == 0 && TW_VERDICT_ASK == 1 && TW_VERDICT_ALLOW == 2, "words");

static const asks ASKS[] = {tw_decide, tw_invoke, tw_set_tools};
static const tells TELLS[] = {tw_plan, tw_listed, tw_stats, tw_reload, tw_rollback};

#define EACH(table) (size_t i = 0; i < sizeof(table) / sizeof *(table); i++)

/* All functions that take a handle refuse this one, and leave nothing behind. */
static void unknown(tw_warden warden) {
  tw_answer answer;
  for EACH(ASKS) {
    answer = garbage();
    CHECK(ASKS[i](warden, TEXT(LIST), &answer) == TW_STATUS_CLOSED);
    CHECK(is_clear(&answer) && failed_with("closed"));
  }
  for EACH(TELLS) {
    answer = garbage();
    CHECK(TELLS[i](warden, &answer) == TW_STATUS_CLOSED);
    CHECK(is_clear(&answer) && failed_with("closed"));
  }
  answer = garbage();
  CHECK(tw_settle(warden, TEXT("0"), TEXT("allowed-once"), &answer) == TW_STATUS_CLOSED);
  CHECK(is_clear(&answer) && failed_with("closed"));
  CHECK(tw_close(warden) == TW_STATUS_CLOSED && failed_with("closed"));
}

static void handles(void) {
  tw_warden first = opened(""), second = opened(DANGEROUS), third;
  CHECK(first != second);
  CHECK(tw_close(first) == TW_STATUS_OK);
  unknown(first);
  /* Its place is used again; the old handle does not come back. */
  third = opened("");
  CHECK(third != first && third != second);
  unknown(first);
  CHECK(tw_close(second) == TW_STATUS_OK && tw_close(third) == TW_STATUS_OK);
  unknown(0);
  unknown(UINT64_MAX);
  unknown((tw_warden)(uintptr_t)&first);
  unknown(second + 1);
}

static void wrong_options(void) {
  static const char *const rows[][2] = {
      {"[]", "bad-options"},
      {"{", "bad-options"},
      {"\xFF", "bad-options"},
      {"{\"profile\":\"off\"}", "bad-options"},
      {"{\"profile\":\"dangerous\",\"profile\":\"dangerous\"}", "bad-options"},
      {"{\"settings\":{\"system\":{\"toolApprovalMode\":\"none\"}}}", "settings-invalid"},
      {"{\"settingsFile\":\"/nowhere/at/all\"}", "settings-invalid"},
      {"{\"module\":\"/nowhere/at/all\"}", "module-unreadable"},
      {"{\"tools\":{\"server\":\"s\",\"tools\":[{\"name\":\"a\"},{\"name\":\"a\"}]}}", "duplicate-tools"},
  };
  tw_warden warden;
  for EACH(rows) {
    warden = 77;
    CHECK(tw_open(TEXT(rows[i][0]), &warden) == TW_STATUS_REFUSED);
    CHECK(warden == 0 && failed_with(rows[i][1]));
  }
  CHECK(tw_open(TEXT(DANGEROUS), NULL) == TW_STATUS_BAD_POINTER && failed_with("bad-pointer"));
  warden = 77;
  CHECK(tw_open(NULL, 1, &warden) == TW_STATUS_BAD_POINTER && warden == 0 && failed_with("bad-pointer"));
  warden = 77;
  CHECK(tw_open("{}", SIZE_MAX, &warden) == TW_STATUS_BAD_POINTER && warden == 0 && failed_with("bad-pointer"));
  CHECK(tw_open(NULL, 0, &warden) == TW_STATUS_OK && tw_close(warden) == TW_STATUS_OK);
}

static void wrong_pointers(tw_warden warden) {
  union {
    tw_answer answers[2];
    char bytes[2 * sizeof(tw_answer)];
  } room;
  tw_answer *crooked;
  memset(&room, 0, sizeof room);
  /* Through an integer: as a cast it would be the compiler's to refuse. */
  crooked = (tw_answer *)((uintptr_t)room.bytes + 1);
  tw_answer *const places[] = {NULL, crooked};
  tw_answer answer;
  for EACH(places) {
    for (size_t j = 0; j < sizeof ASKS / sizeof *ASKS; j++) {
      CHECK(ASKS[j](warden, TEXT(LIST), places[i]) == TW_STATUS_BAD_POINTER && failed_with("bad-pointer"));
    }
    for (size_t j = 0; j < sizeof TELLS / sizeof *TELLS; j++) {
      CHECK(TELLS[j](warden, places[i]) == TW_STATUS_BAD_POINTER && failed_with("bad-pointer"));
    }
    CHECK(tw_settle(warden, TEXT("0"), TEXT("rejected"), places[i]) == TW_STATUS_BAD_POINTER);
    CHECK(tw_last_error(places[i]) == TW_STATUS_BAD_POINTER && failed_with("bad-pointer"));
    tw_free(places[i]);
  }
  for (size_t i = 0; i < sizeof room; i++) CHECK(room.bytes[i] == 0);
  CHECK(tw_open(TEXT(""), (tw_warden *)((uintptr_t)room.bytes + 1)) == TW_STATUS_BAD_POINTER);
  for EACH(ASKS) {
    answer = garbage();
    CHECK(ASKS[i](warden, NULL, 1, &answer) == TW_STATUS_BAD_POINTER && is_clear(&answer));
    answer = garbage();
    CHECK(ASKS[i](warden, LIST, SIZE_MAX, &answer) == TW_STATUS_BAD_POINTER && is_clear(&answer));
    answer = garbage();
    CHECK(ASKS[i](warden, NULL, 0, &answer) == TW_STATUS_REFUSED && is_clear(&answer));
  }
  answer = garbage();
  CHECK(tw_settle(warden, NULL, 1, TEXT("rejected"), &answer) == TW_STATUS_BAD_POINTER && is_clear(&answer));
  answer = garbage();
  CHECK(tw_settle(warden, TEXT("0"), NULL, 1, &answer) == TW_STATUS_BAD_POINTER && is_clear(&answer));
}

static void wrong_calls(tw_warden warden) {
  static const char *const rows[][2] = {
      {"null", "not-a-record"}, {"{}", "missing-field"}, {"\xFF", "not-utf8"}, {"[", "not-json"},
      {"{\"id\":1}", "unknown-field"},
  };
  tw_answer answer;
  /* Every beginning of a call, in memory that ends where it does: read past its end it would be noticed. */
  for (size_t len = 0; len <= strlen(DELETE); len++) {
    char *part = malloc(len + (len == 0));
    CHECK(part != NULL);
    memcpy(part, DELETE, len);
    for (size_t i = 0; i < 2; i++) {
      answer = garbage();
      if (len < strlen(DELETE)) {
        CHECK(ASKS[i](warden, part, len, &answer) == TW_STATUS_REFUSED && is_clear(&answer));
      } else {
        CHECK(ASKS[i](warden, part, len, &answer) == TW_STATUS_OK && answer.verdict == TW_VERDICT_ASK);
        tw_free(&answer);
      }
    }
    free(part);
  }
  for EACH(rows) {
    answer = garbage();
    tw_status status = tw_decide(warden, TEXT(rows[i][0]), &answer);
    CHECK(status == TW_STATUS_REFUSED && is_clear(&answer));
    if (i < 4) CHECK(failed_with(rows[i][1]));
  }
  /* A zero inside is a part of the text, and no end. */
  answer = garbage();
  CHECK(tw_decide(warden, LIST "\0", sizeof LIST "\0" - 1, &answer) == TW_STATUS_REFUSED && is_clear(&answer));
}

static void answers(tw_warden warden) {
  tw_answer answer, again;
  char ticket[33];
  CHECK(tw_decide(warden, TEXT(LIST), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_ALLOW && holds(&answer, "{\"id\":\"c1\",\"verdict\":\"allow\","));
  CHECK(tw_decide(warden, TEXT(LIST), &again) == TW_STATUS_OK);
  CHECK(again.len == answer.len && memcmp(again.json, answer.json, answer.len + 1) == 0);
  tw_free(&again);
  tw_free(&answer);
  CHECK(is_clear(&answer));
  tw_free(&answer);
  tw_free(NULL);

  CHECK(tw_invoke(warden, TEXT(CALL_OF("Nothing", "{}")), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_DENY && holds(&answer, "\"run\":null"));
  tw_free(&answer);

  /* Where others than us put an allow into a text, it is not one. */
  CHECK(tw_invoke(warden, TEXT(CALL_OF("Delete", "{\"path\":\"\\\"verdict\\\":\\\"allow\\\"\"}")), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_ASK);
  ticket_of(&answer, ticket);
  tw_free(&answer);
  answer = garbage();
  CHECK(tw_settle(warden, TEXT(ticket), TEXT("yes"), &answer) == TW_STATUS_REFUSED);
  CHECK(is_clear(&answer) && failed_with("bad-answer"));
  CHECK(tw_settle(warden, TEXT(ticket), "\xFF", 1, &answer) == TW_STATUS_REFUSED && failed_with("bad-answer"));
  CHECK(tw_settle(warden, "\xFF", 1, TEXT("rejected"), &answer) == TW_STATUS_REFUSED && failed_with("unknown-ticket"));
  CHECK(tw_settle(warden, NULL, 0, NULL, 0, &answer) == TW_STATUS_REFUSED && failed_with("bad-answer"));
  CHECK(tw_settle(warden, TEXT(ticket), TEXT("allowed-once"), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_ALLOW && holds(&answer, "\"run\":{\"server\":null,\"tool\":\"Delete\""));
  tw_free(&answer);
  answer = garbage();
  CHECK(tw_settle(warden, TEXT(ticket), TEXT("allowed-once"), &answer) == TW_STATUS_REFUSED);
  CHECK(is_clear(&answer) && failed_with("unknown-ticket"));

  CHECK(tw_invoke(warden, TEXT(DELETE), &answer) == TW_STATUS_OK);
  ticket_of(&answer, ticket);
  tw_free(&answer);
  CHECK(tw_settle(warden, TEXT(ticket), TEXT("rejected"), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_DENY && holds(&answer, "approval-rejected"));
  tw_free(&answer);
}

static void registry(tw_warden warden) {
  tw_answer answer;
  CHECK(tw_set_tools(warden, TEXT("{\"server\":\"s\",\"tools\":[{\"name\":\"a\"}]}"), &answer) == TW_STATUS_OK);
  CHECK(answer.verdict == TW_VERDICT_DENY && holds(&answer, "mcp__s__a"));
  tw_free(&answer);
  answer = garbage();
  CHECK(tw_set_tools(warden, TEXT("{\"tools\":[]}"), &answer) == TW_STATUS_REFUSED);
  CHECK(is_clear(&answer) && failed_with("no-server-name"));
  CHECK(tw_plan(warden, &answer) == TW_STATUS_OK && holds(&answer, "mcp__s__a"));
  tw_free(&answer);
  CHECK(tw_listed(warden, &answer) == TW_STATUS_OK && holds(&answer, "mcp__s__a"));
  tw_free(&answer);
  CHECK(tw_stats(warden, &answer) == TW_STATUS_OK && holds(&answer, "\"verdicts\":{"));
  tw_free(&answer);
}

static void swaps(tw_warden warden) {
  tw_answer answer = garbage();
  CHECK(tw_rollback(warden, &answer) == TW_STATUS_REFUSED && is_clear(&answer) && failed_with("nothing-before"));
  CHECK(tw_reload(warden, &answer) == TW_STATUS_OK && holds(&answer, "\"swapped\":"));
  tw_free(&answer);
}

/* A warden over a module that misbehaves in this way. */
static tw_status misbehaving(const char *module, const char *habit, tw_warden *warden) {
  char options[4096];
  int len = snprintf(options, sizeof options, "{\"module\":\"%s\",\"settings\":{\"module\":{\"settings\":{\"habit\":\"%s\"}}}}",
                     module, habit);
  CHECK(len > 0 && (size_t)len < sizeof options);
  return tw_open(options, (size_t)len, warden);
}

/* A module's traps are signals, which are the library's to catch: they end in a refusal or a denial. */
static void habits(const char *module) {
  static const char *const rows[][2] = {
      {"panic", "module-trapped"},
      {"deep-recursion", "module-stack-overflow"},
      {"memory-hog", "module-out-of-memory"},
      {"endless-loop", "module-deadline-exceeded"},
  };
  tw_warden warden;
  tw_answer answer;
  for EACH(rows) {
    warden = 77;
    CHECK(misbehaving(module, rows[i][0], &warden) == TW_STATUS_REFUSED);
    CHECK(warden == 0 && failed_with(rows[i][1]));
  }
  /* This one is good until it is in force. */
  CHECK(misbehaving(module, "panics-when-told", &warden) == TW_STATUS_OK);
  CHECK(tw_decide(warden, TEXT(LIST), &answer) == TW_STATUS_OK && answer.verdict == TW_VERDICT_ALLOW);
  tw_free(&answer);
  for (int i = 0; i < 3; i++) {
    CHECK(tw_decide(warden, TEXT(CALL_OF("Bash", "{\"command\":\"panic\"}")), &answer) == TW_STATUS_OK);
    CHECK(answer.verdict == TW_VERDICT_DENY && holds(&answer, "module-trapped"));
    tw_free(&answer);
  }
  CHECK(tw_decide(warden, TEXT(LIST), &answer) == TW_STATUS_OK && answer.verdict == TW_VERDICT_ALLOW);
  tw_free(&answer);
  CHECK(tw_close(warden) == TW_STATUS_OK);
}

static int entries(const char *folder) {
  int found = 0;
  DIR *open = opendir(folder);
  CHECK(open != NULL);
  while (readdir(open) != NULL) found++;
  CHECK(closedir(open) == 0);
  return found;
}

/* With the last handle the library's threads end, one tick of their clock later. */
static void alone(void) {
  static const struct timespec millisecond = {0, 1000000};
  for (int i = 0; i < 60000; i++) {
    if (entries("/proc/self/task") == 3) return; /* one thread, `.` and `..` */
    nanosleep(&millisecond, NULL);
  }
  CHECK(!"a thread lives on");
}

int main(int count, char **arguments) {
  int rounds = count > 1 ? atoi(arguments[1]) : 1, files = 0;
  tw_answer answer = garbage();
  CHECK(tw_abi_version() == TW_ABI_VERSION);
  CHECK(tw_last_error(&answer) == TW_STATUS_OK && holds(&answer, "{\"error\":null}"));
  tw_free(&answer);
  unknown(0);
  unknown(1);
  for (int round = 0; round < rounds; round++) {
    tw_warden warden = opened(DANGEROUS);
    answers(warden);
    swaps(warden);
    registry(warden);
    wrong_calls(warden);
    wrong_pointers(warden);
    CHECK(tw_close(warden) == TW_STATUS_OK);
    handles();
    wrong_options();
    if (count > 2) habits(arguments[2]);
    alone();
    if (round == 0) files = entries("/proc/self/fd");
    CHECK(entries("/proc/self/fd") == files);
  }
  puts("every function: fine");
  return 0;
}
