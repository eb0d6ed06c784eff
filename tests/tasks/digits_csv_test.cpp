#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mishap/trainer/guard/errors.h>
#include <mishap/trainer/tasks/digits_csv.h>
#include <sys/stat.h>

#include <array>
#include <string>
#include <vector>

#include "scratch_folder.h"

namespace mishap::tasks {
namespace {

using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::Ge;
using testing::HasSubstr;
using testing::Le;
using testing::StartsWith;

std::string header() {
  std::string line;
  for (std::size_t i = 0; i < DigitRows::kPixels; ++i) {
    line += "p" + std::to_string(i) + ",";
  }
  return line + "label,split";
}

std::string row(std::string_view pixel, std::string_view label,
                std::string_view split) {
  std::string line;
  for (std::size_t i = 0; i < DigitRows::kPixels; ++i) {
    line += std::string(pixel) + ",";
  }
  return line + std::string(label) + "," + std::string(split);
}

class DigitsCsv : public ScratchFolder {
 protected:
  std::string problem_of(const std::filesystem::path& file,
                         Split split = Split::kTrain) const {
    try {
      load_digits(file, split);
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), StartsWith(file.string() + ": "));
      EXPECT_THAT(error.what(), EndsWith("."));
      return error.what();
    }
    ADD_FAILURE() << "no error was reported";
    return {};
  }

  std::string problem_of_text(std::string_view text,
                              Split split = Split::kTrain) const {
    return problem_of(write("digits.csv", text), split);
  }
};

TEST_F(DigitsCsv, ReadsEveryRowOfTheRealFileOnce) {
  const std::array<std::size_t, 3> expected = {1259, 179, 359};
  for (const auto split : {Split::kTrain, Split::kValidation, Split::kTest}) {
    const auto rows = load_digits(DIGITS_CSV, split);
    EXPECT_EQ(rows.size(), expected[static_cast<std::size_t>(split)]);
    EXPECT_EQ(rows.pixels.size(), rows.size() * DigitRows::kPixels);
    EXPECT_THAT(rows.pixels, Each(AllOf(Ge(0.0F), Le(1.0F))));
    EXPECT_THAT(rows.labels, Each(AllOf(Ge(0), Le(9))));
  }
}

TEST_F(DigitsCsv, ScalesPixelsAndKeepsTheOrderOfTheFile) {
  const auto file =
      write("digits.csv", header() + "\n" + row("0", "3", "test") + "\n" +
                              row("9", "9", "train") + "\n" +
                              row("16", "7", "test") + "\n");
  const auto rows = load_digits(file, Split::kTest);
  EXPECT_EQ(rows.labels, (std::vector<std::int64_t>{3, 7}));
  EXPECT_EQ(rows.pixels.front(), 0.0F);
  EXPECT_EQ(rows.pixels.back(), 1.0F);
  EXPECT_EQ(load_digits(file, Split::kTrain).pixels.front(), 9.0F / 16.0F);
}

TEST_F(DigitsCsv, AcceptsCarriageReturnsAndAMissingLastNewline) {
  const auto file =
      write("digits.csv", header() + "\r\n" + row("1", "2", "train") + "\r\n" +
                              row("1", "4", "train"));
  EXPECT_EQ(load_digits(file, Split::kTrain).labels,
            (std::vector<std::int64_t>{2, 4}));
}

TEST_F(DigitsCsv, NamesAFileThatIsNotThere) {
  EXPECT_THAT(problem_of(folder() / "absent.csv"), HasSubstr("no such file"));
}

TEST_F(DigitsCsv, NamesAFolderInPlaceOfAFile) {
  EXPECT_THAT(problem_of(folder()), HasSubstr("this is a folder"));
}

TEST_F(DigitsCsv, DoesNotWaitForAPipe) {
  const auto pipe = folder() / "pipe.csv";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(problem_of(pipe), HasSubstr("not a regular file"));
}

TEST_F(DigitsCsv, NamesAnEmptyFile) {
  EXPECT_THAT(problem_of_text(""), HasSubstr("the file is empty"));
}

TEST_F(DigitsCsv, NamesTheFirstWrongColumnOfTheHeader) {
  auto text = header();
  text.replace(text.find("p63"), 3, "q63");
  EXPECT_THAT(problem_of_text(text + "\n" + row("1", "2", "train") + "\n"),
              HasSubstr("row 1: the header's column 64 is \"q63\" instead of "
                        "\"p63\""));
}

