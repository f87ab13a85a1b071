/* Toolwarden as a C library. See bindings/c/README.md. */

#ifndef TOOLWARDEN_H
#define TOOLWARDEN_H

/* Written by cbindgen: `make -C bindings/c header` after src/ has changed. */

#include <stddef.h>
#include <stdint.h>

/**
 * The version of the ABI that this header describes. It is counted up when a program that was built before would not run any
 * more, and the shared library's name with it.
 */
#define TW_ABI_VERSION 1

/**
 * What became of a call into the library.
 *
 * TW_STATUS_OK means that there is an answer, not that it is a yes. All other values mean that there is none, and no answer is
 * no permission. tw_last_error says more.
 */
enum tw_status
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * There is an answer.
   */
  TW_STATUS_OK = 0,
  /**
   * A pointer is NULL or misaligned, or a length is larger than any object.
   */
  TW_STATUS_BAD_POINTER = 1,
  /**
   * There is no such handle: it was closed, or never opened.
   */
  TW_STATUS_CLOSED = 2,
  /**
   * This process was forked off from the one that opened the library's first handle. Nothing works here but tw_last_error and
   * tw_free.
   */
  TW_STATUS_FORKED = 3,
  /**
   * What was handed over was refused: options, a call, a ticket, a list of tools, a policy module.
   */
  TW_STATUS_REFUSED = 4,
  /**
   * The library itself failed.
   */
  TW_STATUS_FAILED = 5,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tw_status tw_status;
#else
typedef int32_t tw_status;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * The word of a verdict, so that no host has to look for it in a text. Zeroed memory is a denial.
 */
enum tw_verdict
#if defined(__cplusplus) || __STDC_VERSION__ >= 202311L
  : int32_t
#endif // defined(__cplusplus) || __STDC_VERSION__ >= 202311L
 {
  /**
   * It may not run. Also where there is no verdict.
   */
  TW_VERDICT_DENY = 0,
  /**
   * A person must be asked first.
   */
  TW_VERDICT_ASK = 1,
  /**
   * It may run.
   */
  TW_VERDICT_ALLOW = 2,
};
#ifndef __cplusplus
#if __STDC_VERSION__ >= 202311L
typedef enum tw_verdict tw_verdict;
#else
typedef int32_t tw_verdict;
#endif // __STDC_VERSION__ >= 202311L
#endif // __cplusplus

/**
 * A handle of a warden. Zero is none.
 */
typedef uint64_t tw_warden;

/**
 * An answer. The caller owns it: tw_free gives its text back.
 *
 * Every function that takes one clears it first, without freeing what it held, so it needs no initial value and must be freed
 * before it is used again. On any status but TW_STATUS_OK it stays cleared.
 */
typedef struct tw_answer {
  /**
   * The word of the verdict. TW_VERDICT_DENY where the answer is none.
   */
  tw_verdict verdict;
  /**
   * JSON in UTF-8, with a zero behind it that does not count. NULL where there is no answer.
   */
  char *json;
  /**
   * Bytes of the text.
   */
  size_t len;
} tw_answer;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/**
 * The version of the ABI that the loaded library has. Compare it with TW_ABI_VERSION where you load the library yourself.
 */
uint32_t tw_abi_version(void);

/**
 * Opens a warden: a policy in force, a registry of tools, and the questions that wait.
 *
 * `options` is a JSON object, or empty: everything off. Any thread may use the handle, many at once. It is zero, which is no
 * handle, where the status is not TW_STATUS_OK.
 *
 * `options` points to `options_len` bytes, or is NULL with a length of zero; `warden` points to room for a handle.
 */
tw_status tw_open(const char *options, size_t options_len, tw_warden *warden);

/**
 * The verdict on a call: a `decide` record in, the line that `decide` writes out. Nothing is run and no file is looked at.
 *
 * `call` points to `call_len` bytes; `answer` points to room for one.
 */
tw_status tw_decide(tw_warden warden, const char *call, size_t call_len, struct tw_answer *answer);

/**
 * The verdict on a call that is to run now, and what follows from it.
 *
 * Links are followed on this machine, and what nobody has registered does not run. The answer is that of tw_decide and three
 * members more: `run` is what to run where the verdict is `allow`, that and nothing else; `result` is there in its place for
 * the bridge tools that are answered here; `ticket` is there where it is `ask`, and tw_settle takes it.
 *
 * `call` points to `call_len` bytes; `answer` points to room for one.
 */
tw_status tw_invoke(tw_warden warden, const char *call, size_t call_len, struct tw_answer *answer);

/**
 * What becomes of a call after a person's word: `allowed-once`, `rejected`, `cancelled`, `timed-out` or `unavailable`.
 *
 * After a yes the call is judged once more, and runs only where everything is as it was; otherwise the person is asked anew,
 * with another ticket. Each ticket counts once.
 *
 * `ticket` and `word` point to `ticket_len` and `word_len` bytes; `answer` points to room for one.
 */
tw_status tw_settle(tw_warden warden, const char *ticket, size_t ticket_len, const char *word, size_t word_len, struct tw_answer *answer);

/**
 * Takes other tool lists of MCP servers into the registry, as `registry` reads them, and gives the plan. Where they are
 * refused, the former ones stay.
 *
 * `lists` points to `lists_len` bytes; `answer` points to room for one.
 */
tw_status tw_set_tools(tw_warden warden, const char *lists, size_t lists_len, struct tw_answer *answer);

/**
 * The plan: what the model is shown of the tools of servers, and why; what `registry` writes.
 *
 * `answer` points to room for one.
 */
tw_status tw_plan(tw_warden warden, struct tw_answer *answer);

/**
 * The definitions that the model is shown up front.
 *
 * `answer` points to room for one.
 */
tw_status tw_listed(tw_warden warden, struct tw_answer *answer);

/**
 * Reads settings and module anew, and puts them in force where they pass the gate. Where they do not, what was in force stays.
 *
 * `answer` points to room for one.
 */
tw_status tw_reload(tw_warden warden, struct tw_answer *answer);

/**
 * Goes back to the policy before, under a new generation.
 *
 * `answer` points to room for one.
 */
tw_status tw_rollback(tw_warden warden, struct tw_answer *answer);

/**
 * What is in force, how many verdicts there were, how many questions wait, why the last reload was refused.
 *
 * `answer` points to room for one.
 */
tw_status tw_stats(tw_warden warden, struct tw_answer *answer);

/**
 * Why this thread's last call that failed did so: `{"error":{"code":"...","message":"..."}}`, or `{"error":null}` where none
 * did. A call that goes well does not change it.
 *
 * `answer` points to room for one.
 */
tw_status tw_last_error(struct tw_answer *answer);

/**
 * Gives an answer's text back and clears the answer. NULL, and an answer that is clear, are nothing to do.
 *
 * `answer` is NULL, or points to an answer that a function of this library wrote. A copy of it is not to be used or freed.
 */
void tw_free(struct tw_answer *answer);

/**
 * Closes a warden. Its handle is unknown from here on, for ever. Calls of other threads that are under way come to their end.
 * Questions that wait go unanswered, and do not run.
 */
tw_status tw_close(tw_warden warden);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TOOLWARDEN_H */
