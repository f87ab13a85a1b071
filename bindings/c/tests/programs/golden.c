/* Vectors from standard input. Before each stand the lengths of its options, its record and its verdict, in decimals on a line. */
#include "check.h"

static char *take(size_t len) {
  char *text = malloc(len + 1);
  CHECK(text != NULL && fread(text, 1, len, stdin) == len);
  text[len] = '\0';
  return text;
}

static tw_verdict word(const char *verdict) {
  if (strstr(verdict, "\",\"verdict\":\"allow\",") != NULL) return TW_VERDICT_ALLOW;
  if (strstr(verdict, "\",\"verdict\":\"ask\",") != NULL) return TW_VERDICT_ASK;
  CHECK(strstr(verdict, "\",\"verdict\":\"deny\",") != NULL);
  return TW_VERDICT_DENY;
}

int main(void) {
  size_t options_len, record_len, verdict_len;
  long vectors = 0, wrong = 0;
  while (scanf("%zu %zu %zu", &options_len, &record_len, &verdict_len) == 3) {
    tw_answer answer;
    CHECK(getchar() == '\n');
    char *options = take(options_len), *record = take(record_len), *verdict = take(verdict_len);
    tw_warden warden = opened(options);
    CHECK(tw_decide(warden, record, record_len, &answer) == TW_STATUS_OK);
    if (answer.len != verdict_len || memcmp(answer.json, verdict, verdict_len + 1) != 0 ||
        answer.verdict != word(verdict)) {
      fprintf(stderr, "%s\nbut here\n%s (%d)\n", verdict, answer.json, (int)answer.verdict);
      wrong++;
    }
    tw_free(&answer);
    CHECK(tw_close(warden) == TW_STATUS_OK);
    free(options);
    free(record);
    free(verdict);
    vectors++;
  }
  CHECK(feof(stdin));
  printf("%ld vectors, %ld wrong\n", vectors, wrong);
  return wrong != 0;
}
