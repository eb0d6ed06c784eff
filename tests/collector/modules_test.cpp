#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>
#include <mishap/collector/modules.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace mishap::collector {
namespace {

int own_data = 0;

std::uintptr_t address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

const Module& module_of(const void* pointer) {
  const int index = find_module(address_of(pointer));
  EXPECT_NE(index, kNoModule);
  return module_at(static_cast<std::size_t>(index));
}

TEST(Modules, FindTheExecutableByItsAbsolutePath) {
  const Module& module = module_of(&own_data);
  std::array<char, PATH_MAX> path{};
  ASSERT_GT(readlink("/proc/self/exe", path.data(), path.size() - 1), 0);
  EXPECT_EQ(module.path, path.data());
  EXPECT_TRUE(module.is_executable);
  EXPECT_FALSE(module.is_foreign);
  EXPECT_GT(module.size(), 0U);
}

TEST(Modules, CountSystemLibrariesAsForeign) {
  const void* malloc_address = dlsym(RTLD_DEFAULT, "gnu_get_libc_version");
  const Module& module = module_of(malloc_address);
  EXPECT_NE(module.path.find("libc.so"), std::string::npos);
  EXPECT_TRUE(module.is_foreign);
}

TEST(Modules, ReadTheBuildIdThatTheLinkerWrote) {
  const Module& libc = module_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  const std::string command = "readelf -n " + libc.path + " 2>/dev/null";
  FILE* output = popen(command.c_str(), "r");
  ASSERT_NE(output, nullptr);
  std::string text;
  std::array<char, 256> line{};
  while (fgets(line.data(), line.size(), output) != nullptr) {
    text += line.data();
  }
  pclose(output);
  ASSERT_EQ(libc.build_id_hex().size(), 40U);
  EXPECT_NE(text.find("Build ID: " + libc.build_id_hex()), std::string::npos)
      << text;
}

TEST(Modules, KnowNothingOfAnUnmappedAddress) {
  EXPECT_EQ(find_module(0), kNoModule);
  EXPECT_EQ(find_module(16), kNoModule);
}

TEST(Modules, GiveOffsetsThatTheFilesSymbolsUse) {
  const Module& libc = module_of(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"));
  Dl_info info{};
  ASSERT_NE(dladdr(dlsym(RTLD_DEFAULT, "gnu_get_libc_version"), &info), 0);
  EXPECT_EQ(libc.load_address, address_of(info.dli_fbase));
}

TEST(Modules, SeeALibraryThatIsLoadedLaterAndForgetItWhenUnloaded) {
  refresh_modules();
  const std::size_t before = module_count();
  void* library = dlopen("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  link_map* map = nullptr;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const std::uintptr_t inside = address_of(map->l_ld);
  const int index = find_module(inside);
  ASSERT_NE(index, kNoModule);
  EXPECT_EQ(module_count(), before + 1);
  EXPECT_TRUE(module_at(static_cast<std::size_t>(index))
                  .path.ends_with("libBrokenLocale.so.1"));
  ASSERT_EQ(dlclose(library), 0);
  refresh_modules();
  EXPECT_EQ(find_module(inside), kNoModule);
}

TEST(Modules, KeepTheirIndexOverRefreshes) {
  const int before = find_module(address_of(&own_data));
  refresh_modules();
  const std::size_t count = module_count();
  refresh_modules();
  EXPECT_EQ(find_module(address_of(&own_data)), before);
  EXPECT_EQ(module_count(), count);
}

TEST(Modules, CanBeReadWhileOthersRefresh) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 100; ++n) {
        refresh_modules();
        EXPECT_NE(find_module(address_of(&own_data)), kNoModule);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

}  // namespace
}  // namespace mishap::collector
