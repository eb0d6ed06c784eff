#include <gtest/gtest.h>
#include <mishap/collector/privacy.h>
#include <mishap/collector/redact.h>
#include <mishap/collector/redact_text.h>
#include <stdlib.h>

#include <string>
#include <vector>

#include "in_child.h"

namespace mishap::collector {
namespace {

TEST(RedactText, ValuesOfSecretNamesAreReplaced) {
  EXPECT_EQ(redacted("login with password=hunter2 failed"),
            "login with password=[redacted] failed");
  EXPECT_EQ(redacted("cannot reach db: PGPASSWORD: 'a b c', host x"),
            "cannot reach db: PGPASSWORD: '[redacted]', host x");
  EXPECT_EQ(redacted(R"({"api_key": "abc def", "n": 1})"),
            R"({"api_key": "[redacted]", "n": 1})");
  EXPECT_EQ(redacted("Authorization: Bearer abc.def ghi"),
            "Authorization: [redacted]");
  EXPECT_EQ(redacted("train --auth-token abc --epochs 3"),
            "train --auth-token [redacted] --epochs 3");
  EXPECT_EQ(redacted("train '--password=a b' --epochs 3"),
            "train '--password=[redacted]' --epochs 3");
  EXPECT_EQ(redacted("password=a;secret=b&token=c"),
            "password=[redacted];secret=[redacted]&token=[redacted]");
}

TEST(RedactText, SecretsOfKnownFormAreReplacedWhereverTheyStand) {
  EXPECT_EQ(redacted("https://me:pw@host/x"), "https://[redacted]@host/x");
  EXPECT_EQ(redacted("key AKIAIOSFODNN7EXAMPLE."), "key [redacted]");
  EXPECT_EQ(redacted("ghp_0123456789abcdefghijABCDEFGHIJ012345 refused"),
            "[redacted] refused");
  EXPECT_EQ(redacted("card 4111 1111 1111 1111 declined"),
            "card [redacted] declined");
  EXPECT_EQ(redacted("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n"
                     "-----END RSA PRIVATE KEY-----"),
            "[redacted]-----END RSA PRIVATE KEY-----");
}

TEST(RedactText, WordsOfTrainingStay) {
  for (const char* const text :
       {"expected 16 tokens: got 32", "tokenizer=bert-base",
        "auth::Error at token.cpp:12", "mat1 and mat2 shapes: 4x5 and 6x7",
        "at 1700000000000000000 ns", "https://host/a@b", "sk-learn is missing",
        "address 0x7f3a1234567890ab", "label 4111111111111112 out of range"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

TEST(RedactText, ManySecretsAndLongTextsEnd) {
  std::string text;
  for (int i = 0; i < 5'000; ++i) text += "password=x ";
  std::string expected;
  for (int i = 0; i < 5'000; ++i) expected += "password=[redacted] ";
  EXPECT_EQ(redacted(text), expected);
  EXPECT_EQ(redacted(redacted(text)), expected);
}

TEST(Privacy, AddedWordsCountInNamesAndTexts) {
  EXPECT_FALSE(is_secret_name("WANDB_NOTE"));
  EXPECT_TRUE(holds_in_child([] {
    hide({.secret_words = {"wandb_note"}});
    return is_secret_name("my-WANDB-note") &&
           redacted("wandb.note=x y") == "wandb.note=[redacted] y";
  }));
}

TEST(Privacy, TheHomeFolderBecomesATildeAndInCommandsAVariable) {
  EXPECT_TRUE(holds_in_child([] {
    setenv("HOME", "/users/jane/", 1);
    hide({.hide_home = true});
    return redacted("cannot open /users/jane/x.pt") == "cannot open ~/x.pt" &&
           redacted("/users/janet/x") == "/users/janet/x" &&
           redacted("/users/jane") == "~" &&
           redacted("cd /users/jane/w && ./t --d=/users/jane/d 'x /users/jane'",
                    TextKind::kCommand) ==
               "cd \"$HOME\"/w && ./t --d=\"$HOME\"/d 'x '\"$HOME\"''" &&
           redacted("password=x /users/jane/a", TextKind::kPath) ==
               "password=x ~/a";
  }));
}

TEST(Privacy, ComesFromTheEnvironment) {
  EXPECT_TRUE(holds_in_child([] {
    setenv("MISHAP_PRIVATE", "host,home", 1);
    setenv("MISHAP_SECRET_WORDS", "pin,,puk", 1);
    const Privacy privacy = privacy_from_environment();
    return privacy.hide_home && privacy.hide_host &&
           privacy.secret_words == std::vector<std::string>{"pin", "puk"};
  }));
}

}  // namespace
}  // namespace mishap::collector
