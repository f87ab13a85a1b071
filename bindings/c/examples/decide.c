#include <stdio.h>
#include <string.h>
#include <toolwarden.h>

int main(void) {
    const char *options = "{\"profile\":\"dangerous\"}";
    char call[65536];
    tw_warden warden;
    tw_answer answer;
    if (tw_open(options, strlen(options), &warden) != TW_STATUS_OK) return 2;
    while (fgets(call, sizeof call, stdin)) {
        tw_decide(warden, call, strlen(call), &answer);
        printf("%s %s\n", answer.verdict == TW_VERDICT_ALLOW ? "run" : "stop", answer.json ? answer.json : "no answer");
        tw_free(&answer);
    }
    return tw_close(warden) != TW_STATUS_OK;
}