TEST_F(DigitsCsv, SaysSoWhenTheHeaderIsMissing) {
  EXPECT_THAT(problem_of_text(row("1", "2", "train") + "\n"),
              HasSubstr("row 1: the header's column 1 is \"1\""));
}

TEST_F(DigitsCsv, NamesTheRowWithAWrongNumberOfColumns) {
  const auto good = header() + "\n" + row("1", "2", "train") + "\n";
  EXPECT_THAT(problem_of_text(good + "1,2,3\n"),
              HasSubstr("row 3: the line has 3 columns instead of 66"));
  EXPECT_THAT(problem_of_text(good + row("1", "2", "train") + ",\n"),
              HasSubstr("row 3: the line has 67 columns instead of 66"));
}

TEST_F(DigitsCsv, NamesAnEmptyLine) {
  EXPECT_THAT(
      problem_of_text(header() + "\n\n" + row("1", "2", "train") + "\n"),
      HasSubstr("row 2: the line is empty"));
}

TEST_F(DigitsCsv, NamesTheColumnInWhichTheFileWasCutOff) {
  const auto whole = header() + "\n" + row("1", "2", "train");
  EXPECT_THAT(problem_of_text(whole.substr(0, whole.size() - 8)),
              HasSubstr("row 2: the last line is cut off in column p63"));
  EXPECT_THAT(problem_of_text(whole.substr(0, whole.size() - 2)),
              HasSubstr("row 2: column split: \"tra\" is not"));
}

TEST_F(DigitsCsv, FindsACutAtEveryByteOfTheLastRow) {
  const auto start = header() + "\n" + row("1", "2", "train") + "\n";
  const auto last = row("1", "2", "train");
  for (std::size_t size = 1; size < last.size(); ++size) {
    EXPECT_THAT(problem_of_text(start + last.substr(0, size)),
                HasSubstr("row 3: "));
  }
}

TEST_F(DigitsCsv, NamesRowAndColumnOfWhatIsNotANumber) {
  for (const std::string bad : {"x", "", " 1", "1.5", "1 ", "0x1"}) {
    auto line = row("1", "2", "train");
    line.replace(4, 1, bad);
    EXPECT_THAT(
        problem_of_text(header() + "\n" + line + "\n"),
        HasSubstr("row 2: column p2: \"" + bad + "\" is not a whole number"));
  }
}

TEST_F(DigitsCsv, NamesAPixelOutsideItsRange) {
  for (const std::string bad : {"17", "-1", "99999999999999999999"}) {
    EXPECT_THAT(
        problem_of_text(header() + "\n" + row(bad, "2", "train") + "\n"),
        HasSubstr("row 2: column p0: \"" + bad + "\" is outside 0 to 16"));
  }
}

TEST_F(DigitsCsv, NamesALabelOutsideItsRange) {
  EXPECT_THAT(problem_of_text(header() + "\n" + row("1", "10", "train") + "\n"),
              HasSubstr("row 2: column label: \"10\" is outside 0 to 9"));
}

TEST_F(DigitsCsv, NamesAnUnknownSplit) {
  EXPECT_THAT(problem_of_text(header() + "\n" + row("1", "2", "Train") + "\n"),
              HasSubstr("row 2: column split: \"Train\" is not train, "
                        "validation or test"));
}

TEST_F(DigitsCsv, NamesASplitWithoutRows) {
  EXPECT_THAT(problem_of_text(header() + "\n" + row("1", "2", "train") + "\n",
                              Split::kValidation),
              HasSubstr("no row belongs to the split \"validation\""));
}

TEST_F(DigitsCsv, ChecksTheRowsOfOtherSplitsToo) {
  EXPECT_THAT(problem_of_text(header() + "\n" + row("1", "2", "train") + "\n" +
                              row("1", "99", "test") + "\n"),
              HasSubstr("row 3: column label"));
}

TEST_F(DigitsCsv, NamesTheByteThatIsNul) {
  auto line = row("1", "2", "train");
  line[6] = '\0';
  EXPECT_THAT(problem_of_text(header() + "\n" + line + "\n"),
              HasSubstr("row 2: byte 7 is NUL"));
}

TEST_F(DigitsCsv, ShowsBinaryGarbageAsPrintableText) {
  auto line = row("1", "2", "train");
  line[0] = '\xFF';
  EXPECT_THAT(problem_of_text(header() + "\n" + line + "\n"),
              HasSubstr("\"\\xFF\" is not a whole number"));
}

}  // namespace
}  // namespace mishap::tasks
