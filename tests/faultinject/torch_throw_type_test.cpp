#include <c10/util/Exception.h>
#include <gtest/gtest.h>
#include <mishap/faultinject/torch/throw_types.h>

#include <typeinfo>

#include "support.h"

namespace mishap::faultinject {
namespace {

template <typename T>
std::string thrown(const std::string& arguments) {
  const auto scenario = arm_text("hook/torch/module=throw(" + arguments + ")");
  try {
    hit(intern("hook/torch/module"));
  } catch (const c10::Error& error) {
    EXPECT_EQ(typeid(error), typeid(T));
    return error.what_without_backtrace();
  }
  return "nothing";
}

TEST(TorchThrowTypeTest, TheTypesOfLibTorchCanBeThrown) {
  register_torch_throw_types();
  register_torch_throw_types();
  EXPECT_EQ(thrown<c10::Error>("c10, boom"), "boom");
  EXPECT_EQ(thrown<c10::IndexError>("c10_index, boom"), "boom");
  EXPECT_EQ(thrown<c10::ValueError>("c10_value, boom"), "boom");
  EXPECT_EQ(thrown<c10::TypeError>("c10_type, boom"), "boom");
  EXPECT_EQ(thrown<c10::NotImplementedError>("c10_not_implemented, boom"),
            "boom");
  EXPECT_EQ(thrown<c10::OutOfMemoryError>("oom"),
            "injected oom error at hook/torch/module");
}

}  // namespace
}  // namespace mishap::faultinject
