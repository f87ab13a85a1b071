/* What the test programs share. */
#ifndef CHECK_H
#define CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <toolwarden.h>

/* Ends the program where a condition does not hold. */
#define CHECK(condition)                                                              \
  do {                                                                                \
    if (!(condition)) {                                                               \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                        \
    }                                                                                 \
  } while (0)

/* A text and its length, as the functions take them. */
#define TEXT(text) (text), strlen(text)

#define CALL_OF(tool, arguments)                                                             \
  "{\"id\":\"c1\",\"tool\":\"" tool "\",\"arguments\":" arguments ",\"route\":\"direct\","      \
  "\"attendance\":\"interactive\",\"workspace\":{\"root\":\"/\",\"flavour\":\"posix\"}}"

#define LIST CALL_OF("Bash", "{\"command\":\"ls\"}")
#define DELETE CALL_OF("Delete", "{\"path\":\"build\"}")
#define DANGEROUS "{\"profile\":\"dangerous\"}"

/* An answer full of what must not be left in it where a call fails. */
static inline tw_answer garbage(void) {
  tw_answer answer = {TW_VERDICT_ALLOW, (char *)(uintptr_t)0xAAAA, 0xAAAA};
  return answer;
}

static inline int is_clear(const tw_answer *answer) {
  return answer->verdict == TW_VERDICT_DENY && answer->json == NULL && answer->len == 0;
}

/* Whether a text is whole, and holds this. Reads every byte of it. */
static inline int holds(const tw_answer *answer, const char *part) {
  return answer->json != NULL && strlen(answer->json) == answer->len && strstr(answer->json, part) != NULL;
}

/* Whether this thread's last failure has this code. */
static inline int failed_with(const char *code) {
  char part[96];
  tw_answer error;
  int same;
  snprintf(part, sizeof part, "{\"error\":{\"code\":\"%s\"", code);
  CHECK(tw_last_error(&error) == TW_STATUS_OK);
  same = holds(&error, part) && error.verdict == TW_VERDICT_DENY;
  if (!same) fprintf(stderr, "%s\n", error.json);
  tw_free(&error);
  return same;
}

/* The ticket of a question. The quotes of a text are escaped, so in the answer to a question this can be the member only. */
static inline void ticket_of(const tw_answer *answer, char ticket[33]) {
  const char *member;
  CHECK(answer->verdict == TW_VERDICT_ASK);
  member = strstr(answer->json, "\"ticket\":\"");
  CHECK(member != NULL);
  memcpy(ticket, member + strlen("\"ticket\":\""), 32);
  ticket[32] = '\0';
}

static inline tw_warden opened(const char *options) {
  tw_warden warden = 0;
  if (tw_open(TEXT(options), &warden) != TW_STATUS_OK) {
    CHECK(failed_with("no failure at all"));
  }
  CHECK(warden != 0);
  return warden;
}

#endif
